"""A real document of every format, for the tests of the readers."""

from __future__ import annotations

import io
import mailbox
import zipfile
from email.message import EmailMessage
from pathlib import Path
from tempfile import TemporaryDirectory

MARKDOWN = """---
title: "The Ledger"
tags: [billing, core]
date: 2024-05-01
---

# The Ledger { #ledger }

The ledger keeps every *booking*. See the [guide](guide.md#start) and [policy][p].

/// tip

Reconcile daily.

///

{* ../src/example.py *}

## Usage

- first item
- second item

  ```python
  book(1)
  ```

<!-- a comment -->

| name | sum |
| ---- | --- |
| a    | 1   |

Setext `title`
--------------

    indented code

## Usage

<div class="x">
</div>

The end.

[p]: https://example.org/policy
"""

MDX = """import Tabs from '@theme/Tabs';

# Charts

<Tabs>

Text in a tab.

</Tabs>

export const answer = 42;

{/* hidden */}

    not code here
"""

PLAIN = """Field notes
===========

The first paragraph
runs over two lines.

Findings
--------

- a point
- another point

The last paragraph.
"""

HTML = """<!doctype html><html><head><title>Storage guide — Example</title>
<meta name="date" content="2024-03-02"><style>p{color:red}</style></head>
<body><nav><a href="/">Home</a></nav>
<main><h1>Storage <code>guide</code><a class="headerlink" href="#s">¶</a></h1>
<p>Volumes hold <a href="blocks.html">many <b>blocks</b></a>; call <code>mount()</code> first.</p>
<p hidden>secret</p><p style="display: none">secret</p><aside>aside text</aside>
<section id="limits"><h2>Limits</h2>
<ul><li>one</li><li>two<ol><li>inner</li></ol></li></ul>
<pre>mount /dev/x
  --force</pre>
<table><tr><th>size</th><th>name</th></tr><tr><td>1</td><td>small</td></tr></table>
<script>alert(1)</script></section></main><footer>imprint</footer></body></html>
"""

RST = """.. _top:

=====
Title
=====

:date: 2024-05-01
:tags: alpha, beta

Intro with ``code``, a `label <https://example.org>`_ and :doc:`/guide/install`.

Section One
===========

* item one
* item two::

    literal = 1

.. code-block:: python
   :linenos:

   def f():
       pass

.. note:: A note
   that goes on.

.. toctree::

   hidden/page

.. a comment

+-----+-----+
| a   | b   |
+=====+=====+
| 1   | 2   |
+-----+-----+

.. _setup:

Sub ``code`` section
--------------------

See :ref:`how <setup>`.
"""

JSONL = (
    '{"id": "a1", "title": "Alpha", "text": "Alpha was first.\\n\\nIt was small.", "tags": ["x", "a"]}\n'
    '{"id": 2, "text": "No title here.", "updated_at": "2024-01-02T03:04:05+01:00"}\n'
)

PYTHON = '''"""Module docstring."""

import os


# Counts things.
@decorated
def count(items):
    """Count."""

    return len(items)


class Store:
    def get(self):
        return os.name
'''


def pdf(*pages: str, bookmarks: bool = False, title: str = "", password: str = "") -> bytes:
    """A PDF with a heading in large type and some text on each page; an empty page text gives an image only."""
    from fpdf import FPDF
    from fpdf.enums import EncryptionMethod
    from PIL import Image

    document = FPDF()
    if title:
        document.set_title(title)
    if password:
        document.set_encryption(password, user_password=password, encryption_method=EncryptionMethod.RC4)
    for number, page in enumerate(pages, start=1):
        document.add_page()
        if not page:
            document.image(Image.new("RGB", (20, 20), "red"), w=20)
            continue
        if bookmarks:
            document.start_section(f"Part {number}")
        document.set_font("helvetica", size=20)
        document.cell(text=f"Part {number}", new_x="LMARGIN", new_y="NEXT")
        document.set_font("helvetica", size=11)
        document.multi_cell(0, text=page)
    return bytes(document.output())


def docx() -> bytes:
    """A Word document with headings, a list, a table and emphasis."""
    from docx import Document

    document = Document()
    document.core_properties.title = ""
    document.add_heading("Travel policy", 0)
    paragraph = document.add_paragraph("Trips need ")
    paragraph.add_run("approval").bold = True
    paragraph.add_run(" by the lead.")
    document.add_heading("Limits", 1)
    document.add_paragraph("Hotels up to 120", style="List Bullet")
    document.add_paragraph("Trains always", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for row, cells in enumerate((("city", "rate"), ("Bern", "140"))):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


ASCIIDOC = """= Harbour Guide
Ada Quist <ada@example.org>
v1.2, 2024-05-01
:keywords: harbour, tides
:revdate: 2024-05-01

The guide. See link:gate.html[the gate page] and <<lamps,Lamps>>.

[[the-lamps]]
== Lamps

Every lamp has a number.

* red lamp
* green lamp

[source,python]
----
light(1)
  deep()
----

// a comment

.Prices
|===
|Name |Price
|lamp |4
|===

////
hidden
////
"""

SRT = """1
00:00:01,000 --> 00:00:04,000
The <i>tide gate</i> was stuck

2
00:00:04,000 --> 00:00:06,000
for an hour.

3
00:01:10,500 --> 00:01:12,000
The diver comes on Friday.
"""

VTT = """WEBVTT - a call

NOTE nobody sees this

00:02.000 --> 00:06.500 align:start
<v Oda Brenn>The tide gate was stuck for an hour

00:06.500 --> 00:09.000
<v Oda Brenn>because weed blocked the hinge &amp; the bolt.

00:12.000 --> 00:15.000
<v Ivo Lund>The diver comes on Friday.
"""


def pptx() -> bytes:
    """A presentation as python-pptx writes it: a title, a list with notes, and a table without a title."""
    from pptx import Presentation
    from pptx.util import Inches

    deck, file = Presentation(), io.BytesIO()
    deck.core_properties.title = "Harbour talk"
    first = deck.slides.add_slide(deck.slide_layouts[0])
    first.shapes.title.text, first.placeholders[1].text = "The harbour", "Marrow Bay, 2024"
    second = deck.slides.add_slide(deck.slide_layouts[1])
    second.shapes.title.text = "Lamps"
    second.placeholders[1].text = "The lamps are lit at dusk.\nEvery lamp has a number."
    second.notes_slide.notes_text_frame.text = "Mention Ada Quist."
    third = deck.slides.add_slide(deck.slide_layouts[6])
    table = third.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(4), Inches(1)).table
    for row, values in enumerate((("Name", "Price"), ("lamp", "4"))):
        for column, value in enumerate(values):
            table.cell(row, column).text = value
    deck.save(file)
    return file.getvalue()


def xlsx() -> bytes:
    """A workbook as openpyxl writes it, with two tables on its first sheet."""
    from datetime import date

    from openpyxl import Workbook

    book, file = Workbook(), io.BytesIO()
    sheet = book.active
    sheet.title = "Prices"
    for row in (("Name", "Price", "Since"), ("lamp", 4.5, date(2024, 5, 1)), ("gate", 9, None), (), ("Total", 13.5)):
        sheet.append(row)
    other = book.create_sheet("Keepers")
    other["B2"] = "Ada Quist"
    book.save(file)
    return file.getvalue()


def epub() -> bytes:
    """A book of two chapters, the second before the first in the package."""
    file = io.BytesIO()
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    )
    content = """<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:title>The Harbour Book</dc:title><dc:subject>harbour</dc:subject><dc:date>2024-05-01</dc:date></metadata>
<manifest><item id="b" href="text/two.xhtml" media-type="application/xhtml+xml"/>
<item id="a" href="text/one.xhtml" media-type="application/xhtml+xml"/></manifest>
<spine><itemref idref="a"/><itemref idref="b"/></spine></package>"""
    with zipfile.ZipFile(file, "w") as package:
        package.writestr("mimetype", "application/epub+zip")
        package.writestr("META-INF/container.xml", container)
        package.writestr("OEBPS/book.opf", content)
        for name, title, text in (("two", "Gates", "They shut at noon."), ("one", "Lamps", "They are lit at dusk.")):
            page = f"<html><body><h1 id='{name}'>{title}</h1><p>{text}</p></body></html>"
            package.writestr(f"OEBPS/text/{name}.xhtml", page)
    return file.getvalue()


def _mail(number: int, *, html: bool = False) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"] = "Oda Brenn <oda@example.org>", "crew@example.org"
    message["Subject"], message["Date"] = f"Inspection {number} — gate", "Wed, 12 Jun 2024 17:50:00 +0200"
    message["Message-ID"] = f"<m{number}@example.org>"
    text = "The inspection begins at nine.\n\nFrom then on the gate is shut."
    if html:
        message.set_content("<p>The inspection begins at <b>nine</b>.</p>", subtype="html")
    else:
        message.set_content(text)
        message.add_attachment(b"x", maintype="image", subtype="png", filename="gate.png")
    return message


def eml() -> bytes:
    """A message with an attachment, as the standard library writes it."""
    return _mail(1).as_bytes()


def mbox() -> bytes:
    """A mailbox of two messages, as the standard library writes it."""
    with TemporaryDirectory() as folder:
        box = mailbox.mbox(Path(folder) / "box.mbox")
        box.add(_mail(1))
        box.add(_mail(2, html=True))
        box.close()
        return (Path(folder) / "box.mbox").read_bytes()


def notebook() -> bytes:
    """A notebook as nbformat writes it."""
    from nbformat import v4, writes

    book = v4.new_notebook(
        cells=[
            v4.new_markdown_cell("# Lamps\n\nHow many lamps are lit.", id="a"),
            v4.new_code_cell("lit = 4\nprint(lit)", id="b", outputs=[v4.new_output("stream", text="unseen 4")]),
            v4.new_markdown_cell("Four lamps are lit.", id="c"),
        ]
    )
    return writes(book).encode()


def all_samples() -> dict[str, bytes]:
    """The bytes of a good file of every format, by file name."""
    texts = {
        "ledger.md": MARKDOWN,
        "charts.mdx": MDX,
        "notes.txt": PLAIN,
        "storage.html": HTML,
        "guide.rst": RST,
        "rows.jsonl": JSONL,
        "store.py": PYTHON,
        "guide.adoc": ASCIIDOC,
        "call.srt": SRT,
        "call.vtt": VTT,
        "prices.csv": "name,price\nlamp,4\ngate,9\n",
    }
    samples = {name: text.encode("utf-8") for name, text in texts.items()}
    samples["report.pdf"] = pdf("The first page ends in the middle of", "a sentence. Then more.", title="Report")
    samples["policy.docx"] = docx()
    makers = {"talk.pptx": pptx, "prices.xlsx": xlsx, "book.epub": epub, "post.eml": eml, "box.mbox": mbox}
    samples |= {name: make() for name, make in (makers | {"lamps.ipynb": notebook}).items()}
    return samples
