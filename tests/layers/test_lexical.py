"""What holds a query letter for letter is found wherever it stands."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.layers import LayerContent, LayerFile, LayerView, lexical, to_bytes
from graphctx.layers.lexical import coverage, holders

from .world import content, note

words = st.text("ab é", min_size=1, max_size=6)


@given(st.lists(st.tuples(words, words), max_size=12), words, st.integers(1, 9))
def test_holders_are_the_records_whose_content_has_the_query(
    told: list[tuple[str, str]], query: str, window: int
) -> None:
    chunks = [note(i, text, sources=(source,)) for i, (text, source) in enumerate(told, 1)]
    layer = LayerFile.parse(to_bytes(content(*chunks, dim=2)), "a.db")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lexical, "_WINDOW", window)  # so that a small text has many windows
        found = holders(layer, query).tolist()
    assert found == [i for i, (text, _) in enumerate(told) if query.strip() and query.strip() in text]


def test_rare_words_cover_more_and_all_words_cover_all() -> None:
    texts = ["common rare", "common", "common other", ""]
    found = coverage("Common RARE", texts).tolist()
    assert found[0] == pytest.approx(1)
    assert 0 < found[1] < 0.5
    assert found[1] == found[2]
    assert found[3] == 0


@pytest.mark.parametrize("query", ["", "...", "\n"])
def test_a_query_without_words_covers_nothing(query: str) -> None:
    assert coverage(query, ["a", "b"]).tolist() == [0, 0]


def test_one_long_text_of_many_chunks_is_read_once() -> None:
    text, number = " ".join(f"word{i}" for i in range(20_000)), 3000
    chunks = tuple(note(i, text) for i in range(1, number + 1))
    layer = LayerFile.parse(to_bytes(LayerContent(chunks, np.zeros((number, 4), np.float32))), "a.db")
    found = LayerView("local", layer).similarities("word7 word8", None, "cosine")
    assert len(found) == number
    assert len(set(found.tolist())) == 1
    contents = [layer.content(record) for record in range(number)]
    assert all(one is contents[0] for one in contents)
