"""Which sentences are quoted: from where edges lead, each thing once, and no block by its first lines alone."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from graphctx.knowledge_base import KnowledgeBase
from graphctx.nlp.tokens import AnswerCounter

Make = Callable[..., KnowledgeBase]

COUNTER = AnswerCounter()

NOTES = {
    f"notes/{i:02}.md": f"# Note {i}\n\nThe gull of pier {i} sleeps on the roof of shed {i}. It wakes when the tide turns.\n"
    for i in range(12)
}

MANUAL = (
    "# Mast lantern, version {version}\n\nThe mast lantern burns colza oil and is lit at dusk by the deck officer. "
    "The wick of the mast lantern is trimmed once in each watch. "
    "{change}\n"
)


def quotes(kb: KnowledgeBase, question: str, **options: int) -> list[str]:
    answer = kb.retrieve_evidence(question, **options)
    for quote in answer.quotes:
        assert kb.document(quote.doc_uri).text[quote.start_char : quote.end_char] == quote.quote
    return [quote.quote for quote in answer.quotes]


def test_what_another_version_says_again_is_not_quoted_before_what_is_reported_nowhere_else(make_kb: Make) -> None:
    versions = {
        f"v{version}/lantern.md": MANUAL.format(version=version, change=f"It weighs {version + 20} stone.")
        for version in range(1, 5)
    }
    other = {"log.md": "# Log of the lantern\n\nColza oil for the lantern is drawn from the cask behind the galley.\n"}
    kb = make_kb({**versions, **other, **NOTES})
    found = quotes(kb, "What does the mast lantern burn?", max_quotes=3)
    assert "colza oil and is lit" in found[0]
    assert sum("burns colza oil and is lit at dusk" in quote for quote in found) == 1
    assert any("cask behind the galley" in quote for quote in found)


def test_the_same_sentence_in_many_documents_is_quoted_once(make_kb: Make) -> None:
    warning = "Never open the sluice while the bell of the lock rings."
    kb = make_kb(
        {f"lock{i}.md": f"# Lock {i}\n\n{warning} Lock {i} was built by crew {i}.\n" for i in range(6)} | NOTES
    )
    found = quotes(kb, "May the sluice be opened while the bell rings?")
    assert sum(warning in quote for quote in found) == 1


def test_every_part_of_a_sentence_that_no_quote_can_hold_can_be_quoted(make_kb: Make) -> None:
    names = ", ".join(f"the {name} of berth {i}" for i, name in enumerate(["Heron", "Plover", "Dunlin", "Curlew"] * 14))
    text = f"The harbour roll lists {names}, and the Whimbrel of berth 99 whose keel is of larch."
    kb = make_kb({"roll.md": f"# Roll\n\n{text}\n", **NOTES})
    assert COUNTER.count(text) > 3 * 80
    answer = kb.retrieve_evidence("Of which wood is the keel of the Whimbrel?", top_k=1)
    (larch,) = [quote for quote in answer.quotes if "the Whimbrel of berth 99 whose keel is of larch." in quote.quote]
    assert larch.truncated
    assert {quote.doc_uri for quote in answer.quotes} == {"roll.md"}
    spans = sorted((quote.start_char, quote.end_char) for quote in answer.quotes)
    assert len(spans) > 1
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


@pytest.mark.parametrize("limit", [8, 20, 80, 200])
def test_a_quote_of_whole_sentences_is_not_called_cut(make_kb: Make, limit: int) -> None:
    kb = make_kb({"gate.md": "# Gate\n\nThe gate opens at noon. The gate is green. The keeper of it is Ada.\n"})
    for quote in kb.retrieve_evidence("When does the gate open?", max_quote_tokens=limit).quotes:
        assert quote.truncated is not quote.quote.endswith(".")
        assert COUNTER.count(quote.quote) <= limit


def test_a_preview_is_the_sentence_that_fits_and_not_the_first_line(make_kb: Make) -> None:
    filler = "The barge carries turf and slate from the quay to the kiln. " * 8
    kb = make_kb({"barge.md": f"# Barge\n\n{filler}The skipper of the barge is Wenna Tregear.\n", **NOTES})
    (result, *_) = kb.search("Who is the skipper of the barge?").results
    assert "Wenna Tregear" in result.preview


def test_the_preview_of_a_long_block_of_code_shows_the_lines_that_bear_on_the_query(make_kb: Make) -> None:
    code = "\n".join(f"    register(step_{i}, order={i})" for i in range(24)) + "\n    open_sluice(level=3)"
    kb = make_kb({"run.md": f"# Run\n\n```python\ndef run():\n{code}\n```\n", **NOTES})
    (result, *_) = kb.search("At which level does run open the sluice?", max_snippet_chars=120).results
    assert result.doc_uri == "run.md"
    assert "open_sluice(level=3)" in result.preview
    assert len(result.preview) <= 120


GUIDE = """# Lamp guide

The lamp of the pier is trimmed by the warden.

## Lighting the lamp

To light the lamp of the pier, do the following:

1. Open the brass valve. It turns to the left.
2. Hold the taper to the wick.
3. Close the glass.

Then run the lamp check:

```sh
lampctl check --pier 4
lampctl report
```

## See also

- [Trimming the lamp of the pier](trim.md)
- [Lighting the lamp of the quay](quay.md)
- [Buying oil for the lamp of the pier](oil.md)
"""


def test_a_quote_holds_whole_items_with_their_lead_in_and_no_list_of_links(make_kb: Make) -> None:
    kb = make_kb({"guide.md": GUIDE, **NOTES})
    found = [quote for quote in quotes(kb, "How do I light the lamp of the pier?") if "lamp" in quote]
    steps = next(quote for quote in found if "brass valve" in quote)
    assert steps.startswith("To light the lamp of the pier, do the following:\n\n1. Open the brass valve.")
    assert not any(quote.rstrip().endswith(":") or "](trim.md)" in quote for quote in found)
    for quote in found:
        assert quote.count("```") in (0, 2)


@pytest.mark.parametrize("tokens", [16, 30, 80])
def test_quotes_of_a_section_behind_the_first_stand_together_in_its_order_and_apart(make_kb: Make, tokens: int) -> None:
    rows = "\n".join(f"| berth {i} | the lamp number {i} | {i * 7} crowns |" for i in range(30))
    log = " ".join(
        f"On day {i} the warden trimmed the lamp of the pier with the shears of year {i}." for i in range(40)
    )
    kb = make_kb({"guide.md": f"{GUIDE}\n## Berths\n\n{rows}\n\n## Log\n\n{log}\n", **NOTES})
    answer = kb.retrieve_evidence("When did the warden trim the lamp?", max_quote_tokens=tokens)
    assert answer.quotes[0].confidence == max(quote.confidence for quote in answer.quotes)
    seen: dict[str, int] = {}
    for at, quote in enumerate(answer.quotes[1:], 1):
        text = kb.document(quote.doc_uri).text
        section = f"{quote.doc_uri} {quote.heading}"
        if section in seen:
            before = answer.quotes[at - 1]
            assert before.heading == quote.heading
            assert len(text[before.end_char : quote.start_char].strip()) > 40
        seen[section] = at


@pytest.mark.parametrize(
    ("kind", "row"), [("list", "- Hand {0} pulls oar {0}.\n"), ("table", "| hand {0} | pulls oar {0} of the gig |\n")]
)
def test_a_quote_says_that_the_list_or_table_in_which_it_ends_goes_on(make_kb: Make, kind: str, row: str) -> None:
    head = "| who | what |\n|---|---|\n" if kind == "table" else ""
    rows = "".join(map(row.format, range(30)))
    kb = make_kb({"gig.md": f"# Gig\n\nThese pull the oars of the gig:\n\n{head}{rows}\nThe gig is white.\n"})
    found = kb.retrieve_evidence("Who pulls the oars of the gig?").quotes
    for quote in found:
        text = kb.document(quote.doc_uri).text
        goes_on = text[quote.end_char :].lstrip().startswith(row[0])
        assert quote.continues == (kind if goes_on else "")
    assert {quote.continues for quote in found} == {kind, ""}
    assert not any(quote.truncated for quote in found)


def _log(days: int) -> str:
    return "\n\n".join(
        f"On day {day} the ferry to Ulva left at {day % 24} bells with {day} casks of tar and {day + 3} sheep. "
        f"The purser wrote down the tolls of day {day}, and the crew swept the deck of the ferry twice."
        for day in range(days)
    )


def test_the_quote_that_answers_comes_first_and_surest_wherever_it_stands(make_kb: Make) -> None:
    answer = "The ferry to Ulva is named Corrie."
    kb = make_kb({"ferry.md": f"# Ferry\n\n{_log(60)}\n\n{answer}\n"})
    for most in (1, 6, 20):
        first, *others = kb.retrieve_evidence("How is the ferry to Ulva named?", max_quotes=most).quotes
        assert answer in first.quote
        assert all(quote.confidence < first.confidence for quote in others)
    assert len(others) > 6


def test_a_passage_right_behind_one_of_the_best_can_be_quoted(make_kb: Make) -> None:
    problem = "After a storm the lantern of the pier smokes and the glass turns black. " * 16
    remedy = "Trim the wick straight and wipe the glass with chalk. The lantern then burns clear. " * 12
    others = {f"pier{i}.md": f"# Pier {i}\n\nThe lantern of pier {i} smokes after a storm.\n" for i in range(5)}
    kb = make_kb({"lantern.md": f"# Lantern\n\n## Smoke\n\n{problem}\n\n## Remedy\n\n{remedy}\n", **others, **NOTES})
    found = kb.retrieve_evidence("The lantern smokes after a storm and its glass is black: what helps?", max_quotes=6)
    assert any("Trim the wick straight" in quote.quote for quote in found.quotes)
    assert len({quote.section_id for quote in found.quotes}) <= 5


def test_few_quotes_are_of_the_usual_ones_and_of_their_surest_document(
    handbook_kb: KnowledgeBase, golden: list[dict[str, Any]]
) -> None:
    for item in golden[:20]:
        usual = handbook_kb.retrieve_evidence(item["question"])
        for most in (1, 3):
            few = handbook_kb.retrieve_evidence(item["question"], max_quotes=most)
            spans = [(quote.doc_uri, quote.start_char, quote.end_char, quote.confidence) for quote in few.quotes]
            assert len(spans) == min(most, len(usual.quotes))
            assert set(spans) <= {
                (quote.doc_uri, quote.start_char, quote.end_char, quote.confidence) for quote in usual.quotes
            }
            assert spans[0][3] == usual.quotes[0].confidence
            assert few.answered == usual.answered
