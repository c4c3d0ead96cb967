"""The page's routes over HTTP: whom they let in, and what they say of mistakes."""

from __future__ import annotations

from pathlib import Path

import anyio
import httpx2
import pytest

from graphctx.server.config import ServerConfig
from graphctx.server.http import http_app
from graphctx.server.warmup import Warmup, open_kb
from graphctx.ui import page_routes
from tests.server.listening import listening
from tests.ui.api import post


def test_a_tool_answers_as_over_mcp(handbook_url: str) -> None:
    answer = post(
        handbook_url,
        "tools/kb.retrieve_evidence",
        {"question": "How often does a freshly built data logger fail its cold test?"},
    ).json()
    assert any("logger" in quote["quote"] for quote in answer["quotes"])


@pytest.mark.parametrize("token", ["", "Bearer wrong-0123456789-wrong-0123", "Basic abc"])
@pytest.mark.parametrize("path", ["status", "tools/kb.search"])
def test_a_missing_or_wrong_token_shows_nothing(handbook_url: str, path: str, token: str) -> None:
    response = post(handbook_url, path, {"query": "ledger"}, Authorization=token)
    assert response.status_code == 401
    assert response.json()["error"]["code"] == "SCOPE_VIOLATION"


def test_another_site_is_refused(handbook_url: str) -> None:
    assert post(handbook_url, "status", {}, Origin="https://elsewhere.example").status_code == 403


def test_another_host_is_refused(handbook_url: str) -> None:
    assert post(handbook_url, "status", {}, Host="elsewhere.example").status_code == 421


@pytest.mark.parametrize(
    ("path", "body", "status", "message"),
    [
        ("status", [], 400, "not a JSON object"),
        ("status", {"colour": "red"}, 400, "colour"),
        ("tools/kb.nothing", {}, 400, "Unknown tool"),
        ("tools/kb.search", {"query": ""}, 400, "query"),
        ("nothing", {}, 404, "There is no POST /api/nothing"),
    ],
)
def test_a_mistake_gets_the_envelope_of_errors(
    handbook_url: str, path: str, body: object, status: int, message: str
) -> None:
    response = post(handbook_url, path, body)
    assert response.status_code == status
    assert message in response.json()["error"]["message"]


def test_json_that_is_nested_too_deep_is_a_mistake(handbook_url: str) -> None:
    base, _, token = handbook_url.partition("/#token=")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    response = httpx2.post(f"{base}/api/status", content="[" * 500_000, headers=headers, timeout=60)
    assert response.status_code == 400


def test_the_page_allows_nothing_from_elsewhere(handbook_url: str) -> None:
    response = httpx2.get(handbook_url, timeout=60)
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert "'unsafe" not in response.headers["content-security-policy"]


@pytest.mark.anyio
async def test_a_client_that_leaves_in_the_middle_of_its_request_is_no_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = ServerConfig()
    warmup = Warmup(lambda: open_kb(str(tmp_path / "none"), None, config))
    async with listening(http_app(warmup, config, pages=page_routes(tmp_path / "none"))) as url:
        host, port = httpx2.URL(url).host, httpx2.URL(url).port
        async with await anyio.connect_tcp(host, port or 80) as stream:
            head = f"POST /api/status HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
            await stream.send(f"{head}Content-Length: 100\r\n\r\n{{".encode())
        async with httpx2.AsyncClient(timeout=60) as client:  # by then the server has noticed
            assert (await client.post(f"http://{host}:{port}/api/status", json={})).json()["state"] == "empty"
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == []
