"""Lineage of communities: which community of the last snapshot continues as which, so that references stay valid."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from graphctx.errors import GraphctxError
from graphctx.model.knowledge import Community
from graphctx.store.snapshot import open_snapshot

MIN_OVERLAP = 0.5
"""Minimum Jaccard index of their entities for two communities to count as the same theme."""

MIN_SHARE = 0.5
"""Minimum share of a former community's entities for another community, perhaps far larger, to absorb it."""

MAX_FORMER = 16


@dataclass(frozen=True, slots=True)
class FormerCommunity:
    """A community as it was published: ``formerly`` holds the ids that it had before that."""

    id: str
    level: int
    entity_ids: tuple[str, ...]
    formerly: tuple[str, ...] = ()


def read_former(kb_dir: Path) -> list[FormerCommunity]:
    """Return the communities of the published snapshot; an empty list if there is none or it is unreadable."""
    try:
        with open_snapshot(kb_dir) as snapshot:
            rows = snapshot.table("communities").to_pylist()
    except GraphctxError:
        return []
    return [FormerCommunity(row["id"], row["level"], tuple(row["entity_ids"]), tuple(row["formerly"])) for row in rows]


def former_ids(now: Sequence[Community], before: Sequence[FormerCommunity]) -> dict[str, tuple[str, ...]]:
    """Map each community to its ids in earlier snapshots that no community has now.

    A former community continues as the one with its id; else as the one that it overlaps most with, by at least
    ``MIN_OVERLAP``; else as the one that has at least ``MIN_SHARE`` of its entities. A community on its own level is
    preferred; ties go to the larger overlap, then to the smaller id. Its own former ids move with it.

    Returns:
        For each id of ``now`` at most ``MAX_FORMER`` ids, the latest first; no id twice in all.
    """
    used = {community.id for community in now}
    size = {community.id: len(community.entity_ids) for community in now}
    holders: dict[str, list[Community]] = defaultdict(list)
    for community in now:
        for entity in community.entity_ids:
            holders[entity].append(community)
    found: dict[str, list[tuple[int, str]]] = {community.id: [] for community in now}
    taken: set[str] = set()
    for former in sorted(before, key=lambda one: (one.level, one.id)):
        successor = former.id if former.id in used else _successor(former, holders, size)
        if successor is None:
            continue
        for age, one in enumerate((former.id, *former.formerly)):
            if one not in used and one not in taken:
                taken.add(one)
                found[successor].append((age, one))
    return {successor: tuple(one for _, one in sorted(ids)[:MAX_FORMER]) for successor, ids in found.items()}


def _successor(
    former: FormerCommunity, holders: Mapping[str, Sequence[Community]], size: Mapping[str, int]
) -> str | None:
    shared: Counter[tuple[int, str]] = Counter()
    for entity in former.entity_ids:
        for community in holders.get(entity, ()):
            shared[community.level, community.id] += 1
    found = []
    for (level, one), common in shared.items():
        overlap = common / (len(former.entity_ids) + size[one] - common)
        if common >= MIN_SHARE * len(former.entity_ids):  # an overlap of a half is always at least this
            found.append((overlap < MIN_OVERLAP, level != former.level, -overlap, one))
    return min(found)[3] if found else None
