"""A source as an A4 PDF with fpdf2's built-in fonts, which carry Latin-1 only."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from binary_source import Piece, Source
    from fpdf import FPDF

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
            _heading(pdf, piece)
            continue
        pdf.set_font("Helvetica", size=BODY_PT)
        if piece.kind == "table":
            _table(pdf, piece)
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


def _heading(pdf: FPDF, piece: Piece) -> None:
    from fpdf.enums import XPos, YPos

    if piece.level > 1:
        pdf.ln(2.0)
    # A heading stays with at least three lines of what follows it.
    if pdf.will_page_break(LINE_MM * 5):
        pdf.add_page()
    pdf.set_font("Helvetica", style="B", size=HEADING_PT[piece.level])
    pdf.multi_cell(0, LINE_MM * 1.3, piece.text, align="L", new_x=XPos.LMARGIN, new_y=YPos.NEXT)
    pdf.ln(1.6)


def _table(pdf: FPDF, piece: Piece) -> None:
    # Columns as wide as their longest cell asks, in shares of the page: a row then rarely needs two lines.
    widths = [max(len(cells[column]) for cells in piece.rows) + 3 for column in range(len(piece.rows[0]))]
    with pdf.table(text_align="LEFT", line_height=LINE_MM, padding=1, col_widths=widths) as table:
        for cells in piece.rows:
            row = table.row()
            for cell in cells:
                row.cell(cell)
