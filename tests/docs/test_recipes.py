"""The recipes of CONTRIBUTING.md, done: a toy format, a toy first stage, a toy reranker and a toy graph engine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from pydantic import Field

from graphctx import KnowledgeBase
from graphctx.errors import InvalidArgument
from graphctx.ingest.read import registry
from graphctx.ingest.read.base import Outline, ReadFile, make_document
from graphctx.model.answers import ListAnswer
from graphctx.model.requests import NodeRef, PagedInput
from graphctx.model.results import Results
from graphctx.retrieve.arrays import Rows, Scores
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.stages import FIRST_STAGES, RERANKERS, Candidates
from graphctx.retrieve.stages.exact import search_arrays
from graphctx.server.call_context import CallContext
from graphctx.server.render import one_line
from graphctx.server.tool import Description, Reply, Tool
from graphctx.server.tools import TOOLSETS
from graphctx.store.graph import ENGINES
from graphctx.store.graph.base import GraphStore
from tests.contract.protocol import in_memory


class ShoutReader:
    """Reads text that is written in capitals."""

    media_types: ClassVar[Mapping[str, str]] = {".shout": "text/x-shout"}
    version: ClassVar[int] = 1

    def read(self, data: bytes, uri: str) -> ReadFile:
        return ReadFile((make_document(uri, "text/x-shout", data.decode().capitalize(), Outline()),))


def test_a_file_format_is_a_reader_and_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "READERS", [*registry.READERS, ShoutReader()])
    reader = registry.reader_for("gate.shout")
    assert reader is not None
    assert reader.read(b"THE GATE OPENS AT NOON.", "gate.shout").documents[0].text == "The gate opens at noon."
    assert ".shout" in registry.readers()


class HeadingsInput(PagedInput):
    """Arguments of kb.headings."""

    doc_uri: NodeRef = Field(description="A document by its URI or id.")
    page_size: int = Field(30, ge=1, le=100, description="How many headings per call.")


class HeadingsAnswer(ListAnswer):
    """Output of kb.headings."""

    headings: list[str]


def headings(context: CallContext, asked: HeadingsInput) -> Reply[HeadingsAnswer]:
    request = asked.model_copy(update={"scope": context.scope(asked.scope)})
    document = context.searcher.catalog.document(request.doc_uri, request.scope)
    found = Results(
        items=[entry.title for entry in document.outline if entry.title], snapshot_id=context.searcher.snapshot_id
    )
    page = context.pager.page(
        request,
        found,
        lambda part: HeadingsAnswer(headings=part.items, **part.fields),
        lambda answer: "\n".join(map(one_line, answer.headings)),
    )
    return Reply(*page)


HEADINGS = Tool(
    name="kb.headings",
    toolset="kb",
    title="List headings",
    description=Description(
        use_when="you want the headings of a document.",
        not_when="you look for something in it: kb.search finds it.",
        returns="page_size headings ({page_size}).",
        follow_up="repeat the call with next_cursor.",
    ),
    input=HeadingsInput,
    output=HeadingsAnswer,
    run=headings,
)


def test_a_tool_is_a_declaration_and_a_line(handbook_kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TOOLSETS, "kb", (*TOOLSETS["kb"], HEADINGS))
    uri = handbook_kb.search("Who approves a purchase?").results[0].doc_uri
    with in_memory(handbook_kb, toolsets=("kb",)) as caller:
        listed = caller.run(caller.client.list_tools).tools[-1]
        assert listed.name == "kb.headings"
        assert "Returns at most page_size headings (30)." in listed.description
        assert listed.description.endswith("Defaults: page_size 30. Max: page_size 100.")
        reply = caller.call("kb_headings", {"doc_uri": uri, "page_size": 1})
        assert reply.answer["headings"] == [reply.text]
        assert reply.answer["next_cursor"]
        refused = caller.call("kb_headings", {"doc_uri": uri, "page_size": 0})
        assert "page_size = 0: must be a whole number from 1 to 100" in refused.error["message"]


def rerank_by_heading(index: SearchIndex, question: Question, rows: Rows, scores: Scores) -> Scores:
    words = set(question.text.casefold().split())
    bonus = [0.1 * bool(words & set(index.unit(int(row)).heading.casefold().split())) for row in rows]
    return scores + np.array(bonus, dtype=np.float32)


def test_a_reranker_is_a_function_and_a_line(handbook_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RERANKERS, "heading", rerank_by_heading)
    monkeypatch.setenv("GRAPHCTX_RETRIEVE__RERANKER", "heading")
    question = "Which words stand in the heading about rest after a night watch?"
    with KnowledgeBase.open(handbook_path) as kb:
        reranked = kb.search(question, top_k=20, max_per_doc=5).results
    monkeypatch.setenv("GRAPHCTX_RETRIEVE__RERANKER", "none")
    with KnowledgeBase.open(handbook_path) as kb:
        plain = kb.search(question, top_k=20, max_per_doc=5).results
    assert [one.section_id for one in reranked] != [one.section_id for one in plain]
    assert [one.score for one in reranked] == sorted((one.score for one in reranked), reverse=True)


def test_a_first_stage_is_a_function_and_a_line(handbook_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def counted(index: SearchIndex, question: Question, k: int) -> Candidates:
        asked.append(k)
        return search_arrays(index, question, k)

    monkeypatch.setitem(FIRST_STAGES, "counted", counted)
    monkeypatch.setenv("GRAPHCTX_RETRIEVE__FIRST_STAGE", "counted")
    with KnowledgeBase.open(handbook_path) as kb:
        assert kb.search("Who approves a purchase?").results
        assert asked == [kb.settings.retrieve.candidates]


def test_a_stage_that_is_not_registered_is_refused_with_those_that_are(
    handbook_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHCTX_RETRIEVE__RERANKER", "best")
    with KnowledgeBase.open(handbook_path) as kb, pytest.raises(InvalidArgument, match="Use one of: none"):
        kb.search("Who?")


TOY_ENGINE = '''
import json

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.store.graph.base import QueryResult
from graphctx.store.graph.schema import NODE_TABLES, REL_TABLES, node_rows, relation_rows


class JsonStore:
    """Keeps the graph as JSON and answers ``MATCH (n:LABEL) RETURN n.PROPERTY``."""

    def __init__(self, path):
        self._path = path

    @classmethod
    def version(cls):
        return "1"

    def build(self, tables):
        if self._path.exists():
            raise InvalidArgument(f"{self._path.name} exists already.")
        rows = {**node_rows(tables), **relation_rows(tables)}
        self._path.write_text(json.dumps({label: table.to_pylist() for label, table in rows.items()}))
        return self.counts()

    def query(self, cypher, params=None, *, timeout_ms=None, max_rows=None):
        label, name = cypher.removeprefix("MATCH (n:").replace(") RETURN n.", " ").split()
        values = [(row[name],) for row in self._rows()[label]]
        return QueryResult((f"n.{name}",), values[:max_rows], max_rows is not None and len(values) > max_rows)

    def counts(self):
        return {table.label: len(self._rows()[table.label]) for table in (*NODE_TABLES, *REL_TABLES)}

    def close(self):
        pass

    def _rows(self):
        try:
            return json.loads(self._path.read_text())
        except OSError as error:
            raise BackendUnavailable(f"{self._path.name} is missing.") from error
'''


def test_a_graph_engine_is_a_class_and_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line is added here, and for the child process that builds the graph in its ``sitecustomize``."""
    (tmp_path / "toy_engine.py").write_text(TOY_ENGINE)
    line = "from graphctx.store.graph import ENGINES; ENGINES['json'] = 'toy_engine:JsonStore'\n"
    (tmp_path / "sitecustomize.py").write_text(line)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(ENGINES, "json", "toy_engine:JsonStore")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "gate.md").write_text("# The harbour gate\n\nThe gate of Averil Bay opens at noon.\n")
    with KnowledgeBase.open(tmp_path / "kb", create=True, engine="json") as kb:
        kb.ingest(tmp_path / "docs", processes=1)
        assert kb.cypher("MATCH (n:Document) RETURN n.uri").rows == [("gate.md",)]
        snapshot = kb.searcher().index.snapshot
        assert isinstance(snapshot.graph, GraphStore)
        assert snapshot.manifest.graph_counts["TextUnit"] == 1
        assert kb.retrieve_evidence("When does the gate open?").quotes
