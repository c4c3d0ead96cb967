"""What is stored comes back exactly, to whom it belongs."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphctx.errors import InvalidArgument
from graphctx.memory import Memory, MemoryDraft, MemoryQuery, MemoryScope, Triple
from graphctx.memory.exchange import exported_lines, import_lines
from graphctx.memory.search import MemoryHits

from .conftest import EMBEDDER, EXTRACTOR, HERE, OpenMemory, on_day

TEXTS = st.text(min_size=1, max_size=60).filter(str.strip)


@settings(max_examples=15)
@given(texts=st.lists(TEXTS, min_size=1, max_size=5), tags=st.lists(TEXTS, max_size=3))
def test_an_item_comes_back_as_it_was_stored_and_again_in_another_process(texts: list[str], tags: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with Memory(Path(folder), embedder=EMBEDDER, extractor=EXTRACTOR) as memory:
            drafts = [MemoryDraft("output", text, tags=tuple(tags), metadata={"tags": tags}) for text in texts]
            stored = [outcome.item for outcome in memory.add(drafts, HERE, on_day(0, 3))]
        with Memory(Path(folder), embedder=EMBEDDER, extractor=EXTRACTOR) as memory:
            for item, text in zip(stored, texts, strict=True):
                assert memory.get(item.id, HERE) == item
                assert item.text == text
            found = memory.search(MemoryQuery("everything", HERE, on_day(0, 3), limit=50), record_use=False)
            assert {hit.item.text for hit in found.hits} == set(texts)


@pytest.mark.parametrize(
    ("draft", "named"),
    [
        ({"text": " \n"}, "text"),
        ({"text": "x" * 101}, "text"),
        ({"text": "half \ud800"}, "surrogate"),
        ({"kind": "rumour"}, "kind"),
        ({"tier": 4}, "tier"),
        ({"persistence": "forever"}, "persistence"),
        ({"confidence": float("nan")}, "confidence"),
        ({"usefulness": 1.5}, "usefulness"),
        ({"tags": (" ",)}, "tags"),
        ({"metadata": {"x": object()}}, "metadata"),
        ({"valid_from": on_day(2).at, "valid_to": on_day(1).at}, "valid_to"),
        ({"valid_from": on_day(2).at.replace(tzinfo=None)}, "time zone"),
        ({"triples": (Triple("Ana", " ", "x"),)}, "predicate"),
        ({"triples": (Triple("Ana", "p", "x", on_day(2).at, on_day(1).at),)}, "temporal_end"),
    ],
)
def test_a_draft_that_cannot_be_stored_is_refused_by_name_and_nothing_is_stored(
    open_memory: OpenMemory, draft: dict[str, Any], named: str
) -> None:
    memory = open_memory(storage={"max_text_chars": 100})
    good = MemoryDraft("fact", "Ana lives in Oslo.")
    with pytest.raises(InvalidArgument, match=named):
        memory.add([good, replace(good, **draft)], HERE, on_day(0))
    assert memory.statistics.counts(HERE)["n_items"] == 0


def test_storing_the_same_thing_in_the_same_moment_again_changes_nothing(open_memory: OpenMemory) -> None:
    memory, draft = open_memory(), MemoryDraft("fact", "Ana lives in Oslo.")
    first = memory.add([draft], HERE, on_day(0))[0]
    again = memory.add([draft], HERE, on_day(0))[0]
    assert (first.created, again.created, again.item) == (True, False, first.item)
    assert memory.statistics.counts(HERE)["n_facts"] == 1


SCOPES = [
    MemoryScope(principal, project, session)
    for principal in ("ana", "ben")
    for project in ("p", "q")
    for session in ("s", "t")
]
SAYINGS = ["Ana lives in Oslo.", "The deadline of Apollo is May 2.", "Oslo is cold in May.", "Ben likes Apollo."]


@settings(max_examples=8)
@given(
    st.lists(
        st.tuples(st.sampled_from(SCOPES), st.sampled_from(SAYINGS), st.sampled_from(["session", "project", "global"])),
        min_size=1,
        max_size=12,
        unique=True,
    ),
    st.sampled_from(SCOPES),
)
def test_an_answer_is_that_of_a_store_which_holds_only_what_is_in_scope(
    stored: list[tuple[MemoryScope, str, Any]], asking: MemoryScope
) -> None:
    def visible(there: MemoryScope, persistence: str) -> bool:
        project = there.project == asking.project and (persistence == "project" or there.session == asking.session)
        return there.principal == asking.principal and (persistence == "global" or project)

    def answers(folder: str, wanted: list[tuple[MemoryScope, str, Any]]) -> list[object]:
        with Memory(Path(folder), embedder=EMBEDDER, extractor=EXTRACTOR) as memory:
            for day, (there, text, persistence) in enumerate(stored):
                if (there, text, persistence) in wanted:
                    memory.add([MemoryDraft("fact", text, persistence=persistence)], there, on_day(day))
            now = on_day(30)
            stats = memory.statistics.counts(asking)
            found: MemoryHits = memory.search(MemoryQuery("Who lives in Oslo?", asking, now), record_use=False)
            return [
                found,
                memory.select(asking, now),
                memory.facts.about("Oslo", asking, now, depth=2),
                memory.facts.named_in("Oslo and Apollo", asking),
                memory.facts.schema(asking),
                {name: stats[name] for name in stats if name != "store_bytes"},
            ]

    seen = [each for each in stored if visible(each[0], each[2])]
    with tempfile.TemporaryDirectory() as whole, tempfile.TemporaryDirectory() as own:
        assert answers(whole, stored) == answers(own, seen)


def test_an_id_of_another_scope_is_unknown_to_every_method(open_memory: OpenMemory) -> None:
    memory = open_memory()
    item = memory.add([MemoryDraft("fact", "Ana lives in Oslo.")], HERE, on_day(0))[0].item
    methods: list[Callable[[MemoryScope], object]] = [
        lambda there: memory.get(item.id, there),
        lambda there: memory.forget([item.id], there),
        lambda there: memory.feedback(item.id, True, there),
        lambda there: memory.deprecate(item.id, there),
        lambda there: memory.correct(item.id, "x", there, on_day(1)),
        lambda there: memory.history(item.id, there),
    ]
    for method in methods:
        for there in (replace(HERE, principal="eve"), replace(HERE, project="other")):
            with pytest.raises(InvalidArgument, match="no memory"):
                method(there)
    assert memory.wipe(replace(HERE, principal="eve")) == 0
    assert memory.get(item.id, HERE) == item


def test_a_correction_keeps_the_old_text_in_the_history_until_it_is_deleted(open_memory: OpenMemory) -> None:
    memory = open_memory()
    old = memory.add([MemoryDraft("fact", "Ana lives in Oslo.")], HERE, on_day(0))[0].item
    new = memory.correct(old.id, "Ana lives in Rome.", HERE, on_day(5)).item
    assert [item.text for item in memory.select(HERE, on_day(6))] == ["Ana lives in Rome."]
    assert [item.text for item in memory.select(HERE, on_day(4))] == ["Ana lives in Oslo."]
    assert [item.text for item in memory.history(new.id, HERE)] == ["Ana lives in Rome.", "Ana lives in Oslo."]
    with pytest.raises(InvalidArgument, match="corrected before"):
        memory.correct(old.id, "Ana lives in Bonn.", HERE, on_day(6))
    memory.forget([old.id], HERE)
    assert [item.text for item in memory.history(new.id, HERE)] == ["Ana lives in Rome."]


def test_what_is_deleted_is_in_no_answer_and_in_no_file(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = open_memory()
    kept, gone = memory.add(
        [MemoryDraft("fact", "Ana lives in Oslo."), MemoryDraft("fact", "Zanzibar keeps the xylophone.")],
        HERE,
        on_day(0),
    )
    query = MemoryQuery("Who keeps the xylophone?", HERE, on_day(1))
    assert memory.search(query).hits[0].item.id == gone.item.id
    assert memory.forget([gone.item.id], HERE) == 1
    assert memory.search(query).hits == ()
    assert memory.get(kept.item.id[:6], HERE) == kept.item
    on_disk = b"".join(path.read_bytes() for path in sorted((tmp_path / "memory").iterdir()))
    assert b"ylophon" not in on_disk
    assert b"Oslo" in on_disk


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("created_at", "0001-01-01T00:00:00+14:00"),
        ("valid_to", "9999-12-31T23:59:59-14:00"),
        ("tier", 9),
        ("usefulness", 7),
        ("created_iteration", 2**70),
        ("text", "half \ud800"),
    ],
)
def test_a_line_that_the_store_could_not_hold_is_refused_whole(
    open_memory: OpenMemory, name: str, value: object
) -> None:
    memory = open_memory()
    memory.add([MemoryDraft("event", "The bell rang.")], HERE, on_day(0))
    (line,) = [line for line in exported_lines(memory, HERE) if '"item"' in line]
    changed = json.dumps({**json.loads(line), "id": "m_aaaaaaaaaaaaaaaa", name: value})
    with pytest.raises(InvalidArgument, match="Line 2"):
        import_lines(memory, [line, changed], HERE, on_day(1))
    assert len(memory.everything(HERE)[0]) == 1


def test_items_that_correct_each_other_have_an_end(open_memory: OpenMemory) -> None:
    memory = open_memory()
    first, second = (
        outcome.item
        for outcome in memory.add(
            [MemoryDraft("event", "The bell rang."), MemoryDraft("event", "It was late.")], HERE, on_day(0)
        )
    )
    lines = [json.loads(line) for line in exported_lines(memory, HERE)]
    memory.wipe(HERE)
    other = {first.id: second.id, second.id: first.id}
    import_lines(memory, [json.dumps({**line, "source_ids": [other[line["id"]]]}) for line in lines], HERE, on_day(1))
    assert [item.id for item in memory.history(first.id, HERE)] == [first.id, second.id]
