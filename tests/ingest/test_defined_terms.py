from __future__ import annotations

from collections.abc import Callable

import pytest

from graphctx.ingest.defined_terms import DefinedTerms, identifier_of
from graphctx.ingest.split import split_document
from graphctx.model.documents import Document
from graphctx.nlp.tokens import WordPieceCounter

Read = Callable[[str, str], Document]


def defined(document: Document) -> set[str]:
    terms = DefinedTerms(document)
    units = split_document(document, WordPieceCounter()).units
    return {name for unit in units for name, _, _ in terms.of(unit)}


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("- **Drift**: how far she may go.", "Drift"),
        ("* **Drift** – how far she may go.", "Drift"),
        ("**Drift.** How far she may go.", "Drift"),
        ("**Drift:** how far she may go.", "Drift"),
        ("- `max_wave`: the limit.", "max_wave"),
        ("`max_wave` sets the limit.", "max_wave"),
        ("1. `open_gate(name)` – opens it.", "open_gate"),
        ("- `--tail N`: the last lines.", "--tail"),
        ("- `-t, --tail=N` prints the last lines.", "--tail"),
        ("Drift\n: How far she may go.", "Drift"),
        ("| Word | Meaning |\n|---|---|\n| Drift | how far she goes |", "Drift"),
        ("| Word | Meaning |\n|---|---|\n| [Drift](d.md) | how far she goes |", "Drift"),
        ("| Key | Meaning |\n|---|---|\n| `max_wave` | limit |", "max_wave"),
    ],
)
def test_a_term_that_opens_its_explanation_is_defined(read_text: Read, line: str, name: str) -> None:
    assert defined(read_text("a.md", f"# Words\n\nAs we use them.\n\n{line}\n")) == {name}


@pytest.mark.parametrize(
    "line",
    [
        "Anna: see you at nine.",
        "- Drift is how far she may go.",
        "- **Note** that nobody swims here.",
        "She said **drift**: and went.",
        "The `max_wave` setting is a number.",
        "`x = 1 + y; print(x)`: runs.",
        "``one`` and\n`` and the ``: runs.",
        "| Year | Boats |\n|---|---|\n| 2023 | 55 in all of them |",
    ],
)
def test_what_only_looks_like_it_defines_nothing(read_text: Read, line: str) -> None:
    found = defined(read_text("a.md", f"# Words\n\nAs we use them.\n\n{line}\n"))
    assert found <= {"x"}


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("a.py", "__all__: list[str] = []\n__version__: str = '1.2.3 of today'\n\n\ndef open_gate():\n    return 1\n"),
        ("a.py", '"""Gates.\n\n**Drift**: how far she may go.\n"""\n'),
        ("a.sh", "cat boats.txt | sort by name | uniq -c and count\n"),
        ("a.yaml", "boats: |\n  Kittiwake | is the first boat here\n"),
        ("a.md", "# Boats\n\nCount them.\n\n```sh\ncat boats.txt | sort by the name | uniq -c\n```\n\nThat is all.\n"),
        ("a.md", "# Boats\n\nCount them.\n\n    **Drift**: how far she may go.\n\nThat is all.\n"),
        ("a.md", "# Boats\n\nHome | About us | All of our news\n"),
        ("a.txt", "Home | About us | All of our news\n"),
        ("a.html", "<h1>Boats</h1><p>How to count</p><pre>for boat in boats: count all of them and say it</pre>"),
    ],
)
def test_code_and_menus_define_nothing(read_text: Read, file: str, text: str) -> None:
    assert defined(read_text(file, text)) == set()


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("a.txt", "**Anna:** see you at nine\n**Ben:** at the gate\n"),
        ("a.jsonl", '{"id": "1", "text": "**Anna:** see you at nine"}\n'),
        ("a.md", "**Anna:** see you at nine\n\n**Ben:** at the gate\n\n**Anna:** yes\n\n**Ben:** good\n"),
        ("a.md", "- **Note:** nobody swims here.\n- **Example**: a gate that is shut.\n"),
    ],
)
def test_speakers_and_labels_are_no_terms(read_text: Read, file: str, text: str) -> None:
    assert defined(read_text(file, text)) == set()


def test_a_label_that_comes_again_leaves_the_terms_beside_it(read_text: Read) -> None:
    terms = "".join(f"**{name}**: how far she may go.\n\n*Unit*\n\n**Limit:** four.\n\n" for name in ("Drift", "Reach"))
    more = "**Gale flag**: a red cloth.\n\n**Spring tide**: the highest water.\n"
    assert defined(read_text("a.md", terms + more)) == {"Drift", "Reach", "Gale flag", "Spring tide"}


def test_directives_and_definition_lists_of_restructured_text_define_their_names(read_text: Read) -> None:
    text = (
        "Gates\n=====\n\nAll of them.\n\n.. function:: open_gate(name, *, force=False)\n\n   Opens it.\n\n"
        ".. option:: --tail N\n\n   The last lines.\n\nGale flag\n   A red cloth.\n\n``max_wave``\n   The limit.\n"
    )
    assert defined(read_text("a.rst", text)) == {"open_gate", "--tail", "Gale flag", "max_wave"}


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("--tail N", "--tail"),
        ("-t, --tail=N", "--tail"),
        ("-t", "-t"),
        ("open(path, mode)", "open"),
        ("Gate::open(&self)", "Gate::open"),
        ('up{job="x"}', "up"),
        ("kb.search", "kb.search"),
        ("mode: 0400", "mode"),
        ("gate open", "gate open"),
        ("a + b * c", ""),
        ("", ""),
    ],
)
def test_code_is_known_by_the_name_in_it(code: str, name: str) -> None:
    assert identifier_of(code) == name
