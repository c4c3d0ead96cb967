from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from eval.bench_query import STAGES, measure
from eval.stopwatch import Stopwatch
from eval.synthetic_index import questions, synthetic_kb
from graphctx import KnowledgeBase
from graphctx.retrieve import selection, sentences

UNITS = 300


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synthetic_kb(tmp_path_factory.mktemp("bench"), UNITS)


def test_made_up_documents_are_quoted_exactly_and_the_walk_leaves_its_seeds(made: Path) -> None:
    asked = questions(made)[:20]
    assert len(set(asked)) == 20
    with KnowledgeBase.open(made) as kb:
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


def test_the_same_size_gives_the_same_corpus(made: Path, tmp_path: Path) -> None:
    again = synthetic_kb(tmp_path, UNITS)
    assert questions(again) == questions(made)
    with KnowledgeBase.open(made) as one, KnowledgeBase.open(again) as two:
        assert one.snapshot_id == two.snapshot_id
        for question in questions(made)[:5]:
            assert one.retrieve_evidence(question) == two.retrieve_evidence(question)


def test_a_stopwatch_gives_each_stage_its_own_time_and_leaves_no_trace(made: Path) -> None:
    before = selection.sentence_pool
    ticks = itertools.count()  # the clock goes on by one each time that it is read
    watch = Stopwatch(STAGES, clock=lambda: float(next(ticks)))
    with KnowledgeBase.open(made) as kb, watch.installed():
        assert selection.sentence_pool is sentences.sentence_pool is not before
        kb.retrieve_evidence(questions(made)[0])
    assert selection.sentence_pool is before
    taken = watch.take()
    assert list(taken) == list(STAGES)
    assert all(seconds > 0 for seconds in taken.values())
    assert sum(taken.values()) == next(ticks) - 1  # of the call as a whole, from its first reading to its last
    assert sum(watch.take().values()) == 0


def test_a_stage_without_its_function_is_an_error() -> None:
    with pytest.raises(AttributeError), Stopwatch({"gone": ["graphctx.retrieve.ranking:no_such_function"]}).installed():
        pass


def test_the_benchmark_measures_time_and_memory(made: Path) -> None:
    measured = measure(made.parent, UNITS, 3)
    assert measured["questions"] == 3
    assert measured["quotes_per_question"] > 1
    assert measured["to_bare"] > 0
    assert measured["to_bare_blas"] > 0
    assert set(STAGES) < set(measured["ms"])
