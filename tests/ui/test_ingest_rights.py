"""Who may see and change documents on the page: tokens, and the boundary of the settings."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from graphctx.ingest.kept_reports import keep_report
from graphctx.ingest.report import IngestReport, SkippedFile
from graphctx.server.config import ServerConfig
from graphctx.server.http import HttpConfig, http_app
from graphctx.server.warmup import Warmup, open_kb
from graphctx.ui import page_routes

pytestmark = pytest.mark.anyio

TOKENS = {name: SecretStr(f"{name}-0123456789-abcdefgh") for name in ("ana", "ben")}


@asynccontextmanager
async def page_of(kb: Path, owner: str) -> AsyncIterator[httpx2.AsyncClient]:
    """Serve the page in this process and yield a client with an owner's token; Ana is an admin."""
    config = ServerConfig(tokens=TOKENS, admins=("ana",))
    app = http_app(Warmup(lambda: open_kb(str(kb))), config, pages=page_routes(kb))
    headers = {"Authorization": f"Bearer {TOKENS[owner].get_secret_value()}"}
    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765", headers=headers) as client:
        yield client


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("ingest_options", {}),
        ("ingest", {"uploads": True}),
        ("remove", {"documents": ["index.md"]}),
        ("delete_upload", {"uri": "a.md"}),
        ("job", {}),
        ("cancel_job", {}),
        ("snapshots", {}),
        ("snapshot_difference", {"before": "sn_a", "after": "sn_b"}),
        ("rollback", {"snapshot_id": "sn_a"}),
        ("upload?path=a.md&size=2", {}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_reader_changes_nothing(handbook_path: Path, path: str, body: dict[str, Any]) -> None:
    async with page_of(handbook_path, "ben") as client:
        response = await client.post(f"/api/{path}", json=body)
    assert response.status_code == 403
    assert "admins" in response.json()["error"]["message"]
    assert not (handbook_path / "uploads").exists()


@pytest.mark.parametrize(
    ("http", "may_write"),
    [
        (HttpConfig(), True),
        (HttpConfig(allowed_hosts=["kb.example.org"]), False),
        (HttpConfig(allowed_origins=["https://notes.example.org"]), False),
        (HttpConfig(host="0.0.0.0", allowed_hosts=["127.0.0.1:8765"], allow_anonymous=True), False),
    ],
    ids=["this machine", "a proxy in front", "pages of another site", "everybody"],
)
async def test_without_tokens_only_a_page_of_this_machine_may_write(
    handbook_path: Path, http: HttpConfig, may_write: bool
) -> None:
    app = http_app(Warmup(lambda: open_kb(str(handbook_path))), None, http, page_routes(handbook_path))
    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as client:
        assert (await client.post("/api/status", json={})).json()["may_write"] == may_write
        assert (await client.post("/api/job", json={})).status_code == (200 if may_write else 403)


async def test_the_boundary_holds_for_lists_differences_examples_and_removals(
    handbook_path: Path, handbook_report: IngestReport, tmp_path: Path
) -> None:
    kb = Path(shutil.copytree(handbook_path, tmp_path / "kb"))
    with (kb / "kb.toml").open("a") as file:
        file.write('\n[server]\ndoc_tags = ["incident"]\n')
    skipped = [SkippedFile(uri="secret/plan.pdf", reason="it is damaged")]
    keep_report(kb, [tmp_path / "docs"], handbook_report.model_copy(update={"skipped": skipped}))
    snapshot = handbook_report.snapshot_id
    async with page_of(kb, "ana") as client:

        async def post(path: str, **body: Any) -> httpx2.Response:
            return await client.post(f"/api/{path}", json=body)

        listed = (await post("documents")).json()
        assert 0 < listed["total"] == len(listed["documents"]) < handbook_report.documents
        assert all("incident" in document["tags"] for document in listed["documents"])
        assert (await post("skipped")).json()["total"] == 0 == listed["skipped"]
        examples = (await post("examples")).json()
        assert examples["documents"] == listed["total"]
        assert examples == (await post("examples")).json()
        same = (await post("snapshot_difference", before=snapshot, after=snapshot)).json()
        assert [kind["total"] for kind in same.values()] == [0, 0, 0]
        outside = await post("remove", documents=["decisions/dec-017-gannet.md"])
        assert "There is no document" in outside.json()["error"]["message"]
        wider = await post("documents", scope={"doc_tags": ["decision"]})
        assert wider.status_code == 403
