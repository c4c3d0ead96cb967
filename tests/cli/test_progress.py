from __future__ import annotations

import pytest

from graphctx.cli.progress import progress_view
from graphctx.ingest.report import Progress


def test_without_a_terminal_each_step_is_one_plain_line(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_view() as view:
        view(Progress("read", 0, 0, ""))
        for done in range(1, 4):
            view(Progress("read", done, 3, "files"))
        view(Progress("split", 3, 3, "documents"))
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
            view(Progress("read", 1, 3, "files"))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert capsys.readouterr().err == ""


def test_on_a_terminal_bars_are_drawn(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    with progress_view() as view:
        view(Progress("embed", 2, 4, "texts"))
    shown = capsys.readouterr().err
    assert "embed" in shown
    assert "texts" in shown
    assert "\x1b[" in shown
