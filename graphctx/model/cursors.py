"""Cursors: where a list that was cut goes on. They hold no state: an offset and a stamp of what was asked.

Answers are deterministic, so the rest of a list can be made again from the same arguments and snapshot.
"""

from __future__ import annotations

import base64
import binascii
import json

from pydantic import BaseModel

from graphctx.errors import InvalidArgument
from graphctx.model.ids import fingerprint

_NOT_PART_OF_THE_QUESTION = frozenset({"cursor", "page_size"})


def _stamp(request: BaseModel, snapshot_id: str) -> str:
    asked = request.model_dump(mode="json", exclude=set(_NOT_PART_OF_THE_QUESTION))
    return fingerprint([type(request).__name__, json.dumps(asked, sort_keys=True), snapshot_id])


def write_cursor(request: BaseModel, snapshot_id: str, offset: int) -> str:
    """The cursor from which the answer to ``request`` goes on at item ``offset`` (0-based)."""
    raw = f"{offset}.{_stamp(request, snapshot_id)}".encode("ascii")
    return base64.urlsafe_b64encode(raw).decode("ascii").rstrip("=")


def read_cursor(cursor: str | None, request: BaseModel, snapshot_id: str) -> int:
    """The offset at which to go on; 0 without a cursor.

    Raises:
        InvalidArgument: the cursor is no cursor, belongs to other arguments, or to an older snapshot.
    """
    if cursor is None:
        return 0
    try:
        raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
        number, stamp = raw.split(".")
        offset = int(number)
    except (binascii.Error, ValueError):
        offset, stamp = -1, ""
    if offset < 0 or stamp != _stamp(request, snapshot_id):
        raise InvalidArgument(
            "cursor does not continue this call: it is damaged, was made for other arguments, or the index "
            "has been published anew since. Repeat the call without cursor.",
            field="cursor",
            value=cursor,
            allowed="the next_cursor of the previous answer to the same arguments",
        )
    return offset
