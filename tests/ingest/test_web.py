"""Web pages as documents, from a server on this machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from graphctx.errors import InvalidArgument
from graphctx.ingest.read.source import Source
from graphctx.ingest.report import IngestReport
from graphctx.knowledge_base import KnowledgeBase

pytestmark = pytest.mark.slow

GATE = "<html><body><h1>Gate</h1><p>The tide gate shuts at noon.</p></body></html>"


@dataclass
class Site:
    """A web site: the status, the headers and the body of each path, and the requests that came."""

    pages: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    requests: list[tuple[str, int]] = field(default_factory=list)
    moments: list[float] = field(default_factory=list)
    address: str = ""

    def put(self, path: str, text: str = "", status: int = 200, **headers: str) -> None:
        named = {"Content-Type": "text/html", "ETag": f'"{hash(text)}"'}
        self.pages[path] = (
            status,
            named | {name.replace("_", "-"): value for name, value in headers.items()},
            text.encode(),
        )

    def answers(self, path: str) -> list[int]:
        """The statuses of the requests for a path since the last look."""
        found = [status for asked, status in self.requests if asked == path]
        self.requests.clear()
        return found


@contextmanager
def serving(site: Site) -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = site.pages.get(self.path, (404, {}, b""))
            if status == 200 and self.headers.get("If-None-Match") == headers.get("ETag"):
                status, body = 304, b""
            site.requests.append((self.path, status))
            site.moments.append(time.monotonic())
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    site.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(Site()) as site:
        site.put("/gate", GATE)
        site.put("/notes/lamp.md", "# Lamp\n\nThe lamp is lit at dusk.\n", Content_Type="text/plain")
        yield site


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase.open(tmp_path / "kb", create=True) as kb:
        yield kb


def pages(site: Site, *paths: str, **options: object) -> Source:
    return Source(urls=tuple(site.address + path for path in paths), delay_seconds=0, **options)


def write_note(kb: KnowledgeBase) -> Path:
    """A file to ingest beside pages that cannot be fetched."""
    note = kb.path.parent / "note.md"
    note.write_text("The note stays.\n")
    return note


def uris(kb: KnowledgeBase) -> list[str]:
    return [found[0] for found in kb.cypher("MATCH (d:Document) RETURN d.uri ORDER BY d.uri").rows]


def ingest(kb: KnowledgeBase, *sources: Source | str, **options: bool) -> IngestReport:
    return kb.ingest(sources, processes=1, **options)


def test_pages_are_documents_that_are_sent_again_only_if_they_have_changed(site: Site, kb: KnowledgeBase) -> None:
    both = pages(site, "/gate#top", "/gate", "/notes/lamp.md", tags=("web",))
    assert ingest(kb, both).added == 2
    assert uris(kb) == [f"{site.address}/gate", f"{site.address}/notes/lamp.md"]
    document = kb.document(f"{site.address}/gate")
    assert (document.title, document.text, document.tags) == ("Gate", "Gate\n\nThe tide gate shuts at noon.", ("web",))
    assert kb.document(f"{site.address}/notes/lamp.md").title == "Lamp"
    assert site.answers("/gate") == [200]
    report = ingest(kb, both)
    assert (report.unchanged, report.changed, site.answers("/gate")) == (2, False, [304])
    site.put("/gate", GATE.replace("noon", "nine"))
    report = ingest(kb, both)
    assert (report.replaced, report.unchanged, site.answers("/gate")) == (1, 1, [200])
    ingest(kb, pages(site, "/gate", tags=("other",)))
    assert site.answers("/gate") == [200], "another tag needs the page again"


def test_a_page_that_is_gone_or_left_the_list_goes_with_pruning_and_a_failing_one_stays(
    site: Site, kb: KnowledgeBase
) -> None:
    site.put("/third", GATE.replace("tide", "lock"))
    ingest(kb, pages(site, "/gate", "/notes/lamp.md", "/third"))
    site.put("/gate", "gone", status=404)
    site.put("/notes/lamp.md", "broken", status=500)
    report = ingest(kb, pages(site, "/gate", "/notes/lamp.md"))
    assert report.no_longer_found == [f"{site.address}/gate", f"{site.address}/third"]
    assert "status 500; the version that was read before is kept" in report.skipped[1].reason
    assert ingest(kb, f"{site.address}/third").unchanged == 1, "one page that is named is not the whole list"
    ingest(kb, pages(site, "/gate", "/notes/lamp.md"), prune=True, prune_most=True)
    assert uris(kb) == [f"{site.address}/notes/lamp.md"]
    assert kb.remove(missing=True).removed == []


@pytest.mark.slow
def test_pages_that_are_named_by_themselves_belong_to_no_list_but_the_one_that_holds_them(
    site: Site, kb: KnowledgeBase
) -> None:
    site.put("/third", GATE.replace("tide", "lock"))
    ingest(kb, f"{site.address}/gate")
    ingest(kb, pages(site, "/notes/lamp.md", "/third"))
    site.put("/third", GATE.replace("tide", "water"))
    assert ingest(kb, f"{site.address}/third").replaced == 1
    assert ingest(kb, pages(site, "/notes/lamp.md"), prune=True).removed == 1
    assert uris(kb) == [f"{site.address}/gate", f"{site.address}/notes/lamp.md"]


def test_rows_of_a_page_that_is_gone_go_with_pruning(site: Site, kb: KnowledgeBase) -> None:
    site.put("/rows.csv", "id,text\na,The lock opens at nine.\nb,The gate shuts at ten.\n", Content_Type="text/csv")
    both = pages(site, "/gate", "/rows.csv")
    assert ingest(kb, both).added == 3
    site.put("/rows.csv", status=410)
    assert ingest(kb, both).no_longer_found == [f"{site.address}/rows.csv#a", f"{site.address}/rows.csv#b"]
    ingest(kb, both, prune=True, prune_most=True)
    assert uris(kb) == [f"{site.address}/gate"]


def test_robots_and_hosts_that_are_not_allowed_are_respected(site: Site, kb: KnowledgeBase) -> None:
    site.put("/robots.txt", "User-agent: *\nDisallow: /private\n", Content_Type="text/plain")
    site.put("/private/a", GATE)
    site.put("/away", "", status=302, Location="http://localhost:1/elsewhere")
    site.put("/moved", "", status=301, Location="/gate")
    site.put("/image", "x", Content_Type="image/png")
    report = ingest(kb, pages(site, "/private/a", "/away", "/moved", "/image"))
    reasons = {item.uri.removeprefix(site.address): item.reason for item in report.skipped}
    assert "robots.txt" in reasons["/private/a"]
    assert "localhost:1, which is not one of the allowed hosts" in reasons["/away"]
    assert "image/png" in reasons["/image"]
    assert uris(kb) == [f"{site.address}/moved"]
    assert "/private/a" not in [path for path, _ in site.requests]


def test_robots_txt_is_read_from_allowed_hosts_and_ports_alone(site: Site, kb: KnowledgeBase) -> None:
    with serving(Site()) as other:
        site.put("/robots.txt", "", status=302, Location=f"{other.address}/rules")
        other.put("/rules", "User-agent: *\nDisallow: /gate\n" + "#" * 600_000, Content_Type="text/plain")
        report = ingest(kb, pages(site, "/notes/lamp.md"), str(write_note(kb)))
        assert ["robots.txt of" in item.reason for item in report.skipped] == [True]
        assert (site.requests, other.requests) == ([("/robots.txt", 302)], [])
        hosts = tuple(one.address.removeprefix("http://") for one in (site, other))
        report = ingest(kb, pages(site, "/gate", "/notes/lamp.md", allow_hosts=hosts))
        assert [(item.uri, item.reason) for item in report.skipped] == [
            (f"{site.address}/gate", "robots.txt of its host excludes it")
        ]


@pytest.mark.parametrize(
    ("status", "headers", "reason"),
    [
        (302, {"Location": "http://[bad"}, "Invalid IPv6"),
        (302, {"Location": "http://127.0.0.1:99999/x"}, "Port out of range"),
        (503, {"Retry_After": "\xb2"}, "status 503"),
        (304, {"ETag": '"old"'}, "status 304"),
    ],
)
def test_a_page_with_a_broken_answer_is_skipped_and_the_others_are_read(
    site: Site, kb: KnowledgeBase, status: int, headers: dict[str, str], reason: str
) -> None:
    site.put("/broken", status=status, **headers)
    report = ingest(kb, pages(site, "/broken", "/gate"))
    assert [(item.uri, reason in item.reason) for item in report.skipped] == [(f"{site.address}/broken", True)]
    assert uris(kb) == [f"{site.address}/gate"]


def test_a_host_that_demands_long_pauses_is_left_out(site: Site, kb: KnowledgeBase) -> None:
    site.put("/robots.txt", "User-agent: *\nCrawl-delay: 999999\n", Content_Type="text/plain")
    report = ingest(kb, pages(site, "/gate"), str(write_note(kb)))
    assert ["more than 60 seconds between requests" in item.reason for item in report.skipped] == [True]


@pytest.mark.parametrize(
    "address", ["http://[::1/x", "https://exa mple.com/", "http://a:99999/", "http://a:b/", "http:///x"]
)
def test_an_address_without_a_valid_host_and_port_is_refused(kb: KnowledgeBase, address: str) -> None:
    with pytest.raises(InvalidArgument, match="not the address of a web page"):
        ingest(kb, address)


def test_requests_to_a_host_have_a_pause_between_them(site: Site, kb: KnowledgeBase) -> None:
    site.put("/busy", GATE, status=503, Retry_After="0")
    report = ingest(kb, pages(site, "/gate", "/busy").model_copy(update={"delay_seconds": 0.1}))
    assert [(item.uri, "status 503" in item.reason) for item in report.skipped] == [(f"{site.address}/busy", True)]
    assert [path for path, _ in site.requests] == ["/robots.txt", "/busy", "/busy", "/busy", "/gate"]
    assert site.moments[-1] - site.moments[0] > 0.2  # four pauses, less what the first request was late by


def test_a_removed_page_is_not_asked_for_until_it_is_named(site: Site, kb: KnowledgeBase) -> None:
    both = pages(site, "/gate", "/notes/lamp.md")
    ingest(kb, both)
    kb.remove(f"{site.address}/gate")
    site.requests.clear()
    assert ingest(kb, both).documents == 1
    assert site.answers("/gate") == []
    assert ingest(kb, f"{site.address}/gate").added == 1


def test_a_purge_leaves_nothing_of_a_removed_page(site: Site, kb: KnowledgeBase) -> None:
    ingest(kb, pages(site, "/gate", "/notes/lamp.md"))
    kb.remove(f"{site.address}/gate")
    left = kb.path / "cache/.tmp-killed"
    left.mkdir()
    (left / "1.html").write_text(GATE)
    assert kb.purge().files == ["cache/.tmp-killed"]
    held = [path for path in kb.path.rglob("*") if path.name != "kb.toml" and path.is_file()]
    assert not [path for path in held if f"{site.address}/gate".encode() in path.read_bytes()]
    site.requests.clear()
    ingest(kb, pages(site, "/notes/lamp.md"))
    assert site.answers("/notes/lamp.md") == [304]


def test_a_list_is_a_file_with_an_address_on_each_line(site: Site, kb: KnowledgeBase, tmp_path: Path) -> None:
    listed = tmp_path / "pages.txt"
    listed.write_text(f"# pages\n{site.address}/gate\n\n")
    assert ingest(kb, Source(url_file=str(listed), delay_seconds=0)).added == 1
    listed.write_text("ftp://example.org\n")
    with pytest.raises(InvalidArgument, match="not the address of a web page"):
        ingest(kb, Source(url_file=str(listed)))
