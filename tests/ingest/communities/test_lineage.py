from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graphctx.ingest.communities.lineage import MAX_FORMER, MIN_OVERLAP, MIN_SHARE, FormerCommunity, former_ids
from graphctx.model.knowledge import Community


def now(one: str, members: str, level: int = 0) -> Community:
    return Community(one, level, None, tuple(sorted(members)), 0.1)


def before(one: str, members: str, level: int = 0, *formerly: str) -> FormerCommunity:
    return FormerCommunity(one, level, tuple(sorted(members)), formerly)


def test_a_community_that_kept_its_id_needs_no_other() -> None:
    assert former_ids([now("c_a", "abcd")], [before("c_a", "abc")]) == {"c_a": ()}


def test_the_old_id_leads_to_the_community_with_most_of_its_entities() -> None:
    found = former_ids([now("c_x", "abcd"), now("c_y", "efgh")], [before("c_old", "abce")])
    assert found == {"c_x": ("c_old",), "c_y": ()}


def test_too_little_in_common_is_no_descent() -> None:
    assert former_ids([now("c_x", "abcdef")], [before("c_old", "abghij")]) == {"c_x": ()}


def test_what_was_taken_in_by_a_larger_one_leads_to_it() -> None:
    assert former_ids([now("c_x", "abcdefgh"), now("c_y", "ij")], [before("c_old", "abi")]) == {
        "c_x": ("c_old",),
        "c_y": (),
    }
    found = former_ids([now("c_x", "abcdefgh"), now("c_y", "abc", 1)], [before("c_old", "abcd")])
    assert found == {"c_x": ("c_old",), "c_y": ()}
    found = former_ids([now("c_x", "abcdefghij"), now("c_y", "abc", 1)], [before("c_old", "abcd")])
    assert found == {"c_x": (), "c_y": ("c_old",)}


def test_the_own_level_comes_first_though_another_has_more_in_common() -> None:
    found = former_ids([now("c_x", "abcd", 0), now("c_y", "abc", 1)], [before("c_old", "abc", 0)])
    assert found == {"c_x": ("c_old",), "c_y": ()}
    found = former_ids([now("c_y", "abc", 1)], [before("c_old", "abc", 0)])
    assert found == {"c_y": ("c_old",)}


def test_older_ids_lead_on_and_the_latest_come_first() -> None:
    found = former_ids([now("c_x", "abc")], [before("c_old", "abc", 0, "c_older", "c_oldest")])
    assert found == {"c_x": ("c_old", "c_older", "c_oldest")}
    kept = former_ids([now("c_x", "abc")], [before("c_x", "abc", 0, "c_older")])
    assert kept == {"c_x": ("c_older",)}


def test_an_id_that_is_in_use_again_is_nobodys_former_one() -> None:
    found = former_ids([now("c_x", "abc"), now("c_older", "xyz")], [before("c_old", "abc", 0, "c_older")])
    assert found == {"c_x": ("c_old",), "c_older": ()}


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
