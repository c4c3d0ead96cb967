"""What owners of tokens may see and do of the memory, the layers and the reports on a shared server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest
from pydantic import SecretStr

from graphctx.eval.run import Measured
from graphctx.eval.saved_report import write_report
from graphctx.memory import Memory, MemoryDraft, MemoryScope, Moment
from graphctx.server.config import ServerConfig
from graphctx.server.http import http_app
from graphctx.server.warmup import Warmup, open_kb
from graphctx.ui import page_routes
from tests.memory.conftest import EMBEDDER, EXTRACTOR
from tests.server.listening import listening

from .stored import fill_layers

pytestmark = pytest.mark.anyio

TOKENS = {name: SecretStr(f"{name}-0123456789-abcdefgh") for name in ("ana", "ben")}
Ask = Callable[..., Awaitable[httpx2.Response]]


@pytest.fixture
async def ask(tmp_path: Path) -> AsyncIterator[Ask]:
    """Call an operation as the owner of a token; ``ana`` may write, and the documents have a boundary."""
    fill_layers(tmp_path / "layers")
    write_report(tmp_path / "reports" / "monday.json", Measured())
    with Memory(tmp_path / "memory", embedder=EMBEDDER, extractor=EXTRACTOR) as memory:
        for principal in TOKENS:
            there = MemoryScope(principal, "layers", "monday")
            memory.add([MemoryDraft("core", f"{principal} is here.")], there, Moment(datetime(2026, 1, 1, tzinfo=UTC)))
    config = ServerConfig(tokens=TOKENS, admins=("ana",), has_boundary=True)
    config = replace(config, layers=tmp_path / "layers", memory=tmp_path / "memory", toolsets=("core", "layers"))
    warmup = Warmup(lambda: open_kb(str(tmp_path / "none"), config.layers, config))
    app = http_app(warmup, config, pages=page_routes(tmp_path / "none", reports=tmp_path / "reports"))
    async with listening(app) as url, httpx2.AsyncClient(base_url=url.removesuffix("mcp"), timeout=60) as client:

        async def call(owner: str, name: str, **body: object) -> httpx2.Response:
            headers = {"Authorization": f"Bearer {TOKENS[owner].get_secret_value()}"}
            return await client.post(f"api/{name}", json=body, headers=headers)

        yield call


async def test_everybody_sees_their_own_memory(ask: Ask) -> None:
    for owner in TOKENS:
        items = (await ask(owner, "memory_items")).json()["items"]
        assert [item["text"] for item in items] == [f"{owner} is here."]
        (other,) = TOKENS.keys() - {owner}
        asked = await ask(other, "memory_item", id=items[0]["id"])
        assert asked.status_code == 400
        assert items[0]["text"] not in asked.text
        assert (await ask(other, "memory_items", ids=[items[0]["id"]])).json()["items"] == []
        assert (await ask(other, "memory_items", states=["nothing"])).status_code == 400


async def test_only_who_may_write_forgets_and_decides(ask: Ask) -> None:
    (own,) = (await ask("ben", "memory_items")).json()["items"]
    forgotten = await ask("ben", "tools/memory_forget", memory_id=own["id"], action="delete")
    assert forgotten.status_code == 403
    (proposal, _) = (await ask("ben", "layers_proposals")).json()["proposals"]
    decision = {"id": proposal["id"], "action": "reject", "digest": proposal["digest"]}
    assert (await ask("ben", "layers_decide", **decision)).status_code == 403
    assert (await ask("ana", "layers_decide", **decision)).json()["status"] == "rejected"


async def test_reports_are_hidden_by_a_boundary_but_from_who_may_write(ask: Ask) -> None:
    assert (await ask("ben", "evaluation_reports")).status_code == 403
    assert [one["name"] for one in (await ask("ana", "evaluation_reports")).json()["reports"]] == ["monday.json"]
