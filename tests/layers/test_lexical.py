"""What holds a query letter for letter is found wherever it stands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.layers import LayerFile, scoring, to_bytes
from graphctx.layers.scoring import coverage, holders

from .world import content, note

words = st.text("ab é", min_size=1, max_size=6)


@given(st.lists(st.tuples(words, words), max_size=12), words, st.integers(1, 9))
def test_holders_are_the_records_whose_content_has_the_query(
    told: list[tuple[str, str]], query: str, window: int
) -> None:
    chunks = [note(i, text, sources=(source,)) for i, (text, source) in enumerate(told, 1)]
    layer = LayerFile.parse(to_bytes(content(*chunks, dim=2)), "a.db")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scoring, "_WINDOW", window)  # so that a small text has many windows
        found = holders(layer, query).tolist()
    assert found == [i for i, (text, _) in enumerate(told) if query.strip() and query.strip() in text]


def test_rare_words_cover_more_and_all_words_cover_all() -> None:
    texts = ["common rare", "common", "common other", ""]
    found = coverage("Common RARE", texts).tolist()
    assert found[0] == pytest.approx(1)
    assert 0 < found[1] < 0.5
    assert found[1] == found[2]
    assert found[3] == 0
