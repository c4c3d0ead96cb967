"""Presentations, workbooks, books, mail, notebooks, AsciiDoc and subtitles: their text and its places."""

from __future__ import annotations

import io
import zipfile
from time import process_time

import pytest

from graphctx.errors import InvalidArgument
from graphctx.ingest.read import ReadFile, readers
from graphctx.ingest.read.mail import MboxReader
from graphctx.ingest.split import split_by_word_pieces
from graphctx.model.documents import Document

from .samples import all_samples

SAMPLES = all_samples()


def read_all(name: str) -> ReadFile:
    return readers()["." + name.rpartition(".")[2]].read(SAMPLES[name], name)


def read(name: str) -> Document:
    (document,) = read_all(name).documents
    return document


def blocks(document: Document) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.start_char : block.end_char]) for block in document.blocks]


def anchors(document: Document) -> dict[str, str | None]:
    """The anchor of each passage, by its text; where no heading has words, it is the title of the section."""
    split = split_by_word_pieces(document, 256)
    anchor = {section.id: section.anchor for section in split.sections}
    placed = [heading for heading in document.headings if not heading.title]
    assert {heading.anchor for heading in placed} <= {section.title for section in split.sections}
    return {document.text[unit.start_char : unit.end_char]: anchor[unit.section_id] for unit in split.units}


def test_a_presentation_gives_slides_notes_and_tables_with_their_numbers() -> None:
    document = read("talk.pptx")
    assert document.title == "Harbour talk"
    assert blocks(document) == [
        ("prose", "Marrow Bay, 2024"),
        ("prose", "The lamps are lit at dusk.\nEvery lamp has a number."),
        ("prose", "Mention Ada Quist."),
        ("table", "Name | Price\nlamp | 4"),
    ]
    assert list(anchors(document).values()) == ["slide-1", "slide-2", "slide-3"]
    pages = [document.text[start:] for start in document.page_starts]
    assert [page.partition("\n")[0] for page in pages] == ["The harbour", "Lamps", "Name | Price"]


def edited(name: str, part: str, old: str, new: str) -> Document:
    """What is read of a sample with one of its parts changed."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(SAMPLES[name])) as package, zipfile.ZipFile(file, "w") as changed:
        for one in package.namelist():
            text = package.read(one)
            assert one != part or old.encode() in text
            changed.writestr(one, text.replace(old.encode(), new.encode(), 1) if one == part else text)
    (document,) = readers()["." + name.rpartition(".")[2]].read(file.getvalue(), name).documents
    return document


def test_a_slide_that_is_listed_twice_is_read_once() -> None:
    with zipfile.ZipFile(io.BytesIO(SAMPLES["talk.pptx"])) as package:
        listed = package.read("ppt/presentation.xml").decode()
    slides = listed[listed.index("<p:sldId ") : listed.index("</p:sldIdLst>")]
    found = edited("talk.pptx", "ppt/presentation.xml", slides, 2 * slides)
    assert found.text == read("talk.pptx").text


def test_of_alternatives_on_a_slide_the_first_is_read() -> None:
    with zipfile.ZipFile(io.BytesIO(SAMPLES["talk.pptx"])) as package:
        slide = package.read("ppt/slides/slide2.xml").decode()
    shape = slide[slide.rindex("<p:sp>") : slide.rindex("</p:sp>") + len("</p:sp>")]
    both = (
        '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        f'<mc:Choice Requires="a14">{shape}</mc:Choice><mc:Fallback>{shape}</mc:Fallback></mc:AlternateContent>'
    )
    assert edited("talk.pptx", "ppt/slides/slide2.xml", shape, both).text == read("talk.pptx").text


def test_a_sheet_that_declares_a_huge_range_reads_like_another() -> None:
    began = process_time()
    found = edited("prices.xlsx", "xl/worksheets/sheet1.xml", 'ref="A1:C5"', 'ref="A1:XFD60000"')
    assert found.text == read("prices.xlsx").text
    assert process_time() - began < 5


@pytest.mark.parametrize("more", ['<itemref idref="missing"/>', "<itemref/>", '<itemref idref="a"/>'])
def test_a_chapter_is_read_once_and_a_reference_to_none_is_left_out(more: str) -> None:
    found = edited("book.epub", "OEBPS/book.opf", "</spine>", f"{more}</spine>")
    assert found.text == read("book.epub").text


def test_a_parquet_file_that_unpacks_to_more_than_is_safe_is_refused() -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(pa.table({"text": pa.array(["lamp " * 440_000]).take(pa.array([0] * 300))}), file)
    with pytest.raises(InvalidArgument, match="would unpack to more than"):
        readers()[".parquet"].read(file.getvalue(), "a.parquet")


def test_a_workbook_gives_tables_with_their_ranges() -> None:
    document = read("prices.xlsx")
    assert anchors(document) == {
        "Name | Price | Since\nlamp | 4.5 | 2024-05-01\ngate | 9": "Prices!A1:C3",
        "Total | 13.5": "Prices!A5:B5",
        "| Ada Quist": "Keepers!A2:B2",
    }
    assert [heading.title for heading in document.headings if heading.title] == ["Prices", "Keepers"]


def test_a_book_gives_its_chapters_in_reading_order() -> None:
    document = read("book.epub")
    assert (document.title, document.tags, document.updated_at) == ("The Harbour Book", ("harbour",), "2024-05-01")
    assert document.text == "Lamps\n\nThey are lit at dusk.\n\nGates\n\nThey shut at noon."
    assert [heading.anchor for heading in document.headings] == ["OEBPS/text/one.xhtml#one", "OEBPS/text/two.xhtml#two"]


def test_a_message_gives_its_header_and_its_body() -> None:
    (document,) = read_all("post.eml").documents
    assert (document.title, document.updated_at) == ("Inspection 1 — gate", "2024-06-12T15:50:00Z")
    assert blocks(document) == [
        ("list", "From: Oda Brenn <oda@example.org>\nTo: crew@example.org\nDate: Wed, 12 Jun 2024 17:50:00 +0200"),
        ("prose", "The inspection begins at nine."),
        ("prose", "From then on the gate is shut."),
    ]
    assert "gate.png" in read_all("post.eml").notes[0]


def test_a_mailbox_gives_a_document_for_each_message() -> None:
    first, second = read_all("box.mbox").documents
    assert (first.uri, second.uri) == ("box.mbox#m1@example.org", "box.mbox#m2@example.org")
    assert first.text.endswith("From then on the gate is shut.")
    assert second.text.endswith("The inspection begins at nine.")


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("Message-ID: <", None),
        ("Message-ID: <" + "a" * 600 + "@b>", "must be 1 to 512 printable"),
        ("Message-ID: <a\x01b@c>", "must be 1 to 512 printable"),
        ("To: =?utf-8?q?=0A?= <a@b>", "is damaged"),
    ],
)
def test_a_damaged_message_does_not_cost_the_mailbox(header: str, reason: str | None) -> None:
    fine = "From x\nFrom: a@b.c\nSubject: s\nMessage-ID: <good@x>\n\nIt is fine.\n\n"
    found = MboxReader().read(f"From y\nFrom: a@b.c\nSubject: t\n{header}\n\nBody.\n\n{fine}".encode(), "a.mbox")
    uris = [document.uri for document in found.documents]
    assert uris[-1] == "a.mbox#good@x"
    assert (len(uris) == 2) == (reason is None)
    assert all(reason is not None and reason in one.reason for one in found.skipped)


def test_a_notebook_gives_its_cells_without_outputs() -> None:
    document = read("lamps.ipynb")
    assert document.title == "Lamps"
    assert blocks(document)[1] == ("code", "lit = 4\nprint(lit)")
    assert "unseen" not in document.text
    assert [document.text[start:][:4] for start in document.page_starts] == ["# La", "lit ", "Four"]


def test_asciidoc_is_its_own_text_with_its_structure() -> None:
    document = read("guide.adoc")
    assert document.text == SAMPLES["guide.adoc"].decode()
    assert (document.tags, document.updated_at) == (("harbour", "tides"), "2024-05-01")
    assert [(h.level, h.title, h.anchor) for h in document.headings] == [
        (1, "Harbour Guide", "harbour-guide"),
        (2, "Lamps", "the-lamps"),
    ]
    assert blocks(document) == [
        ("prose", "The guide. See link:gate.html[the gate page] and <<lamps,Lamps>>."),
        ("prose", "Every lamp has a number."),
        ("list", "* red lamp\n* green lamp"),
        ("code", "light(1)\n  deep()"),
        ("table", "|Name |Price\n|lamp |4"),
    ]
    labels = {document.text[link.start_char : link.end_char]: link.target for link in document.links}
    assert labels == {"the gate page": "gate.html", "Lamps": "#lamps"}


def adoc(text: str) -> Document:
    (document,) = readers()[".adoc"].read(text.encode(), "a.adoc").documents
    return document


@pytest.mark.parametrize("mark", ["----", "```", "====", "--"])
def test_a_block_that_is_never_closed_ends_at_the_next_heading_of_asciidoc(mark: str) -> None:
    document = adoc(f"== Code\n\n{mark}\nrun()\n\n== Lamps ==\n\nEvery lamp has a number.\n")
    assert [heading.title for heading in document.headings] == ["Code", "Lamps"]
    assert [text for _, text in blocks(document)] == ["run()", "Every lamp has a number."]


@pytest.mark.parametrize(
    "text",
    [
        "link:" * 16_000,
        "https://" * 10_000,
        "<<" * 40_000,
        "<<a, " * 16_000,
        "== a" + " " * 80_000 + "b",
        "[#" + "a" * 80_000,
        "include::" + "[" * 80_000,
        "```a\n== b\n" * 8_000,
    ],
    ids=lambda text: text[:8],
)
def test_asciidoc_takes_no_more_time_for_marks_that_never_end(text: str) -> None:
    began = process_time()
    assert adoc(text).text.strip() == text.strip()
    assert process_time() - began < 5


def test_subtitles_give_paragraphs_with_their_times() -> None:
    assert anchors(read("call.srt")) == {
        "The tide gate was stuck\nfor an hour.": "00:00:01",
        "The diver comes on Friday.": "00:01:10",
    }
    assert blocks(read("call.vtt")) == [
        ("prose", "Oda Brenn: The tide gate was stuck for an hour\nbecause weed blocked the hinge & the bolt."),
        ("prose", "Ivo Lund: The diver comes on Friday."),
    ]


@pytest.mark.parametrize(
    ("cue", "shown"),
    [
        ("<v Ana>Hello.\n<v Bob>Yes I do.", ["Ana: Hello.", "Bob: Yes I do."]),
        ("Hello. <v.loud Bob Lee>Yes</v> <b>I</b> do.", ["Hello.", "Bob Lee: Yes I do."]),
        ("if a < b and c > d then <c.red>stop</c>", ["if a < b and c > d then stop"]),
        ("use <vector> of <font color=red>T</font> <00:00:01.500>now", ["use <vector> of T now"]),
    ],
)
def test_a_cue_has_a_paragraph_for_each_speaker_and_loses_only_tags(cue: str, shown: list[str]) -> None:
    data = f"WEBVTT\n\n00:01.000 --> 00:02.000\n{cue}\n".encode()
    (document,) = readers()[".vtt"].read(data, "a.vtt").documents
    assert [text for _, text in blocks(document)] == shown


@pytest.mark.parametrize("name", [name for name in SAMPLES if name.endswith((".pptx", ".xlsx", ".epub", ".ipynb"))])
def test_half_a_file_is_refused(name: str) -> None:
    data = SAMPLES[name]
    with pytest.raises(InvalidArgument, match="damaged or not a"):
        readers()["." + name.rpartition(".")[2]].read(data[: len(data) // 2], name)


@pytest.mark.parametrize("name", ["a.eml", "a.mbox", "a.srt", "a.vtt", "a.xlsx", "a.pptx", "a.epub", "a.ipynb"])
def test_another_file_of_that_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidArgument, match=r"a\."):
        readers()["." + name.rpartition(".")[2]].read(b"Only some words.\n", name)
