"""Write the handbook's PDF and DOCX files from their Markdown sources.

    python eval/tools/make_binaries.py [--out DIR]

The sources use a small Markdown: ``#`` headings, paragraphs of one line, ``-`` and ``1.`` lists, pipe tables,
fenced code, ``[label](target)`` links and ``*emphasis*``. Their front matter names the file to write, the
title, the author, the subject and the date. Every date in the files is that of the source.
"""

from __future__ import annotations

import argparse
import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from docx.document import Document as WordDocument
    from docx.text.paragraph import Paragraph
    from fpdf import FPDF


Kind = Literal["heading", "paragraph", "bullet", "number", "table", "code"]

_FENCE = re.compile(r"^```")
_HEADING = re.compile(r"^(#{1,6}) (.+)$")
_BULLET = re.compile(r"^- (.+)$")
_NUMBER = re.compile(r"^(\d+)\. (.+)$")


@dataclass(frozen=True, slots=True)
class Piece:
    """One block of a source. ``level`` is the heading's level or the number of a list item."""

    kind: Kind
    text: str
    level: int = 0
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A parsed source: where it goes, who wrote it and when, and its blocks."""

    target: str
    title: str
    author: str
    subject: str
    date: datetime
    pieces: tuple[Piece, ...]


def load(path: Path) -> Source:
    """Read a source file; ``ValueError`` if its front matter lacks a field."""
    _, head, body = path.read_text("utf-8").split("---\n", 2)
    meta = dict(line.split(": ", 1) for line in head.strip().splitlines())
    missing = {"target", "title", "author", "subject", "date"} - meta.keys()
    if missing:
        raise ValueError(f"{path.name}: the front matter lacks {sorted(missing)}")
    date = datetime.fromisoformat(meta["date"]).replace(hour=12, tzinfo=UTC)
    title = meta["title"].strip('"')
    return Source(meta["target"], title, meta["author"], meta["subject"], date, tuple(_pieces(body)))


def _pieces(body: str) -> list[Piece]:
    out: list[Piece] = []
    lines = iter(body.splitlines())
    for line in lines:
        if not line.strip():
            continue
        if _FENCE.match(line):
            code = []
            for inner in lines:
                if _FENCE.match(inner):
                    break
                code.append(inner)
            out.append(Piece("code", "\n".join(code)))
        elif line.startswith("|"):
            out.append(_table(line, lines))
        elif match := _HEADING.match(line):
            out.append(Piece("heading", match[2], len(match[1])))
        elif match := _BULLET.match(line):
            out.append(Piece("bullet", match[1]))
        elif match := _NUMBER.match(line):
            out.append(Piece("number", match[2], int(match[1])))
        else:
            out.append(Piece("paragraph", line))
    return out


def _table(first: str, lines: Iterator[str]) -> Piece:
    rows = [_cells(first)]
    for line in lines:
        if not line.startswith("|"):
            break
        if set(line) - set("|- "):
            rows.append(_cells(line))
    return Piece("table", "", rows=tuple(rows))


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip().strip("|").split("|"))


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
    """Return the same archive with every member's date set to the earliest one, in its own order."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            fixed = zipfile.ZipInfo(info.filename, _ZIP_DATE)
            fixed.compress_type = zipfile.ZIP_DEFLATED
            fixed.external_attr = 0o600 << 16
            new.writestr(fixed, old.read(info.filename))
    return out.getvalue()


MARGIN_MM = 22.0
BODY_PT = 11.0
LINE_MM = 5.6
HEADING_PT = {1: 20.0, 2: 14.0, 3: 12.0}

# fpdf2 writes italics as __text__; the sources write *text* as Markdown does.
_EMPHASIS = re.compile(r"(?<!\*)\*([^*]+)\*(?!\*)")


def write_pdf(source: Source, target: Path) -> None:
    """Write ``source`` to ``target``. The creation date is the source's date, so the bytes do not vary."""
    from fpdf import FPDF
    from fpdf.enums import XPos, YPos

    pdf = FPDF(format="A4")
    pdf.set_creation_date(source.date)
    pdf.set_title(source.title)
    pdf.set_author(source.author)
    pdf.set_subject(source.subject)
    pdf.set_keywords(source.subject)
    pdf.set_margins(MARGIN_MM, MARGIN_MM)
    pdf.set_auto_page_break(True, margin=MARGIN_MM)
    pdf.add_page()

    def line(text: str, indent: float = 0.0) -> None:
        pdf.set_x(MARGIN_MM + indent)
        text = _EMPHASIS.sub(r"__\1__", text)
        pdf.multi_cell(0, LINE_MM, text, align="L", markdown=True, new_x=XPos.LMARGIN, new_y=YPos.NEXT)

    for piece in source.pieces:
        if piece.kind == "heading":
            _pdf_heading(pdf, piece)
            continue
        pdf.set_font("Helvetica", size=BODY_PT)
        if piece.kind == "table":
            _pdf_table(pdf, piece)
        elif piece.kind == "bullet":
            line(f"- {piece.text}", indent=4)
        elif piece.kind == "number":
            line(f"{piece.level}. {piece.text}", indent=4)
        elif piece.kind == "code":
            pdf.set_font("Courier", size=9)
            pdf.multi_cell(0, 4.4, piece.text, align="L", new_x=XPos.LMARGIN, new_y=YPos.NEXT)
        else:
            line(piece.text)
        pdf.ln(2.4)
    pdf.output(str(target))


def _pdf_heading(pdf: FPDF, piece: Piece) -> None:
    from fpdf.enums import XPos, YPos

    if piece.level > 1:
        pdf.ln(2.0)
    # A heading stays with at least three lines of what follows it.
    if pdf.will_page_break(LINE_MM * 5):
        pdf.add_page()
    pdf.set_font("Helvetica", style="B", size=HEADING_PT[piece.level])
    pdf.multi_cell(0, LINE_MM * 1.3, piece.text, align="L", new_x=XPos.LMARGIN, new_y=YPos.NEXT)
    pdf.ln(1.6)


def _pdf_table(pdf: FPDF, piece: Piece) -> None:
    # Columns as wide as their longest cell asks, in shares of the page: a row then rarely needs two lines.
    widths = [max(len(cells[column]) for cells in piece.rows) + 3 for column in range(len(piece.rows[0]))]
    with pdf.table(text_align="LEFT", line_height=LINE_MM, padding=1, col_widths=widths) as table:
        for cells in piece.rows:
            row = table.row()
            for cell in cells:
                row.cell(cell)


TOOLS = Path(__file__).resolve().parent
SOURCES = TOOLS / "sources"
HANDBOOK = TOOLS.parent / "corpora" / "handbook"


def make_all(out: Path) -> list[Path]:
    """Write every source's file below ``out`` and return the paths written, sorted."""
    written = []
    for path in sorted(SOURCES.glob("*.md")):
        source = load(path)
        target = out / source.target
        target.parent.mkdir(parents=True, exist_ok=True)
        {".pdf": write_pdf, ".docx": write_docx}[target.suffix](source, target)
        written.append(target)
    return sorted(written)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description="Write the handbook's PDF and DOCX files from their sources.")
    parser.add_argument("--out", type=Path, default=HANDBOOK, help="folder to write below (the handbook)")
    for path in make_all(parser.parse_args().out):
        print(path)


if __name__ == "__main__":
    main()
