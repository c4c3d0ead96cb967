"""EPUB books: their chapters in reading order, each read as HTML. An anchor is the chapter's file."""

from __future__ import annotations

import io
import posixpath
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar
from urllib.parse import unquote
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from graphctx.errors import InvalidArgument
from graphctx.ingest.read.base import Metadata, Outline, ReadFile, Skipped, iso_date, make_document
from graphctx.ingest.read.builder import TextBuilder
from graphctx.ingest.read.html import HtmlReader
from graphctx.ingest.read.package import check_package
from graphctx.text.normalise import normalise

_CONTAINER = "META-INF/container.xml"
_HTML = ("application/xhtml+xml", "text/html")


class EpubReader:
    """Books of EPUB 2 and 3; a chapter that cannot be read is skipped."""

    media_types: ClassVar[Mapping[str, str]] = {".epub": "application/epub+zip"}
    version: ClassVar[int] = 1

    def read(self, data: bytes, uri: str) -> ReadFile:
        """Read one book; see :class:`graphctx.ingest.read.base.DocumentReader`."""
        check_package(data, uri, "an EPUB book")
        builder = TextBuilder()
        skipped: list[Skipped] = []
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as package:
                book = ElementTree.fromstring(package.read(_CONTAINER)).find(".//{*}rootfile")
                root = book.attrib["full-path"] if book is not None else ""
                content = ElementTree.fromstring(package.read(root))
                for chapter in dict.fromkeys(_chapters(content, posixpath.dirname(root))):
                    try:
                        (page,) = HtmlReader().read(package.read(chapter), chapter).documents
                    except (InvalidArgument, KeyError) as error:
                        skipped.append(Skipped(uri, f"{chapter}: {error}"))
                        continue
                    named = [
                        replace(one, anchor=f"{chapter}#{one.anchor}" if one.anchor else chapter)
                        for one in page.headings
                    ]
                    if not named or named[0].start_char > 0:
                        builder.place(chapter)
                    builder.part(page.text, Outline(named, list(page.blocks), list(page.links)))
        except (KeyError, ValueError, zipfile.BadZipFile, ElementTree.ParseError, RecursionError) as error:
            reason = f"{uri} is damaged or not an EPUB book: {type(error).__name__}."
            raise InvalidArgument(reason, uri=uri) from error
        document = make_document(uri, self.media_types[".epub"], builder.text, builder.outline, _metadata(content))
        return ReadFile((document,), tuple(skipped))


def _chapters(content: Element, folder: str) -> Iterator[str]:
    """Yield the names of the chapters' parts, in reading order."""
    items = {item.get("id"): item for item in content.iterfind("./{*}manifest/{*}item")}
    for reference in content.iterfind("./{*}spine/{*}itemref"):
        item = items.get(reference.get("idref"))
        if item is not None and item.get("media-type") in _HTML:
            yield posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))


def _metadata(content: Element) -> Metadata:
    """Return the title, the subjects as tags, and the date of a book."""
    stated = {
        name: [" ".join(normalise(one.text or "").split()) for one in content.iterfind(f"./{{*}}metadata/{{*}}{name}")]
        for name in ("title", "subject", "date")
    }
    dates = [date for value in stated["date"] if (date := iso_date(value))]
    return Metadata(" ".join(stated["title"][:1]), tuple(stated["subject"]), next(iter(dates), None))
