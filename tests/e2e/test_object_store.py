"""A knowledge base that is published on an S3 server, and what answers from there."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from mcp import Client

from eval.page_browser import served
from eval.s3_server import S3Server, s3_server
from tests.processes import COMMAND, environment, free_port, wait_until_listening
from tests.ui.api import called, post

from .house import answer_of, graphctx, succeeded

pytest.importorskip("obstore", reason="the extra object-store is not installed")

URL = "s3://library/lighthouse"
BORN = "Where was Ada Merriweather born?"
BOAT = "What is the boat of Gull Point called?"


@pytest.fixture
def server() -> Iterator[S3Server]:
    with s3_server("library") as running:
        yield running


async def quotes(port: int, question: str) -> str:
    async with Client(f"http://127.0.0.1:{port}/mcp", read_timeout_seconds=120) as client:
        result = await client.call_tool("kb_retrieve_evidence", {"question": question})
        return str(result.structured_content["quotes"])


@pytest.mark.slow
@pytest.mark.anyio
async def test_two_replicas_answer_and_take_up_the_next_publish(server: S3Server, own_kb: Path, tmp_path: Path) -> None:
    succeeded(graphctx("publish", "--kb", own_kb, "--to", URL, **server.environment))
    ports = [free_port(), free_port()]
    with ExitStack() as stack:
        processes = []
        for port in ports:
            serve = [*COMMAND, "serve", "--kb", URL, "--transport", "http", "--port", str(port)]
            settings = environment(
                **server.environment,
                GRAPHCTX_REPLICA__FOLDER=str(tmp_path / f"machine-{port}"),
                GRAPHCTX_REPLICA__POLL_SECONDS="0.2",
            )
            processes.append(
                stack.enter_context(subprocess.Popen(serve, env=settings, stderr=subprocess.PIPE, text=True))
            )
            stack.callback(processes[-1].terminate)
        for process in processes:
            wait_until_listening(process)
        for port in ports:
            assert "Thornby" in await quotes(port, BORN)
        (tmp_path / "boat.md").write_text("# The boat\n\nThe boat of Gull Point is called Kittiwake.\n")
        succeeded(graphctx("ingest", tmp_path / "boat.md", "--kb", own_kb))
        succeeded(graphctx("publish", "--kb", own_kb, "--to", URL, "--keep", 1, **server.environment))
        for port in ports:
            while "Kittiwake" not in await quotes(port, BOAT):  # the test's own time limit ends this
                assert "Thornby" in await quotes(port, BORN)


def test_a_job_publishes_to_the_address_that_it_names(server: S3Server, tmp_path: Path) -> None:
    (tmp_path / "boat.md").write_text("# The boat\n\nThe boat of Gull Point is called Kittiwake.\n")
    job = tmp_path / "job.toml"
    job.write_text(f'paths = ["boat.md"]\nkb = "kb"\npublish_to = "{URL}"\n')
    machine = {**server.environment, "GRAPHCTX_REPLICA__FOLDER": str(tmp_path / "copies")}
    succeeded(graphctx("ingest", "--pipeline", job, **machine))
    assert "Kittiwake" in str(answer_of("ask", BOAT, "--kb", URL, **machine)["quotes"])


@pytest.mark.slow
def test_a_published_knowledge_base_is_served_with_a_memory_and_shown_on_a_page_that_only_reads_it(
    server: S3Server, lighthouse_kb: Path, tmp_path: Path
) -> None:
    machine = {**server.environment, "GRAPHCTX_REPLICA__FOLDER": str(tmp_path / "copies")}
    succeeded(graphctx("publish", "--kb", lighthouse_kb, "--to", URL, **machine))
    code = f"""
from pathlib import Path
from graphctx.server.config import ServerConfig
from graphctx.server.warmup import open_kb
print(open_kb("{URL}", config=ServerConfig(memory=Path(r"{tmp_path / "memory"}"))).searcher().snapshot_id)
"""
    opened = subprocess.run(
        [sys.executable, "-c", code], env=environment(**machine), capture_output=True, text=True, check=True
    )
    assert opened.stdout.startswith("sn_")
    with served(Path(URL), "--memory", tmp_path / "memory", environment=machine) as page:
        assert called(page, "status")["snapshot_id"] == opened.stdout.strip()
        assert called(page, "ingest_options")["replica_of"] == URL
        refused = post(page, "ingest", {"paths": [str(tmp_path)]})
        assert f"{URL} is only read here" in refused.json()["error"]["message"]


def test_commands_read_a_published_knowledge_base_and_do_not_write_it(
    server: S3Server, lighthouse_kb: Path, tmp_path: Path
) -> None:
    machine = {**server.environment, "GRAPHCTX_REPLICA__FOLDER": str(tmp_path / "copies")}
    sent = answer_of("publish", "--kb", lighthouse_kb, "--to", URL, **machine)
    assert sent["uploaded"] == sent["files"]
    (listed,) = answer_of("snapshots", "list", "--kb", URL, **machine)["snapshots"]
    assert listed["id"] == sent["snapshot_id"]
    assert "Thornby" in str(answer_of("ask", BORN, "--kb", URL, **machine)["quotes"])
    status = answer_of("status", "--kb", f"{URL}/", **machine)
    assert status["snapshot_id"] == sent["snapshot_id"]
    assert status["notes"] == [f"This is a copy of {URL}."]
    (damaged,) = (tmp_path / "copies").glob("*/snapshots/*/walk.npz")
    damaged.write_bytes(b"x")
    assert "Thornby" in str(answer_of("ask", BORN, "--kb", URL, **machine)["quotes"])
    refused = graphctx("ingest", lighthouse_kb.parent / "documents", "--kb", URL, **machine)
    assert refused.returncode == 1
    assert f"{URL} cannot be changed from here" in refused.stderr
    configured = graphctx("mcp-config", "claude-code", "--kb", URL, **machine)
    assert f"--kb {URL}" in succeeded(configured)
    shutil.rmtree(tmp_path / "copies")
    server.process.kill()
    unreachable = graphctx("ask", BORN, "--kb", URL, **machine)
    assert unreachable.returncode == 1
    assert f"{URL} cannot be used" in unreachable.stderr
