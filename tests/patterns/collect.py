"""Every regular expression of the package: found in the source, compiled as the package compiles it.

What a module compiles when it is imported is recorded with the line that compiles it. A call inside a function is
evaluated in the names of its module. The rest depends on arguments, and the tests give examples of it.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import regex

import graphctx

MATCHING = frozenset(("match", "fullmatch"))
SEARCHING = frozenset(("search", "findall", "finditer", "sub", "subn", "split"))
_COMPILERS = (re, regex)


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
    recorded = _recorded()
    patterns: list[Pattern] = []
    unknown: list[str] = []
    for name in _modules():
        module = sys.modules[name]
        path = Path(str(module.__file__))
        tree = ast.parse(path.read_text("utf-8"))
        for call in _calls(tree):
            file = path.relative_to(Path(graphctx.__file__).parent).as_posix()
            lines = range(call.lineno, (call.end_lineno or call.lineno) + 1)
            found = [one for line in lines for one in recorded.get((str(path), line), ())] or _evaluated(call, module)
            if not found:
                unknown.append(f"{file}:{call.lineno}")
            name, methods = _use(tree, call)
            patterns += [Pattern(file, call.lineno, name, one, methods) for one in found]
    return list({(p.file, p.line, p.compiled.pattern): p for p in patterns}.values()), unknown


def _modules() -> Iterator[str]:
    yield from sorted(
        module.name
        for module in pkgutil.walk_packages(graphctx.__path__, "graphctx.")
        if not module.name.endswith("__main__")
    )


def _recorded() -> dict[tuple[str, int], list[Any]]:
    """What is compiled while the whole package is imported anew, by file and line."""
    recorded: dict[tuple[str, int], list[Any]] = {}

    def recording(compiler: Any) -> Any:
        def compile(*args: Any, **kwargs: Any) -> Any:
            compiled = compiler(*args, **kwargs)
            frame: FrameType = sys._getframe(1)
            recorded.setdefault((frame.f_code.co_filename, frame.f_lineno), []).append(compiled)
            return compiled

        return compile

    originals = {library: library.compile for library in _COMPILERS}
    for name in [name for name in sys.modules if name.partition(".")[0] == "graphctx"]:
        del sys.modules[name]
    try:
        for library, original in originals.items():
            library.compile = recording(original)
        for name in ("graphctx", *_modules()):
            importlib.import_module(name)
    finally:
        for library, original in originals.items():
            library.compile = original
    return recorded


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    """Calls of a function of a library of regular expressions with a pattern, in order."""
    names = {library.__name__ for library in _COMPILERS}
    functions = MATCHING | SEARCHING | {"compile"}
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=library), attr=function)):
                if library in names and function in functions:
                    yield node


def _evaluated(call: ast.Call, module: ModuleType) -> list[Any]:
    library = getattr(module, call.func.value.id)  # type: ignore[attr-defined]
    flags = [word.value for word in call.keywords if word.arg == "flags"]
    if call.func.attr != "compile":  # type: ignore[attr-defined]
        # The flags of re.search, re.match, re.split and the like are the last that is given without a name.
        flags += [arg for arg in call.args[2:] if "re." in ast.unparse(arg)]
    try:
        pattern, *rest = (
            eval(compile(ast.Expression(node), "<pattern>", "eval"), vars(module)) for node in (call.args[0], *flags)
        )
    except NameError:
        return []
    return [library.compile(pattern, *rest)]


def _use(tree: ast.AST, call: ast.Call) -> tuple[str, frozenset[str]]:
    """The constant that holds the pattern of a call, and how it is used; both ways if that is not to be seen."""
    function = call.func.attr  # type: ignore[attr-defined]
    if function != "compile":
        return "", _methods([function])
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and node.value is call and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            uses = [
                n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
            ]
            called = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.value in uses]
            known = [n.attr for n in called if n.attr != "pattern"]
            return name, _methods(known) if known and len(called) == len(uses) else _methods(["search", "match"])
    return "", _methods(["search", "match"])


def _methods(names: list[str]) -> frozenset[str]:
    return frozenset(name if name in MATCHING else "search" for name in names)
