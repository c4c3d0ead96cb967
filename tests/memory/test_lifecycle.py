"""Ages, promotion, compression, pruning and retention."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from graphctx.memory import STATES, MemoryDraft, MemoryFilter, MemoryItem, MemoryQuery, Moment
from graphctx.memory.scorer import decayed
from graphctx.settings import MemorySettings

from .conftest import HERE, START, OpenMemory, on_day

SETTINGS = MemorySettings()


def test_the_state_follows_from_the_age_in_iterations(open_memory: OpenMemory) -> None:
    memory = open_memory()
    states = {0: "active", 5: "active", 6: "aging", 20: "aging", 21: "summarized", 50: "summarized", 51: "archived"}
    for age in states:
        memory.add([MemoryDraft("output", f"Output of age {age}.")], HERE, on_day(0, 60 - age))
    memory.lifecycle.maintain(HERE, on_day(0, 60))
    found = memory.select(HERE, on_day(0, 60), MemoryFilter(kinds=("output",), states=STATES))
    assert {60 - item.created_iteration: item.state for item in found} == states


def test_confidence_decays_by_a_hundredth_a_day_but_for_core_items() -> None:
    later = START + timedelta(days=10)
    assert decayed(0.8, START, later, 2, SETTINGS.compression) == pytest.approx(0.8 * 0.99**10)
    assert decayed(0.8, START, later, 3, SETTINGS.compression) == 0.8
    assert decayed(0.8, later, START, 2, SETTINGS.compression) == 0.8


def turn(number: int) -> MemoryDraft:
    said = (
        f"Service {number} belongs to team {number % 5}, which rolls it out in week {number}. "
        f"The owners of region {number} asked for {number} more servers before the release."
    )
    return MemoryDraft("turn", said, author="ana" if number % 2 else "ben")


def assert_cites(summary: MemoryItem, sources: dict[str, MemoryItem]) -> None:
    assert not summary.verbatim
    cited = summary.metadata["sentences"]
    assert cited
    assert {each["item"] for each in cited} <= set(summary.source_ids)
    for line, each in zip(summary.text.split("\n"), cited, strict=True):
        source = sources[each["item"]]
        assert line == f"{source.author}: {source.text[each['start_char'] : each['end_char']]}"


def test_working_memory_that_overflows_is_compressed_and_stays_searchable(open_memory: OpenMemory) -> None:
    memory = open_memory(compression={"tier0_overflow_threshold": 250}, token_budgets={"tier0_working": 150})
    stored, summaries = {}, []
    for number in range(12):
        outcome = memory.add([turn(number)], HERE, on_day(0, number))[0]
        stored[outcome.item.id] = outcome.item
        summaries += outcome.compressed
    assert summaries
    for summary in summaries:
        assert summary.tier == 1
        assert_cites(summary, stored)
    working = memory.lifecycle.working(HERE, on_day(0, 12))
    compressed = {source for summary in summaries for source in summary.source_ids}
    assert compressed | {item.id for item in working} == set(stored)
    assert not compressed & {item.id for item in working}
    hits = memory.search(MemoryQuery("Who asked for servers in region 1?", HERE, on_day(1), limit=50)).hits
    assert compressed <= {hit.item.id for hit in hits}


def test_a_session_that_has_ended_is_summarised_when_another_begins(open_memory: OpenMemory) -> None:
    monday, tuesday = replace(HERE, session="monday"), replace(HERE, session="tuesday")
    for name, minutes, n_summaries in (("on", 60, 1), ("off", 0, 0)):
        memory = open_memory(name, compression={"session_idle_minutes": minutes})
        said = {}
        for number in range(4):
            item = memory.add([turn(number)], monday, on_day(0, number))[0].item
            said[item.id] = item
        begun = memory.add([turn(10)], tuesday, on_day(0.03))[0]
        assert begun.compressed == ()  # monday's last turn is not an hour old
        assert memory.add([turn(11)], replace(HERE, session="noon"), on_day(0.5))[0].compressed[:1] or not minutes
        made = [each for each in memory.lifecycle.summaries(HERE, on_day(1), 1) if each.session == "monday"]
        assert len(made) == n_summaries
        assert bool(memory.lifecycle.working(monday, on_day(1))) is not bool(made)
        for summary in made:
            assert set(summary.source_ids) == set(said)
            assert_cites(summary, said)


def test_many_ended_sessions_are_summarised_over_several_calls(open_memory: OpenMemory) -> None:
    memory = open_memory()
    for session in range(6):
        drafts = [replace(turn(60 * session + number), triples=()) for number in range(60)]
        memory.add(drafts, replace(HERE, session=f"session {session}"), on_day(0, session))
    ended = []
    for call in range(3):
        made = memory.lifecycle.end_sessions(HERE, on_day(1, call))
        ended.append({summary.session for summary in made})
    assert ended == [{f"session {number}" for number in range(4)}, {"session 4", "session 5"}, set()]


def test_a_session_that_goes_on_ends_others_too(open_memory: OpenMemory) -> None:
    memory = open_memory()
    monday, tuesday = replace(HERE, session="monday"), replace(HERE, session="tuesday")
    memory.add([turn(1), turn(2)], monday, on_day(0))
    memory.add([turn(3), turn(4)], tuesday, on_day(0.01))
    resumed = memory.add([turn(5)], monday, on_day(1))[0]
    assert [summary.session for summary in resumed.compressed] == ["tuesday"]
    begun = memory.add([turn(6), turn(7)], replace(HERE, session="noon"), on_day(2))[-1]
    assert [summary.session for summary in begun.compressed] == ["monday"]


def test_levels_are_compressed_on_demand_each_into_the_next(open_memory: OpenMemory) -> None:
    memory = open_memory()
    for session in range(3):
        for number in range(4):
            memory.add([turn(10 * session + number)], HERE, on_day(session, number))
        made = memory.lifecycle.compress("working", HERE, on_day(session + 0.5)).summaries
        assert [summary.tier for summary in made] == [1]
    assert memory.lifecycle.working(HERE, on_day(4)) == []
    epoch = memory.lifecycle.compress("session", HERE, on_day(4))
    assert [summary.tier for summary in epoch.summaries] == [2]
    assert len(epoch.source_ids) == 3
    assert not memory.lifecycle.compress("session", HERE, on_day(5)).summaries


def test_maintenance_summarises_archives_and_prunes_what_is_old_and_of_no_use(open_memory: OpenMemory) -> None:
    memory = open_memory()
    for iteration in (0, 60, 90, 110):
        draft = MemoryDraft("output", f"The build of iteration {iteration} took nine minutes on the small runner.")
        memory.add(
            [draft, MemoryDraft("skill", f"Skill {iteration}: run the tests first.")], HERE, on_day(0, iteration)
        )
    useless = memory.add([MemoryDraft("error", "Useless noise.", usefulness=0.1)], HERE, on_day(0, 1))[0].item
    core = memory.add([MemoryDraft("core", "The user is Ana.", usefulness=0.1)], HERE, on_day(0, 1))[0].item
    outcome = memory.lifecycle.maintain(HERE, on_day(1, 112))
    assert outcome.n_deleted == 1
    assert outcome.summaries
    everything = MemoryFilter(states=("active", "aging", "summarized", "archived"))
    found = {item.id: item for item in memory.select(HERE, on_day(1, 112), everything)}
    assert useless.id not in found
    assert found[core.id].state == "active"
    outputs = {item.created_iteration: item.state for item in found.values() if item.kind == "output"}
    assert outputs == {0: "archived", 60: "archived", 90: "summarized", 110: "active"}
    assert {item.state for item in found.values() if item.kind == "skill"} == {"active"}
    seen = {hit.item.state for hit in memory.search(MemoryQuery("build", HERE, on_day(1, 112), limit=50)).hits}
    assert "archived" not in seen


def test_pruning_leaves_core_items_and_the_useful(open_memory: OpenMemory) -> None:
    memory = open_memory()
    drafts = [MemoryDraft("core", "I am Ana.", usefulness=0.0)]
    drafts += [MemoryDraft("output", f"Output {use}.", usefulness=use / 10) for use in range(0, 10, 2)]
    memory.add(drafts, HERE, on_day(0, 5))
    assert memory.lifecycle.prune(HERE, on_day(0, 5), 0.5, older_than=3) == 0
    assert memory.lifecycle.prune(HERE, on_day(0, 9), 0.5, older_than=3) == 3
    assert sorted(item.usefulness for item in memory.select(HERE, on_day(1))) == [0.0, 0.6, 0.8]


def test_retention_deletes_what_is_older_than_its_days(open_memory: OpenMemory) -> None:
    memory = open_memory(storage={"retention_days": 30})
    for day in (0, 20):
        memory.add([MemoryDraft("event", f"Day {day}.")], HERE, on_day(day))
    assert memory.lifecycle.expire(HERE, on_day(30)) == 0
    assert memory.lifecycle.expire(HERE, on_day(31)) == 1
    assert [item.text for item in memory.select(HERE, Moment(on_day(31).at))] == ["Day 20."]
