"""A source as a Word document, with real heading, list and table styles and relative hyperlinks."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from binary_source import Piece, Source
    from docx.document import Document as WordDocument
    from docx.text.paragraph import Paragraph

_INLINE = re.compile(r"\[(?P<label>[^\]]+)\]\((?P<target>[^)]+)\)|\*(?P<em>[^*]+)\*")
_ZIP_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest date that a zip archive can hold


def write_docx(source: Source, target: Path) -> None:
    """Write ``source`` to ``target``; every date inside comes from the source."""
    from docx import Document

    word = Document()
    stamp = source.date.astimezone(UTC).replace(tzinfo=None)
    core = word.core_properties
    core.title, core.author = source.title, source.author
    core.subject = core.keywords = source.subject
    core.last_modified_by = source.author
    core.comments = ""
    core.created = core.modified = stamp
    for piece in source.pieces:
        _add(word, piece)
    raw = io.BytesIO()
    word.save(raw)
    target.write_bytes(_with_fixed_dates(raw.getvalue()))


def _add(word: WordDocument, piece: Piece) -> None:
    if piece.kind == "heading":
        word.add_heading(piece.text, level=piece.level)
    elif piece.kind == "table":
        _add_table(word, piece)
    elif piece.kind == "code":
        paragraph = word.add_paragraph(style="No Spacing")
        run = paragraph.add_run(piece.text)
        run.font.name = "Courier New"
    else:
        style = {"bullet": "List Bullet", "number": "List Number"}.get(piece.kind)
        _add_inline(word.add_paragraph(style=style), piece.text)


def _add_table(word: WordDocument, piece: Piece) -> None:
    table = word.add_table(rows=len(piece.rows), cols=len(piece.rows[0]), style="Table Grid")
    for row, cells in zip(table.rows, piece.rows, strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            _add_inline(cell.paragraphs[0], text)


def _add_inline(paragraph: Paragraph, text: str) -> None:
    at = 0
    for match in _INLINE.finditer(text):
        paragraph.add_run(text[at : match.start()])
        at = match.end()
        if match["target"]:
            _add_link(paragraph, match["label"], match["target"])
        else:
            paragraph.add_run(match["em"]).italic = True
    paragraph.add_run(text[at:])


def _add_link(paragraph: Paragraph, label: str, target: str) -> None:
    # python-docx reads hyperlinks but has no call that writes one, hence the bare XML.
    from docx.opc.constants import RELATIONSHIP_TYPE
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), paragraph.part.relate_to(target, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
    run = OxmlElement("w:r")
    text = OxmlElement("w:t")
    text.text = label
    run.append(text)
    link.append(run)
    paragraph._p.append(link)


def _with_fixed_dates(data: bytes) -> bytes:
    """The same archive with every member's date set to the earliest one, in its own order."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            fixed = zipfile.ZipInfo(info.filename, _ZIP_DATE)
            fixed.compress_type = zipfile.ZIP_DEFLATED
            fixed.external_attr = 0o600 << 16
            new.writestr(fixed, old.read(info.filename))
    return out.getvalue()
