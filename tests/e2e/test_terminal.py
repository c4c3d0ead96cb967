"""Documents that try to act on the terminal of whoever asks about them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from .house import graphctx, graphctx_process, succeeded

CLEAR, TITLE, LINK = "\x1b[2J", "\x1b]0;owned\x07", "\x1b]8;;https://evil.example\x1b\\here\x1b]8;;\x1b\\"
HOSTILE = f"{CLEAR}{TITLE}{LINK}\x9b31m\x9d2;owned\x9c\u202e"
NAME = f"keeper\nerror: forged {CLEAR}\x9b31m.md"

OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
OWN = re.compile("\x1b\\[[0-9;]*m|\x1b\\]8;(id=[0-9]+;file://[!-~]*|;)\x1b\\\\")
"""What rich writes itself: styles, and links to files with everything else than letters escaped."""


@pytest.fixture(scope="module")
def hostile_kb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("hostile")
    documents = root / "documents"
    documents.mkdir()
    born = f"Ada Merriweather {HOSTILE} was born in Thornby."
    (documents / NAME).write_text(f"# Ada {HOSTILE} Merriweather\n\n{born}\n", "utf-8")
    (documents / "lamp.md").write_text(f"# The {HOSTILE} lamp\n\nAda Merriweather lit the lamp {HOSTILE}.\n", "utf-8")
    (documents / f"broken{NAME}.docx").write_bytes(b"no archive")
    done = graphctx_process("ingest", "documents", "--kb", root / "kb", "--project-id", f"p{HOSTILE}", cwd=root)
    check(done.stdout + done.stderr)
    assert re.search(r"^  broken.*␛\[2J", succeeded(done), re.MULTILINE)
    return root / "kb"


def check(shown: str) -> None:
    assert shown
    assert not OBEYED.search(OWN.sub("", shown))
    assert "\nerror: forged" not in shown


SHOWN = {
    ("ask", "Where was Ada Merriweather born?"): r"^    documents/keeper␊error: forged ␛\[2J\\u009b31m\.md:3 · c",
    ("snapshots", "rollback", HOSTILE): "INVALID_ARGUMENT",
    ("ask", "x", f"--{HOSTILE}"): "No such option",
}
SHOWN_TOO = {
    ("search", f"Ada {HOSTILE} born"): r"^\[1\] .*Ada",
    ("ask", "--global", "What is told of Ada Merriweather?"): "Question",
    ("communities",): "communit",
    ("status",): "documents",
    ("cypher", "MATCH (d:Document) RETURN d.uri, d.title"): "keeper error: forged",
    ("call", "kb.search", f"query=Ada {HOSTILE}"): "Ada",
    ("snapshots", "list"): "snapshot",
    (HOSTILE,): "No such command",
}


@pytest.mark.parametrize(
    ("command", "found"),
    [*SHOWN.items(), *(pytest.param(*case, marks=pytest.mark.slow) for case in SHOWN_TOO.items())],
    ids=lambda value: value[0].replace("\x1b", "")[:12] if isinstance(value, tuple) else "",
)
def test_no_command_lets_a_document_act_on_the_terminal(hostile_kb: Path, command: tuple[str, ...], found: str) -> None:
    kb = () if command[0] == HOSTILE else ("--kb", hostile_kb)
    done = graphctx_process(
        *command, *kb, cwd=hostile_kb.parent, GRAPHCTX_DEBUG="1", FORCE_COLOR="1", TERM="xterm", COLUMNS="400"
    )
    check(done.stdout + done.stderr)
    assert re.search(found, OWN.sub("", done.stdout + done.stderr), re.MULTILINE)


def test_json_is_exact_and_safe_to_print(hostile_kb: Path) -> None:
    shown = succeeded(graphctx("ask", "Where was Ada Merriweather born?", "--kb", hostile_kb, "--json"))
    assert not OBEYED.search(shown)
    [quote] = [quote for quote in json.loads(shown)["quotes"] if "Thornby" in quote["quote"]]
    assert "\x9b31m" in quote["quote"]
    assert quote["doc_uri"] == NAME
