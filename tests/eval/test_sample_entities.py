"""The sample of entities that a reader judges."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sample_entities import main, render_sample, sample_entities

from graphctx.knowledge_base import KnowledgeBase


def test_a_sample_is_the_same_each_time_and_no_larger_than_asked(
    make_kb: Callable[..., KnowledgeBase], capsys: pytest.CaptureFixture[str]
) -> None:
    kb = make_kb({"ada.md": "# Ada Poe\n\nAda Poe leads the Harbour Team in Dunmarrow.\n"})
    snapshot = kb.searcher().index.snapshot
    sample = sample_entities(snapshot, 2)
    assert len(sample) == 2
    assert sample == sample_entities(snapshot, 2)
    every = sample_entities(snapshot, 100)
    assert {"Ada Poe", "Harbour Team", "Dunmarrow"} <= {one.name for one in every}
    assert all(one.name in one.context for one in every if one.n_mentions)
    assert main([str(kb.path)]) == 0
    assert capsys.readouterr().out.strip() == render_sample(every)
