"""How questions are answered, on the handbook and on small corpora."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphctx.errors import BackendUnavailable
from graphctx.knowledge_base import KnowledgeBase
from graphctx.retrieve.arrays import Rows, top_rows
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import parse_question
from graphctx.retrieve.scope import moment
from graphctx.retrieve.stages import FIRST_STAGES

Make = Callable[..., KnowledgeBase]

ASK = """
import sys
from graphctx.errors import BackendUnavailable
from graphctx.knowledge_base import KnowledgeBase
with KnowledgeBase.open(sys.argv[1]) as kb:
    for question in sys.argv[2:]:
        print(kb.retrieve_evidence(question, include_diagnostics=True).model_dump_json())
        print(kb.search(question, top_k=20, max_per_doc=3, include_scores=True).model_dump_json())
        print(kb.global_search(question, include_diagnostics=True).model_dump_json())
"""


def bare(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def test_the_same_question_gives_the_same_bytes_in_every_process(
    handbook_path: Path, golden: list[dict[str, Any]], python: Callable[..., str]
) -> None:
    questions = [item["question"] for item in golden[::6]]
    first = python(ASK, handbook_path, *questions, PYTHONHASHSEED="1")
    second = python(ASK, handbook_path, *questions, PYTHONHASHSEED="2", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    assert first == second
    with KnowledgeBase.open(handbook_path) as kb:
        asked = [kb.retrieve_evidence(question, include_diagnostics=True).model_dump_json() for question in questions]
        again = [
            kb.retrieve_evidence(question, include_diagnostics=True).model_dump_json()
            for question in reversed(questions)
        ]
    assert asked == first.splitlines()[::3]
    assert asked == again[::-1]


def test_a_search_by_vector_alone_never_walks_the_graph(
    handbook_kb: KnowledgeBase, golden: list[dict[str, Any]]
) -> None:
    sources = set()
    for item in golden[:20]:
        found = handbook_kb.search(item["question"], top_k=20, mode="vector_only")
        assert {result.source for result in found.results} == {"vector"}
        scores = [result.score for result in found.results]
        assert scores == sorted(scores, reverse=True)
        answer = handbook_kb.retrieve_evidence(item["question"], mode="vector_only", include_diagnostics=True)
        assert answer.diagnostics.mode == "vector_only"
        assert answer.diagnostics.stages is not None
        assert answer.diagnostics.stages["definition_edges"] == answer.diagnostics.stages["bridge_edges"] == 0
        sources |= {result.source for result in handbook_kb.search(item["question"], top_k=20).results}
    assert sources <= {"hybrid", "graph_expanded"}


def test_scores_never_rise_down_the_ranking(handbook_kb: KnowledgeBase, golden: list[dict[str, Any]]) -> None:
    for item in golden:
        scores = [result.score for result in handbook_kb.search(item["question"], top_k=20, max_per_doc=5).results]
        assert scores == sorted(scores, reverse=True)


def test_both_first_stages_find_the_same_units(lancedb_kb: KnowledgeBase, golden: list[dict[str, Any]]) -> None:
    whole: SearchIndex = lancedb_kb.searcher().index  # the engine is a setting of a whole knowledge base
    for index in (whole, whole.part(np.isin(np.arange(whole.documents.num_rows), [3, 7, 11]))):
        for item in golden[::3]:
            question = parse_question(item["question"], index)
            here, there = (FIRST_STAGES[name](index, question, 10) for name in ("arrays", "lancedb"))
            assert here.nearest.tolist() == there.nearest.tolist()
            assert here.lexical.tolist() == there.lexical.tolist()
            assert here.bm25_max == there.bm25_max
            assert here.scorer.bm25(index.visible_rows).tobytes() == there.scorer.bm25(index.visible_rows).tobytes()
            assert np.isin(there.rows, index.visible_rows).all()


def test_a_knowledge_base_can_be_searched_by_lancedb_from_the_next_ingest_on(
    make_kb: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    files = {
        f"{name}.md": f"# {name.title()} Gate\n\nThe {name} gate opens at noon.\n"
        for name in ("north", "south", "east")
    }
    kb = make_kb(files)
    by_arrays = [
        kb.search(f"When does the {name} gate open?").results[0].doc_uri for name in ("north", "south", "east")
    ]
    monkeypatch.setenv("GRAPHCTX_RETRIEVE__FIRST_STAGE", "lancedb")
    with KnowledgeBase.open(kb.path) as other:
        with pytest.raises(BackendUnavailable, match="Run `graphctx ingest` again"):
            other.search("When does the north gate open?")
        other.ingest(tmp_path / "kb-docs")
        found = [
            other.search(f"When does the {name} gate open?").results[0].doc_uri for name in ("north", "south", "east")
        ]
    assert found == by_arrays == ["north.md", "south.md", "east.md"]


def test_the_walk_reaches_what_neither_words_nor_meaning_do(make_kb: Make) -> None:
    filler = {
        f"notes/{i:02}.md": f"# Note {i}\n\nWho leads the crew of boat number {i}? A captain leads the crew of boat {i}.\n"
        for i in range(30)
    }
    files = {
        "kestrel.md": "# Kestrel\n\nThe crew of the Kestrel is led by Orla Venn.\n",
        "people/venn.md": "# Orla Venn\n\nOrla Venn was born in Tarrow, a village of slate and rain.\n",
        **filler,
    }
    kb = make_kb(files)
    found = kb.search("Where was the person born who leads the crew of the Kestrel?", top_k=3)
    assert [result.doc_uri for result in found.results][:2] == ["kestrel.md", "people/venn.md"]


def test_names_in_a_question_are_looked_up(handbook_kb: KnowledgeBase) -> None:
    index = handbook_kb.searcher().index

    def named(text: str) -> Rows:
        return parse_question(text, index).entities

    assert len(named("What does Maren Halloran do?")) == 1
    assert len(named("what is it")) == 0
    assert len(named("")) == 0
    for text in ("Maren Halloran", "maren halloran", "MAREN HALLORAN’s"):
        assert named(f"Is {text} here?").tolist() == named("Maren Halloran").tolist()


def test_the_best_rows_are_the_largest_with_ties_by_row() -> None:
    scores = np.array([0.5, 0.9, 0.5, 0.1, 0.9], dtype=np.float32)
    assert top_rows(scores, 3).tolist() == [1, 4, 0]
    assert top_rows(scores, 10).tolist() == [1, 4, 0, 2, 3]
    assert top_rows(scores, 2, np.array([True, False, True, True, False])).tolist() == [0, 2]
    assert top_rows(scores, 2, np.zeros(5, dtype=bool)).tolist() == []


def test_moments_without_a_zone_are_utc() -> None:
    assert moment("2025-01-02") == moment("2025-01-02T00:00:00+00:00") == moment("2025-01-02T01:00:00+01:00")
