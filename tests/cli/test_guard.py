from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner

from graphctx.cli.guard import GuardedCommand
from graphctx.errors import GraphctxError, InvalidArgument, TimedOut

RAISED: list[BaseException] = []
app = typer.Typer()


@app.callback()
def _several() -> None:
    """Keep the command's name."""


@app.command(cls=GuardedCommand)
def fail(as_json: bool = typer.Option(False, "--json")) -> None:
    raise RAISED[-1]


@pytest.mark.parametrize("error", [InvalidArgument("The value 3 is wrong.", field="x"), TimedOut("It took too long.")])
def test_an_error_is_one_message_with_its_code(error: GraphctxError) -> None:
    RAISED.append(error)
    shown = CliRunner().invoke(app, ["fail"])
    assert shown.exit_code == 1
    assert shown.stdout == ""
    assert shown.stderr.startswith(f"error: {error.code} {error.message}\nhint: ")


def test_a_fault_in_a_file_has_no_hint_about_options() -> None:
    RAISED.append(InvalidArgument("golden.jsonl, line 3: this is no JSON.", line=3))
    assert "hint" not in CliRunner().invoke(app, ["fail"]).stderr


def test_with_json_the_envelope_is_the_only_output() -> None:
    RAISED.append(InvalidArgument("The value 3 is wrong.", field="x", value=3))
    shown = CliRunner().invoke(app, ["fail", "--json"])
    assert json.loads(shown.stdout) == RAISED[-1].envelope()  # type: ignore[attr-defined]
    assert shown.stderr == ""


def test_an_unexpected_exception_is_an_internal_error_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRAPHCTX_DEBUG", raising=False)
    RAISED.append(ZeroDivisionError("division by zero"))
    shown = CliRunner().invoke(app, ["fail"])
    assert shown.exit_code == 1
    assert "INTERNAL_ERROR ZeroDivisionError: division by zero" in shown.stderr
    assert "Traceback" not in shown.stderr


def test_the_traceback_is_shown_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHCTX_DEBUG", "1")
    RAISED.append(ZeroDivisionError("division by zero"))
    assert "Traceback" in CliRunner().invoke(app, ["fail"]).stderr


def test_ctrl_c_exits_with_130() -> None:
    RAISED.append(KeyboardInterrupt())
    shown = CliRunner().invoke(app, ["fail"])
    assert shown.exit_code == 130
    assert "stopped" in shown.stderr


def test_markup_in_a_message_is_printed_as_it_is() -> None:
    RAISED.append(InvalidArgument("The query [red]x[/red] :smile: is wrong."))
    assert "[red]x[/red] :smile:" in CliRunner().invoke(app, ["fail"]).stderr


def test_an_error_out_of_concurrent_work_is_reported_as_itself() -> None:
    error = InvalidArgument("The question is empty.", field="question")
    RAISED.append(ExceptionGroup("unhandled errors in a TaskGroup", [ExceptionGroup("inner", [error])]))
    shown = CliRunner().invoke(app, ["fail"])
    assert shown.exit_code == 1
    assert "INVALID_ARGUMENT The question is empty." in shown.stderr
    assert "TaskGroup" not in shown.stderr
