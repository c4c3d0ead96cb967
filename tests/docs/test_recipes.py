"""The recipes of CONTRIBUTING.md, done: a toy format, tool, first stage, reranker and graph engine."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, get_args

import pytest

from graphctx import KnowledgeBase
from graphctx.errors import InvalidArgument
from graphctx.ingest.read import registry
from graphctx.ingest.read.base import Outline, ReadFile, make_document
from graphctx.model.requests import Mode
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.stages import FIRST_STAGES, RERANKERS, Candidates
from graphctx.retrieve.stages.arrays_search import search_arrays
from graphctx.server.tools import TOOLSETS
from graphctx.store.graph import ENGINES
from graphctx.store.graph.base import GraphStore
from tests.contract.protocol import in_memory

from .headings_tool import HEADINGS

ROOT = Path(__file__).resolve().parents[2]


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


ADD_THE_TOOL = """
from graphctx.server import tools
from tests.docs.headings_tool import HEADINGS

tools.TOOLSETS["kb"] += (HEADINGS,)
tools.TOOLS = tuple(tool for toolset in tools.TOOLSETS.values() for tool in toolset)
"""


def test_a_tool_is_a_declaration_and_a_line(handbook_kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TOOLSETS, "kb", (*TOOLSETS["kb"], HEADINGS))
    uri = handbook_kb.search("Who approves a purchase?").results[0].doc_uri
    with in_memory(handbook_kb, toolsets=("kb",)) as caller:
        listed = caller.run(caller.client.list_tools).tools[-1]
        assert listed.name == "kb.headings"
        assert "Returns at most page_size headings (30)." in listed.description
        assert listed.description.endswith("Defaults: page_size 30. Max: page_size 100.")
        reply = caller.call("kb_headings", {"doc_uri": uri, "page_size": 1})
        assert reply.answer["headings"][0]["title"] in reply.text
        assert reply.answer["next_cursor"]


@pytest.mark.slow
def test_a_tool_is_held_to_the_contract_without_another_entry(tmp_path: Path) -> None:
    (tmp_path / "headings_plugin.py").write_text(ADD_THE_TOOL)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "headings_plugin", "-m", "not slow", "tests/contract"]
    held = subprocess.run(
        [
            *command,
            f"--basetemp={tmp_path / 'run'}",
            "-k",
            "(headings or test_isolation.py or test_republished.py or tool_of_the_contract) and not conformance",
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert held.returncode == 0, held.stdout[-5000:]


def test_a_reranker_is_a_function_and_a_line(handbook_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    file = recipe.split("```python\n")[1].split("```")[0]
    module: dict[str, Any] = {}
    exec(file, module)
    monkeypatch.setitem(RERANKERS, "heading", module["rerank_by_heading"])
    question = "Which words stand in the heading about rest after a night watch?"
    options: dict[str, Any] = {"top_k": 20, "max_per_doc": 5}
    for mode in get_args(Mode):
        found = {}
        for name in ("heading", "none"):
            monkeypatch.setenv("GRAPHCTX_RETRIEVE__RERANKER", name)
            with KnowledgeBase.open(handbook_path) as kb:
                found[name] = kb.search(question, mode=mode, **options).results
        reranked, plain = found["heading"], found["none"]
        assert [one.section_id for one in reranked] != [one.section_id for one in plain]
        assert [one.score for one in reranked] == sorted((one.score for one in reranked), reverse=True)
        assert "reranked" in {one.source for one in reranked}
        assert "reranked" not in {one.source for one in plain}


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
        assert snapshot.graph.counts()["TextUnit"] == 1
        assert kb.retrieve_evidence("When does the gate open?").quotes
