"""Spans of documents as a person reads them."""

from __future__ import annotations

import pytest

from graphctx.text.readable import readable


@pytest.mark.parametrize(
    ("text", "uri", "lines"),
    [
        ("See [the\nguide](g.md#a),  **now**:\nan ![icon](i.png)<br>.", "a.md", ["See the guide, now: an icon."]),
        ("[`run`](r.md) and `[x](y)` \\* [a][b] <https://x.org>", "a.md", ["`run` and `[x](y)` * a https://x.org"]),
        ("the *Solan Light*, _rolled back_ by *[a](b)*.", "a.md", ["the Solan Light, rolled back by a."]),
        (
            "*.yaml and *.yml, *args, **kw, 2*3*4, a_b_c, __init__",
            "a.md",
            ["*.yaml and *.yml, *args, **kw, 2*3*4, a_b_c, __init__"],
        ),
        ("2<sup>8</sup> bits of H<sub>2</sub>O", "a.md", ["2^8 bits of H2O"]),
        ("a `<name>` of <name>", "a.md", ["a `<name>` of <name>"]),
        ("## Steps\n1. Open\n   it.\n2. Go:\n   - in", "a.md", ["Steps", "1. Open it.", "2. Go:", "   - in"]),
        ("One.\n\n\nTwo\nlines.", "a.mdx", ["One.", "", "Two lines."]),
        (
            "Run:\n\n```sh\na  b\n\n  # c\n```\nThen\nrest.",
            "a.md",
            ["Run:", "", "    a  b", "    ", "      # c", "Then rest."],
        ),
        ("tail of it\n```\n\nText\nhere.", "a.md", ["    tail of it", "", "Text here."]),
        ("| a | b |\n|---|:-:|\n| [x](y)   |     1 |", "a.md", ["a | b", "x | 1"]),
        ("--all      every one\n--none     no one", "a.md", ["--all  every one", "--none  no one"]),
        ("> quoted\n> twice", "a.md", ["quoted twice"]),
        (
            "See `the guide <g.html>`_ of\n:ref:`all <b>`::\n\n  a  = 1",
            "a.rst",
            ["See the guide of all::", "", "  a  = 1"],
        ),
        (
            "gate opens\nat six in the evening and the\nHarbour at ten.\nNever",
            "a.txt",
            ["gate opens at six in the evening and the Harbour at ten.", "Never"],
        ),
        ("One   line\nAnother", "a.html", ["One  line", "Another"]),
        ("One\nrow", "rows.jsonl#1", ["One", "row"]),
        ("if x:\n    y =  1", "a.py", ["if x:", "    y =  1"]),
        ("|---|\n", "a.md", ["|---|", ""]),
    ],
)
def test_a_span_is_shown_without_the_markup_and_the_line_breaks_of_its_source(
    text: str, uri: str, lines: list[str]
) -> None:
    assert readable(text, uri) == lines


def test_code_of_an_indented_block_keeps_its_lines() -> None:
    quote = "@app.task\n    def add(x, y):\n        return x + y"
    assert readable(quote, "x.rst") == ["    @app.task", "    def add(x, y):", "        return x + y"]
    assert readable("call({\n        'a': 1,\n    })", "x.rst") == ["    call({", "            'a': 1,", "        })"]
    handled = "@app.task\n    def open():\n        try:\n            lift()\n        except Stuck as error:\n            wait()"
    assert readable(handled, "x.rst")[2] == "        try:"
    prose = "The names of the tasks. They are\n    those that the worker knows."
    assert readable(prose, "x.rst") == ["The names of the tasks. They are those that the worker knows."]


def test_an_indented_paragraph_is_code_if_it_is_announced_or_reads_as_code() -> None:
    announced = "Open the gate::\n\n    lift the bar\n    push\n\nThen wait."
    assert readable(announced, "x.rst") == ["Open the gate::", "", "    lift the bar", "    push", "", "Then wait."]
    assert readable("Task.name\n\n    The *name* of\n    the task.", "x.rst") == [
        "Task.name",
        "",
        "The name of the task.",
    ]
    assert readable("Wait.\n\n.. note::\n\n    Example: at noon.", "x.rst") == ["Wait.", "", "Example: at noon."]
    assert readable("Wait.\n\n    x = 1\n    f(x)", "x.rst") == ["Wait.", "", "    x = 1", "    f(x)"]


def test_directives_and_roles_are_left_out() -> None:
    quote = "Set this:\n\n.. code-block:: python\n\n    late = True\n\n.. attribute:: Task.name"
    assert readable(quote, "x.rst") == ["Set this:", "", "    late = True", "", "Task.name"]
    assert readable("[](#Gate.open) and {ref}`the guide`.", "x.md") == ["Gate.open and `the guide`."]


def test_a_paragraph_of_code_is_code_to_its_last_line() -> None:
    quote = "Wait.\n\n    x = open()\n    x.wait()\n    wait until noon"
    assert readable(quote, "x.rst")[2:] == ["    x = open()", "    x.wait()", "    wait until noon"]
