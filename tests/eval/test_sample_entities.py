"""The sample of entities that a reader judges."""

from __future__ import annotations

import pytest
from sample_entities import main, render_sample, sample_entities

from graphctx.knowledge_base import KnowledgeBase


def test_a_sample_is_the_same_each_time_and_no_larger_than_asked(
    small_kb: KnowledgeBase, capsys: pytest.CaptureFixture[str]
) -> None:
    snapshot = small_kb.searcher().index.snapshot
    sample = sample_entities(snapshot, 2)
    assert len(sample) == 2
    assert sample == sample_entities(snapshot, 2)
    every = sample_entities(snapshot, 100)
    assert {"Ada Merriweather", "Gull Point"} <= {one.name for one in every}
    assert all(one.name in one.context for one in every if one.n_mentions)
    assert main([str(small_kb.path)]) == 0
    assert capsys.readouterr().out.strip() == render_sample(every)
