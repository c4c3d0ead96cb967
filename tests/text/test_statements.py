import pytest

from graphctx.text.statements import statement


@pytest.mark.parametrize(
    ("fact", "sentence", "stated"),
    [
        (("Helm", "be", "package manager"), "Helm is a package manager.", "Helm is a package manager"),
        (("Keel", "be created by", "Ada Poe"), "Keel was created by Ada Poe.", "Keel was created by Ada Poe"),
        (("boats", "carry", "ropes"), "All boats carry ropes.", "boats carry ropes"),
        (("Ada", "found", "Averil Line"), "Ada founded the Averil Line.", "Ada founded the Averil Line"),
        (("Ada", "write", "letter"), "Ada wrote a letter.", "Ada writes a letter"),
        (("TOML", "not support", "nil values"), "TOML doesn't support nil values.", "TOML does not support nil values"),
        (
            ("gates", "not be part of", "port"),
            "The gates were not part of the port.",
            "gates were not part of the port",
        ),
        (("Helm", "can not read", "chart"), "Helm cannot read the chart.", "Helm can not read the chart"),
        (("Ada", "never be", "captain"), "Ada was never a captain.", "Ada was never a captain"),
        (("Globex", "be based in", "Oslo"), "Globex, a shop based in Oslo, closed.", "Globex is based in Oslo"),
        (("Ada", "be", "captain"), "Ada and Eva are the captains.", "Ada is the captain"),
        (("Keel", "carry", "rope"), "Keel will carry a rope.", "Keel carries a rope"),
        (("Ada", "carry", "key"), "The key lies here.", "Ada carries key"),
        (("Acme", "have", "three berths"), "Acme\nhas three berths.", "Acme has three berths"),
    ],
)
def test_a_fact_is_stated_in_the_form_of_its_sentence(fact: tuple[str, str, str], sentence: str, stated: str) -> None:
    assert statement(*fact, sentence) == stated
