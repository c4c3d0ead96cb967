from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from graphctx import __version__
from graphctx.cli.app import app
from graphctx.cli.console import counted
from graphctx.knowledge_base import KnowledgeBase

from .runner import run

HEAVY = {"numpy", "pyarrow", "lancedb", "spacy", "onnxruntime", "tokenizers", "kuzu", "igraph", "mcp", "mcp_types"}
WIDTH = 78
"""Two of 80 columns stay free, and a wider terminal changes nothing."""


@pytest.mark.parametrize("words", [[], ["ingest"], ["layers", "promote"]], ids=" ".join)
def test_help_loads_nothing_heavy(words: list[str]) -> None:
    code = (
        "import json, sys; from typer.testing import CliRunner; from graphctx.cli.app import app\n"
        f"assert CliRunner().invoke(app, [*{words}, '--help']).exit_code == 0\n"
        "sys.stderr.write(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert not {name.partition(".")[0] for name in json.loads(done.stderr)} & (HEAVY | {"cryptography"})


def every_command(command: Any, path: tuple[str, ...] = ()) -> list[tuple[str, Any]]:
    """Every command and group, with its words."""
    inner = getattr(command, "commands", {})
    return [(" ".join(path), command), *(one for name in inner for one in every_command(inner[name], (*path, name)))]


def help_of(path: str, command: Any) -> str:
    """What ``--help`` prints; the runner for tests would wrap it at another width."""
    return str(command.get_help(command.context_class(command, info_name=f"graphctx {path}")))


def packed(text: str) -> str:
    """A text without white space, so that it does not matter where it wraps."""
    return "".join(text.split())


@pytest.mark.parametrize("columns", [80, 200])
def test_help_shows_every_word_and_wraps_once(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for path, command in every_command(get_command(app)):
        shown = help_of(path, command)
        assert max(map(len, shown.splitlines())) <= WIDTH, path
        for paragraph in inspect.cleandoc(command.help).split("\n\n"):
            assert f"\n{textwrap.fill(paragraph, WIDTH, initial_indent='  ', subsequent_indent='  ')}\n" in shown
        for parameter in command.params:
            assert parameter.help, f"{path} {parameter.name}"
            assert packed(parameter.help) in packed(shown)
        for inner in getattr(command, "commands", {}).values():
            if not inner.hidden:
                assert packed(inner.name + inspect.cleandoc(inner.help).split("\n\n")[0]) in packed(shown)


def test_help_cites_no_file_that_is_not_installed() -> None:
    repository = Path(__file__).parents[2]
    for path, command in every_command(get_command(app)):
        cited = re.findall(r"\b(?:docs|schemas|eval|tests|tools)/[\w./-]+", help_of(path, command))
        assert [file for file in cited if (repository / file.rstrip(".")).exists()] == []


def test_brackets_of_a_help_text_are_printed() -> None:
    assert "instead of [layers] folder." in " ".join(run("serve", "--help").out.split())


def test_limits_of_a_request_and_their_defaults_are_in_the_help() -> None:
    shown = " ".join(run("ask", "--help").out.split())
    assert "Most quotes in all; 1 to 20. [default: 6]" in shown


def test_the_command_without_arguments_shows_its_help() -> None:
    shown = run()
    assert "graphctx ingest FOLDER" in shown.out + shown.err


def test_the_version_is_that_of_the_package() -> None:
    assert __version__ in run("--version").out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["no-such-command"], "No such command"),
        (["ask"], "Missing argument"),
        (["ask", "x", "--no-such-option"], "No such option"),
        (["--nope", "status"], "No such option: --nope"),
        (["--kb", "x", "status"], "after the command"),
        (["ask", "What", "is", "ownership"], "Put the question in quotes"),
        (["communities", "Gannet", "burst"], "Put the title in quotes"),
        (["layers", "search", "ships", "pay"], "quotes"),
        (["communities", "Gannet", "--level", "1"], "Give one or the other"),
        (["ask", "--global", "x", "--mode", "auto"], "--mode has no effect with --global"),
        (["ask", "x", "--max-points", "3"], "--max-points needs --global"),
        (["export"], "Missing option"),
    ],
)
def test_bad_usage_exits_with_2_and_says_why(words: list[str], message: str) -> None:
    done = run(*words)
    assert done.code == 2
    assert message in " ".join(done.err.split())


def test_an_ingest_of_nothing_leaves_no_knowledge_base_behind(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert run("ingest", tmp_path / "empty", "--kb", tmp_path / "kb").code == 1
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


@pytest.mark.parametrize(
    "words", [["ask", "Who?"], ["search", "Who?"], ["communities"], ["export", "--format", "html", "--out", "x.html"]]
)
def test_where_nothing_is_published_the_error_says_so(words: list[str], tmp_path: Path) -> None:
    KnowledgeBase.open(tmp_path / "kb", create=True, project_id="p").close()
    error = run(*words, "--kb", "kb", "--json", folder=tmp_path).error
    assert error["code"] == "BACKEND_UNAVAILABLE"
    assert error["message"].startswith("Nothing is published")
    assert "Looked in kb." in error["details"]["hint"]
    assert not (tmp_path / "x.html").exists()


@pytest.mark.parametrize(
    ("count", "plural", "text"),
    [(1, "mentions", "1 mention"), (1, "entities", "1 entity"), (1, "related", "1 related"), (2000, "units", "2,000 units")],
)  # fmt: skip
def test_one_thing_is_not_called_like_several(count: int, plural: str, text: str) -> None:
    assert counted(count, plural) == text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ingest", "--json", "--frob"], "No such option: --frob"),
        (["no-such-command", "--json"], "No such command 'no-such-command'."),
        (["ask", "--json"], "Missing argument 'QUESTION'."),
    ],
)
def test_with_json_bad_usage_is_an_envelope_too(words: list[str], message: str) -> None:
    done = run(*words)
    assert done.code == 2
    error = json.loads(done.out)["error"]
    assert (error["code"], error["message"]) == ("INVALID_ARGUMENT", message)


def test_deleted_files_are_refused_with_the_command_that_removes_their_documents(tmp_path: Path) -> None:
    KnowledgeBase.open(tmp_path / "kb", create=True).close()
    (tmp_path / "docs").mkdir()
    for folder in ("docs", "gone"):
        done = run("ingest", tmp_path / folder, "--kb", tmp_path / "kb")
        assert (done.code, "graphctx remove --missing" in done.err) == (1, True)


def test_documents_without_text_are_no_empty_knowledge_base(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("![](a.png)\n", "utf-8")
    done = run("ingest", tmp_path / "a.md", "--kb", tmp_path / "kb")
    assert "hold no text to quote" in done.out
    assert "hold no text to quote" in run("ask", "Who?", "--kb", tmp_path / "kb").out


def test_what_is_removed_is_checked_before_consent_is_asked_for(tmp_path: Path) -> None:
    KnowledgeBase.open(tmp_path / "kb", create=True).close()
    assert "No document matches docs/nothing.md" in run("remove", "docs/nothing.md", "--kb", tmp_path / "kb").err
