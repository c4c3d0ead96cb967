"""What is particular to HTML, reStructuredText, plain text, source code and JSON Lines."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graphctx.errors import InvalidArgument
from graphctx.ingest.read import ReadFile, SourceFile, read_file, readers
from graphctx.ingest.read.source import Columns, Source
from graphctx.model.documents import Document

from .samples import HTML, JSONL, PLAIN, PYTHON, RST


def read(text: str | bytes, name: str) -> Document:
    data = text if isinstance(text, bytes) else text.encode("utf-8")
    (document,) = readers()["." + name.rpartition(".")[2]].read(data, name).documents
    return document


def blocks(document: Document) -> list[tuple[str, str]]:
    return [(b.kind, document.text[b.start_char : b.end_char]) for b in document.blocks]


def headings(document: Document) -> list[tuple[int, str, str | None]]:
    return [(h.level, h.title, h.anchor) for h in document.headings]


def links(document: Document) -> dict[str, str]:
    return {document.text[link.start_char : link.end_char]: link.target for link in document.links}


def test_html_gives_the_readable_text_of_its_main_part() -> None:
    document = read(HTML, "storage.html")
    assert (document.title, document.updated_at) == ("Storage guide", "2024-03-02")
    assert headings(document) == [(1, "Storage guide", None), (2, "Limits", "limits")]
    assert blocks(document) == [
        ("prose", "Volumes hold many blocks; call `mount()` first."),
        ("list", "- one\n- two\n  1. inner"),
        ("code", "mount /dev/x\n  --force"),
        ("table", "size | name\n1 | small"),
    ]
    assert links(document) == {"many blocks": "blocks.html"}
    for unseen in ("secret", "aside", "Home", "alert", "imprint", "¶"):
        assert unseen not in document.text


def test_html_code_inside_a_list_splits_the_list() -> None:
    document = read("<ul><li><p>a</p><pre>x = 1</pre>after</li><li>b</li></ul>", "l.html")
    assert blocks(document) == [("list", "- a"), ("code", "x = 1"), ("list", "after\n- b")]


def test_html_terms_announce_what_explains_them() -> None:
    page = "<dl><dt><code>port</code> (integer)</dt><dd>Where it listens.</dd><dt>Why?</dt><dt></dt><dd>So.</dd></dl>"
    assert blocks(read(page, "x.html")) == [
        ("prose", "`port` (integer):"),
        ("prose", "Where it listens."),
        ("prose", "Why?"),
        ("prose", "So."),
    ]


def test_html_navigation_without_its_element_is_left_out() -> None:
    page = (
        "<div class='navheader'><table><tr><td>Prev</td><td>Next</td></tr></table></div><p>The gate opens.</p>"
        "<div class='TOC first'><dl><dt>1. Keys</dt></dl></div><p class='related-work'>Others open too.</p>"
    )
    assert blocks(read(page, "x.html")) == [("prose", "The gate opens."), ("prose", "Others open too.")]


def test_html_tables_keep_their_columns_where_cells_are_empty_or_hold_lists() -> None:
    source = "<table><tr><th>a<th></tr><tr><td><td><ul><li>x<li>y</ul></tr></table><p>end"
    assert blocks(read(source, "t.html")) == [("table", "a | \n| x y"), ("prose", "end")]


def test_html_tables_that_only_arrange_the_page_are_not_tables() -> None:
    source = "<table><tr><td><h1>T</h1><p>text</p><table><tr><td>1</td><td>2</td></tr></table></td></tr></table>"
    document = read(source, "t.html")
    assert headings(document) == [(1, "T", None)]
    assert blocks(document) == [("prose", "text"), ("table", "1 | 2")]


def test_html_accents_compose_across_elements_and_spans_follow() -> None:
    document = read("<p>e<b>&#x301;</b> <a href='x'>ab</a></p><p>next</p>", "n.html")
    assert blocks(document) == [("prose", "é ab"), ("prose", "next")]
    assert links(document) == {"ab": "x"}


def test_html_in_a_declared_encoding_is_decoded() -> None:
    document = read('<meta charset="iso-8859-1"><p>Café'.encode("latin-1"), "c.html")
    assert document.text == "Café"


def test_html_without_a_visible_word_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="no text"):
        read("<script>x</script><p hidden>y</p>", "e.html")


@pytest.mark.timeout(60)
def test_html_nested_as_deeply_as_is_allowed_is_read_in_linear_time() -> None:
    tables = "<table><tr><td>" * 4900
    assert read(tables + "x" + "</td></tr></table>" * 4900, "tables.html").text == "x"
    heading = read("<h1>" + "<span>a</span>" * 2 + "<em>b" * 4900 + "</h1>", "heading.html")
    assert heading.headings[0].title == "aa" + "b" * 4900


def test_html_nested_without_end_is_refused_in_time() -> None:
    with pytest.raises(InvalidArgument, match="nests"):
        read("<div>" * 200_000 + "x", "deep.html")
    assert read("<div>" * 3000 + "x", "deep.html").text == "x"


def test_rst_sections_levels_and_targets() -> None:
    document = read(RST, "guide.rst")
    assert document.text == RST
    assert (document.title, document.tags, document.updated_at) == ("Title", ("alpha", "beta"), "2024-05-01")
    assert headings(document) == [
        (1, "Title", "top"),
        (2, "Section One", "section-one"),
        (3, "Sub code section", "setup"),
    ]


PROPOSAL = "Abstract\n========\n\nThis proposal is about `x`.\n"


@pytest.mark.parametrize(
    "header",
    [
        "Number: 801\nTitle: The harbour log\nAuthor: Ana <ana@example.org>,\n        Bo\nTags: a, b\nCreated: 21-Jun-2018\n\n",
        ":Number: 801\n:TITLE: The harbour\n   *log*\n:tags: a, b\n:Date: 2018-06-21\n\n",
        ".. a comment\n\n.. _top:\n\n:title: The harbour log\n\n:keywords: a, b\n:created: June 21, 2018\n\n",
        ".. title: The harbour log\n.. tags: a, b\n.. date: 2018-06-21\n\n",
        "  :Status: draft\n  :Date: 2018-06-21\n\n.. title:: The harbour log\n.. tags:: a, b\n\n",
        "\n.. -*- coding: utf-8 -*-\n\nTitle: The harbour log\nTags: a, b\nCreated: 21-Jun-2018\n\n",
    ],
    ids=["mail", "fields", "fields after comments", "comments", "directives", "mail after a comment"],
)
def test_rst_headers_state_title_tags_and_date_and_are_no_text(header: str) -> None:
    document = read(header + PROPOSAL, "p.rst")
    assert (document.title, document.titled, document.tags) == ("The harbour log", True, ("a", "b"))
    assert document.updated_at == "2018-06-21"
    assert blocks(document) == [("prose", "This proposal is about `x`.")]


def test_rst_fields_below_the_title_or_in_the_text() -> None:
    document = read("Abstract\n========\n\n:title: The log\n\nText.\n\n:title: Other\n", "p.rst")
    assert (document.title, blocks(document)) == ("The log", [("prose", "Text."), ("list", ":title: Other")])
    assert read("Note: no header\nbut text.\n\n" + PROPOSAL, "p.rst").title == "Abstract"


def test_rst_blocks_by_kind() -> None:
    assert blocks(read(RST, "guide.rst")) == [
        ("prose", "Intro with ``code``, a `label <https://example.org>`_ and :doc:`/guide/install`."),
        ("list", "* item one\n* item two::"),
        ("code", "    literal = 1"),
        ("code", "   def f():\n       pass"),
        ("prose", "A note\n   that goes on."),
        ("table", "+-----+-----+\n| a   | b   |\n+=====+=====+\n| 1   | 2   |\n+-----+-----+"),
        ("prose", "See :ref:`how <setup>`."),
    ]


def test_rst_links() -> None:
    assert links(read(RST, "guide.rst")) == {
        "label": "https://example.org",
        "/guide/install": "/guide/install",
        "how": "#setup",
    }
    text = "See Python_ and `the docs`_ or ``no_``.\n\n.. _Python: https://python.org\n.. _the docs: d.html\n"
    assert links(read(text, "x.rst")) == {"Python": "https://python.org", "the docs": "d.html"}


def test_rst_simple_tables_literals_doctests_and_signatures() -> None:
    text = (
        "=====  ====\nname   sum\n=====  ====\na      1\n\nb      2\n=====  ====\n\nAfter::\n\n  x = 1\n\n  y = 2\n\n"
        "Text.\n\n>>> f(1)\n2\n\n.. py:function:: load(path, *, strict=True)\n\n   Loads it.\n\n.. [1] A footnote.\n"
    )
    assert blocks(read(text, "x.rst")) == [
        ("table", text[: text.index("\n\nAfter")]),
        ("prose", "After::"),
        ("code", "  x = 1\n\n  y = 2"),
        ("prose", "Text."),
        ("code", ">>> f(1)\n2"),
        ("code", "load(path, *, strict=True)"),
        ("prose", "Loads it."),
        ("prose", "A footnote."),
    ]


def test_rst_names_that_are_only_referred_to_are_no_text() -> None:
    text = (
        "Tasks\n=====\n\n.. setting:: task_retries\n\nThe default is 3.\n\n.. reqmeta:: rule\n\n"
        ".. attribute:: Task.name\n\n    .. versionadded:: 2.1\n\n    Its name.\n\n.. function:: run(task)\n"
    )
    assert blocks(read(text, "x.rst")) == [
        ("prose", "The default is 3."),
        ("code", "Task.name"),
        ("prose", "Its name."),
        ("code", "run(task)"),
    ]


def test_rst_with_many_names_is_read_in_linear_time() -> None:
    text = "Names\n=====\n\n" + ".. setting:: name\n" * 200_000 + "\nThe end.\n"
    assert blocks(read(text, "x.rst")) == [("prose", "The end.")]


def test_rst_headings_agree_with_docutils() -> None:
    docutils = pytest.importorskip("docutils.core")
    from docutils import nodes

    text = "Top\n===\n\nA\n---\n\nt\n\n~~~\nB\n~~~\n\nt\n\nC\n---\n\n::\n\n   Not\n   ---\n\nD\n===\n\n* E\n\n----\n\nend\n"
    options = {"report_level": 5, "doctitle_xform": False, "halt_level": 6}
    tree = docutils.publish_doctree(text, settings_overrides=options)
    expected = []
    for section in tree.findall(nodes.section):
        level, parent = 1, section.parent
        while isinstance(parent, nodes.section):
            level, parent = level + 1, parent.parent
        expected.append((level, section.next_node(nodes.title).astext()))
    assert [(level, title) for level, title, _ in headings(read(text, "x.rst"))] == expected


def test_plain_text_has_paragraphs_lists_and_underlined_headings() -> None:
    document = read(PLAIN, "notes.txt")
    assert headings(document) == [(1, "Field notes", "field-notes"), (2, "Findings", "findings")]
    assert blocks(document) == [
        ("prose", "The first paragraph\nruns over two lines."),
        ("list", "- a point\n- another point"),
        ("prose", "The last paragraph."),
    ]


def test_code_is_split_between_definitions_which_are_headings() -> None:
    document = read(PYTHON, "store.py")
    assert (document.title, document.titled) == ("store.py", False)
    assert headings(document) == [(1, "def count", "count"), (1, "class Store", "Store")]
    assert [text for _, text in blocks(document)] == [
        '"""Module docstring."""',
        "import os",
        PYTHON[PYTHON.index("# Counts") : PYTHON.index("\n\n\nclass")],
        PYTHON[PYTHON.index("class") :].rstrip(),
    ]


@pytest.mark.parametrize(
    ("name", "source", "title"),
    [
        ("a.go", "func (s *Store) Get(k string) string {\n}\n", "func (s *Store) Get"),
        ("a.rs", "pub(crate) async fn run<T>(x: T) {\n}\n", "pub(crate) async fn run"),
        ("a.ts", "export interface Shape {\n}\n", "export interface Shape"),
        ("a.js", "export const load = async (x) => {\n};\n", "export const load"),
        ("a.java", "public final class Main {\n}\n", "public final class Main"),
        ("a.c", "static int add(int a, int b)\n{\n}\n", "static int add"),
        ("a.cpp", "void Store::clear() {\n}\n", "void Store::clear"),
        ("a.rb", "class Order < Base\nend\n", "class Order"),
        ("a.sh", "deploy() {\n  echo\n}\n", "deploy"),
        ("a.sql", "CREATE TABLE IF NOT EXISTS users (id int);\n", "CREATE TABLE IF NOT EXISTS users"),
        ("a.toml", "[tool.ruff]\nx = 1\n", "[tool.ruff]"),
    ],
)
def test_definitions_are_known_in_many_languages(name: str, source: str, title: str) -> None:
    assert [h.title for h in read(source, name).headings] == [title]


def rows(*lines: str | bytes) -> ReadFile:
    data = b"\n".join(line if isinstance(line, bytes) else line.encode("utf-8") for line in lines)
    return readers()[".jsonl"].read(data, "rows.jsonl")


def test_every_row_is_a_document_with_its_own_uri() -> None:
    first, second = rows(JSONL).documents
    assert (first.uri, first.title, first.titled, first.tags) == ("rows.jsonl#a1", "Alpha", True, ("a", "x"))
    assert len(first.blocks) == 2
    assert (second.uri, second.title, second.titled) == ("rows.jsonl#2", "2", False)
    assert second.updated_at == "2024-01-02T02:04:05Z"


def test_rows_without_an_id_have_the_number_of_their_line() -> None:
    reading = rows(
        '{"text": "First."}', "", '{"id": null, "title": "Two", "text": "Second."}', '{"id": 7, "text": "x"}'
    )
    assert [(d.uri, d.title, d.titled) for d in reading.documents] == [
        ("rows.jsonl#L1", "rows, line 1", False),
        ("rows.jsonl#L3", "Two", True),
        ("rows.jsonl#7", "7", False),
    ]
    assert reading.notes == ("rows.jsonl: rows without an id have the number of their line as id (2)",)


def test_rows_in_another_encoding_are_read() -> None:
    reading = rows('{"id": 1, "text": "Le café fermé à Noël"}'.encode("latin-1"))
    assert reading.documents[0].text == "Le café fermé à Noël"
    assert reading.notes == ("rows.jsonl: read as windows-1252",)


def test_a_json_array_of_texts_is_rows_and_other_json_is_configuration() -> None:
    array = readers()[".json"].read(b'[{"text": "One."}, {"id": "b", "text": "Two.", "tags": ["t"]}]', "x.json")
    assert [(d.uri, d.text, d.tags) for d in array.documents] == [
        ("x.json#1", "One.", ()),
        ("x.json#b", "Two.", ("t",)),
    ]
    for source in ('{"text": "x"}', "[1, 2]", "[", '[{"a": 1}]'):
        assert read(source, "x.json").text == source


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("{", "not JSON"),
        ("[1]", "object"),
        ('{"id": true, "text": "x"}', "id"),
        ('{"id": "a\\nb", "text": "x"}', "id"),
        ('{"id": "b"}', "text"),
        ('{"id": "b", "text": "  "}', "text"),
        ('{"id": "b", "text": "x", "tags": "y"}', "tags"),
        ('{"id": "b", "text": "x", "updated_at": "soon"}', "updated_at"),
        ('{"id": "b", "text": "x", "title": 3}', "title"),
        ('{"id": "ok", "text": "again"}', "line 1"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_bad_row_is_reported_with_its_line_and_the_others_go_on(row: str | bytes, reason: str) -> None:
    good = json.dumps({"id": "ok", "text": "fine"})
    reading = rows(good, "", row, json.dumps({"id": "last", "text": "fine"}))
    assert [d.uri for d in reading.documents] == ["rows.jsonl#ok", "rows.jsonl#last"]
    (skipped,) = reading.skipped
    assert skipped.reason.startswith("line 3: ")
    assert reason in skipped.reason


MAIL_ROWS = [
    {
        "key": 7,
        "subject": "Gate",
        "body": "It shuts at noon.",
        "from": "Ana",
        "labels": ["a", "b"],
        "sent": "2024-05-01",
    },
    {"key": 8, "subject": "Lamp", "body": "", "from": "", "labels": [], "sent": None},
]
MAIL = Columns(id="key", title="subject", text=("from", "body"), tags="labels", updated_at="sent")


def table(name: str) -> bytes:
    file = io.BytesIO()
    if name == "m.parquet":
        pq.write_table(pa.Table.from_pylist(MAIL_ROWS), file)
        return file.getvalue()
    if name == "m.jsonl":
        return "\n".join(map(json.dumps, MAIL_ROWS)).encode()
    text = io.StringIO()
    writer = csv.DictWriter(text, MAIL_ROWS[0], delimiter="\t" if name == "m.tsv" else ";")
    writer.writeheader()
    writer.writerows({**row, "labels": ",".join(row["labels"])} for row in MAIL_ROWS)
    return text.getvalue().encode("utf-8")


@pytest.mark.parametrize("name", ["m.csv", "m.tsv", "m.parquet", "m.jsonl"])
def test_columns_of_rows_are_named(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(table(name))
    reading = read_file(SourceFile(name, tmp_path, path, 1, Source(path=str(path), columns=MAIL)), name)
    (document,) = reading.documents
    assert (document.uri, document.title, document.text) == (f"{name}#7", "Gate", "Ana\n\nIt shuts at noon.")
    assert (document.tags, document.updated_at) == (("a", "b"), "2024-05-01")
    assert [item.reason for item in reading.skipped]


def test_csv_without_a_column_of_texts_is_a_table() -> None:
    document = read("name,price\nlamp,4\ngate,9\n", "prices.csv")
    assert (document.title, blocks(document)) == ("prices.csv", [("table", "name,price\nlamp,4\ngate,9")])


def test_a_table_without_the_named_column_says_which_it_has() -> None:
    with pytest.raises(InvalidArgument, match="no column text; its columns are key, subject"):
        readers()[".parquet"].read(table("m.parquet"), "m.parquet")
    with pytest.raises(InvalidArgument, match="not a Parquet file"):
        readers()[".parquet"].read(b"PAR1", "m.parquet")
