"""Ingests, removals and snapshots on the page: real servers, and the knowledge base that they leave."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from playwright.sync_api import Page, expect

from eval.page_browser import served
from graphctx.errors import BackendUnavailable
from graphctx.knowledge_base import KnowledgeBase
from graphctx.store.lock import IngestLock
from graphctx.ui.jobs import JobState, PublishJobs, PublishTask

from .conftest import take_picture

FERRY = "# The ferry\n\nThe ferry to Port Averil leaves the north quay at six in the morning.\n"
BELL = "# The bell\n\nThe bell of the harbour office rings at noon.\n"


class Server:
    """Calls of the JSON interface of a running server."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.base, _, token = url.partition("/#token=")
        self.sent: dict[str, Any] = {"headers": {"Authorization": f"Bearer {token}"}, "timeout": 60}

    def post(self, path: str, **body: Any) -> httpx2.Response:
        return httpx2.post(f"{self.base}/api/{path}", json=body, **self.sent)

    def upload(self, path: str, data: bytes, **query: Any) -> httpx2.Response:
        place = {"path": path, "offset": 0, "size": len(data), **query}
        return httpx2.post(f"{self.base}/api/upload", params=place, content=data, **self.sent)

    def job(self, *states: str) -> dict[str, Any]:
        """Return the job once it is in one of some states."""
        deadline = time.monotonic() + 240
        while (job := self.post("job").json())["state"] not in states:
            assert time.monotonic() < deadline, job
            threading.Event().wait(0.2)  # leaves the processor to the job
        return job

    def begun(self) -> dict[str, Any]:
        """Return the running job once a step of it has begun."""
        while not (job := self.job("running"))["steps"]:
            pass
        return job

    def message(self, path: str, **body: Any) -> str:
        """Return the message of the error that a call gets."""
        return str(self.post(path, **body).json()["error"]["message"])

    def holds(self, uri: str) -> bool:
        """Return whether a document is published."""
        return self.post("documents", query=uri).json()["total"] == 1


@pytest.fixture(scope="module")
def small_kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A knowledge base of two documents, to be copied."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "docs").mkdir()
    (folder / "docs" / "ferry.md").write_text(FERRY, "utf-8")
    (folder / "docs" / "bell.md").write_text(BELL, "utf-8")
    with KnowledgeBase.open(folder / "kb", create=True, project_id="test") as kb:
        kb.ingest(folder / "docs", processes=1)
    return folder / "kb"


@pytest.fixture
def own_kb(small_kb: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(small_kb, tmp_path / "kb"))


@pytest.fixture(scope="module")
def kb_dir(small_kb: Path) -> Path:
    return Path(shutil.copytree(small_kb, small_kb.parent / "shared" / "kb"))


@pytest.fixture(scope="module")
def server(kb_dir: Path) -> Iterator[Server]:
    """A server for tests that add documents of their own."""
    with served(kb_dir) as url:
        yield Server(url)


@pytest.mark.parametrize(
    "path",
    [
        "../out.md",
        "a/../../out.md",
        "/out.md",
        "a//out.md",
        "..\\out.md",
        ".git/out.md",
        "out\n.md",
        "link/out.md",
        "link/new/out.md",
    ],
)
def test_an_upload_stays_below_its_folder(server: Server, kb_dir: Path, path: str) -> None:
    link = kb_dir / "uploads" / "link"
    link.parent.mkdir(exist_ok=True)
    if not link.is_symlink():
        link.symlink_to(kb_dir.parent)
    assert server.upload(path, b"x").status_code == 400
    assert not list(kb_dir.parent.rglob("*out*.md"))
    assert not (kb_dir.parent / "new").exists()


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("kb.toml", {}),  # it would make the folder a knowledge base, which no ingest reads
        ("program.exe", {}),
        ("large.md", {"size": 2**40}),
        ("long.md", {"size": 1}),
        ("late.md", {"offset": 5, "size": 7}),
        ("empty.md", {"size": 0}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_upload_that_cannot_be_a_document_is_refused(
    server: Server, kb_dir: Path, path: str, query: dict[str, int]
) -> None:
    assert server.upload(path, b"xy", **query).status_code == 400
    assert not (kb_dir / "uploads" / path).exists()


def test_parts_of_a_file_make_it_whole(server: Server, kb_dir: Path) -> None:
    assert server.upload("notes/two parts.md", b"# Two\n", size=12).json() == {"complete": False}
    assert server.upload("notes/two parts.md", b"parts.", offset=6, size=12).json() == {"complete": True}
    assert (kb_dir / "uploads" / "notes" / "two parts.md").read_bytes() == b"# Two\nparts."
    assert server.upload("notes/two parts.md/below.md", b"# Below\n").status_code == 400


@pytest.mark.slow
def test_a_second_ingest_is_refused_while_one_runs_and_a_cancelled_one_leaves_what_was(
    server: Server, kb_dir: Path, handbook_folder: Path
) -> None:
    published = server.post("status").json()["snapshot_id"]
    assert server.post("ingest", paths=[str(handbook_folder)]).json()["state"] == "running"
    assert "already" in server.message("ingest", uploads=True)
    server.begun()
    assert server.post("cancel_job").json()["state"] == "cancelled"
    with KnowledgeBase.open(kb_dir) as kb:
        assert kb.snapshot_id == published
        assert kb.retrieve_evidence("When does the ferry leave?").quotes
    server.upload("dusk.md", BELL.replace("noon", "dusk").encode())
    assert server.post("ingest", uploads=True).status_code == 200  # the lock is free again
    assert server.job("done", "failed")["state"] == "done"
    assert server.holds("dusk.md")


@pytest.mark.slow
def test_a_job_that_follows_a_cancelled_one_at_once_is_not_mistaken_for_it(server: Server) -> None:
    server.upload("dawn.md", BELL.replace("noon", "dawn").encode())
    server.upload("slow.md", b"# Slow\n", size=14)
    assert server.post("ingest", sources=["docs"]).status_code == 200
    assert server.post("cancel_job").json()["state"] == "cancelled"
    assert server.post("ingest", uploads=True).status_code == 200
    assert server.job("done", "failed")["state"] == "done"
    assert server.holds("dawn.md")
    assert server.upload("slow.md", b"waters\n", offset=7, size=14).json() == {"complete": True}  # it went on meanwhile


def ended(jobs: PublishJobs) -> JobState:
    """Return the job once it has ended; the test's own time limit ends the waiting."""
    while (state := jobs.state()).state == "running":
        threading.Event().wait(0.05)
    return state


def test_a_job_whose_process_cannot_be_started_fails(
    own_kb: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))
    jobs = PublishJobs(lambda: None)
    jobs.start(PublishTask(kb=own_kb, kind="ingest", paths=[str(tmp_path)]))
    state = ended(jobs)
    assert state.state == "failed"
    assert state.error is not None
    assert "cannot be started" in state.error["message"]


@pytest.mark.slow
def test_a_job_ends_though_what_follows_it_fails(own_kb: Path, tmp_path: Path) -> None:
    def refuse(*_: object) -> None:
        raise BackendUnavailable("the folder is gone")

    (tmp_path / "gull.md").write_text("# The gull\n\nThe gull nests on the north quay.\n", "utf-8")
    jobs = PublishJobs(refuse)
    jobs.start(PublishTask(kb=own_kb, kind="ingest", paths=[str(tmp_path / "gull.md")]), refuse)
    state = ended(jobs)
    assert state.state == "done"
    assert state.result is not None
    assert state.result["added"] == 1


@pytest.mark.parametrize("path", ["~nobody-of-this-name/notes", "/nowhere/at/all", "x" * 1999, "a\0b"])
def test_a_path_that_does_not_exist_is_refused(server: Server, path: str) -> None:
    assert "There is no file or folder" in server.message("ingest", paths=[path])


def test_an_ingest_elsewhere_is_named_in_the_refusal(server: Server, kb_dir: Path) -> None:
    with IngestLock(kb_dir):
        server.post("ingest", sources=["docs"])
        assert f"Process {os.getpid()}" in server.job("failed")["error"]["message"]
        assert f"Process {os.getpid()}" in server.message("rollback", snapshot_id="sn_aaaaaaaaaaaaaaaa")


@pytest.mark.slow
def test_a_server_that_is_killed_during_an_ingest_leaves_the_old_snapshot(own_kb: Path, handbook_folder: Path) -> None:
    with served(own_kb) as url:
        server = Server(url)
        published = server.post("status").json()["snapshot_id"]
        server.post("ingest", paths=[str(handbook_folder)])
        server.begun()
        living = [one for one in psutil.Process().children() if one.status() != psutil.STATUS_ZOMBIE]
        [process] = [one for one in living if str(own_kb) in one.cmdline()]
        below = process.children(recursive=True)
        process.send_signal(signal.SIGKILL)
        assert not psutil.wait_procs(below, timeout=60)[1]
    with IngestLock(own_kb), KnowledgeBase.open(own_kb) as kb:
        assert kb.snapshot_id == published
        assert kb.retrieve_evidence("When does the ferry leave?").quotes


@pytest.mark.slow
def test_a_document_is_removed_compared_rolled_back_and_taken_in_again(page: Page, own_kb: Path) -> None:
    with served(own_kb) as url:
        page.goto(url)
        page.get_by_role("link", name="Documents", exact=True).click()
        page.get_by_label("Choose The bell").check()
        page.get_by_role("button", name="Remove…").click()
        page.get_by_role("button", name="Remove 1 document", exact=True).click()
        expect(page.get_by_role("status").filter(has_text="1 document removed, 1 left")).to_be_visible()
        expect(page.locator("td.title")).to_have_count(1)

        page.get_by_role("link", name="Ingest").click()
        page.get_by_role("button", name="What changed since").click()
        expect(page.get_by_text("Removed (1)")).to_be_visible()
        page.get_by_text("1 removed document that stays out").click()
        page.get_by_role("button", name="Take in again: bell.md").click()
        expect(page.get_by_role("region", name="Done")).to_contain_text("2 documents published: 1 added")
        published = page.locator(".snapshots li").filter(has_text="published")
        expect(published).to_contain_text("2 documents,")
        take_picture(page, "ingest")

        page.get_by_role("button", name="Go back to").first.click()
        page.get_by_role("button", name="Publish it").click()
        expect(published).to_contain_text("1 document,")
        page.get_by_role("link", name="Documents", exact=True).click()
        expect(page.locator("td.title")).to_have_count(1)


@pytest.mark.slow
def test_an_uploaded_document_is_deleted_with_its_removal(server: Server, kb_dir: Path) -> None:
    server.upload("sail.md", b"# Sails\n\nThe sail loft mends every sail in winter.\n")
    server.post("ingest", uploads=True)
    server.job("done")
    assert server.holds("sail.md")
    server.post("remove", documents=["sail.md"])
    assert server.job("done")["result"]["removed"] == ["sail.md"]
    assert not (kb_dir / "uploads" / "sail.md").exists()
    server.upload("sail.md", b"# Sails\n\nThe sail loft is closed.\n")  # whoever sends it again wants it
    server.post("ingest", uploads=True)
    server.job("done")
    assert server.holds("sail.md")
