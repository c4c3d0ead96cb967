"""Web pages of a list, fetched politely.

One request at a time, with a pause between two requests to a host; robots.txt is respected (RFC 9309); hosts and ports
that are not allowed are never asked, redirects and robots.txt included. A page that the knowledge base holds is asked
for with the validators of its last answer (RFC 9110, section 13), so that the server sends it only if it has changed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin, urlsplit
from urllib.robotparser import RobotFileParser

from graphctx.errors import InvalidArgument
from graphctx.ingest.read import READ_VERSION, Skipped, SourceFile, reader_for
from graphctx.ingest.read.source import Source, is_web_address
from graphctx.model.documents import Document
from graphctx.model.ids import fingerprint
from graphctx.store.history import read_validators, write_validators
from graphctx.version import __version__

if TYPE_CHECKING:
    import httpx2

USER_AGENT = f"graphctx/{__version__}"

MAX_REDIRECTS = 5
MAX_RETRIES = 2
MAX_ROBOTS_BYTES = 500 * 1024
MAX_WAIT_SECONDS = 60.0
TIMEOUT_SECONDS = 30.0
MAX_PAGE_SECONDS = 120.0
"""For the body of one answer, however steadily it trickles."""

_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_PORTS = {"http": 80, "https": 443}
_SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/markdown": ".md",
    "text/plain": ".txt",
    "text/csv": ".csv",
    "application/pdf": ".pdf",
    "application/json": ".json",
}
"""The suffixes of media types whose addresses often have none; others are read by the suffix of the address."""


@dataclass(slots=True)
class FetchedPages:
    """The pages of all lists.

    Attributes:
        files: what was fetched, with the address of each.
        unchanged: addresses of pages that the knowledge base holds as they are.
        gone: addresses that no longer have a page.
        skipped: addresses that could not be fetched, and why.
        validators: of the fetched pages.
    """

    files: list[tuple[SourceFile, str]] = field(default_factory=list)
    unchanged: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    skipped: list[Skipped] = field(default_factory=list)
    validators: dict[str, dict[str, str]] = field(default_factory=dict)


def addresses_of(source: Source) -> list[str]:
    """Return the addresses of a list, without fragments and repetitions.

    Raises:
        InvalidArgument: the file of the list cannot be read, or a line is not an address.
    """
    lines = list(source.urls)
    if source.url_file:
        try:
            text = Path(source.url_file).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidArgument(
                f"The list {source.url_file} cannot be read: {error}.", path=source.url_file
            ) from error
        lines += [line for line in map(str.strip, text.splitlines()) if line and not line.startswith("#")]
    for line in lines:
        try:
            host = _host(line)
        except ValueError:
            host = ""
        if not (is_web_address(line) and host and host.isprintable() and " " not in host):
            raise InvalidArgument(
                f"{line!r} is not the address of a web page. Addresses look like https://docs.example.org/start.",
                value=line,
            )
    return list(dict.fromkeys(urldefrag(line).url for line in lines))


def fetch_pages(
    sources: Sequence[Source],
    addresses: Collection[str],
    kb_dir: Path,
    held: Mapping[str, Document],
    folder: Path,
    max_bytes: int,
    progress: Callable[[int, int, str], None],
) -> FetchedPages:
    """Fetch the pages of lists into a folder.

    Args:
        sources: lists of web pages.
        addresses: those of their addresses that are to be fetched.
        kb_dir: the knowledge base.
        held: its documents by URI.
        folder: an empty folder.
        max_bytes: longer pages are skipped.
        progress: called with the number of pages done, the total and "pages".

    Raises:
        InvalidArgument: a list cannot be read, or holds something else than addresses.
    """
    if not addresses:
        return FetchedPages()
    import httpx2

    wanted = {url: source for source in reversed(sources) for url in addresses_of(source) if url in addresses}
    known = read_validators(kb_dir)
    pages = FetchedPages()
    with httpx2.Client(headers={"User-Agent": USER_AGENT}, timeout=TIMEOUT_SECONDS, trust_env=True) as client:
        fetcher = _Fetcher(client, max_bytes)
        for number, url in enumerate(sorted(wanted), 1):
            source, validator = wanted[url], known.get(url, {})
            allowed = frozenset(map(str.lower, source.allow_hosts)) or frozenset(map(_host, addresses_of(source)))
            current = url in held and validator.get("state") == state_of(held[url], source)
            try:
                response = fetcher.get(url, validator if current else {}, allowed, source.delay_seconds)
                progress(number, len(wanted), "pages")
            except _Refused as refused:
                pages.skipped.append(Skipped(url, str(refused)))
                continue
            if response.status == 304:
                pages.unchanged.add(url)
                pages.validators[url] = validator
            elif response.status in (404, 410):
                pages.gone.add(url)
                pages.skipped.append(Skipped(url, f"the server has no such page (status {response.status})"))
            else:
                path = folder / f"{number}{response.suffix}"
                path.write_bytes(response.body)
                if response.modified is not None:
                    os.utime(path, (response.modified, response.modified))
                pages.files.append((SourceFile(path.name, folder, path, len(response.body), source), url))
                pages.validators[url] = response.validators
    return pages


def state_of(document: Document, source: Source) -> str:
    """Return a fingerprint of a page as it is held: of its text, the readers and the rules that gave it metadata."""
    return fingerprint([document.sha256, READ_VERSION, source.model_dump_json(include={"tags", "rules", "columns"})])


def keep_validators(
    kb_dir: Path, pages: FetchedPages, held: Mapping[str, Document], documents: Mapping[str, Document]
) -> None:
    """Write the validators of the pages that were read, for the next ingest; those of other pages that are held stay.

    Raises:
        BackendUnavailable: the disk is full or refuses the write.
    """
    known = {url: validator for url, validator in read_validators(kb_dir).items() if url in held.keys() - pages.gone}
    for file, url in pages.files:
        if url in documents and file.source is not None:
            known[url] = {**pages.validators[url], "state": state_of(documents[url], file.source)}
    write_validators(kb_dir, known)


class _Refused(Exception):
    """A page that is not read, and why."""


@dataclass(frozen=True, slots=True)
class _Answer:
    url: str
    status: int
    headers: httpx2.Headers
    body: bytes


@dataclass(frozen=True, slots=True)
class _PageResponse:
    status: int
    body: bytes
    suffix: str
    modified: float | None
    validators: dict[str, str]


@dataclass(slots=True)
class _Fetcher:
    client: httpx2.Client
    max_bytes: int
    _robots: dict[str, RobotFileParser | None] = field(default_factory=dict)
    _next: dict[str, float] = field(default_factory=dict)  # the earliest moment of the next request to a host

    def get(self, url: str, validator: Mapping[str, str], allowed: frozenset[str], delay: float) -> _PageResponse:
        """Fetch a page. Raises _Refused if it cannot or may not be fetched."""
        import httpx2

        conditions = {"ETag": "If-None-Match", "Last-Modified": "If-Modified-Since"}
        headers = {conditions[name]: value for name, value in validator.items() if name in conditions}
        try:
            answer = self._follow(
                url, headers, allowed, self.max_bytes, lambda at: self._robots_delay(at, allowed, delay)
            )
            if answer.status == 304 and not headers:
                raise _Refused("the server answers with status 304 to a request without conditions")
            return _page_of(answer, self.max_bytes)
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            raise _Refused(f"it cannot be fetched: {error or type(error).__name__}") from error

    def _follow(
        self,
        url: str,
        headers: Mapping[str, str],
        allowed: frozenset[str],
        max_bytes: int,
        delay: Callable[[str], float],
    ) -> _Answer:
        """Return the answer that the redirects from an address lead to."""
        for _ in range(MAX_REDIRECTS + 1):
            if not is_web_address(url) or _host(url) not in allowed:
                raise _Refused(f"it leads to {_host(url) or url}, which is not one of the allowed hosts")
            answer = self._once(url, headers, delay(url), max_bytes)
            if answer.status not in _REDIRECTS or "Location" not in answer.headers:
                return answer
            target = urljoin(url, answer.headers["Location"])
            if urlsplit(url).scheme == "https" and urlsplit(target).scheme == "http":
                raise _Refused("it redirects from https to http")
            url = target
        raise _Refused(f"it redirects more than {MAX_REDIRECTS} times")

    def _once(self, url: str, headers: Mapping[str, str], delay: float, max_bytes: int) -> _Answer:
        """Return one answer; a body that is too long is cut after one byte more than the limit."""
        retries = MAX_RETRIES
        while True:
            self._wait(url, delay)
            with self.client.stream("GET", url, headers=dict(headers)) as response:
                if response.status_code in (429, 503) and retries:
                    retries -= 1
                    self._postpone(url, response.headers.get("Retry-After", ""))
                    continue
                body, latest = bytearray(), time.monotonic() + MAX_PAGE_SECONDS
                for chunk in response.iter_bytes() if response.status_code == 200 else ():
                    body += chunk
                    if len(body) > max_bytes:
                        break
                    if time.monotonic() > latest:
                        raise _Refused(f"it takes more than {MAX_PAGE_SECONDS:g} seconds")
                return _Answer(url, response.status_code, response.headers, bytes(body[: max_bytes + 1]))

    def _robots_delay(self, url: str, allowed: frozenset[str], delay: float) -> float:
        """Return the seconds between requests to a host. Raises _Refused if robots.txt excludes the page."""
        rules = self._robots_of(url, allowed, delay)
        if rules is None:
            raise _Refused(f"robots.txt of {_host(url)} cannot be read, so nothing is fetched from there")
        if not rules.can_fetch(USER_AGENT, url):
            raise _Refused("robots.txt of its host excludes it")
        crawl_delay = rules.crawl_delay(USER_AGENT)
        seconds = int(crawl_delay or 0)
        if seconds > MAX_WAIT_SECONDS:
            raise _Refused(f"robots.txt of its host demands more than {MAX_WAIT_SECONDS:g} seconds between requests")
        return max(delay, float(seconds))

    def _robots_of(self, url: str, allowed: frozenset[str], delay: float) -> RobotFileParser | None:
        """Return the rules of a host; ``None`` if it fails to answer."""
        import httpx2

        parts = urlsplit(url)
        place = f"{parts.scheme}://{parts.netloc}"
        if place not in self._robots:
            rules = RobotFileParser()
            try:
                answer = self._follow(f"{place}/robots.txt", {}, allowed, MAX_ROBOTS_BYTES, lambda at: delay)
                text = answer.body.decode("utf-8", "replace")
                rules.parse(text.splitlines() if answer.status == 200 else [])
                self._robots[place] = None if answer.status >= 500 else rules
            except (_Refused, httpx2.HTTPError, httpx2.InvalidURL, ValueError):
                self._robots[place] = None
        return self._robots[place]

    def _wait(self, url: str, delay: float) -> None:
        host = _host(url)
        time.sleep(max(0.0, self._next.get(host, 0.0) - time.monotonic()))
        self._next[host] = time.monotonic() + delay

    def _postpone(self, url: str, retry_after: str) -> None:
        seconds = float(retry_after) if retry_after.isdecimal() else 1.0
        host = _host(url)
        self._next[host] = max(self._next[host], time.monotonic() + min(seconds, MAX_WAIT_SECONDS))


def _page_of(answer: _Answer, max_bytes: int) -> _PageResponse:
    if answer.status not in (200, 304, 404, 410):
        raise _Refused(f"the server answers with status {answer.status}")
    if len(answer.body) > max_bytes:
        raise _Refused(f"it has more than the limit of {max_bytes} bytes")
    media_type = answer.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    path = Path(urlsplit(answer.url).path)
    suffix = _SUFFIXES.get(media_type) or path.suffix.lower()
    if media_type == "text/plain" and reader_for(path.name) is not None:
        suffix = path.suffix.lower()  # servers send source code and Markdown as plain text
    if answer.status == 200 and reader_for(f"page{suffix}") is None:
        raise _Refused(f"pages of type {media_type or 'unknown'} are not read")
    named = {name: answer.headers.get(name, "") for name in ("ETag", "Last-Modified")}
    validators = {name: value for name, value in named.items() if value and value.isascii()}
    return _PageResponse(answer.status, answer.body, suffix, _moment(validators.get("Last-Modified", "")), validators)


def _host(url: str) -> str:
    """Return the host of an address, with the port unless it is that of the scheme. Raises ValueError."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    port = None if parts.port == _PORTS.get(parts.scheme) else parts.port
    named = f"[{host}]" if ":" in host else host
    return named if port is None else f"{named}:{port}"


def _moment(value: str) -> float | None:
    try:
        return parsedate_to_datetime(value).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
