"""The passages that a session holds, as resources: listed in pages, and only as long as they are still published."""

from __future__ import annotations

from collections.abc import Sequence

import mcp_types as types

from graphctx.errors import InvalidArgument
from graphctx.model.budgets import DEFAULT_MAX_BYTES
from graphctx.model.requests import Scope
from graphctx.server.resources import listed
from graphctx.server.scratch import Passage
from graphctx.server.units import Units, seen

MAX_LISTED = 50
"""Passages on one page of the list: about 20 KB, and as many as one search can bring."""


def current(held: Passage, units: Units, boundary: Scope) -> Passage:
    """A passage as it stands now.

    Raises:
        InvalidArgument: its text is no longer published within the boundary.
    """
    return units.current(held, "uri", lambda unit: seen(unit, boundary))


def page(held: Sequence[Passage], cursor: str | None, units: Units, boundary: Scope) -> types.ListResourcesResult:
    """One page of a session's passages; those that are no longer published are left out.

    Args:
        held: the passages, newest first.
        cursor: the last passage of the page before, by its id.
        units: what is published.
        boundary: of the settings.

    Raises:
        InvalidArgument: the session does not hold the passage of the cursor.
    """
    start = _after(held, cursor)
    resources: list[types.Resource] = []
    size = 0
    for passage in held[start : start + MAX_LISTED]:
        try:
            entry = listed(current(passage, units, boundary))
        except InvalidArgument:
            start += 1
            continue
        size += len(entry.model_dump_json(by_alias=True, exclude_none=True).encode("utf-8", "surrogatepass"))
        if resources and size > DEFAULT_MAX_BYTES:
            break
        resources.append(entry)
        start += 1
    rest = start < len(held)
    return types.ListResourcesResult(resources=resources, next_cursor=held[start - 1].passage_id if rest else None)


def _after(held: Sequence[Passage], cursor: str | None) -> int:
    if cursor is None:
        return 0
    for place, passage in enumerate(held, start=1):
        if passage.passage_id == cursor:
            return place
    raise InvalidArgument(
        f"cursor {cursor[:60]!r} does not continue this list: it was altered, or the passage that it goes on from is "
        "no longer held. List the resources again without cursor.",
        field="cursor",
        value=cursor[:200],
        allowed="the nextCursor of the previous page",
    )
