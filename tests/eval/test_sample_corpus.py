"""The sample handbook is whole: its formats, its links, and the files that are made from sources."""

import posixpath
from collections import Counter
from pathlib import Path
from urllib.parse import unquote, urlsplit

import make_binaries
import pytest
from pypdf import PdfReader

from graphctx.ingest.read import discover, read_file
from graphctx.model.documents import Document


def links_of(document: Document, handbook: Path) -> list[str]:
    if document.media_type != "application/pdf":
        return [link.target for link in document.links]
    notes = [note.get_object() for page in PdfReader(handbook / document.uri).pages for note in page.annotations or []]
    return [note["/A"]["/URI"] for note in notes if "/URI" in note.get("/A", {})]


def test_the_handbook_has_every_format(documents: dict[str, Document]) -> None:
    count = Counter(Path(uri).suffix for uri in documents)
    assert count[".md"] >= 20
    assert {suffix: count[suffix] for suffix in (".html", ".rst", ".pdf", ".docx", ".txt")} == {
        ".html": 4,
        ".rst": 3,
        ".pdf": 3,
        ".docx": 3,
        ".txt": 4,
    }


def test_every_relative_link_leads_to_a_document_and_to_its_heading(
    documents: dict[str, Document], handbook: Path
) -> None:
    checked = 0
    for uri, document in documents.items():
        for link in links_of(document, handbook):
            parts = urlsplit(link)
            assert not parts.scheme, (uri, link)
            path = posixpath.normpath(posixpath.join(posixpath.dirname(uri), unquote(parts.path)))
            target = documents.get(path if parts.path else uri)
            assert target is not None, (uri, link)
            if parts.fragment:
                assert parts.fragment in {heading.anchor for heading in target.headings}, (uri, link)
            checked += 1
    assert checked > 130


def test_the_binaries_say_what_their_sources_say(
    documents: dict[str, Document], handbook: Path, tmp_path: Path
) -> None:
    written = [path.relative_to(tmp_path).as_posix() for path in make_binaries.make_all(tmp_path)]
    assert written == sorted(uri for uri in documents if uri.endswith((".pdf", ".docx")))
    for file in discover([tmp_path]).files:
        assert read_file(file, file.rel).documents[0].text == documents[file.rel].text


def test_the_binaries_do_not_depend_on_when_they_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = {path.name: path.read_bytes() for path in make_binaries.make_all(tmp_path / "a")}
    monkeypatch.setattr("time.time", lambda: 2_000_000_000.0)
    second = {path.name: path.read_bytes() for path in make_binaries.make_all(tmp_path / "b")}
    assert first == second
