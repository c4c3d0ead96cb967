"""Answer sets: faults of quotes told by rules, parts of answers, and samples for a reader."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from eval.answers import __main__ as command
from eval.answers.ask import Part, Question, ask, ask_about_the_whole, judge
from eval.answers.blocks import blocks
from eval.answers.faults import Page, Span, faults, shares
from eval.answers.samples import read_verdicts, sample, verdict_table, with_verdicts
from graphctx.errors import InvalidArgument
from graphctx.knowledge_base import KnowledgeBase

PROSE = "Ann keeps the lamp. Bob, e.g. at night, helps\nher. Cal sleeps: he is old."
LIST = "Before you start:\n\n- Trim the wick. Use the small knife.\n- Fill the tank:\n  - with oil\n\nThen light it."
CODE = "Run this:\n\n```sh\nmake lamp\nmake oil\n```\n\nThat was all."
LONG = "What the keeper of the lamp has to say about the oil that came by boat takes a long sentence."
BETWEEN = "one sentence between"
TABLE = "| part | price |\n|---|---|\n| wick | 2 |\n| oil | 5 |\n"


def marked(text: str, *, heading: str = "", uri: str = "a.md") -> list[Span]:
    """The quotes of an answer: what is between ⟦ and ⟧, in the order of the text, the surest first."""
    page = Page(uri, re.sub("[⟦⟧]", "", text))
    at = [match.start() - number for number, match in enumerate(re.finditer("[⟦⟧]", text))]
    pairs = list(zip(at[::2], at[1::2], strict=True))
    return [Span(page, start, end, heading, 1 - number / 10) for number, (start, end) in enumerate(pairs)]


def quoted(text: str, *parts: str) -> str:
    """The text with parts of it marked."""
    for part in parts:
        assert text.count(part) == 1
        text = text.replace(part, f"⟦{part}⟧")
    return text


def faults_of(quotes: list[Span]) -> set[str]:
    return {name for name, at in faults(quotes).items() if at}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (quoted(PROSE, PROSE), set()),
        (quoted(PROSE, "Ann keeps the lamp."), set()),
        (quoted(PROSE, "at night, helps\nher."), {"starts inside"}),
        (quoted(PROSE, "her. Cal sleeps: he is old."), {"starts inside"}),
        (quoted(PROSE, "Ann keeps the lamp. Bob, e.g."), {"ends inside"}),
        (quoted(PROSE, "Cal sleeps:"), {"ends inside"}),
        ('Set <b title="⟦No more. Or less.⟧ Well">it</b>.', {"starts inside", "ends inside"}),
        (quoted(LIST, LIST), set()),
        (quoted(LIST, "- Trim the wick. Use the small knife."), set()),
        (quoted(LIST, "Trim the wick. Use the small knife."), {"lost bullet"}),
        ("2. ⟦**Trim** the wick.⟧", {"lost bullet"}),
        (quoted(LIST, "Use the small knife."), {"starts inside"}),
        (quoted(LIST, "- Trim the wick."), {"ends inside"}),
        (quoted(LIST, "Before you start:"), {"ends at lead-in"}),
        (quoted(LIST, "- Fill the tank:"), {"ends at lead-in"}),
        ("See **this.** ⟦All of **that:**⟧\n\n# Next", set()),
        (quoted(CODE, CODE), set()),
        (quoted(CODE, "```sh\nmake lamp\nmake oil\n```"), set()),
        (quoted(CODE, "make lamp\nmake oil"), set()),
        (quoted(CODE, "make oil\n```\n\nThat was all."), {"starts inside", "cut code"}),
        (quoted(CODE, "Run this:\n\n```sh\nmake lamp"), {"cut code"}),
        (quoted(TABLE, "| wick | 2 |"), set()),
        (quoted(TABLE, "2 |\n| oil | 5 |"), {"starts inside"}),
        (quoted(TABLE, "| part | price |"), {"ends at lead-in"}),
        ("⟦- [The lamp](lamp.md)\n- [The oil](oil.md)⟧", {"link list"}),
        ("⟦The [lamp](lamp.md) burns oil that comes by [boat](boat.md).⟧", set()),
        ("> ### ⟦The lamp\n>\n> It burns.⟧", set()),
        ("⟦So it is `lamp.md`⟧</span>", set()),
        ("---\ntitle: Lamp\n---\n\n:::note\n⟦It burns.⟧\n:::\n", set()),
    ],
)
def test_a_quote_has_the_faults_that_a_reader_sees(text: str, expected: set[str]) -> None:
    quotes = [one for one in marked(text) if one.text]
    assert faults_of(quotes[-1:]) == expected


def test_links_with_a_word_each_are_a_list_below_such_a_heading() -> None:
    text = "- [lamp](lamp.md) - how to keep the lamp of the house"
    assert faults_of(marked(f"⟦{text}⟧")) == set()
    assert faults_of(marked(f"⟦{text}⟧", heading="Options › SEE ALSO")) == {"link list"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("⟦One is here.⟧ ⟦Two is here.⟧", {"split", BETWEEN}),
        ("⟦One is here.⟧ Between. ⟦Two is here.⟧", {"split", BETWEEN}),
        ("- ⟦One is here.⟧\n- Between.\n- ⟦Two is here.⟧", {"split", BETWEEN}),
        ("⟦One is here.⟧ Between. And more. ⟦Two is here.⟧", {"split"}),
        (f"⟦One is here.⟧ {LONG} ⟦Two is here.⟧", {BETWEEN}),
        (f"⟦One is here.⟧ {LONG} And more. ⟦Two is here.⟧", set()),
        ("⟦One is here.⟧\n\n## Next\n\n⟦Two is here.⟧", set()),
        ("⟦One is here.⟧\n\n```\ncode\n```\n\n⟦Two is here.⟧", set()),
    ],
)
def test_quotes_that_nearly_touch_are_one_that_was_split(text: str, expected: set[str]) -> None:
    assert faults_of(marked(text)) - {"lost bullet"} == expected


def test_quotes_in_another_order_than_the_document_and_a_first_one_that_is_not_the_surest_are_counted() -> None:
    first, second, third = marked(f"⟦One.⟧\n\n{LONG} More is.\n\n⟦Two.⟧\n\n{LONG} Less is.\n\n⟦Three.⟧")
    other = marked("⟦Elsewhere.⟧", uri="b.md")[0]
    assert faults_of([first, second, third]) == set()
    assert faults_of([third, first, other]) == {"first not surest"}
    assert faults_of([third, second, first]) == {"out of document order", "out of section order", "first not surest"}
    assert faults_of([second, first, other, third]) == {"out of section order", "first not surest"}
    assert faults([first, third, first, second])["out of document order"] == [2, 3]


def test_shares_are_of_quotes_or_of_answers_that_are_not_empty() -> None:
    answers = [marked("- ⟦One.⟧\n- ⟦Two.⟧"), marked("⟦Three.⟧"), []]
    counted = shares([(quotes, faults(quotes)) for quotes in answers])
    assert (counted["lost bullet"], counted["split"]) == ((2, 3), (1, 2))


def test_indented_lines_are_code_in_markdown_and_prose_in_mdx() -> None:
    assert [one.kind for one in blocks("A.\n\n    make lamp\n")] == ["prose", "code"]
    assert [one.kind for one in blocks("A.\n\n    make lamp\n", mdx=True)] == ["prose", "prose"]


@pytest.mark.parametrize(
    ("quotes", "expected"),
    [
        (marked("x\n⟦burns rape oil⟧"), "given"),
        (marked("⟦x⟧\nburns rape oil\n⟦burns\nrape oil⟧"), "elsewhere"),
        (marked("⟦x⟧\nburns rape oil"), "wrong sentences"),
        (marked("x\n⟦burns rape oil⟧", uri="b.md"), "elsewhere"),
        (marked("⟦x⟧", uri="b.md"), "wrong document"),
        ([], "wrong document"),
    ],
)
def test_a_part_is_given_by_a_quote_that_has_its_pattern_in_one_of_its_places(
    quotes: list[Span], expected: str
) -> None:
    part = Part("fuel", re.compile("rape oil"), (("a.md", 2, 2),))
    assert judge(part, quotes) == expected


def _part(kb: KnowledgeBase, uri: str, words: str) -> Part:
    line = kb.document(uri).text.count("\n", 0, kb.document(uri).text.index(words)) + 1
    return Part(words, re.compile(re.escape(words)), ((uri, line, line),))


def test_the_handbook_gives_the_part_that_it_is_asked_for(handbook_kb: KnowledgeBase) -> None:
    about = _part(handbook_kb, "teams/electronics-workshop.md", "one in fourteen fails")
    questions = [
        Question("1", "How often does a freshly built data logger fail its cold test?", "how-to", (about,)),
        Question("2", "Which zebra plays the trombone?", "unanswerable", ()),
    ]
    asked: list[int] = []
    first, second = ask(handbook_kb, questions, asked.append)
    assert (first.parts, first.has("given"), first.first_gives, asked) == (("given",), 1.0, True, [1, 2])
    assert second.declined
    assert not second.answerable
    found = ask_about_the_whole(handbook_kb, questions[:1], asked.append)
    for outcomes in found.values():
        assert all(outcomes[0].measures[f"tokens@{budget}"] <= budget for budget in (500, 1000, 2000))
    missing = Question("3", "?", "how-to", (Part("x", re.compile("zebra"), about.places),))
    with pytest.raises(InvalidArgument, match=r"3: teams/electronics-workshop\.md:\d+-\d+ does not hold 'x'"):
        ask(handbook_kb, [missing], asked.append)


def test_samples_are_the_same_each_time_and_keep_the_verdicts_of_what_is_unchanged(
    small_kb: KnowledgeBase, tmp_path: Path
) -> None:
    snapshot = small_kb.searcher().index.snapshot
    names = sample("small", snapshot, "names", 8)
    assert names == sample("small", snapshot, "names", 8)
    assert sum(row["kind"] == "name" for row in names) == 8
    assert any(row["item"].startswith("Gull Point = Gull Point") for row in names)
    facts, titles = sample("small", snapshot, "facts", 2), sample("small", snapshot, "titles", 2)
    assert [row["kind"] for row in facts] == ["fact"] * 2
    assert [row["kind"] for row in titles].count("document") == 2
    judged = [names[0] | {"verdict": "right"}, facts[0] | {"verdict": "wrong", "reason": "no subject"}, facts[1]]
    kept = [{name: value for name, value in row.items() if name != "seen"} for row in judged]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept))
    verdicts = read_verdicts(tmp_path)
    assert with_verdicts(names, verdicts) == [names[0] | {"verdict": "right"}, *names[1:]]
    of_all = verdict_table(verdicts)[-1]
    assert of_all == ("all", "1 of 1", "", "", "0 of 1, 1 unread", "", "")
    (tmp_path / "a.jsonl").write_text(json.dumps(facts[0] | {"verdict": "wrong"}))
    with pytest.raises(InvalidArgument, match=r"a\.jsonl:1: a wrong one needs a reason"):
        read_verdicts(tmp_path)
    with pytest.raises(InvalidArgument, match="no samples of 'themes': ask for one of names, aliases, facts, titles"):
        sample("small", snapshot, "themes", 2)


@pytest.mark.slow
def test_a_site_is_ingested_and_asked_and_one_that_is_not_there_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*arguments: object) -> tuple[int, str, str]:
        places = ("--data", tmp_path, "--work", tmp_path / "work", "--questions", tmp_path / "sets")
        monkeypatch.setattr(sys, "argv", ["answers", *map(str, (*places, *arguments))])
        return command.main(), *capsys.readouterr()

    site = tmp_path / "docs" / "lamp"
    site.mkdir(parents=True)
    (site / "lamp.md").write_text("# Lamp\n\nThe lamp of Gull Point burns rape oil.\n\nAnn trims it at dusk.\n")
    (site / "boat.md").write_text("# Boat\n\nThe Kittiwake was built in Saltby. Bob rows it to Gull Point.\n")
    (tmp_path / "sets").mkdir()
    part = {"need": "oil", "pattern": "rape oil", "places": [{"doc": "lamp.md", "lines": [3, 3]}]}
    rows = [
        {"id": "l1", "question": "What does the lamp of Gull Point burn?", "type": "how-to", "parts": [part]},
        {"id": "l2", "question": "Who paints the door?", "type": "unanswerable", "parts": []},
    ]
    point = {"point": "oil", "pattern": "rape oil", "places": part["places"]}
    about = [{"id": "lw1", "question": "What happens at Gull Point?", "type": "theme", "points": [point]}]
    for name, some in (("lamp", rows), ("lamp_whole", about), ("absent", rows)):
        (tmp_path / "sets" / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in some))
    code, out, err = run("--jsonl", tmp_path / "out.jsonl", "--examples")
    assert code == 0
    assert f"absent: no folder {tmp_path / 'docs' / 'absent'}, skipped" in err
    assert re.search(r"\| lamp +\| +1 \| +100 \|", out)
    assert "## The whole" in out
    code, out, _ = run("--against", tmp_path / "out.jsonl", "--site", "lamp")
    assert code == 0
    assert re.search(r"\| complete +\| +1 \| +100 \| +100 \| +\+0 \(\+0 to \+0\) \|", out)
    code, out, _ = run("--samples", "names", 2, "--site", "lamp")
    assert {json.loads(line)["site"] for line in out.splitlines()} == {"lamp"}
    code, _, err = run("--site", "absent")
    assert code == 1
    assert "None of these sites is in" in err
