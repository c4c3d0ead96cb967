"""Text of documents within our own text: so marked, line by line, that nothing in it can pass for ours.

The structured answer has every character as it is in the document; what is shown here is for reading.
"""

from __future__ import annotations

import re

_ACTS = re.compile("[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
"""Control characters, which a terminal may obey, except for tabs and what breaks a line; halves of a surrogate pair."""
_STEERS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""What turns the direction of writing: at most to the end of its line."""


def quoted(text: str, indent: str = "") -> str:
    """The lines of a text, each after a ``>``: split wherever any client may see a line end."""
    lines = (_ACTS.sub("\ufffd", text)).splitlines() or [""]
    return "\n".join(f"{indent}> {line}" for line in lines)


def one_line(text: str) -> str:
    """A name out of a document (title, heading, URI) as one line that neither breaks nor turns what follows it."""
    return _STEERS.sub("", _ACTS.sub("\ufffd", " ".join(text.split())))
