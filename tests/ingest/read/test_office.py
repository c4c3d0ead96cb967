"""PDF and Word documents."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence

import pytest

from graphctx.errors import InvalidArgument
from graphctx.ingest.read import readers
from graphctx.ingest.read.pdf_lines import PdfLine, whole_words
from graphctx.model.documents import Document

from .samples import docx, pdf

PDF, DOCX = readers()[".pdf"], readers()[".docx"]


def read_pdf(data: bytes) -> Document:
    (document,) = PDF.read(data, "report.pdf").documents
    return document


def test_a_pdf_gives_the_text_of_its_pages_and_where_they_start() -> None:
    document = read_pdf(pdf("Alpha text.", "Beta text.", title="Yearly report"))
    assert (document.title, document.titled) == ("Yearly report", True)
    assert document.page_starts[0] == 0
    assert len(document.page_starts) == 2
    assert document.text[document.page_starts[1] :].startswith("Part 2")
    assert "Beta text." in document.text[document.page_starts[1] :]
    assert "Beta" not in document.text[: document.page_starts[1]]


def test_a_date_of_a_pdf_that_utc_cannot_hold_does_not_cost_its_text() -> None:
    from pypdf import PdfWriter

    writer, written = PdfWriter(io.BytesIO(pdf("Alpha text."))), io.BytesIO()
    writer.add_metadata({"/ModDate": "D:00010101000000+14'00'"})
    writer.write(written)
    document = read_pdf(written.getvalue())
    assert "Alpha text." in document.text
    assert document.updated_at is None


@pytest.mark.parametrize("bookmarks", [True, False])
def test_pdf_headings_come_from_bookmarks_or_from_large_type(bookmarks: bool) -> None:
    document = read_pdf(pdf("Alpha text. " * 20, "Beta text. " * 20, bookmarks=bookmarks))
    assert [(h.level, h.title, h.anchor) for h in document.headings] == [
        (1, "Part 1", "page=1"),
        (1, "Part 2", "page=2"),
    ]
    shown = [document.text[b.start_char : b.end_char] for b in document.blocks]
    assert all("Part" not in text for text in shown)
    assert len(shown) == 2


def test_running_headers_and_footers_are_kept_once_and_in_no_block() -> None:
    topics = ("Anchors", "Buoys", "Chains", "Docks")
    pages = [
        typeset(
            (50, 60, 10, f"{topic} are kept in the yard."),
            (50, 800, 9, f"page {number}"),
            (50, 30, 9, "The Harbour Book"),  # drawn last, as browsers do
            (400, 30, 9, "Second edition"),
        )
        for number, topic in enumerate(topics, start=1)
    ]
    document = read_pdf(joined(pages))
    assert [document.text.count(line) for line in ("The Harbour Book", "Second edition", "page ")] == [1, 1, 1]
    shown = [document.text[b.start_char : b.end_char] for b in document.blocks]
    assert shown == [f"{topic} are kept in the yard." for topic in topics]


def joined(pages: Sequence[bytes]) -> bytes:
    """Return one PDF of several."""
    from pypdf import PdfWriter

    writer = PdfWriter()
    for page in pages:
        writer.append(io.BytesIO(page))
    writer.write(output := io.BytesIO())
    return output.getvalue()


Line = tuple[float, float, float, str]
"""Left edge and height from the top in points, size of the type, text."""


def typeset(*lines: Line) -> bytes:
    """Return a page of lines."""
    from fpdf import FPDF

    page = FPDF(unit="pt")
    page.add_page()
    for left, top, size, text in lines:
        page.set_font("helvetica", size=size, style="B" if size > 10 else "")
        page.text(left, top, text)
    return bytes(page.output())


def test_a_pdf_keeps_its_lines_and_has_whole_words() -> None:
    page = typeset(
        (50, 100, 10, "Every mooring is exam-"),
        (50, 112, 10, "ined twice a year by the self-"),
        (50, 124, 10, "appointed crew. A self-appointed crew"),
        (50, 136, 10, "checks its chain and its buoy."),
        (50, 170, 10, "It reports to the office."),
    )
    document = read_pdf(page)
    assert document.text == (
        "Every mooring is examined\ntwice a year by the self-appointed\ncrew. A self-appointed crew\n"
        "checks its chain and its buoy.\n\nIt reports to the office."
    )
    assert len(document.blocks) == 2


def test_words_that_a_browser_has_broken_are_whole() -> None:
    texts = ("Arith\u2010", "metic ad\u2010", "dition of Cluster\u2010", "Roles\u2010", "\u2022")
    page = [PdfLine(text, 50, 90, 800 - 12 * n, 10, 400) for n, text in enumerate(texts)]
    assert [line.text for line in whole_words([page])[0]] == [
        "Arithmetic",
        "addition",
        "of ClusterRoles\u2010",
        "\u2022",
    ]


@pytest.mark.parametrize("by_rows", [True, False])
def test_columns_are_read_one_after_the_other(by_rows: bool) -> None:
    left = [(50.0, 100.0 + 12 * n, 10.0, f"the left column has row {n} here") for n in range(12)]
    right = [(320.0, 100.0 + 12 * n, 10.0, f"the right column has row {n} here") for n in range(12)]
    lines = [line for pair in zip(left, right, strict=True) for line in pair] if by_rows else [*left, *right]
    closing = (50.0, 300.0, 10.0, "A closing line runs over the whole width of the page, below both of the columns.")
    document = read_pdf(typeset(*lines, closing))
    assert document.text.split() == " ".join(text for *_, text in [*left, *right, closing]).split()


@pytest.mark.parametrize("text_turns", [0, 90, 180, 270])
@pytest.mark.parametrize("page_turns", [0, 90, 270])
def test_pages_and_text_that_are_turned_read_like_others(text_turns: int, page_turns: int) -> None:
    from pypdf import PdfWriter, Transformation

    lines = [(50.0, 100.0, 20.0, "Moorings")]
    lines += [(50.0, 130.0 + 12 * n, 10.0, f"Mooring {n} is a chain with a stone at its end.") for n in range(9)]
    page = typeset(*lines, (50.0, 260.0, 10.0, "The crew looks at them."))
    writer = PdfWriter(clone_from=io.BytesIO(page))
    turned = Transformation().translate(-300, -420).rotate(text_turns).translate(300, 420)
    writer.pages[0].add_transformation(turned)
    writer.pages[0].rotate(page_turns)
    writer.write(output := io.BytesIO())
    expected, found = read_pdf(page), read_pdf(output.getvalue())
    assert (found.text, found.headings, found.blocks) == (expected.text, expected.headings, expected.blocks)


def test_a_pdf_heading_over_two_lines_is_one_and_contents_are_no_text() -> None:
    page = typeset(
        (50, 60, 20, "The Harbour"),
        (50, 100, 10, "1 Moorings . . . . . . . . . . . . 3"),
        (50, 130, 14, "Moorings and what"),
        (50, 146, 14, "holds them"),
        *((50, 170 + 12 * n, 10, "A mooring is a chain with a stone at its end, as it always was.") for n in range(5)),
    )
    document = read_pdf(page)
    assert document.title == "The Harbour"
    assert [(h.level, h.title) for h in document.headings] == [(1, "The Harbour"), (2, "Moorings and what holds them")]
    assert [document.text[b.start_char : b.end_char][:10] for b in document.blocks] == ["A mooring "]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"hello world", "not a PDF"),
        (pdf("Text.")[:300], "damaged"),
        (pdf("Secret text.", password="hunter2"), "encrypted"),
        (pdf("", ""), "no text on its 2 pages"),
    ],
    ids=["zero bytes", "no pdf", "cut off", "encrypted", "images only"],
)
def test_a_pdf_that_cannot_be_read_says_why(data: bytes, reason: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InvalidArgument, match=reason):
        read_pdf(data)
    assert capfd.readouterr() == ("", "")


def test_a_word_document_gives_headings_lists_and_tables() -> None:
    (document,) = DOCX.read(docx(), "policy.docx").documents
    assert document.title == "Travel policy"
    assert [(h.level, h.title) for h in document.headings] == [(1, "Travel policy"), (1, "Limits")]
    assert [(b.kind, document.text[b.start_char : b.end_char]) for b in document.blocks] == [
        ("prose", "Trips need approval by the lead."),
        ("list", "- Hotels up to 120\n- Trains always"),
        ("table", "city | rate\nBern | 140"),
    ]


def packed(**parts: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        for name, data in parts.items():
            package.writestr(name, data)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "damaged"),
        (b"PK\x03\x04 but no more", "damaged"),
        (docx()[:-200], "damaged"),
        (packed(**{"hello.txt": b"hi"}), "not a Word document"),
        (b"\xd0\xcf\x11\xe0" + b"x" * 600, "encrypted"),
        (packed(**{"word/document.xml": b" " * (80 * 1024 * 1024)}), "more than is safe"),
    ],
    ids=["zero bytes", "cut off", "no directory", "another zip", "old format", "bomb"],
)
def test_a_word_document_that_cannot_be_read_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(InvalidArgument, match=reason):
        DOCX.read(data, "policy.docx")


def word(body: str, part: str = "word/document.xml") -> bytes:
    """A Word document of this body, in a part of any name."""
    types = "http://schemas.openxmlformats.org/package/2006"
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    return packed(
        **{
            "[Content_Types].xml": f'<Types xmlns="{types}/content-types"><Override PartName="/{part}" '
            'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{types}/relationships">'
            f'<Relationship Id="r" Type="{relation}" Target="{part}"/></Relationships>',
            part: f'<w:document xmlns:w="{space}"><w:body>{body}</w:body></w:document>',
        }
    )


PARAGRAPH = "<w:p><w:r><w:t>word</w:t></w:r></w:p>"


def nested_tables(depth: int) -> str:
    return "<w:tbl><w:tr><w:tc>" * depth + PARAGRAPH + "</w:tc></w:tr></w:tbl>" * depth


@pytest.mark.parametrize("part", ["word/document.xml", "word/document.bin"])
def test_a_word_document_that_repeats_itself_as_no_author_does_is_refused_unread(part: str) -> None:
    assert DOCX.read(word(PARAGRAPH * 10, part), "policy.docx").documents[0].text.count("word") == 10
    with pytest.raises(InvalidArgument, match="more than is safe"):
        DOCX.read(word(PARAGRAPH * 60_000, part), "policy.docx")


def test_a_word_document_that_nests_too_deeply_is_refused_with_that_reason() -> None:
    assert "word" in DOCX.read(word(nested_tables(10)), "policy.docx").documents[0].text
    with pytest.raises(InvalidArgument, match=r"policy\.docx nests tables .* too deeply"):
        DOCX.read(word(nested_tables(300)), "policy.docx")
