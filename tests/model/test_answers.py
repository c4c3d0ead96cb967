from __future__ import annotations

import subprocess
import sys

from graphctx.model.answers import ListAnswer, SearchResult
from graphctx.model.budgets import Limits
from graphctx.model.requests import Scope


def test_fields_that_were_not_asked_for_are_not_sent() -> None:
    result = SearchResult(
        section_id="u_1",
        doc_uri="a.md",
        doc_id="d_1",
        title="A",
        rank=1,
        score=0.5,
        source="vector",
        preview="x",
        start_char=0,
        end_char=1,
        line=1,
        size_bytes=1,
    )
    sent = result.model_dump(mode="json")
    assert "scores" not in sent
    assert "debug" not in sent
    assert sent["anchor"] is None
    assert "scores" in result.model_copy(update={"scores": {"bm25": 1.0}}).model_dump()


def test_a_scope_is_reported_by_what_narrows_it() -> None:
    budget = Limits().placeholder()
    told = {}
    for scope in (Scope(project_id="p", environment="dev"), Scope(project_id="p", doc_tags=["ops"])):
        answer = ListAnswer(partial=False, truncated=False, limit_reason="none", scope=scope, budget=budget)
        told = answer.model_dump(mode="json")["scope"]
        assert "repositories" not in told
        assert ListAnswer.model_validate(answer.model_dump(mode="json")) == answer
    assert told == {"project_id": "p", "doc_tags": ["ops"]}


def test_the_models_import_nothing_heavy() -> None:
    code = (
        "import sys, graphctx.model.answers, graphctx.model.arguments, graphctx.model.budgets, graphctx.model.cursors;"
        "print([m for m in ('mcp', 'numpy', 'pyarrow', 'lancedb', 'spacy') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
