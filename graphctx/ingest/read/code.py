"""Source code and configuration: one document a file, blocks at the blank lines between top-level definitions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath
from typing import ClassVar

from graphctx.ingest.read.base import Outline, ReadFile, decode, make_document, suffix_of
from graphctx.ingest.read.lines import Lines
from graphctx.model.documents import Block, Heading

_NAME = r"(?P<name>[A-Za-z_$][\w$]*)"


@dataclass(frozen=True, slots=True)
class Language:
    """A language. ``definition`` matches the start of a defining line up to its ``name``; ``None`` if it has none."""

    media_type: str
    suffixes: frozenset[str]
    definition: re.Pattern[str] | None = None
    names: frozenset[str] = frozenset()


def _language(media_type: str, suffixes: str, definition: str = "", flags: int = 0, names: str = "") -> Language:
    pattern = re.compile(definition, flags) if definition else None
    return Language(media_type, frozenset(suffixes.split()), pattern, frozenset(names.split()))


_MODIFIERS = (
    r"(?:(?:export|default|declare|public|private|protected|internal|abstract|final|sealed|static|async|open|data|"
    r"override|partial|readonly|inline|case|implicit)\s+){0,6}"
)
_C_TYPE = r"(?:[A-Za-z_][\w:<>,]*[\s*&]+){1,6}"

LANGUAGES = (
    _language("text/x-python", ".py .pyi .pyx", rf"(?:async\s+)?(?:def|class)\s+{_NAME}"),
    _language(
        "text/javascript",
        ".js .mjs .cjs .jsx",
        rf"{_MODIFIERS}(?:function\*?\s+|class\s+"
        rf"|(?:const|let|var)\s+(?=[\w$]+\s*=\s*(?:async\s*)?(?:function\b|\())){_NAME}",
    ),
    _language(
        "text/typescript",
        ".ts .tsx .mts .cts",
        rf"{_MODIFIERS}(?:function\*?|class|interface|type|enum|namespace)\s+{_NAME}",
    ),
    _language("text/x-go", ".go", rf"(?:func\s+(?:\([^()]*\)\s*)?|type\s+){_NAME}"),
    _language(
        "text/x-rust",
        ".rs",
        r"(?:pub(?:\([^()]*\))?\s+)?(?:(?:async|unsafe|const|default)\s+){0,3}(?:extern\s+\"[^\"]*\"\s+)?"
        rf"(?:fn|struct|enum|trait|union|mod|type|macro_rules!|impl(?:<[^<>]*>)?(?:\s+[\w:<>, ]+\s+for)?)\s+{_NAME}",
    ),
    _language("text/x-java", ".java", rf"{_MODIFIERS}(?:class|interface|enum|record|@interface)\s+{_NAME}"),
    _language("text/x-kotlin", ".kt .kts", rf"{_MODIFIERS}(?:fun|class|interface|object)\s+(?:<[^<>]*>\s*)?{_NAME}"),
    _language("text/x-scala", ".scala .sc", rf"{_MODIFIERS}(?:def|class|trait|object|enum)\s+{_NAME}"),
    _language("text/x-swift", ".swift", rf"{_MODIFIERS}(?:func|class|struct|enum|protocol|extension|actor)\s+{_NAME}"),
    _language("text/x-csharp", ".cs", rf"{_MODIFIERS}(?:namespace|class|interface|struct|enum|record)\s+{_NAME}"),
    _language("text/x-php", ".php", rf"{_MODIFIERS}(?:function|class|interface|trait|enum)\s+{_NAME}"),
    _language(
        "text/x-c", ".c .h", rf"(?:(?:typedef\s+)?(?:struct|enum|union)\s+|{_C_TYPE}){_NAME}(?=\s*(?:\([^;]*$|\{{))"
    ),
    _language(
        "text/x-c++",
        ".cc .cpp .cxx .hpp .hh .hxx .cu",
        rf"(?:(?:class|struct|enum(?:\s+class)?|union|namespace)\s+|{_C_TYPE}(?:\w+::){{0,3}}~?){_NAME}"
        r"(?=\s*(?:\([^;]*$|\{|:|$))",
    ),
    _language("text/x-ruby", ".rb .rake", r"(?:def|class|module)\s+(?P<name>[\w.:?!]+)", names="Rakefile Gemfile"),
    _language("text/x-perl", ".pl .pm", rf"(?:sub|package)\s+{_NAME}"),
    _language("text/x-lua", ".lua", r"(?:local\s+)?function\s+(?P<name>[\w.:]+)"),
    _language("text/x-elixir", ".ex .exs", r"(?:defmodule|defprotocol|def)\s+(?P<name>[\w.]+)"),
    _language("text/x-haskell", ".hs", r"(?:data|newtype|type|class|module|instance)\s+(?P<name>[\w.]+)"),
    _language("text/x-r", ".r", r"(?P<name>[A-Za-z.][\w.]*)\s*(?:<-|=)\s*function\b"),
    _language("text/x-julia", ".jl", r"(?:function|struct|mutable\s+struct|module|macro)\s+(?P<name>[\w.!]+)"),
    _language(
        "text/x-shellscript",
        ".sh .bash .zsh .fish",
        r"(?=function\s|[\w:-]+\s*\(\s*\))(?:function\s+)?(?P<name>[A-Za-z_][\w:-]*)",
    ),
    _language("text/x-powershell", ".ps1 .psm1", r"function\s+(?P<name>[\w-]+)", re.IGNORECASE),
    _language(
        "application/sql",
        ".sql",
        r"create\s+(?:or\s+replace\s+)?(?:(?:temp|temporary|unique|materialized)\s+)?"
        r"(?:table|view|index|function|procedure|trigger|type|schema)\s+(?:if\s+not\s+exists\s+)?(?P<name>[\w.\"`]+)",
        re.IGNORECASE,
    ),
    _language("text/x-protobuf", ".proto", rf"(?:message|service|enum)\s+{_NAME}"),
    _language("application/graphql", ".graphql .gql", rf"(?:type|interface|enum|input|union|scalar)\s+{_NAME}"),
    _language(
        "text/x-terraform", ".tf .hcl", r"(?:resource|data|module|variable|output|provider)\s+(?P<name>\"[^\"]+\")"
    ),
    _language("application/toml", ".toml", r"\[{1,2}(?P<name>[^\[\]]+)\]{1,2}"),
    _language("text/x-ini", ".ini .cfg .conf .properties .env", r"\[(?P<name>[^\[\]]+)\]"),
    _language("application/yaml", ".yaml .yml"),
    _language("application/json", ".json .json5"),
    _language("application/xml", ".xml .xsd"),
    _language("text/css", ".css .scss .less"),
    _language("text/x-makefile", ".mk", r"(?P<name>[\w./%-]+)\s*:(?![=:])", names="Makefile"),
    _language("text/x-dockerfile", ".dockerfile", r"FROM\s+(?P<name>\S+)", names="Dockerfile Containerfile"),
)
_BY_SUFFIX = {suffix: language for language in LANGUAGES for suffix in language.suffixes}
_BY_NAME = {name: language for language in LANGUAGES for name in language.names}
FILE_NAMES = frozenset(_BY_NAME)
"""Files without a suffix that are known by their whole name."""

_UNKNOWN = Language("text/plain", frozenset())


def language_of(uri: str) -> Language:
    """The language of a file, by its name or its suffix; one without definitions if neither is known."""
    path = PurePosixPath(uri)
    return _BY_NAME.get(path.name) or _BY_SUFFIX.get(path.suffix.lower()) or _UNKNOWN


MAX_LINE_CHARS = 2000
"""A longer line is generated or minified and defines nothing that a person would look for."""

_LEADING = re.compile(r"(?:@|#\[|#|//|/\*|\*|--|;|\"\"\")")
"""Lines directly above a definition that belong to it: decorators, attributes, comments."""


class CodeReader:
    """Programs, scripts and configuration files, as text."""

    media_types: ClassVar[Mapping[str, str]] = {
        suffix: language.media_type for language in LANGUAGES for suffix in sorted(language.suffixes)
    }
    version: ClassVar[int] = 2

    def read(self, data: bytes, uri: str) -> ReadFile:
        """Read one document; its title is the file's name. See :class:`graphctx.ingest.read.base.DocumentReader`."""
        text, notes = decode(data, uri)
        name = uri.rpartition("/")[2]
        media_type = self.media_types.get(suffix_of(uri), "text/plain")
        document = make_document(uri, media_type, text, outline_code(text, uri), name=name)
        return ReadFile((document,), notes=notes)


def outline_code(text: str, uri: str) -> Outline:
    """Find the top-level definitions and the chunks of a source file.

    A definition is a heading that covers its line and the comments and decorators directly above it; the block
    that holds its code starts at the same character, so that the code stays whole.

    Args:
        text: the normalised source.
        uri: the file's name tells the language.
    """
    lines = Lines(text)
    definition = language_of(uri).definition
    outline = Outline()
    cuts = {0, len(lines)}
    for number, line in enumerate(lines.lines):
        if not line or line[0].isspace():
            continue
        found = definition.match(line) if definition and len(line) <= MAX_LINE_CHARS else None
        if found:
            first = number
            while first and _LEADING.match(lines.lines[first - 1]):
                first -= 1
            cuts.add(first)
            title = " ".join(found.group().strip(" \t({:=<").split()) or line.strip()
            start, end = lines.span(first, number + 1)
            outline.headings.append(Heading(1, title, found.group("name"), start, end))
        elif number and not lines.lines[number - 1].strip():
            cuts.add(number)
    edges = sorted(cuts)
    for first, last in pairwise(edges):
        outline.blocks.extend(_chunk(lines, first, last))
    return outline


def _chunk(lines: Lines, first: int, last: int) -> list[Block]:
    block = lines.block("code", first, last)
    return [b for b in block if any(c.isalnum() for c in lines.text[b.start_char : b.end_char])]
