from __future__ import annotations

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from graphctx.nlp.llm.citations import adds_figures, adds_links, read_cited
from graphctx.nlp.llm.client import ChatFailed, Completion
from graphctx.nlp.llm.prompts import Prompts
from graphctx.nlp.tokens import WordPieceCounter

PROMPTS = Prompts(WordPieceCounter())

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
