"""Cursors of pagination: an offset and digests of the arguments and the snapshot, signed.

Answers are deterministic, so the next page is computed from the same arguments and snapshot: the server keeps nothing
between two pages.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import secrets
import struct

from pydantic import BaseModel

from graphctx.errors import InvalidArgument
from graphctx.model.ids import fingerprint

_NOT_PART_OF_THE_QUESTION = frozenset({"cursor", "page_size", "session_id", "max_tokens", "max_bytes"})

_STAMP_BYTES = 6
_SIGNATURE_BYTES = 10  # 80 bits, as those of ids: not to be found by trying
_OFFSET = struct.Struct(">I")

SAMPLE_CURSOR = "i4zfxe4y5p4mrqrjvz4yb6i6zmkvfdg4rjvm5xbw5p"
"""A cursor of the usual length and the most tokens: each character is one. An answer holds it while it is weighed,
because the tokens of a real cursor are random."""

HEAVIEST_ID = "q3sqn5p4sn5a5i5h"
"""The letters of an id with the most tokens: each character is a token by itself, after every prefix of an id. It
replaces random ids while an answer is weighed."""


_ALTERED = "it was altered, or another server made it"


class Cursors:
    """Writes and reads the cursors of one server.

    Args:
        key: signs them; servers with the same key accept each other's. Random by default.
    """

    def __init__(self, key: bytes | None = None) -> None:
        self._key = key or secrets.token_bytes(32)

    def write(self, request: BaseModel, snapshot_id: str, offset: int) -> str:
        """Return the cursor of the page of ``request`` that starts at item ``offset`` (0-based)."""
        said = _OFFSET.pack(offset) + _asked(request) + _stamp(snapshot_id)
        return _written(said + self._signature(said))

    def read(self, cursor: str | None, request: BaseModel, snapshot_id: str) -> int:
        """Return the offset of a cursor; 0 without one.

        Raises:
            InvalidArgument: the cursor was not made by this server, belongs to other arguments, or to an older
                snapshot; the message says which.
        """
        if cursor is None:
            return 0
        try:
            raw = base64.b32decode(cursor.upper() + "=" * (-len(cursor) % 8))
        except (binascii.Error, ValueError):
            raw = b""
        if _written(raw) != cursor:  # base32 has letters of both cases, and bits to spare at the end
            raise _refused(cursor, _ALTERED)
        said, signature = raw[:-_SIGNATURE_BYTES], raw[-_SIGNATURE_BYTES:]
        if len(said) != _OFFSET.size + 2 * _STAMP_BYTES or not hmac.compare_digest(signature, self._signature(said)):
            raise _refused(cursor, _ALTERED)
        (offset,), asked, snapshot = _OFFSET.unpack(said[:4]), said[4:-_STAMP_BYTES], said[-_STAMP_BYTES:]
        if asked != _asked(request):
            raise _refused(cursor, "it was made for other arguments")
        if snapshot != _stamp(snapshot_id):
            raise _refused(cursor, "the index has been published anew since")
        return int(offset)

    def _signature(self, said: bytes) -> bytes:
        return hmac.digest(self._key, said, hashlib.sha256)[:_SIGNATURE_BYTES]


def _written(raw: bytes) -> str:
    return base64.b32encode(raw).decode("ascii").rstrip("=").lower()


def _asked(request: BaseModel) -> bytes:
    said = request.model_dump(mode="json", exclude=set(_NOT_PART_OF_THE_QUESTION))
    return _stamp(type(request).__name__, json.dumps(said, sort_keys=True))


def _stamp(*parts: str) -> bytes:
    return bytes.fromhex(fingerprint(parts))[:_STAMP_BYTES]


def _refused(cursor: str, why: str) -> InvalidArgument:
    return InvalidArgument(
        f"cursor does not continue this call: {why}. Repeat the call without cursor.",
        field="cursor",
        value=cursor[:200],
        allowed="the next_cursor of the previous answer to the same arguments",
        reason=why,
    )
