"""The page that says what proves the tool contract names tests that there are, and leaves no section out."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "kb-tools-conformance.md"
SECTIONS = {
    *("3.1", "3.2", "3.3"),
    *("4.1", "4.2", "4.3", "4.4", "4.5", "4.6", "4.6.1", "4.7"),
    *("5.1", "5.2", "5.3", "6.1", "6.2", "6.3", "7.1", "7.2", "8.1", "8.2", "9.1", "9.2"),
    *(f"11.{number}" for number in range(1, 9)),
}
"""Sections of the tool contract that ask something of the tools."""

_REFERENCE = re.compile(r"`([^`\s]+\.py)::(\w+)`")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.read_text("utf-8").splitlines()
    if re.match(r"\| \d", line)
]


@cache
def functions(path: Path) -> frozenset[str]:
    """The names of the functions that a file defines."""
    tree = ast.parse(path.read_text("utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_every_section_has_its_rows_and_no_requirement_stands_twice() -> None:
    assert {row[0] for row in ROWS} == SECTIONS
    asked = [row[1] for row in ROWS]
    assert len(asked) == len(set(asked))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[1][:50]}")
def test_every_requirement_names_tests_that_there_are(row: list[str]) -> None:
    _, _, status, proof = row
    assert re.match(r"kept|open|\[departs\]", status)
    named = _REFERENCE.findall(proof)
    assert named
    for file, function in named:
        assert function.startswith("test_")
        assert function in functions(ROOT / file), f"{file} has no {function}"
