"""The benchmarks: their made-up corpora are what they claim, and their tables are of the real path."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from eval import bench_global, bench_query
from eval.benchmarks import Stopwatch
from eval.synthetic_communities import communities_kb, global_questions, hierarchy
from eval.synthetic_index import questions, synthetic_kb
from graphctx import KnowledgeBase
from graphctx.model.requests import Filters, GlobalSearchInput
from graphctx.retrieve import selection, sentences

SIZE = 300


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bench")
    communities_kb(folder, SIZE)  # which takes its units from `synthetic_kb`
    return folder


def test_made_up_documents_are_quoted_exactly_and_the_walk_leaves_its_seeds(folder: Path) -> None:
    asked = questions(synthetic_kb(folder, SIZE))[:20]
    assert len(set(asked)) == 20
    with KnowledgeBase.open(synthetic_kb(folder, SIZE)) as kb:
        n_quoted = 0
        for question in asked:
            answer = kb.retrieve_evidence(question, include_diagnostics=True)
            assert answer.quotes or answer.empty_reason == "no_evidence"  # made-up vectors may lie far apart
            n_quoted += bool(answer.quotes)
            for quote in answer.quotes:
                assert kb.document(quote.doc_uri).text[quote.start_char : quote.end_char] == quote.quote
            assert answer.diagnostics is not None
            assert answer.diagnostics.stages is not None
            assert int(answer.diagnostics.stages["question_entities"]) >= 2
        assert n_quoted >= 10
        assert int(answer.diagnostics.stages["entity_edges"]) > 0


def test_a_stopwatch_takes_each_stages_own_time_and_is_removed_without_a_trace(folder: Path) -> None:
    before = selection.sentence_pool
    ticks = itertools.count()  # the clock goes on by one each time that it is read
    watch = Stopwatch(bench_query.STAGES, clock=lambda: float(next(ticks)))
    with KnowledgeBase.open(synthetic_kb(folder, SIZE)) as kb, watch.installed():
        assert selection.sentence_pool is sentences.sentence_pool is not before
        kb.retrieve_evidence(questions(kb.path)[0])
    assert selection.sentence_pool is before
    taken = watch.take()
    assert list(taken) == list(bench_query.STAGES)
    assert all(value > 0 for value in taken.values())
    assert sum(taken.values()) == next(ticks) - 1  # of the call as a whole, from its first reading to its last
    with pytest.raises(AttributeError), Stopwatch({"gone": ["graphctx.retrieve.ranking:no_such_function"]}).installed():
        pass


def test_the_benchmark_of_questions_measures_time_and_memory(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured = bench_query.measure(folder, SIZE, 3)
    assert measured["quotes_per_question"] > 1
    assert measured["to_bare"] > 0
    bench_query.print_tables([measured])
    shown = capsys.readouterr().out
    for name in (*bench_query.STAGES, "retrieve_evidence to bare", "own MB", "3 questions"):
        assert name in shown


@pytest.mark.parametrize("count", [300, 10_000, 100_000])
def test_every_part_lies_inside_its_parent_and_there_are_as_many_as_wanted(count: int) -> None:
    levels = hierarchy(4 * count, min(400, 1 + count // 25), count)
    assert len(levels) == (3 if count == 100_000 else 2)
    assert 0.9 * count < sum(len(level.parent) for level in levels) <= 1.1 * count
    for above, level in itertools.pairwise(levels):
        assert np.array_equal(level.parent[level.of_entity], above.of_entity)
        assert np.array_equal(np.unique(level.of_entity), np.arange(len(level.parent)))
        assert np.bincount(level.parent).max() <= 30


def test_questions_about_a_topic_lead_to_its_branch_and_leave_others_unrated(folder: Path) -> None:
    asked = global_questions(communities_kb(folder, SIZE))
    assert len(asked) > 300
    with KnowledgeBase.open(communities_kb(folder, SIZE)) as kb:
        found = [kb.searcher().global_search(GlobalSearchInput(question=text)) for text in asked[:10]]
        for one in found:
            assert 0 < one.descended < one.rated <= 64 < one.communities
            for point in one.items:
                assert kb.document(point.doc_uri).text[point.start_char : point.end_char] == point.quote
        assert sum(bool(one.items) for one in found) >= 5
        part = GlobalSearchInput(question=asked[0], filters=Filters(path_prefix="notes/000000"))
        assert all(point.doc_uri.startswith("notes/000000") for point in kb.searcher().global_search(part).items)


@pytest.mark.slow
def test_the_benchmark_of_global_search_shows_every_stage_and_count(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = bench_global.measure(folder, SIZE, 6)
    stages = sum(row["ms"][name]["p50"] for name in bench_global.STAGES)
    assert stages > 0.3 * row["ms"]["global_search"]["p50"]
    bench_global.print_tables([row])
    shown = capsys.readouterr().out
    counts = bench_global.COUNTS[1:]
    for name in (*bench_global.STAGES, *counts, "to a product of all community vectors", "own MB", bench_global.SCOPED):
        assert name in shown
