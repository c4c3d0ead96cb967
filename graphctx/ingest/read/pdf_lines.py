"""The lines of a PDF page in reading order, with the type in which they are set."""

from __future__ import annotations

import ctypes
import math
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from graphctx.text.normalise import normalise

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument
    from pypdfium2.raw import FPDF_TEXTPAGE

GUTTER = 1.2
"""Times the size of the type that lies at least between two columns."""

MIN_COLUMN_LINES = 8
MIN_COLUMN_WORDS = 3
"""Rows of a page with a common gap are two columns from so many on, with so many words on average on each side."""

SAME_LINE = 0.5
"""Times the size of the type by which baselines differ at most within a line: indices and exponents do."""

MAX_GAP = 2.0
"""Times the size of the type that lies at most between a line and what PDFium has torn off it."""

BROKEN = "\x02"
"""What stands in a line for the hyphen that breaks a word at a line's end; the rest of the word follows it."""

HYPHEN = "\u2010"

MIN_ACCENTS = 3
"""Acute accents that stand alone, from which on a document is set in fonts without accented letters."""

REGULAR, BOLD = 400, 700
"""The usual weights of type (OpenType OS/2, usWeightClass)."""

SAMPLED = 200
"""Characters of a page that tell in which direction it is written, or a few more."""

_LINE_ENDS = "\r\n"
_SPACES = frozenset("\t \u00a0" + _LINE_ENDS)
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_BROKEN_WORD = re.compile(r"(?<![^\W\d_])([^\W\d_]+)\x02([^\W\d_]+)")
_COMBINING = {"´": "\u0301", "`": "\u0300", "ˆ": "\u0302", "¨": "\u0308", "˜": "\u0303", "ˇ": "\u030c", "¸": "\u0327"}
_ACCENT = re.compile(f"([{''.join(_COMBINING)}])([A-Za-zı])")
_DIGITS = re.compile(r"\d+")
_UNSEEN = re.compile(r"[\x00\x01\x03-\x08\x0b-\x1f\u00ad\ufffe\uffff]")
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl"})


@dataclass(frozen=True, slots=True)
class PdfWord:
    """A word with its edges and its baseline in points, and the type in which it is set."""

    text: str
    left: float
    right: float
    base: float
    size: float
    weight: int


Row = list[PdfWord]


@dataclass(frozen=True, slots=True, eq=False)
class PdfLine:
    """A line of a page.

    Attributes:
        text: its words, with single spaces.
        left, right, base: its edges and its baseline in points, where most text of the page is horizontal.
        size: of most of its type, in points.
        weight: of most of its type, as PDFium estimates it; comparable within a document only.
        spread: whether there are wide gaps between its words, as between the cells of a table.
    """

    text: str
    left: float
    right: float
    base: float
    size: float
    weight: int
    spread: bool = False

    @property
    def shape(self) -> str:
        """The text with 0 for every number."""
        return _DIGITS.sub("0", self.text)

    @property
    def is_title_like(self) -> bool:
        """Whether it reads as a title: short, in one piece, a capital or a number first, no full stop at the end."""
        return (
            len(self.text) <= 100
            and not self.spread
            and not self.text[0].islower()
            and not self.text.endswith((".", ",", ";", ":"))
        )

    def precedes(self, other: PdfLine) -> bool:
        """Whether ``other`` stands below this line, in the same column."""
        return other.base < self.base - 0.3 * self.size and other.left < self.right and self.left < other.right


def page_lines(document: PdfDocument, number: int) -> list[PdfLine]:
    """Return the lines of a page that are not blank, in reading order; a broken word is on the line where it begins."""
    rows = _whole(_rows(document, number))
    return [line for row in _by_column(rows) if (line := _line(row)).text]


def _rows(document: PdfDocument, number: int) -> Iterator[Row]:
    """Yield the words of each line as PDFium finds them."""
    import pypdfium2.raw as pdfium

    page = document[number]
    text_page = page.get_textpage()
    turns = _quarter_turns(text_page.raw)
    if 90 * turns != page.get_rotation():  # PDFium finds lines in pages as they are shown
        text_page.close()
        page.set_rotation(90 * turns)
        text_page = page.get_textpage()
    raw = text_page.raw
    x, y, left, right, bottom, top = (ctypes.c_double() for _ in range(6))
    matrix = pdfium.FS_MATRIX()
    name, flags = ctypes.create_string_buffer(128), ctypes.c_int()

    def word(text: str, first: int, last: int) -> PdfWord:
        pdfium.FPDFText_GetCharOrigin(raw, first, ctypes.byref(x), ctypes.byref(y))
        pdfium.FPDFText_GetCharBox(raw, last, *map(ctypes.byref, (left, right, bottom, top)))
        start, base = _upright(x.value, y.value, turns)
        end = max(_upright(left.value, bottom.value, turns)[0], _upright(right.value, top.value, turns)[0])
        pdfium.FPDFText_GetMatrix(raw, first, ctypes.byref(matrix))
        size = pdfium.FPDFText_GetFontSize(raw, first) * (math.hypot(matrix.c, matrix.d) or 1.0)
        weight = pdfium.FPDFText_GetFontWeight(raw, first)
        if weight <= 0:  # one of the fonts that every reader has, which are not in the file
            length = pdfium.FPDFText_GetFontInfo(raw, first, name, len(name), ctypes.byref(flags))
            weight = BOLD if b"bold" in name.raw[: max(length, 0)].lower() else REGULAR
        return PdfWord(text, start, end, base, round(size, 1), weight)

    characters = _characters(raw)
    row: Row = []
    start = -1
    for index, character in enumerate(f"{characters}\n"):
        if character not in _SPACES:
            start = index if start < 0 else start
            continue
        broken = False
        if start >= 0:
            text = characters[start:index]
            broken = BROKEN in text[:-1]
            last = text.index(BROKEN) - 1 if broken else len(text) - 1
            row.append(word(text, start, start + max(last, 0)))
        if row and (character in _LINE_ENDS or broken):
            yield row
            row = []
        start = -1
    text_page.close()
    page.close()


def _quarter_turns(text_page: FPDF_TEXTPAGE) -> int:
    """Return by how many quarter turns, counter-clockwise, most of the text of a page is set."""
    import pypdfium2.raw as pdfium

    count = pdfium.FPDFText_CountChars(text_page)
    angles = (pdfium.FPDFText_GetCharAngle(text_page, index) for index in range(0, count, count // SAMPLED + 1))
    turns = Counter(round(-2 * angle / math.pi) % 4 for angle in angles if angle >= 0)  # PDFium counts clockwise
    return max(turns, key=lambda turn: (turns[turn], -turn), default=0)


def _upright(x: float, y: float, turns: int) -> tuple[float, float]:
    """Return a point of a page where its text is horizontal."""
    return ((x, y), (y, -x), (-x, -y), (-y, x))[turns]


def _characters(text_page: FPDF_TEXTPAGE) -> str:
    """Return the characters of a page, one for each of PDFium's indexes."""
    import pypdfium2.raw as pdfium

    count = pdfium.FPDFText_CountChars(text_page)
    buffer = ctypes.create_string_buffer(2 * (count + 1))
    units = pdfium.FPDFText_GetText(text_page, 0, count, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)))
    text = buffer.raw[: 2 * max(units - 1, 0)].decode("utf-16-le", "surrogatepass")
    if len(text) == count:  # else the text lacks characters or has others beyond the basic plane: slowly, one by one
        return text.replace("\ufffe", BROKEN)
    codes = (pdfium.FPDFText_GetUnicode(text_page, index) for index in range(count))
    return "".join(chr(code) if code <= sys.maxunicode else "\ufffd" for code in codes)


def _whole(rows: Iterable[Row]) -> list[Row]:
    """Put together what is on one line: indices and exponents, cells of a row."""
    whole: list[Row] = []
    for row in rows:
        before = whole[-1] if whole else None
        main = max(before, key=lambda word: word.size) if before else None
        if before is None or main is None:
            whole.append(row)
            continue
        gap = row[0].left - before[-1].right
        same = abs(row[0].base - main.base) <= SAME_LINE * max(main.size, row[0].size)
        if not same or not -0.3 * main.size <= gap <= MAX_GAP * main.size:
            whole.append(row)
        elif gap < 0.1 * main.size and BROKEN not in before[-1].text:
            first = replace(before[-1], text=before[-1].text + row[0].text, right=row[0].right)
            whole[-1] = [*before[:-1], first, *row[1:]]
        else:
            whole[-1] = [*before, *row]
    return whole


def _by_column(rows: Sequence[Row]) -> list[Row]:
    """Set rows that run over two columns apart, so that each column is read from top to bottom."""
    gutter = _gutter(rows)
    if gutter is None:
        return list(rows)
    ordered: list[Row] = []
    right: list[Row] = []
    for row in rows:
        sides = [word for word in row if word.right <= gutter], [word for word in row if word.left >= gutter]
        if len(sides[0]) + len(sides[1]) < len(row):  # a line over both columns
            ordered += [*right, row]
            right = []
            continue
        ordered += [sides[0]] if sides[0] else []
        right += [sides[1]] if sides[1] else []
    return [*ordered, *right]


def _gutter(rows: Sequence[Row]) -> float | None:
    """Return the middle of the gap that most rows have in common, if there are two columns of text on its sides."""
    gaps = [
        (a.right, b.left) for row in rows for a, b in pairwise(row) if b.left - a.right > GUTTER * max(a.size, b.size)
    ]
    if len(gaps) < MIN_COLUMN_LINES:
        return None
    middles = sorted((left + right) / 2 for left, right in gaps)
    middle = max(middles, key=lambda x: (sum(left < x < right for left, right in gaps), -x))
    split = [row for row in rows if any(a.right < middle < b.left for a, b in pairwise(row))]
    sides = [sum(word.right < middle for row in split for word in row), sum(len(row) for row in split)]
    enough = max(MIN_COLUMN_LINES, 0.5 * len(rows))
    if len(split) < enough or min(sides[0], sides[1] - sides[0]) < MIN_COLUMN_WORDS * len(split):
        return None
    return middle


def _line(row: Row) -> PdfLine:
    text = " ".join(_UNSEEN.sub("", " ".join(word.text for word in row).translate(_LIGATURES)).split())
    type_of: Counter[tuple[float, int]] = Counter()
    for word in row:
        type_of[word.size, word.weight] += len(word.text)
    (size, weight), _ = max(type_of.items(), key=lambda item: (item[1], item[0]))
    base = next(word.base for word in row if word.size == size)
    spread = any(b.left - a.right > GUTTER * size for a, b in pairwise(row))
    return PdfLine(text, row[0].left, max(word.right for word in row), base, size, weight, spread)


def whole_words(pages: Sequence[Sequence[PdfLine]]) -> list[list[PdfLine]]:
    """Join the words that are broken at line ends, and normalise the lines.

    The hyphen stays if the document has the word with it, or both parts but not the word without it.
    """
    pages = [_rejoined(page) for page in pages]
    known = {
        word.casefold() for page in pages for line in page for word in _WORD.findall(_BROKEN_WORD.sub("", line.text))
    }
    accents = sum(line.text.count("´") for page in pages for line in page) >= MIN_ACCENTS

    def joined(match: re.Match[str]) -> str:
        first, last = match.groups()
        a, b = first.casefold(), last.casefold()
        keeps = a + b not in known and (f"{a}-{b}" in known or {a, b} <= known or last[0].isupper())
        return f"{first}-{last}" if keeps else first + last

    def whole(text: str) -> str:
        if BROKEN in text:
            text = _BROKEN_WORD.sub(joined, text).replace(BROKEN, "-")
        return normalise(_ACCENT.sub(_composed, text) if accents else text)

    return [[replace(line, text=whole(line.text)) for line in page] for page in pages]


def _rejoined(page: Sequence[PdfLine]) -> list[PdfLine]:
    """Put the rest of a word behind U+2010, with which browsers break words, on the line where the word begins."""
    lines: list[PdfLine] = []
    for line in page:
        first, _, rest = line.text.partition(" ")
        if not lines or not lines[-1].text.endswith(HYPHEN) or not first[:1].isalnum():
            lines.append(line)
            continue
        lines[-1] = replace(lines[-1], text=lines[-1].text[:-1] + first)
        lines += [replace(line, text=rest)] if rest else []
    return lines


def _composed(match: re.Match[str]) -> str:
    """Return the letter with the accent that is set before it, as old fonts of TeX have it."""
    accent, letter = match.groups()
    letter = unicodedata.normalize("NFC", {"ı": "i"}.get(letter, letter) + _COMBINING[accent])
    return letter if len(letter) == 1 else match.group()
