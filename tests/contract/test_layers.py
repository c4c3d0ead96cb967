"""The tools of the layers under the rules that hold for every tool: schemas, budgets, refusals, spans."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphctx.knowledge_base import KnowledgeBase
from graphctx.layers import FILES, LayerFile
from tests.conftest import EFFORT
from tests.layers.world import content, note, stack

from .examples import LAYERS, Examples
from .protocol import Caller, in_memory, weight
from .spec_table import ERROR_CODES
from .strategies import NASTY, arguments_of
from .truth import Truth, nodes

each_tool = pytest.mark.parametrize("tool", LAYERS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Layers that hold what has broken servers, and a chunk 3 to propose."""
    made = tmp_path_factory.mktemp("layers") / "repository"
    odd = [note(10 + n, text, kind=text or "note") for n, text in enumerate(NASTY) if text.isprintable() and text]
    stack(
        made,
        base=content(note(1, "The tide gate shuts at three."), note(2, "tide gate " * 9000)),
        delta=content(note(3, "The tide gate shuts at four.", sources=("docs/gate.md:4",) * 100), *odd),
    )
    return made


@pytest.fixture(scope="module")
def layered(nasty_path: Path, folder: Path) -> Iterator[tuple[Caller, Path]]:
    """A client of a server with layers, and their folder."""
    with (
        KnowledgeBase.open(nasty_path, layers=folder) as kb,
        in_memory(kb, toolsets=("kb", "layers"), layers=folder) as caller,
    ):
        yield caller, folder


def check(caller: Caller, folder: Path, schema: dict[str, Any], tool: str, arguments: dict[str, Any]) -> bool:
    """Ask, and look at the answer from all sides; whether there was one."""
    untouched = (folder / FILES["base"]).read_bytes()
    reply = caller.call(tool, arguments)
    assert (folder / FILES["base"]).read_bytes() == untouched
    assert not (folder / FILES["user"]).exists()
    tokens, size = weight(reply)
    if reply.is_error:
        assert reply.error["code"] in ERROR_CODES - {"INTERNAL_ERROR", "BACKEND_UNAVAILABLE"}, reply.error
        assert size <= 20_000
        return False
    jsonschema.Draft202012Validator(schema).validate(reply.answer)
    assert tokens <= reply.answer["budget"]["tokens"] <= 8_000
    assert size <= reply.answer["budget"]["bytes"] <= 30_000
    for chunk in reply.answer.get("chunks", ()):
        with LayerFile.open(folder / FILES[chunk["layer"]]) as file:
            whole = file.content(file.record_of(chunk["id"]))
        assert whole[chunk["start_char"] : chunk["end_char"]] == chunk["content"]
        assert chunk["content_chars"] == len(whole)
    for node in nodes(reply.answer):
        assert node.get("doc_uri", "") in reply.text
    return True


@each_tool
def test_an_answer_keeps_its_schema_its_budget_and_its_text(
    layered: tuple[Caller, Path], truth: Truth, tool: str
) -> None:
    caller, folder = layered
    schema = caller.tools()[tool]["outputSchema"]
    assert check(caller, folder, schema, tool, Examples.gathered(caller, truth).plain[tool])


@each_tool
@settings(max_examples=max(10, int(100 * EFFORT)), deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_whatever_is_asked_is_answered_or_refused(layered: tuple[Caller, Path], data: st.DataObject, tool: str) -> None:
    caller, folder = layered
    listed = caller.tools()[tool]
    known = {
        "": st.sampled_from(["The tide gate shuts at four.", "tide", "docs/a.md:12", "3"]),
        "kind": st.sampled_from(["note", "tombstone", "meta.proposal_event"]),
        "session_id": st.just("x"),
    }
    asked = data.draw(arguments_of(listed["inputSchema"], known))
    asked.pop("session_id", None)
    check(caller, folder, listed["outputSchema"], tool, asked)


@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_any_text_is_kept_and_found_or_refused(layered: tuple[Caller, Path], text: str) -> None:
    caller, folder = layered
    schemas = {name: tool["outputSchema"] for name, tool in caller.tools().items()}
    written = {"content": f"{text} bell", "kind": f"k{text}", "confidence": 0.5, "scope": "local"}
    if check(caller, folder, schemas["agents_context_write"], "agents_context_write", written):
        assert check(caller, folder, schemas["agents_search"], "agents_search", {"query": f"{text} bell", "k": 3})
