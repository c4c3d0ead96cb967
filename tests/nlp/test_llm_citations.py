from __future__ import annotations

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from graphctx.nlp.llm.citations import Cited, CitedAnswer, adds_figures, adds_links, read_cited
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


_word = st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=6)
_host = st.builds(lambda names, end: ".".join([*names, end]), st.lists(_word, min_size=1, max_size=2), _word)
_address = st.one_of(
    st.builds("{}://{}/{}".format, st.sampled_from(["http", "https", "ftp"]), _host, _word),
    st.builds("//{}/{}".format, _host, _word),
    st.builds("{}/{}".format, _host, _word),
    st.builds("mailto:{}@{}".format, _word, _host),
    st.builds("javascript:{}".format, _word),
    _host,
)

_SPELLINGS = [
    "{}",
    "({}),",
    "`{}`",
    "[{}",
    "[here]({})",
    "![here]({} 'a title')",
    "[![here]({})](x)",
    "<{}>",
    "[here]: {}",
    "<a href={}>here</a>",
    '<img src="{}">',
]


def wide(text: str) -> str:
    """A text in letters of the width of Chinese ones."""
    return "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text)


_DISGUISES = [
    str,
    str.upper,
    wide,
    lambda text: text.replace(".", "\uff0e"),
    lambda text: text[0] + "\u200b" + text[1:],
    lambda text: text.replace(":", "&colon;").replace("/", "&sol;").replace(".", "&#46;"),
]


def kept(text: str, source: str, question: str = "What is it?") -> bool:
    try:
        return bool(read_cited(Completion(f"{text} [1]."), PROMPTS.answer(question, [source], 3)).sentences)
    except ChatFailed:
        return False


@given(_address, st.lists(_address, max_size=3), st.sampled_from(_SPELLINGS), st.sampled_from(_DISGUISES))
def test_a_link_that_no_cited_sentence_has_is_dropped_however_it_is_spelled(
    link: str, others: list[str], spelling: str, disguise: object
) -> None:
    assume(link not in others)
    assert callable(disguise)
    assert not kept(
        f"See {spelling.format(disguise(link))} now", f"It says {', '.join(others)} and more.", f"Is {link} it?"
    )


@given(
    _address,
    st.sampled_from(["{}", "({})", "`{}`,", "[here]({})", "![here]({})", "{}'s"]),
    st.sampled_from([str, str.upper]),
)
@example("https://example.org/Foo_(bar)", "[here]({})", str)
def test_a_link_of_a_cited_sentence_may_be_said(link: str, spelling: str, disguise: object) -> None:
    assert callable(disguise)
    for source in (f"It is at {link}.", f"It is at ({link}), they say.", f'It is "{link}".'):
        assert kept(f"See {spelling.format(disguise(link))} now", source)


@given(_address, _word, st.booleans())
def test_a_part_of_a_link_is_another_link(link: str, more: str, shorter: bool) -> None:
    said, source = (link, link + more) if shorter else (link + more, link)
    assert not kept(f"See {said} now", f"It is at {source} today.")


@pytest.mark.parametrize(
    "text", ["e.g. a fish", "at 9 a.m. or 2.5 km", "and/or", "Note: it works", "Dr. Ana", "so... yes"]
)
def test_ordinary_writing_is_no_link(text: str) -> None:
    assert not adds_links(text, "nothing")


_SHAPES = ["{}", "{:,}", "0{}", "v{}", "({}%)"]


@given(st.integers(1, 10**7), st.integers(1, 10**7), st.sampled_from(_SHAPES), st.sampled_from(_SHAPES), st.booleans())
@example(200, 1200, "{}", "{:,}", False)
@example(5, 25, "{}", "{}", False)
def test_a_figure_may_be_said_where_a_cited_sentence_has_it_as_a_whole(
    said: int, given_: int, shape: str, other: str, full_width: bool
) -> None:
    text = shape.format(said)
    told = kept(f"They sold {wide(text) if full_width else text}", f"Sold: {other.format(given_)}.", f"Was it {said}?")
    assert told == (said == given_)


@given(st.text(), st.text())
def test_a_text_adds_nothing_to_itself(text: str, more: str) -> None:
    assert not adds_links(text, f"{text} {more}")
    assert not adds_figures(text, f"{text} {more}")
