"""Which directives of reStructuredText carry code, which text, and which nothing to read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Role = Literal["code", "table", "flow", "skip"]

_DIRECTIVE = re.compile(r"\s*\.\.\s+(?:\|[^|]*\|\s+)?([A-Za-z][\w.:+-]*?)\s?::(?:\s++(.*))?$")
_FOOTNOTE = re.compile(r"\s*\.\.\s+\[[^\]]{1,60}\]\s++(.*)$")

_CODE = frozenset(
    "code code-block sourcecode parsed-literal math doctest testcode testoutput productionlist prompt ipython".split()
)
_TABLES = frozenset(("table", "csv-table", "list-table", "flat-table"))
_TEXT = frozenset(
    "note warning tip important hint caution danger attention error seealso todo admonition versionadded "
    "versionchanged deprecated topic sidebar rubric epigraph highlights pull-quote compound centered".split()
)
_CONTAINERS = frozenset(
    "container only glossary figure hlist tab tabs tab-set tab-item dropdown card grid class-desc".split()
)
_SKIPPED = frozenset(
    "toctree contents image include literalinclude raw meta index currentmodule module highlight default-role role "
    "replace unicode date sectnum section-numbering header footer title target-notes tabularcolumns graphviz "
    "digraph graph automodule autoclass autofunction automethod autosummary plot sectionauthor codeauthor "
    "testsetup testcleanup restructuredtext-test-directive cssclass rst-class".split()
)


@dataclass(frozen=True, slots=True)
class Directive:
    """An explicit markup line: its name (empty for a comment) and the text behind it."""

    name: str
    argument: str
    kind: Literal["text", "signature", "none"]

    @classmethod
    def parse(cls, line: str) -> Directive:
        """Read a line that starts with ``..``; a footnote is a text directive."""
        line = line.rstrip()
        found = _DIRECTIVE.match(line)
        if found is None:
            footnote = _FOOTNOTE.match(line)
            return cls("note", footnote.group(1), "text") if footnote else cls("", "", "none")
        name, argument = found.group(1).lower(), found.group(2) or ""
        if "|" in line.split("::")[0]:  # a substitution
            return cls("replace", "", "none")
        bare = name.rpartition(":")[2]
        if bare in _TEXT:
            return cls(bare, argument, "text")
        if bare in _CONTAINERS:
            return cls(bare, "", "none")
        if bare in _CODE or bare in _TABLES or bare in _SKIPPED:
            return cls(bare, "", "none")
        return cls(name, argument, "signature")


def role_of(directive: Directive) -> Role:
    """What becomes of a directive's body; that of an unknown one is text, its argument a signature."""
    name = directive.name
    if directive.kind == "none" and (not name or name in _SKIPPED):
        return "skip"
    if name in _CODE:
        return "code"
    if name in _TABLES:
        return "table"
    return "flow"


def indent_of(line: str) -> int:
    """The width of a line's indent; a tab goes to the next multiple of eight, as docutils counts."""
    body = line.lstrip()
    indent = line[: len(line) - len(body)]
    return len(indent.expandtabs(8)) if "\t" in indent else len(indent)
