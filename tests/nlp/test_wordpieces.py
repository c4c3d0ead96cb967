from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from graphctx.nlp.wordpieces import WordPieces
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graphctx.nlp import wordpieces
from graphctx.nlp.tokens import encodable, load_tokenizer

from .embedder_conformance import ODD_TEXTS, TEXTS

EFFORT = float(os.environ.get("GRAPHCTX_TEST_EFFORT", "1.0"))
TOKENIZER = load_tokenizer()
PIECES = WordPieces(TOKENIZER)

PARTS = ("a", "Harbour", "can't", " ", "  ", "\n", "\t", "_", "-", "{\"x\":[", "]}", "\\n", "é", "e\u0301", "\u0301", "İ", "ﬁ", "한국",
         "\u1112\u1161", "東京", "👍🏽", "\u200b", "\u00a0", "\u2028", "\x00", "\x1c", "\x7f", "\ufffd", "[SEP]", "[UNK]", "[", "SEP]", "…", "9.5", "q" * 70,
         "x" * 101)  # fmt: skip
TANGLED = st.one_of(st.lists(st.sampled_from(PARTS), max_size=40).map("".join), st.text(max_size=80))


@settings(max_examples=int(600 * EFFORT), deadline=None)
@given(TANGLED)
@example("")
@example("ab \u0301c")
@example("one\x1ctwo three")
def test_pieces_are_those_of_the_tokenizer(text: str) -> None:
    text = encodable(text)
    expected = TOKENIZER.encode(text, add_special_tokens=False).offsets
    assert PIECES.spans(text) == expected
    assert PIECES.count(text) == len(expected)


@settings(max_examples=int(100 * EFFORT), deadline=None)
@given(st.lists(TANGLED, max_size=8))
def test_many_texts_are_counted_like_each_of_them(texts: list[str]) -> None:
    texts = [encodable(text) for text in texts]
    expected = [len(TOKENIZER.encode(text, add_special_tokens=False)) for text in texts]
    assert WordPieces(TOKENIZER).counts(texts) == PIECES.counts(texts) == expected


@pytest.mark.parametrize("text", [*TEXTS, *ODD_TEXTS])
def test_pieces_of_a_text_seen_twice_are_the_same(text: str) -> None:
    expected = TOKENIZER.encode(encodable(text), add_special_tokens=False).offsets
    for _ in range(2):
        assert PIECES.spans(encodable(text)) == expected


def test_words_beyond_the_limit_are_counted_from_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wordpieces, "MAX_WORDS", 50)
    pieces = WordPieces(TOKENIZER)
    texts = [" ".join(f"word{n * step}" for n in range(40)) + " naïve" + "z" * step for step in range(1, 60)]
    expected = [len(TOKENIZER.encode(text, add_special_tokens=False)) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(pieces.count, texts)) == expected
        assert list(pool.map(lambda text: len(pieces.spans(text)), texts)) == expected
