"""Ids derive from content: a prefix and 80 bits of BLAKE2b over the parts that identify the thing."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Literal

IdPrefix = Literal["d", "s", "u", "e", "f", "c", "m", "r"]
ID_BYTES = 10  # 80 bits: 16 base32 characters, a collision among 10^8 ids has a chance below 10^-8

_SEPARATOR = b"\x1f"


def content_id(prefix: IdPrefix, *parts: str | int) -> str:
    """Make the id of a thing from the parts that identify it.

    Args:
        prefix: ``d`` document, ``s`` section, ``u`` text unit, ``e`` entity, ``f`` fact, ``c`` community,
            ``m`` memory item, ``r`` relation of a remembered fact.
        *parts: strings and integers, in a fixed order.

    Returns:
        ``<prefix>_`` and 16 lower-case base32 characters.
    """
    digest = hashlib.blake2b(digest_size=ID_BYTES)
    for part in parts:
        digest.update(str(part).encode("utf-8", "surrogatepass"))
        digest.update(_SEPARATOR)
    return f"{prefix}_{base64.b32encode(digest.digest()).decode('ascii').lower()}"


def unit_ids(document_id: str, texts: Iterable[str]) -> list[str]:
    """Return the ids of a document's text units, from their texts in order; equal texts are numbered."""
    seen: Counter[str] = Counter()
    ids = []
    for text in texts:
        seen[text] += 1
        ids.append(content_id("u", document_id, text, seen[text]))
    return ids


def fingerprint(parts: Iterable[str | bytes]) -> str:
    """Hash an ordered series of strings to 32 hexadecimal characters: memo keys and version stamps."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part)
        digest.update(_SEPARATOR)
    return digest.hexdigest()
