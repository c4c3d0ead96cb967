from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.nlp.llm.citations import Cited, CitedAnswer, read_cited
from graphctx.nlp.llm.client import ChatFailed, Completion
from graphctx.nlp.llm.prompts import SUMMARY_SENTENCES, Prompt, Prompts
from graphctx.nlp.tokens import WordPieceCounter

SENTENCES = (
    "Kestrel replaced Heron in March 2024.",
    "Heron had failed 1,200 times, see https://example.org/heron.",
    "Ana leads the Kestrel team.",
)
PROMPTS = Prompts(WordPieceCounter())
SUMMARY = PROMPTS.summary("Kestrel", ("Kestrel", "Heron"), SENTENCES)
QUESTION = PROMPTS.points("Who leads Kestrel's 7 teams?", SENTENCES, 3)


def read(text: str, prompt: Prompt = SUMMARY, finished: bool = True) -> CitedAnswer:
    return read_cited(Completion(text, finished), prompt)


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("Kestrel took over from Heron [1].", [("Kestrel took over from Heron.", (0,))]),
        ("Kestrel took over from Heron. [1]", [("Kestrel took over from Heron.", (0,))]),
        ("Kestrel took over from Heron.[1][3]", [("Kestrel took over from Heron.", (0, 2))]),
        ("Kestrel took over [3, 1], led by Ana [3].", [("Kestrel took over, led by Ana.", (0, 2))]),
        ("- Ana leads it [3].\n2. Heron failed [2].", [("Ana leads it.", (2,)), ("Heron failed.", (1,))]),
        ("Ana leads it. [3] Heron failed. [2]", [("Ana leads it.", (2,)), ("Heron failed.", (1,))]),
        ("**Ana** leads it [3]", [("Ana leads it", (2,))]),
        ("<think>Sentence [9]? No.</think>\nAna leads it [3].", [("Ana leads it.", (2,))]),
        ("Ana\u202e leads\x07 it [3].", [("Ana leads it.", (2,))]),
        ("アナが率いる。[3] ヘロンは失敗した。[2]", [("アナが率いる。", (2,)), ("ヘロンは失敗した。", (1,))]),
    ],
)
def test_each_sentence_keeps_its_citations(text: str, cited: list[tuple[str, tuple[int, ...]]]) -> None:
    assert read(text).sentences == tuple(Cited(*pair) for pair in cited)


@pytest.mark.parametrize(
    "bad",
    [
        "All went well.",
        "All went well [0].",
        "All went well [4].",
        "All went well [1][99].",
        "All went well [1-3].",
        "All went well [one].",
        "[1].",
        "It failed 1,300 times [2].",
        "It failed 1,200 times [1].",
        "See https://evil.example/x [2].",
        "See [this](http://example.org) [2].",
    ],
)
def test_a_sentence_that_does_not_rest_on_what_it_was_given_is_dropped(bad: str) -> None:
    assert read(f"Ana leads it [3].\n{bad}") == CitedAnswer((Cited("Ana leads it.", (2,)),), 1)
    with pytest.raises(ChatFailed) as caught:
        read(bad)
    assert caught.value.kind == "uncited"


def test_a_figure_or_a_link_of_the_question_bears_out_nothing() -> None:
    prompt = PROMPTS.answer("Did sales grow 40 percent, as evil.example/x says?", ["Sales were flat."], 3)
    for text in ("Sales grew 40 percent [1].", "Sales were flat, says evil.example/x [1]."):
        with pytest.raises(ChatFailed):
            read(text, prompt)
    assert read("Sales were flat [1].", prompt).sentences


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("See [the page](https://example.org/heron) [2].", "See the page (https://example.org/heron)."),
        ("See ![it](https://example.org/heron) [2].", "See it (https://example.org/heron)."),
        ("See [![a](https://example.org/heron)](https://example.org/heron) [2].", None),
        ("See <https://example.org/heron> [2].", "See https://example.org/heron."),
    ],
)
def test_the_markup_of_a_link_is_written_out(text: str, shown: str | None) -> None:
    (cited,) = read(text).sentences
    assert cited.text == shown or shown is None
    assert "](" not in cited.text


def test_an_answer_that_was_cut_off_loses_its_last_sentence() -> None:
    assert read("Ana leads it [3].\nHeron failed [2] and th", finished=False).sentences == (
        Cited("Ana leads it.", (2,)),
    )
    with pytest.raises(ChatFailed, match="cut off"):
        read("Ana leads it [3] and", finished=False)


def test_more_sentences_than_were_asked_for_and_repetitions_are_dropped() -> None:
    lines = [f"Point {word} [1]." for word in ("a", "a", "b", "c", "d", "e", "f")]
    reading = read("\n".join(lines))
    assert len(reading.sentences) == SUMMARY_SENTENCES
    assert reading.dropped == 2


def test_nothing_is_an_answer_to_a_question_and_no_summary() -> None:
    assert read("NONE.", QUESTION) == CitedAnswer((), 0)
    with pytest.raises(ChatFailed):
        read("NONE")


@given(st.text(st.characters(codec="utf-8") | st.sampled_from("[]123.,\n ")), st.booleans())
def test_whatever_a_model_writes_only_cited_sentences_come_out(text: str, finished: bool) -> None:
    try:
        reading = read(text, finished=finished)
    except ChatFailed:
        return
    assert 0 < len(reading.sentences) <= SUMMARY_SENTENCES
    for cited in reading.sentences:
        assert cited.cites
        assert set(cited.cites) <= {0, 1, 2}
        assert cited.text == " ".join(cited.text.split())
