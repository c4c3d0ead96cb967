"""The identity of a name: its normalised form and its kind."""

from __future__ import annotations

import re

from graphctx.nlp.identifiers import is_camel, is_identifier
from graphctx.text.names import normalise_name

CODE_MARK = "`"
"""Opens the key of a name that is code."""

_CALL = re.compile(r"\(\s*\)$")
_TICKET = re.compile(r"[A-Z]+-[\d-]+")
_PATH = re.compile(r"-{1,2}\w|\.{0,2}/\w|~/")


def name_key(surface: str, *, code: bool = False) -> str:
    """Return the identity of a name: its normalised form and its kind.

    Code keeps its case and its marks: ``--id``, ``id`` as code and "ID" in prose are three names. What has the shape
    of code (a flag, a path, ``snake_case``, ``a.b``, ``a::b``) is code wherever it stands.

    Returns:
        The key; empty if nothing of a name is left.

    Example:
        >>> name_key("The Applications"), name_key("--applications"), name_key("open()", code=True)
        ('applications', '`--applications', '`open')
    """
    written = " ".join(surface.split()).strip("`*")
    if code or _is_code(written):
        return f"{CODE_MARK}{_CALL.sub('', written).strip()}" if normalise_name(written) else ""
    return normalise_name(surface)


def _is_code(written: str) -> bool:
    if " " in written or _TICKET.fullmatch(written):
        return False
    return _PATH.match(written) is not None or (is_identifier(written) and not is_camel(written))
