"""PowerPoint presentations: the text of each slide with its notes. The page of a passage is the number of its slide.

The parts are read as ECMA-376 describes them, with the standard library: the usual library needs 30 MB of others.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping
from typing import ClassVar
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from graphctx.errors import InvalidArgument
from graphctx.ingest.read.base import ReadFile, make_document
from graphctx.ingest.read.builder import TextBuilder
from graphctx.ingest.read.package import check_package

_MAIN = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_ALTERNATIVES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_TITLES = ("title", "ctrTitle")
_NOT_READ = ("sldNum", "dt", "ftr", "hdr", "sldImg")
_PRESENTATION = "ppt/presentation.xml"


class PptxReader:
    """Slides in their order: title, texts and tables; then the notes of the speaker."""

    media_types: ClassVar[Mapping[str, str]] = {
        ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation"
    }
    version: ClassVar[int] = 1

    def read(self, data: bytes, uri: str) -> ReadFile:
        """Read one presentation; see :class:`graphctx.ingest.read.base.DocumentReader`."""
        metadata = check_package(data, uri, "a presentation")
        builder = TextBuilder()
        starts = []
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as package:
                for number, slide in enumerate(dict.fromkeys(_slides(package)), 1):
                    starts.append(builder.next)
                    _add_slide(builder, package, slide, number)
        except (KeyError, ValueError, zipfile.BadZipFile, ElementTree.ParseError, RecursionError) as error:
            reason = f"{uri} is damaged or not a presentation: {type(error).__name__}."
            raise InvalidArgument(reason, uri=uri) from error
        pages = [min(start, len(builder.text)) for start in starts]
        document = make_document(
            uri, self.media_types[".pptx"], builder.text, builder.outline, metadata, page_starts=[0, *pages[1:]]
        )
        return ReadFile((document,))


def _slides(package: zipfile.ZipFile) -> Iterator[str]:
    """Yield the names of the slides' parts, in the order of the presentation."""
    targets = dict(_relations(package, _PRESENTATION))
    for slide in ElementTree.fromstring(package.read(_PRESENTATION)).iter(f"{_MAIN}sldId"):
        yield targets[slide.attrib[_RELATION]]


def _relations(package: zipfile.ZipFile, part: str) -> Iterator[tuple[str, str]]:
    """Yield the id and the target of each relation of a part."""
    folder, name = posixpath.split(part)
    relations = f"{folder}/_rels/{name}.rels"
    if relations not in package.namelist():
        return
    for relation in ElementTree.fromstring(package.read(relations)):
        target = relation.attrib["Target"]
        yield relation.attrib["Id"], posixpath.normpath(posixpath.join(folder, target)).lstrip("/")


def _add_slide(builder: TextBuilder, package: zipfile.ZipFile, part: str, number: int) -> None:
    shapes = list(_shapes(_tree(package, part)))
    title = next((text for kind, text in shapes if kind == "title"), "")
    if title:
        builder.heading(1, title, f"slide-{number}")
    else:
        builder.place(f"slide-{number}")
    for kind, text in shapes:
        if kind != "title" or text != title:
            builder.block("table" if kind == "table" else "prose", text)
    for _, notes in _relations(package, part):
        if re.fullmatch(r"ppt/notesSlides/[^/]+\.xml", notes):
            for _, text in _shapes(_tree(package, notes)):
                builder.block("prose", text)


def _tree(package: zipfile.ZipFile, part: str) -> Element:
    """Parse a part; of alternatives, which say the same, the first counts."""
    root = ElementTree.fromstring(package.read(part))
    for alternatives in list(root.iter(_ALTERNATIVES)):
        del alternatives[1:]
    return root


def _shapes(slide: Element) -> Iterator[tuple[str, str]]:
    """Yield the kind (title, text or table) and the text of the shapes that have one."""
    for shape in slide.iter():
        if shape.tag == f"{_MAIN}sp":
            placeholder = shape.find(f"{_MAIN}nvSpPr/{_MAIN}nvPr/{_MAIN}ph")
            kind = placeholder.get("type", "") if placeholder is not None else ""
            body = shape.find(f"{_MAIN}txBody")
            text = _paragraphs(body) if body is not None and kind not in _NOT_READ else ""
            if text:
                yield ("title" if kind in _TITLES else "text"), text
        elif shape.tag == f"{_DRAWING}tbl":
            rows = [
                " | ".join(" ".join(_paragraphs(cell).split()) for cell in row.iter(f"{_DRAWING}tc"))
                for row in shape.iter(f"{_DRAWING}tr")
            ]
            yield "table", "\n".join(rows)


def _paragraphs(body: Element) -> str:
    """Return the paragraphs of a shape, each on a line."""
    lines = []
    for paragraph in body.iter(f"{_DRAWING}p"):
        parts = [
            " " if run.tag == f"{_DRAWING}br" else run.text or ""
            for run in paragraph.iter()
            if run.tag in (f"{_DRAWING}t", f"{_DRAWING}br")
        ]
        lines.append(" ".join("".join(parts).split()))
    return "\n".join(line for line in lines if line)
