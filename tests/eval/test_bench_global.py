"""The benchmark of global search: its made-up hierarchy is one, and its table is of the real path."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from eval.bench_global import COUNTS, SCOPED, STAGES, measure, print_tables
from eval.synthetic_communities import communities_kb, global_questions, hierarchy
from graphctx import KnowledgeBase
from graphctx.model.requests import GlobalSearchInput

SIZE = 300


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bench")
    communities_kb(folder, SIZE)
    return folder


@pytest.mark.parametrize("count", [300, 1_000, 10_000, 100_000])
def test_every_part_lies_inside_its_parent_and_there_are_as_many_as_wanted(count: int) -> None:
    n_entities, n_roots = 4 * count, min(400, 1 + count // 25)
    levels = hierarchy(n_entities, n_roots, count)
    assert len(levels) == (3 if count == 100_000 else 2)
    assert 0.9 * count < sum(len(level.parent) for level in levels) <= 1.1 * count
    for above, level in pairwise(levels):
        assert np.array_equal(level.parent[level.of_entity], above.of_entity)
        assert np.array_equal(np.unique(level.of_entity), np.arange(len(level.parent)))
        assert np.bincount(level.parent).max() <= 30


def test_questions_about_a_topic_lead_to_its_branch_and_leave_others_unrated(folder: Path) -> None:
    kb_dir = communities_kb(folder, SIZE)
    asked = global_questions(kb_dir)
    assert len(asked) > 300
    with KnowledgeBase.open(kb_dir) as kb:
        found = [kb.searcher().global_search(GlobalSearchInput(question=text)) for text in asked[:10]]
        for one in found:
            assert 0 < one.descended < one.rated <= 64 < one.communities
            for point in one.items:
                assert kb.document(point.doc_uri).text[point.start_char : point.end_char] == point.quote
        assert sum(bool(one.items) for one in found) >= 5


def test_the_same_size_gives_the_same_hierarchy(folder: Path, tmp_path: Path) -> None:
    again = communities_kb(tmp_path, SIZE)
    one, other = communities_kb(folder, SIZE), again
    assert global_questions(one) == global_questions(other)
    with KnowledgeBase.open(one) as first, KnowledgeBase.open(other) as second:
        tables = [kb.searcher().index.snapshot.table("communities") for kb in (first, second)]
    assert tables[0].equals(tables[1])


def test_the_table_has_every_stage_and_count(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = measure(folder, SIZE, 6)
    assert row["ms"].keys() > {*STAGES, SCOPED}
    stages = sum(row["ms"][name]["p50"] for name in STAGES)
    assert stages > 0.3 * row["ms"]["global_search"]["p50"]
    assert row["per_question"].keys() > set(COUNTS[1:])
    print_tables([row | {"to_first": 1.0}])
    shown = capsys.readouterr().out
    for name in (*STAGES, *COUNTS[1:], "to a product of all community vectors", "own MB", SCOPED, "first in a scope"):
        assert name in shown
