"""Text of documents where a terminal shows it: nothing in it moves the cursor, renames the window or turns a line.

Characters that a terminal obeys become visible instead of being removed: a reader sees that something was there, and a
person who approves a text sees all of it. C0 controls and DEL become their pictures (``␛``), everything else its
escape (``\\u009b``): C1 controls, line and paragraph separators, and what overrides or isolates the direction of
writing. Line feeds and tabs stay, because texts are laid out by them; `one_line` shows these too.
"""

from __future__ import annotations

_C0 = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\t\n"} | {0x7F: "\u2421"}
_CODES = [*range(0x80, 0xA0), 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_ESCAPES = {code: f"\\u{code:04x}" for code in _CODES}
_VISIBLE = _C0 | _ESCAPES
_ONE_LINE = _VISIBLE | {ord("\t"): "\u2409", ord("\n"): "\u240a"}
_JSON = _ESCAPES | {0x7F: "\\u007f"}


def visible(text: str) -> str:
    """Return the text with every character visible that a terminal would obey, except for line feeds and tabs."""
    return text.replace("\r\n", "\n").translate(_VISIBLE)


def one_line(text: str) -> str:
    """Return a title, name or path so that it stays on its line: line feeds and tabs are visible as well."""
    return text.translate(_ONE_LINE)


def printable_json(document: str) -> str:
    """Return a JSON document without characters that a terminal would obey; it parses to the same value.

    Outside of strings JSON is ASCII, and inside them ``json.dumps`` escapes C0 controls itself. So the rest can be
    escaped wherever it occurs.
    """
    return document.translate(_JSON)
