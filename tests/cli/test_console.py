from __future__ import annotations

import io
import json
import logging
import re
import sys
import traceback

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.panel import Panel
from rich.text import Text
from rich.tree import Tree

from graphctx.cli.console import SafeStream, errors_console, output_console, print_json, print_table, print_text
from graphctx.cli.progress import progress_view

OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
STYLES = re.compile("\x1b\\[[0-9;]*m")
"""The only sequences of rich's own in what is printed here."""

texts = st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from("\x1b\x07\r\n\t\x9b\x9d\u202e[]2J;\\")))
ways = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def print_every_way(text: str) -> None:
    console = output_console()
    for renderable in (text, Text(text), Panel(text, title=Text(text)), Tree(text)):
        console.print(renderable, style="bold")
        console.print(renderable, soft_wrap=True)
    print_text(text)
    print_table([text], [[text]])
    errors_console().print(text)


@pytest.mark.parametrize("terminal", [False, True], ids=["pipe", "terminal"])
@ways
@given(texts)
def test_nothing_that_is_printed_acts_on_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, terminal: bool, text: str
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR" if terminal else "NO_COLOR", "1")
    print_every_way(text)
    shown = capsys.readouterr()
    assert not OBEYED.search(STYLES.sub("", shown.out + shown.err))
    assert bool(STYLES.search(shown.out)) == terminal


@ways
@given(texts)
def test_printed_json_is_exact(capsys: pytest.CaptureFixture[str], text: str) -> None:
    print_json({text: [text]})
    shown = capsys.readouterr().out
    assert json.loads(shown) == {text: [text]}
    assert not OBEYED.search(shown)


def test_tracebacks_logs_and_prints_of_others_pass_the_same_way(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.StringIO()
    monkeypatch.setattr(sys, "stderr", SafeStream(raw))
    log = logging.Logger("test")
    log.addHandler(logging.StreamHandler())
    text = "\x1b]0;title\x07 \x9b2J"
    try:
        raise ValueError(text)
    except ValueError:
        traceback.print_exc()
        log.exception(text)
    print(text, file=sys.stderr)
    sys.stderr.writelines([text])
    errors_console().print(text)
    assert raw.getvalue().count("␛]0;title␇ \\u009b2J") == 5  # rich drops the bell of a text before it is rendered
    assert not OBEYED.search(raw.getvalue())


def test_without_a_terminal_each_step_is_one_plain_line(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_view() as view:
        view.step("read", 0, 0, "")
        for done in range(1, 4):
            view.step("read", done, 3, "files")
        view.step("split", 3, 3, "documents")
    shown = capsys.readouterr()
    assert shown.out == ""
    assert [line.split()[:3] for line in shown.err.splitlines()] == [
        ["read", "3/3", "files"],
        ["split", "3/3", "documents"],
    ]
    assert "\x1b" not in shown.err


def test_a_step_that_fails_is_not_reported_as_done(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        with progress_view() as view:
            view.step("read", 1, 3, "files")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert capsys.readouterr().err == ""


def test_on_a_terminal_bars_are_drawn(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    with progress_view() as view:
        view.step("embed", 2, 4, "texts")
    shown = capsys.readouterr().err
    assert "embed" in shown
    assert "texts" in shown
    assert "\x1b[" in shown
