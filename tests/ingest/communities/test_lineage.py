from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.ingest.communities.lineage import MAX_FORMER, MIN_OVERLAP, MIN_SHARE, FormerCommunity, former_ids
from graphctx.model.knowledge import Community


def now(one: str, members: str, level: int = 0) -> Community:
    return Community(one, level, None, tuple(sorted(members)), 0.1)


def before(one: str, members: str, level: int = 0, *formerly: str) -> FormerCommunity:
    return FormerCommunity(one, level, tuple(sorted(members)), formerly)


@pytest.mark.parametrize(
    ("communities", "former", "expected"),
    [
        ([now("c_a", "abcd")], before("c_a", "abc"), {}),
        ([now("c_x", "abcd"), now("c_y", "efgh")], before("c_old", "abce"), {"c_x": ("c_old",)}),
        ([now("c_x", "abcdef")], before("c_old", "abghij"), {}),
        ([now("c_x", "abcdefgh"), now("c_y", "ij")], before("c_old", "abi"), {"c_x": ("c_old",)}),
        ([now("c_x", "abcdefgh"), now("c_y", "abc", 1)], before("c_old", "abcd"), {"c_x": ("c_old",)}),
        ([now("c_x", "abcdefghij"), now("c_y", "abc", 1)], before("c_old", "abcd"), {"c_y": ("c_old",)}),
        ([now("c_x", "abcd", 0), now("c_y", "abc", 1)], before("c_old", "abc", 0), {"c_x": ("c_old",)}),
        ([now("c_y", "abc", 1)], before("c_old", "abc", 0), {"c_y": ("c_old",)}),
        ([now("c_x", "abc")], before("c_x", "abc", 0, "c_older"), {"c_x": ("c_older",)}),
        (
            [now("c_x", "abc")],
            before("c_old", "abc", 0, "c_older", "c_oldest"),
            {"c_x": ("c_old", "c_older", "c_oldest")},
        ),
        ([now("c_x", "abc"), now("c_older", "xyz")], before("c_old", "abc", 0, "c_older"), {"c_x": ("c_old",)}),
    ],
    ids=[
        "the same id",
        "most of its entities",
        "too little in common",
        "taken in by a larger one",
        "taken in, though a deeper one overlaps",
        "nearer than the one that took it in",
        "its own level first",
        "another level",
        "older ids stay",
        "the latest first",
        "an id in use again",
    ],
)
def test_an_earlier_id_leads_to_the_community_that_goes_on(
    communities: list[Community], former: FormerCommunity, expected: dict[str, tuple[str, ...]]
) -> None:
    found = former_ids(communities, [former])
    assert {one: ids for one, ids in found.items() if ids} == expected


names = st.sampled_from([f"c_{letter}" for letter in "abcdefgh"])
members = st.text("pqrstuvw", min_size=3, max_size=8).filter(lambda text: len(set(text)) >= 3)


@given(
    st.dictionaries(names, st.tuples(members, st.integers(0, 2)), max_size=6),
    st.dictionaries(names, st.tuples(members, st.integers(0, 2), st.lists(st.text("x", max_size=40), max_size=20))),
)
def test_no_former_id_is_in_use_or_leads_to_two(
    new: dict[str, tuple[str, int]], old: dict[str, tuple[str, int, list[str]]]
) -> None:
    communities = [now(one, "".join(set(text)), level) for one, (text, level) in new.items()]
    formers = [before(one, "".join(set(text)), level, *more) for one, (text, level, more) in old.items()]
    found = former_ids(communities, formers)
    assert found == former_ids(communities[::-1], formers[::-1])
    assert set(found) == set(new)
    every = [one for ids in found.values() for one in ids]
    assert len(set(every)) == len(every)
    assert not set(every) & set(new)
    assert all(len(ids) <= MAX_FORMER for ids in found.values())
    held = {one.id: set(one.entity_ids) for one in communities}
    was = {one.id: set(one.entity_ids) for one in formers}
    leads = {one: heir for heir, ids in found.items() for one in ids} | {one: one for one in held}
    for heir, ids in found.items():
        for one in ids:
            direct = one in was and len(held[heir] & was[one]) >= MIN_SHARE * len(was[one])
            assert direct or any(one in former.formerly for former in formers)
    for one, entities in was.items():
        overlaps = [len(entities & other) / len(entities | other) for other in held.values()]
        # A former community may find the list of its heir full, but never itself without an heir.
        full = any(len(ids) == MAX_FORMER for ids in found.values())
        assert one in leads or full or max(overlaps, default=0.0) < MIN_OVERLAP
