"""A real document of every format, for the tests of the readers."""

from __future__ import annotations

import io

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
    }
    samples = {name: text.encode("utf-8") for name, text in texts.items()}
    samples["report.pdf"] = pdf("The first page ends in the middle of", "a sentence. Then more.", title="Report")
    samples["policy.docx"] = docx()
    return samples
