"""The tools of iterations on a real server, without a knowledge base: schemas, budgets, refusals, isolation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import anyio.from_thread
import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client

from graphctx.memory import FILE_NAME
from graphctx.server.app import build_server
from graphctx.server.config import ServerConfig
from graphctx.server.warmup import Warmup, open_kb
from graphctx.settings import MemorySettings
from tests.conftest import EFFORT

from .examples import offered
from .protocol import Caller, weight
from .spec_table import ERROR_CODES
from .strategies import NASTY, arguments_of

TOOLS = offered("iteration")
ERROR = "ModuleNotFoundError: No module named 'requests'. Solution: added to requirements.txt."
SIGNATURES = {
    "get_relevant_context": {"query": None, "max_items": 10, "context_types": None, "min_score": 0.3},
    "get_iteration_history": {"last_n": 5},
    "get_skills": {"tags": None, "min_score": 0.5},
    "store_context": {"content": None, "context_type": None, "tags": None, "metadata": None},
    "mark_useful": {"item_id": None, "helpful": None, "reason": None},
    "store_iteration_result": {
        **dict.fromkeys(("iteration", "summary", "success", "tool_calls", "artifacts", "error")),
        "duration_ms": 0,
        "tokens_used": 0,
        "cost": 0.0,
    },
    "summarize_old_context": {"older_than_iterations": 20},
    "prune_low_value_context": {"min_score": 0.3},
    "get_context_stats": {},
    "health_check": {},
}
"""The arguments of the design and their defaults."""

DELETING = {"prune_low_value_context"}
READING = {"get_relevant_context", "get_iteration_history", "get_skills", "get_context_stats", "health_check"}


@contextmanager
def served(folder: Path, era: str = "auto", memory: MemorySettings | None = None, hour: int = 0) -> Iterator[Caller]:
    """A client of a server of a memory, whose clock goes on by a second with each call."""
    made = ServerConfig(toolsets=("iteration",), memory=folder, memory_settings=memory or MemorySettings())
    seconds = count()
    server = build_server(
        Warmup(lambda: open_kb(str(folder / "none"), None, made)),
        made,
        lambda: datetime(2026, 1, 1, hour, tzinfo=UTC) + timedelta(seconds=next(seconds)),
    )
    with anyio.from_thread.start_blocking_portal() as portal:
        client = Client(server, mode=era, cache=None)
        with portal.wrap_async_context_manager(client):
            yield Caller(portal, client)


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    with served(tmp_path_factory.mktemp("memory")) as one:
        fill(one)
        yield one


def fill(caller: Caller) -> None:
    for arguments in (
        {"content": "Check that a file exists before it is opened.", "context_type": "skill", "tags": ["files"]},
        {"content": "long log " * 9000, "context_type": "output", "source": "tool"},
        *({"content": f"{text} requests", "context_type": "file", "metadata": {"t": text}} for text in NASTY if text),
    ):
        caller.call("store_context", arguments)
    result = {"iteration": 1, "summary": "Tried to deploy the shop.", "success": False, "error": ERROR}
    assert caller.call("store_iteration_result", result).answer["error_id"]


@pytest.fixture(scope="module")
def listed(caller: Caller) -> dict[str, Any]:
    return caller.tools()


def check(caller: Caller, listed: dict[str, Any], tool: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """Ask, and look at the answer from all sides; return it if there was one."""
    reply = caller.call(tool, arguments)
    tokens, size = weight(reply)
    if reply.is_error:
        assert reply.error["code"] in ERROR_CODES - {"INTERNAL_ERROR", "BACKEND_UNAVAILABLE"}, reply.error
        assert size <= 20_000
        return None
    jsonschema.Draft202012Validator(listed[tool]["outputSchema"]).validate(reply.answer)
    assert tokens <= reply.answer["budget"]["tokens"] <= 8_000
    assert size <= reply.answer["budget"]["bytes"] <= 30_000
    return reply.answer


def test_the_tools_have_the_arguments_and_defaults_of_the_design(listed: dict[str, Any]) -> None:
    assert set(listed) == set(SIGNATURES)
    for tool, arguments in SIGNATURES.items():
        properties = listed[tool]["inputSchema"]["properties"]
        assert {name: properties[name].get("default") for name in arguments} == arguments
        hints = listed[tool]["annotations"]
        assert hints["destructiveHint"] == (tool in DELETING)
        assert hints["readOnlyHint"] == (tool in READING)


def test_a_run_is_stored_found_marked_and_counted(caller: Caller, listed: dict[str, Any]) -> None:
    found = check(caller, listed, "get_relevant_context", {"query": "No module named requests", "max_items": 3})
    assert found is not None
    first = found["items"][0]
    assert (first["content"], first["content_type"], found["stage"]) == (ERROR, "error", "semantic")
    assert found["stats"]["total_candidates"] > 3
    marked = check(caller, listed, "mark_useful", {"item_id": first["id"], "helpful": True, "reason": "It was that."})
    assert marked is not None
    assert marked["usefulness_score"] == 0.6
    history = check(caller, listed, "get_iteration_history", {})
    assert history is not None
    assert (history["iterations"][0]["error"], history["total"]) == (ERROR, 1)
    for tool in ("get_skills", "get_context_stats", "health_check", "summarize_old_context"):
        assert check(caller, listed, tool, {}), tool
    assert check(caller, listed, "prune_low_value_context", {"min_score": 0.0}) is not None


def test_an_answer_goes_on_at_its_cursor(caller: Caller, listed: dict[str, Any]) -> None:
    asked: dict[str, Any] = {"query": "requests", "max_items": 50, "max_tokens": 900, "min_score": 0.0}
    whole: list[str] = []
    while True:
        answer = check(caller, listed, "get_relevant_context", asked)
        assert answer is not None
        whole += [item["id"] for item in answer["items"]]
        if not answer.get("next_cursor"):
            break
        asked["cursor"] = answer["next_cursor"]
    assert len(whole) == len(set(whole)) > 10


@pytest.mark.parametrize("tool", TOOLS)
@settings(max_examples=max(10, int(100 * EFFORT)), deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_whatever_is_asked_is_answered_or_refused(caller: Caller, data: st.DataObject, tool: str) -> None:
    listed = caller.tools()
    known = {"": st.sampled_from(["requests", "m_unknown", "2026-01-01"]), "session_id": st.just("x")}
    check(caller, listed, tool, data.draw(arguments_of(listed[tool]["inputSchema"], known)))


def test_bad_arguments_are_refused_by_name(caller: Caller) -> None:
    for tool, arguments, named in [
        ("store_context", {"content": " ", "context_type": "task"}, "content"),
        ("store_context", {"content": "x", "context_type": "rumour"}, "context_type"),
        ("mark_useful", {"item_id": "m_unknown", "helpful": True}, "m_unknown"),
        ("get_relevant_context", {"query": "x", "as_of": "yesterday"}, "as_of"),
        ("get_relevant_context", {"query": "x", "max_items": 51}, "max_items"),
        ("store_iteration_result", {"iteration": -1, "summary": "x", "success": True}, "iteration"),
    ]:
        error = caller.call(tool, arguments).error
        assert error["code"] == "INVALID_ARGUMENT"
        assert named in error["message"]
    assert caller.call("get_skills", {"scope": {"project_id": "another"}}).error["code"] == "SCOPE_VIOLATION"


def test_the_prompt_holds_the_block(tmp_path: Path) -> None:
    with served(tmp_path) as caller:
        caller.call("store_context", {"content": ERROR, "context_type": "error"})
        prompt = caller.run(caller.client.get_prompt, "run_iteration", {"task": "No module named {requests}"})
    text = prompt.messages[0].content.text
    assert "No module named {requests}" in text
    assert "## Relevant Context from Previous Iterations" in text
    assert f"### [ERROR]\n{ERROR}" in text


def test_what_is_of_a_session_stays_in_it(tmp_path: Path) -> None:
    with served(tmp_path, memory=MemorySettings.model_validate({"preset": "minimal"})) as caller:
        stored = {"content": "The gate shuts at four.", "context_type": "task", "session_id": "monday"}
        item = caller.call("store_context", stored).answer["item_id"]
        asked = {"query": "When does the gate shut?"}
        assert caller.call("get_relevant_context", {**asked, "session_id": "monday"}).answer["items"][0]["id"] == item
        for other in ({"session_id": "tuesday"}, {}):
            assert caller.call("get_relevant_context", {**asked, **other}).answer["items"] == []
            assert caller.call("mark_useful", {"item_id": item, "helpful": True, **other}).is_error


def test_a_damaged_store_degrades_reading_and_refuses_writing(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"This is not a database. " * 500)
    with served(tmp_path) as caller:
        found = caller.call("get_relevant_context", {"query": "anything"}).answer
        assert (found["stage"], found["items"]) == ("none", [])
        assert "repair" in found["degraded"]
        assert caller.call("health_check").answer["status"] == "unavailable"
        error = caller.call("store_context", {"content": "x", "context_type": "task"}).error
        assert error["code"] == "BACKEND_UNAVAILABLE"
