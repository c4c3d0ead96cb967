"""Allow only Cypher statements that read the graph.

The file is opened read-only, so the engines refuse to change the *graph*. They do not refuse to write or read other
files (``COPY … TO``, ``EXPORT DATABASE``, ``LOAD FROM``), to fetch extensions, to change their own settings, or to run
a statement with missing parameters. This module does, on the text without its strings and comments.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from graphctx.errors import InvalidArgument

_TOKEN = re.compile(
    r"""
      (?P<string> '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" )
    | (?P<name> `[^`]*` )
    | (?P<comment> /\*.*?\*/ | //[^\n]* )
    | (?P<open> ['"`].* | /\*.* )
    """,
    re.VERBOSE | re.DOTALL,
)
_READING = {"MATCH", "OPTIONAL", "WITH", "UNWIND", "RETURN", "CALL"}
_PREFIXES = {"EXPLAIN", "PROFILE"}
_CALLS = {
    "db_version",
    "show_connection",
    "show_functions",
    "show_indexes",
    "show_macros",
    "show_tables",
    "stats_info",
    "storage_info",
    "table_info",
}
"""Functions of both engines that only describe the graph; ``current_setting`` reveals paths of the machine."""


def check_reading(cypher: str, params: Collection[str]) -> None:
    """Check that a text is one reading statement with a value for each parameter.

    Raises:
        InvalidArgument: the text is empty, has several statements, does more than read, or does not fit its
            parameters.
    """
    if "\x00" in cypher:
        raise InvalidArgument("A Cypher statement cannot hold a NUL character.")
    bare = _TOKEN.sub(_blank, cypher).rstrip()
    while bare.endswith(";"):
        bare = bare[:-1].rstrip()
    if ";" in bare:
        raise InvalidArgument("Give one Cypher statement at a time: there is a `;` in the middle.")
    words = re.findall(r"\w+", bare)
    while words and words[0].upper() in _PREFIXES:
        words = words[1:]
    if not words:
        raise InvalidArgument("The Cypher statement is empty. Try `MATCH (n) RETURN label(n), count(*)`.")
    if words[0].upper() not in _READING:
        raise _refused(words[0].upper())
    if re.search(r"(?<![.:$\w])LOAD\s+(FROM|WITH)\b", bare, re.IGNORECASE):
        raise _refused("LOAD FROM")
    for call in re.finditer(r"(?<![.:$\w])CALL\s+(\w+)\s*([(=])", bare, re.IGNORECASE):
        if call.group(1).lower() not in _CALLS or call.group(2) != "(":
            raise _refused(f"CALL {call.group(1)}")
    named = set(re.findall(r"\$(\w+)", bare))
    if missing := sorted(named - set(params)):
        raise InvalidArgument(f"The statement names ${missing[0]}, but params has no value for it.", missing=missing)
    if unknown := sorted(set(params) - named):
        raise InvalidArgument(
            f"params has a value for {unknown[0]!r}, but the statement does not name ${unknown[0]}.",
            unknown=unknown,
        )


def _blank(token: re.Match[str]) -> str:
    if token["open"]:
        raise InvalidArgument(
            f"The Cypher statement has an opening {token['open']} without its end (offset {token.start()}).",
            offset=token.start(),
        )
    if token["string"]:
        return "''"
    if token["name"]:
        return "_"
    return " "


def _refused(what: str) -> InvalidArgument:
    return InvalidArgument(
        f"{what} is refused: statements only read the graph (MATCH, OPTIONAL MATCH, WITH, UNWIND, RETURN, "
        f"and CALL of {', '.join(sorted(_CALLS))}).",
        refused=what,
    )
