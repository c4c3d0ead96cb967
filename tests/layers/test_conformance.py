"""The page of conformance names tests and cases that exist."""

from __future__ import annotations

import ast
import re

from .test_validate import BROKEN
from .test_validate import test_a_broken_rule_is_named_with_its_place as broken
from .world import REPO

PAGE = REPO / "docs" / "agents-db-conformance.md"
TESTS = [*(REPO / "tests" / "layers").glob("test_*.py"), *(REPO / "tests" / "server" / "layers").glob("test_*.py")]

_NAMED = re.compile(r"`(\w+)::(test_\w+)`")
_CASE = re.compile(r"`broken\[([^\]`]+)\]`")


def rows() -> list[list[str]]:
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if row[0] not in ("§", "---")]


def test_every_requirement_names_tests_that_exist() -> None:
    there = {
        (path.stem.removeprefix("test_"), node.name)
        for path in TESTS
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    }
    for section, requirement, proof in rows():
        parts = proof.split(", ")
        assert all(_NAMED.fullmatch(part) or _CASE.fullmatch(part) for part in parts), (section, requirement)
        named = set(_NAMED.findall(proof))
        assert named <= there, named - there


def test_every_broken_rule_is_named_by_its_cases_and_every_case_by_a_requirement() -> None:
    told = [case for _, _, proof in rows() for case in _CASE.findall(proof)]
    assert set(told) == set(BROKEN)
    whole = ("validate", broken.__name__)
    assert not any(whole in _NAMED.findall(proof) for _, _, proof in rows())
    assert whole in _NAMED.findall(PAGE.read_text("utf-8"))


def test_every_section_with_requirements_has_rows() -> None:
    sections = {number.strip() for row in rows() for number in row[0].split(",")}
    stated = "6.1 6.2 7.1 7.2 7.3 8.1 8.2 8.3 8.4 8.4.2 8.4.3 8.4.4 8.4.5 8.4.6 8.4.7 8.4.8 9 10.1 11.1 11.2 12 13"
    assert sections == set(stated.split())
