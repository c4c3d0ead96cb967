from __future__ import annotations

import pytest

from graphctx.ingest.read import readers
from graphctx.model.documents import Document

from .samples import MARKDOWN, MDX


def read(text: str, name: str = "page.md") -> Document:
    (document,) = readers()["." + name.rpartition(".")[2]].read(text.encode("utf-8"), name).documents
    return document


def blocks(document: Document, *kinds: str) -> list[str]:
    return [document.text[b.start_char : b.end_char] for b in document.blocks if b.kind in kinds]


def links(document: Document) -> dict[str, str]:
    return {document.text[link.start_char : link.end_char]: link.target for link in document.links}


def anchors(text: str) -> list[tuple[str, str | None]]:
    return [(h.title, h.anchor) for h in read(text).headings]


def test_the_text_is_the_source_and_front_matter_is_metadata() -> None:
    document = read(MARKDOWN)
    assert document.text == MARKDOWN
    assert (document.title, document.titled) == ("The Ledger", True)
    assert document.tags == ("billing", "core")
    assert document.updated_at == "2024-05-01"
    assert all("tags:" not in block for block in blocks(document, "prose", "list", "code", "table"))


@pytest.mark.parametrize(
    "front",
    [
        "---\ntitle: The log\nkeywords: [a, b]\nlastmod: 2024-05-01\ndescription: How every booking is kept.\n---\n",
        '+++\ntitle = "The log"\ndate = 2024-05-01\ndescription = "How every booking is kept."\n[taxonomies]\ncategories = ["a", "b"]\n+++\n',
        '{\n  "title": "The log",\n  "tags": ["a", "b"],\n  "date": "2024-05-01",\n  "summary": "How every booking is kept."\n}\n',
        "Title: The log\nDate: May 1, 2024\nTags: a, b\nSummary: How every booking is kept.\n\n",
    ],
    ids=["yaml", "toml", "json", "lines"],
)
def test_front_matter_of_every_kind_is_metadata_and_no_text(front: str) -> None:
    document = read(front + "\n# Start\n\nText.\n")
    assert (document.title, document.tags, document.updated_at) == ("The log", ("a", "b"), "2024-05-01")
    assert blocks(document, "prose", "list", "code", "table") == ["Text."]


def test_front_matter_of_pandoc_is_metadata() -> None:
    document = read("% The log\n  of the harbour\n% Ana; Bo\n% May 1, 2024\n\nText.\n")
    assert (document.title, document.updated_at) == ("The log of the harbour", "2024-05-01")
    assert blocks(document, "prose") == ["Text."]


@pytest.mark.parametrize(
    "source",
    ["Note: this is prose\nof two lines.\n", '{"a": 1}\n', "+++\n", "100 % sure.\n", "Key: value\nOther: x\n\ntext\n"],
)
def test_a_text_that_begins_like_front_matter_is_text(source: str) -> None:
    document = read(source)
    assert document.titled is False
    assert blocks(document, "prose") or source == "+++\n"


def test_prose_lists_code_and_tables_are_told_apart() -> None:
    document = read(MARKDOWN)
    assert blocks(document, "prose") == [
        "The ledger keeps every *booking*. See the [guide](guide.md#start) and [policy][p].",
        "Reconcile daily.",
        "The end.",
    ]
    assert blocks(document, "list") == ["- first item\n- second item"]
    assert blocks(document, "code") == ["  ```python\n  book(1)\n  ```", "    indented code"]
    assert blocks(document, "table") == ["| name | sum |\n| ---- | --- |\n| a    | 1   |"]


def test_headings_have_plain_titles_levels_and_unique_anchors() -> None:
    found = [(h.level, h.title, h.anchor) for h in read(MARKDOWN).headings]
    assert found == [
        (1, "The Ledger", "ledger"),
        (2, "Usage", "usage"),
        (2, "Setext title", "setext-title"),
        (2, "Usage", "usage-1"),
    ]


@pytest.mark.parametrize(
    ("source", "anchor"),
    [
        ("# First Steps { #first-steps-here }", "first-steps-here"),
        ("# First Steps {#x .cls}", "x"),
        ('# <a id="start"></a>First Steps', "start"),
        ('<a name="start"></a>\n# First Steps', "start"),
        ("# `First` **Steps**", "first-steps"),
        ("# [First](x.md) Steps ##", "first-steps"),
        ('<h1 id="top" align="center">First <b>Steps</b></h1>', "top"),
    ],
)
def test_a_stated_anchor_wins_over_the_slug(source: str, anchor: str) -> None:
    assert anchors(f"{source}\n\ntext\n") == [("First Steps", anchor)]


def test_links_carry_the_span_of_their_label() -> None:
    assert links(read(MARKDOWN)) == {"guide": "guide.md#start", "policy": "https://example.org/policy"}


def test_all_forms_of_links_are_found_and_code_and_images_are_not() -> None:
    text = (
        "See [a `b` c](x.md 'T'), [ref], [other][Ref], <https://e.org/x>, [[Page|the page]], [[Plain]],\n"
        '<a class="k" href="y.html">tag</a>, ![img](z.png), `[no](no.md)`, \\[no](no.md), [e](<sp ace.md>),\n'
        "[outer ![i](i.png) text](o.md) and [par](a_(b).md).\n\n[ref]: target.md#part\n"
    )
    assert links(read(text)) == {
        "a `b` c": "x.md",
        "ref": "target.md#part",
        "other": "target.md#part",
        "https://e.org/x": "https://e.org/x",
        "the page": "Page",
        "Plain": "Plain",
        "tag": "y.html",
        "e": "sp ace.md",
        "outer ![i](i.png) text": "o.md",
        "par": "a_(b).md",
    }


def test_directives_of_site_generators_are_no_prose() -> None:
    text = (
        "/// tip | Title\n\nA tip.\n\n///\n\n:::warning\nA warning.\n:::\n\n!!! note\n    A note.\n\n    More.\n\n"
        "{* ../a.py hl[1] *}\n\n{% raw %}\n\n{{#include x.rs}}\n\n::: package.module\n    options:\n        x: 1\n\n"
        "[TOC]\n\n> [!NOTE]\n> An alert.\n\nEnd.\n"
    )
    assert blocks(read(text), "prose", "list", "code") == [
        "A tip.",
        "A warning.",
        "A note.",
        "More.",
        "An alert.",
        "End.",
    ]


MYST = """(spawners-reference)=

# Spawners

A Spawner starts each server.

```{note} Who may
:class: dropdown

Only **admins** may do so.
```

````{tip}
---
class: dropdown
---
Use this:

```python
start()
```
````

:::{warning}
:name: careful
Be careful.
:::

```{toctree}
guide
```

```{code-block} python
stop()
```

(other)=
## Next

The end.
"""


def test_directives_and_labels_of_myst_go_and_the_text_in_them_stays() -> None:
    document = read(MYST)
    assert anchors(MYST) == [("Spawners", "spawners-reference"), ("Next", "other")]
    assert blocks(document, "prose") == [
        "A Spawner starts each server.",
        "Only **admins** may do so.",
        "Use this:",
        "Be careful.",
        "The end.",
    ]
    assert blocks(document, "code") == ["```python\nstart()\n```", "```{code-block} python\nstop()\n```"]


def test_a_directive_of_myst_that_opens_with_a_rule_keeps_its_text() -> None:
    assert blocks(read("# A\n\n```{note}\n---\nWho opens it?\n```\n\nThe end.\n"), "prose") == [
        "Who opens it?",
        "The end.",
    ]


def test_the_same_directives_inside_a_code_fence_stay() -> None:
    text = "```md\n/// tip\n\n{* x *}\n```\n\n~~~~\n```\n:::\n~~~~\n"
    assert blocks(read(text), "code") == ["```md\n/// tip\n\n{* x *}\n```", "~~~~\n```\n:::\n~~~~"]


def test_code_that_only_includes_a_file_is_left_out() -> None:
    assert blocks(read("Look:\n\n```rust\n{{#rustdoc_include ../a.rs:3}}\n```\n"), "code") == []


def test_raw_html_counts_only_by_what_a_reader_sees() -> None:
    text = (
        "<div class='x'>\n\n<img alt='a < b'\n src='x.png'>\n\n<!-- hidden\n\ntext -->\n\n</div>\n\n"
        "<figure>\n<figcaption>Figure 1: A map</figcaption>\n</figure>\n\n"
        '<span class="caption">Listing 2: <b>Bold</b> move</span>\n\n'
        "![badge](b.svg) [![two](c.svg)](d.md)\n\nUse `<T>` and a < b.\n\n<pre>\nraw\n</pre>\n"
    )
    assert blocks(read(text), "prose") == [
        "Figure 1: A map",
        "Listing 2: <b>Bold</b> move",
        "Use `<T>` and a < b.",
    ]
    assert blocks(read(text), "code") == ["<pre>\nraw\n</pre>"]


def test_mdx_statements_and_expressions_are_no_prose_and_indents_no_code() -> None:
    document = read(MDX, "charts.mdx")
    assert document.media_type == "text/mdx"
    assert blocks(document, "prose", "code", "list") == ["Text in a tab.", "not code here"]


def test_a_quotation_is_prose_without_its_first_mark() -> None:
    assert blocks(read("> ### Aside\n>\n> Some words\n> go on.\n"), "prose") == ["Aside", "Some words\n> go on."]


@pytest.mark.parametrize(
    ("front", "tags", "updated_at", "title"),
    [
        ("title: 'A: b'\ntags:\n  - two\n  - one", ("one", "two"), None, "A: b"),
        ("tags: x, y\nlastmod: 2024-01-02T10:00:00Z", ("x", "y"), "2024-01-02T10:00:00Z", "H"),
        ("tags: solo # note\nupdated: yesterday\ndate: 2023-02-01", ("solo",), "2023-02-01", "H"),
        ("hide:\n  - navigation\ntitle: >\n  Long\n  name", (), None, "Long name"),
        ("title: Part 2: the gate\ntags: [a, 'x, y']", ("a", "x, y"), None, "Part 2: the gate"),
        ("title: 1.10\ndate: [", (), None, "1.10"),
        ("{{ broken: [", (), None, "H"),
        ("tags: " + "[" * 10_001, (), None, "H"),
        (r'title: "\ud83d\ude00 \ud800 a\0b"', (), None, "😀 \ufffd a\ufffdb"),
        (r'title: "\UFFFFFFFF"', (), None, r'"\UFFFFFFFF"'),
    ],
)
def test_front_matter_is_read_leniently(front: str, tags: tuple[str, ...], updated_at: str | None, title: str) -> None:
    document = read(f"---\n{front}\n---\n\n# H\n\ntext\n")
    assert (document.tags, document.updated_at, document.title) == (tags, updated_at, title)
    assert blocks(document, "prose", "list", "code") == ["text"]


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    assert blocks(read("---\n\nJust text.\n"), "prose") == ["Just text."]


def test_a_file_without_a_heading_is_named_after_itself() -> None:
    document = read("Just text.\n", "ch15-03-drop_it.md")
    assert (document.title, document.titled) == ("ch15 03 drop it", False)


def test_a_line_of_code_and_a_word_that_begins_like_a_statement_are_text() -> None:
    text = "Pass the name of the values to be\nimported (`child`) with `tie -n\n<name>`\n"
    [block] = read(text, "a.mdx").blocks
    assert text[block.start_char : block.end_char] == text.strip()
