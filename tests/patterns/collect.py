"""Every regular expression of the package: found in the source, and compiled with the names of its module.

Patterns that a module keeps in a table are taken from the table. What remains depends on arguments.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import regex

import graphctx

MATCHING = frozenset(("match", "fullmatch"))
SEARCHING = frozenset(("search", "findall", "finditer", "sub", "subn", "split"))
_BOTH = frozenset(("search", "match"))
_LIBRARIES = {"re": re, "regex": regex}
_COMPILED = (re.Pattern, type(regex.compile("")))


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled pattern.

    Attributes:
        file, line: where it is compiled; the file from the package's folder on.
        name: of the constant that holds it; empty if none does.
        compiled: an ``re.Pattern`` or a ``regex.Pattern``.
        methods: how it is used; ``search`` stands for all ways of looking for it anywhere in a text.
    """

    file: str
    line: int
    name: str
    compiled: Any
    methods: frozenset[str]

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.name} {self.compiled.pattern!r}"


def collect() -> tuple[list[Pattern], list[str]]:
    """All patterns of the package, and the places of calls whose pattern is known only when they run."""
    patterns: list[Pattern] = []
    unknown: list[str] = []
    for info in pkgutil.walk_packages(graphctx.__path__, "graphctx."):
        if info.name.endswith("__main__"):
            continue
        module = importlib.import_module(info.name)
        path = Path(str(module.__file__))
        file = path.relative_to(Path(graphctx.__file__).parent).as_posix()
        source = path.read_text("utf-8")
        for function, assigned, call in _calls(ast.parse(source), "", ""):
            compiled = _evaluated(call, module)
            if compiled is not None:
                patterns.append(Pattern(file, call.lineno, assigned, compiled, _methods(call, assigned, source)))
            elif function:
                unknown.append(f"{file}:{call.lineno}")
        for name, value in vars(module).items():
            if not isinstance(value, _COMPILED) and re.search(rf"(?m)^{name}\b.*=", source):
                patterns += [Pattern(file, 0, name, one, _BOTH) for one in _held(value)]
    # A pattern of a table is also an evaluated call of the same module in most cases.
    return list({(p.file, p.compiled.pattern, p.compiled.flags): p for p in reversed(patterns)}.values()), unknown


def _held(value: Any) -> Iterator[Any]:
    """The patterns in a table."""
    if isinstance(value, _COMPILED):
        yield value
    elif isinstance(value, list | tuple | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _held(one)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _held(getattr(value, field.name))


def _calls(tree: ast.AST, function: str, assigned: str) -> Iterator[tuple[str, str, ast.Call]]:
    """Calls with a pattern, each with the function that it is in and the constant that it is assigned to."""
    for node in ast.iter_child_nodes(tree):
        inside, name = function, assigned
        match node:
            case ast.FunctionDef(name=inside) | ast.AsyncFunctionDef(name=inside):
                name = ""
            case ast.Assign(targets=[ast.Name(id=name)]):
                pass
            case ast.Call(func=ast.Attribute(value=ast.Name(id=library), attr=called)):
                if library in _LIBRARIES and called in MATCHING | SEARCHING | {"compile"}:
                    yield function, assigned, node
        yield from _calls(node, inside, name)


def _evaluated(call: ast.Call, module: ModuleType) -> Any:
    library = getattr(module, call.func.value.id)  # type: ignore[attr-defined]
    flags = [word.value for word in call.keywords if word.arg == "flags"]
    rest = call.args[1:] if call.func.attr == "compile" else call.args[2:]  # type: ignore[attr-defined]
    flags += [arg for arg in rest if "re." in ast.unparse(arg)]
    try:
        pattern, *given = (
            eval(compile(ast.Expression(node), "<pattern>", "eval"), vars(module)) for node in (call.args[0], *flags)
        )
    except NameError:
        return None
    return library.compile(pattern, *given)


def _methods(call: ast.Call, name: str, source: str) -> frozenset[str]:
    """How a pattern is used; both ways if that is not to be seen."""
    function = call.func.attr  # type: ignore[attr-defined]
    names = [function] if function != "compile" else re.findall(rf"(?<!\w){name}\.(\w+)\(", source) if name else []
    if function == "compile" and len(names) != len(re.findall(rf"(?<!\w){name}(?!\w)", source)) - 1:
        return _BOTH
    return frozenset(one if one in MATCHING else "search" for one in names) or _BOTH
