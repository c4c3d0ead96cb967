from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from graphctx.cli.app import app
from graphctx.cli.console import named
from graphctx.knowledge_base import KnowledgeBase

HEAVY = ("numpy", "pyarrow", "lancedb", "spacy", "onnxruntime", "tokenizers", "kuzu", "igraph", "mcp", "mcp_types")


def modules_after(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after running some code."""
    script = f"{code}\nimport json, sys\nsys.stderr.write(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    return {name.partition(".")[0] for name in json.loads(done.stderr)}


@pytest.mark.parametrize(
    "code",
    [
        "import graphctx.cli.app",
        "from typer.testing import CliRunner; from graphctx.cli.app import app\n"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0",
        "from typer.testing import CliRunner; from graphctx.cli.app import app\n"
        "assert CliRunner().invoke(app, ['ingest', '--help']).exit_code == 0",
    ],
    ids=["import", "help", "help-of-a-command"],
)
def test_help_loads_nothing_heavy(code: str) -> None:
    assert not modules_after(code) & set(HEAVY)


def test_an_option_of_commands_before_the_command_is_told_where_it_belongs() -> None:
    shown = CliRunner().invoke(app, ["--kb", "x", "status"])
    assert shown.exit_code == 2
    assert "after the command" in " ".join(shown.stderr.split())
    assert "No such option: --nope" in CliRunner().invoke(app, ["--nope", "status"]).stderr


@pytest.mark.parametrize(
    ("count", "plural", "name"),
    [
        (1, "mentions", "mention"),
        (1, "entities", "entity"),
        (1, "related", "related"),
        (0, "mentions", "mentions"),
        (2, "entities", "entities"),
    ],
)
def test_one_thing_is_not_called_like_several(count: int, plural: str, name: str) -> None:
    assert named(count, plural) == name


def test_the_command_without_arguments_shows_its_help() -> None:
    shown = CliRunner().invoke(app, [])
    assert "graphctx ingest FOLDER" in shown.output


def test_version_is_that_of_the_package() -> None:
    from graphctx import __version__

    assert __version__ in CliRunner().invoke(app, ["--version"]).output


@pytest.mark.parametrize("arguments", [["no-such-command"], ["ask"], ["ask", "x", "--no-such-option"]])
def test_bad_usage_exits_with_2(arguments: list[str]) -> None:
    assert CliRunner().invoke(app, arguments).exit_code == 2


def test_every_command_and_option_has_help() -> None:
    from typer.main import get_command

    from graphctx.cli.reference.commands import visible_commands

    for path, command in visible_commands(get_command(app), "graphctx"):
        assert command.help, path
        for parameter in command.params:
            assert parameter.help, f"{path} {parameter.name}"


def test_an_ingest_of_nothing_leaves_no_knowledge_base_behind(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = CliRunner().invoke(app, ["ingest", str(tmp_path / "empty"), "--kb", str(tmp_path / "kb")])
    assert done.exit_code == 1
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


@pytest.mark.parametrize("command", ["ask", "search"])
def test_asking_where_nothing_is_published_is_an_error_that_names_the_folder(command: str, tmp_path: Path) -> None:
    KnowledgeBase.open(tmp_path, create=True, project_id="p").close()
    done = CliRunner().invoke(app, [command, "Who?", "--kb", str(tmp_path), "--json"])
    assert done.exit_code == 1
    error = json.loads(done.stdout)["error"]
    assert (error["code"], str(tmp_path) in error["details"]["hint"]) == ("BACKEND_UNAVAILABLE", True)


def test_a_question_without_its_quotes_is_told_to_have_them() -> None:
    done = CliRunner().invoke(app, ["ask", "What", "is", "ownership"])
    assert done.exit_code == 2
    assert "Put the question in quotes" in done.stderr
