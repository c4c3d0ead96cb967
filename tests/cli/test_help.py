from __future__ import annotations

import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from graphctx.cli.app import app

WIDTH = 78
"""Two of 80 columns stay free, and a wider terminal changes nothing."""


def commands(command: Any, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    """Every command and group, with its words."""
    inner = getattr(command, "commands", {})
    return [(path, command), *(found for name in inner for found in commands(inner[name], (*path, name)))]


COMMANDS = pytest.mark.parametrize(
    ("path", "command"), [(" ".join(path), command) for path, command in commands(get_command(app))]
)


def help_of(path: str, command: Any) -> str:
    """What ``--help`` prints; the runner for tests would wrap it at another width."""
    return str(command.get_help(command.context_class(command, info_name=f"graphctx {path}")))


def packed(text: str) -> str:
    """A text without white space: how it is wrapped makes no difference."""
    return "".join(text.split())


@COMMANDS
@pytest.mark.parametrize("columns", [80, 200])
def test_help_shows_every_word_and_wraps_once(
    monkeypatch: pytest.MonkeyPatch, path: str, command: Any, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    shown = help_of(path, command)
    assert max(map(len, shown.splitlines())) <= WIDTH
    for paragraph in inspect.cleandoc(command.help).split("\n\n"):
        wrapped = textwrap.fill(paragraph, WIDTH, initial_indent="  ", subsequent_indent="  ")
        assert f"\n{wrapped}\n" in shown
    for parameter in command.params:
        assert packed(parameter.help) in packed(shown)
    for inner in getattr(command, "commands", {}).values():
        if not inner.hidden:
            assert packed(inner.name + inspect.cleandoc(inner.help).split("\n\n")[0]) in packed(shown)


@COMMANDS
def test_help_cites_no_file_that_is_not_installed(path: str, command: Any) -> None:
    repository = Path(__file__).parents[2]
    cited = re.findall(r"\b(?:docs|schemas|eval|tests|tools)/[\w./-]+", help_of(path, command))
    assert [file for file in cited if (repository / file.rstrip(".")).exists()] == []


def test_brackets_of_a_help_text_are_printed() -> None:
    shown = " ".join(CliRunner().invoke(app, ["serve", "--help"]).stdout.split())
    assert "instead of [layers] folder." in shown
    assert "instead of [server] tokens (http)." in shown
