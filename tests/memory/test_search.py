"""Search: the same store and moment give the same answer; each stage answers when those before it fail."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphctx.errors import InvalidArgument
from graphctx.memory import KINDS, STATES, Memory, MemoryDraft, MemoryFilter, MemoryHits, MemoryQuery
from graphctx.memory.embedding import WindowEmbedder
from graphctx.memory.index import EXACT_ITEMS, MemoryIndex
from graphctx.memory.search import Ranking
from graphctx.memory.store import is_chosen
from graphctx.settings import MemorySettings

from .conftest import EMBEDDER, HERE, OpenMemory, on_day

SAYINGS = [
    ("skill", "Retry the upload with a backoff when the gateway answers 503."),
    ("error", "ModuleNotFoundError: No module named 'requests' in the deploy step."),
    ("iteration", "Iteration 3 added the API endpoint and its tests."),
    ("output", "The build took nine minutes on the small runner."),
    ("turn", "We moved the deadline of the launch to May."),
]


def drafts() -> list[MemoryDraft]:
    return [MemoryDraft(kind, text, tags=(kind[0],)) for kind, text in SAYINGS]  # type: ignore[arg-type]


def test_the_order_of_storing_does_not_change_an_answer(open_memory: OpenMemory) -> None:
    answers = []
    for name, order in (("one", 1), ("other", -1)):
        memory = open_memory(name)
        for draft in drafts()[::order]:
            memory.add([draft], HERE, on_day(0, 1))
        query = MemoryQuery("Why does the deploy fail?", HERE, on_day(1, 4), ranking="iteration")
        answers.append([memory.search(query, record_use=False) for _ in range(2)])
    assert answers[0][0] == answers[0][1] == answers[1][0]
    assert answers[0][0].hits[0].item.kind == "error"


def test_a_score_is_the_weighted_sum_of_the_design(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.add(drafts(), HERE, on_day(0, 2))
    iteration = memory.search(
        MemoryQuery("upload", HERE, on_day(0, 12), ranking="iteration", limit=50), record_use=False
    )
    for hit in iteration.hits:
        slower = 0.05 if hit.item.kind == "skill" else 0.1
        assert hit.recency == pytest.approx(np.exp(-slower * 10))
        assert hit.fourth == (1.0 if hit.item.kind in ("skill", "error", "iteration") else 0.5)
        assert hit.score == pytest.approx(
            0.4 * hit.similarity + 0.25 * hit.recency + 0.2 * hit.item.usefulness + 0.15 * hit.fourth
        )
    for hit in memory.search(MemoryQuery("upload", HERE, on_day(10)), record_use=False).hits:
        expected = 0.4 * hit.similarity + 0.3 * np.exp(-0.01) + 0.2 * (hit.item.tier + 1) / 4
        assert hit.score == pytest.approx(expected)
    strict = memory.search(MemoryQuery("upload", HERE, on_day(0, 12), ranking="iteration", min_score=0.6))
    assert all(hit.score >= 0.6 for hit in strict.hits)
    assert len(strict.hits) + strict.n_below == len(SAYINGS)


@settings(max_examples=10)
@given(st.data())
def test_a_filter_chooses_the_same_items_in_memory_and_in_the_file(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    with Memory(tmp_path_factory.mktemp("filter"), embedder=EMBEDDER) as memory:
        for day, draft in enumerate(drafts()):
            memory.add([draft], HERE, on_day(day), extract=False)
        item = memory.select(HERE, on_day(9))[0]
        memory.correct(item.id, "We moved the launch to June.", HERE, on_day(6))
        chosen = MemoryFilter(
            kinds=tuple(data.draw(st.sets(st.sampled_from(KINDS), max_size=3))),
            tiers=tuple(data.draw(st.sets(st.sampled_from([0, 1, 2, 3]), max_size=2))),
            states=tuple(data.draw(st.sets(st.sampled_from(STATES), max_size=2))),
            tags=tuple(data.draw(st.sets(st.sampled_from("esiotx"), max_size=2))),
            session=data.draw(st.sampled_from([None, "monday", "tuesday"])),
            after=data.draw(st.sampled_from([None, on_day(2).at])),
            before=data.draw(st.sampled_from([None, on_day(4).at])),
            min_confidence=data.draw(st.sampled_from([0.0, 0.95])),
            history=data.draw(st.booleans()),
        )
        now = on_day(data.draw(st.integers(0, 9)))
        found = memory.search(MemoryQuery("everything", HERE, now, chosen, limit=50), record_use=False)
        assert found.stage == "semantic"
        expected = {one.id for one in memory.select(HERE, now, chosen)}
        assert {hit.item.id for hit in found.hits} == expected
        assert all(is_chosen(hit.item, chosen, now, MemorySettings()) for hit in found.hits)


def test_a_filter_that_contradicts_itself_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="after"):
        MemoryFilter(after=on_day(2).at, before=on_day(1).at)
    with pytest.raises(InvalidArgument, match="kinds"):
        MemoryFilter(kinds=("rumour",))  # type: ignore[arg-type]


def test_items_without_a_vector_get_one_when_the_store_is_embedded_again(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    memory = open_memory()
    memory.add(drafts(), HERE, on_day(0))
    with closing(sqlite3.connect(tmp_path / "memory" / "memory.db")) as connection:
        connection.execute("UPDATE meta SET value = 'another model' WHERE name = 'embedder'")
        connection.commit()
    query = MemoryQuery("Why does the deploy fail?", HERE, on_day(1))
    assert "another model" in memory.search(query, record_use=False).degraded
    assert memory.reindex() == len(SAYINGS)
    found = memory.search(query, record_use=False)
    assert (found.stage, found.degraded) == ("semantic", "")


def test_vectors_of_another_model_or_length_are_not_compared_and_it_is_said_what_to_do(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.add(drafts(), HERE, on_day(0))
    assert not WindowEmbedder(memory.database, EMBEDDER, EMBEDDER.dimension).unusable()
    longer = WindowEmbedder(memory.database, EMBEDDER, 768)
    assert "384 dimensions" in longer.unusable()
    with pytest.raises(InvalidArgument, match="set it to 384"):
        longer.reindex()
    with memory.database.write() as connection:
        connection.execute("UPDATE meta SET value = 'another' WHERE name = 'embedder'")
    found = memory.search(MemoryQuery("deploy", HERE, on_day(1)))
    assert found.stage == "text"
    assert "embedded with another" in found.degraded
    assert "graphctx memory reindex" in found.degraded


def test_the_index_follows_what_another_process_does(open_memory: OpenMemory) -> None:
    one, other = open_memory(), open_memory()
    query = MemoryQuery("everything", HERE, on_day(1), limit=50)
    assert one.search(query).hits == ()
    stored = other.add(drafts(), HERE, on_day(0))
    assert len(one.search(query).hits) == len(SAYINGS)
    other.feedback(stored[0].item.id, True, HERE)
    other.forget([stored[1].item.id], HERE)
    found = {hit.item.id: hit.item.usefulness for hit in one.search(query).hits}
    assert found[stored[0].item.id] == pytest.approx(0.6)
    assert stored[1].item.id not in found
    assert one.search(query).hits[0].item.access_count > 0


def test_the_nearest_by_signs_hold_nearly_all_of_the_nearest() -> None:
    draw = np.random.default_rng(7)
    n, dimension = EXACT_ITEMS + 2000, 384
    centres = draw.standard_normal((40, dimension))
    vectors = centres[draw.integers(0, 40, n)] + 0.7 * draw.standard_normal((n, dimension))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    stored = vectors.astype(np.float16)
    with closing(sqlite3.connect(":memory:")) as connection:
        from graphctx.memory.database import MIGRATIONS

        connection.executescript(MIGRATIONS[0])
        connection.executemany(
            "INSERT INTO items VALUES (?, ?, 'fact', 2, '', 1, '[]', '[]', '{}', '', '', '', 'global', '', '', 0, 0, "
            "NULL, NULL, 1, 0.5, 0, NULL, NULL, 'active', ?, x'', 0)",
            [(row + 1, str(row), vector.tobytes()) for row, vector in enumerate(stored)],
        )
        index = MemoryIndex(dimension)
        index.refresh(connection)
    mask = np.ones(n, bool)
    shares = []
    for row in random.Random(1).sample(range(n), 10):
        query = vectors[row].astype(np.float32)
        near = index.nearest(query, mask, 200)
        assert len(near) < n / 3
        true = np.argsort(-(stored.astype(np.float32) @ query))[:20]
        shares.append(len(set(true.tolist()) & set(near.tolist())) / 20)
    assert np.mean(shares) > 0.95


def test_what_a_long_item_says_at_its_end_is_found_by_its_sense(open_memory: OpenMemory) -> None:
    memory = open_memory(scoring={"min_similarity": 0})
    filler = "The ferry leaves the harbour every morning and comes back at night with fish for the market. " * 30
    end = "Our physician advises against peanuts, since they make the throat swell."
    for text in (filler, filler + end):
        memory.add([MemoryDraft("output", text)], HERE, on_day(0))
    hits = memory.search(MemoryQuery("food allergy", HERE, on_day(1)), record_use=False).hits
    assert hits[0].item.text.endswith(end)
    assert hits[0].score > hits[1].score


@pytest.mark.parametrize("ranking", ["block", "iteration"])
def test_a_question_that_nothing_bears_on_finds_nothing(open_memory: OpenMemory, ranking: Ranking) -> None:
    memory, lax = open_memory(), open_memory("lax", scoring={"min_similarity": 0})
    for each in (memory, lax):
        each.add(drafts(), HERE, on_day(0))

    def found(memory: Memory, text: str) -> MemoryHits:
        return memory.search(MemoryQuery(text, HERE, on_day(1), limit=50, ranking=ranking, min_score=0.3))

    unrelated = found(memory, "What is the capital of Mongolia?")
    assert (unrelated.hits, unrelated.n_below, unrelated.stage) == ((), len(SAYINGS), "semantic")
    assert found(memory, "Why does the deploy fail?").hits
    assert found(lax, "What is the capital of Mongolia?").hits


@pytest.mark.parametrize(
    "question",
    [
        "What do you remember?",
        "What happened on 2026-01-05?",
        "What happened on May 5th?",
        "What did I say two weeks ago?",
        "What did we talk about last night?",
        "Summarise our chats.",
        "Remind me of everything.",
        "What are the upcoming events?",
        "Was weißt du über mich?",
        "О чём мы говорили?",
    ],
)
def test_a_question_about_all_that_is_remembered_finds_what_there_is(open_memory: OpenMemory, question: str) -> None:
    memory = open_memory()
    memory.add(drafts(), HERE, on_day(0))
    assert len(memory.search(MemoryQuery(question, HERE, on_day(1), limit=50)).hits) == len(SAYINGS)


@pytest.mark.parametrize("question", ["What is the GDP of Mongolia in 2020?", "Who won the 5th race last night?"])
def test_a_date_does_not_make_an_unrelated_question_find_something(open_memory: OpenMemory, question: str) -> None:
    memory = open_memory()
    memory.add(drafts(), HERE, on_day(0))
    assert not memory.search(MemoryQuery(question, HERE, on_day(1))).hits


def test_an_old_turn_that_answers_comes_before_newer_ones_that_do_not(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.add([MemoryDraft("turn", "The safe opens with the code 4711.", author="Ann")], HERE, on_day(0))
    for day in range(1, 31):
        memory.add([MemoryDraft("turn", f"Lunch on day {day} was soup number {day}.", author="Ann")], HERE, on_day(day))
    found = memory.search(MemoryQuery("Which code opens the safe?", HERE, on_day(300)), record_use=False)
    assert "4711" in found.hits[0].item.text


def test_what_a_person_said_comes_before_an_assistant_that_repeats_it(open_memory: OpenMemory) -> None:
    memory = open_memory()
    said, repeated = "I paint the kitchen green in June.", "You paint the kitchen green in June, I see."
    memory.add([MemoryDraft("turn", repeated, author="assistant")], HERE, on_day(0))
    memory.add([MemoryDraft("turn", said, author="user")], HERE, on_day(1))
    found = memory.search(MemoryQuery("When do I paint the kitchen?", HERE, on_day(2)), record_use=False)
    assert [hit.item.text for hit in found.hits] == [said, repeated]


def test_a_turn_beside_a_match_in_its_session_comes_before_one_of_another_session(open_memory: OpenMemory) -> None:
    answer = "Yes, in March."
    ranks = []
    for name, session in (("same", HERE.session), ("other", "tuesday")):
        memory = open_memory(name)
        for minute, (said, where) in enumerate(
            [("Did Ann ever sail to the island of Sark?", HERE.session), (answer, session), ("No, in May.", "friday")]
        ):
            memory.add([MemoryDraft("turn", said)], replace(HERE, session=where), on_day(minute / 1440))
        query = MemoryQuery("Ann's sailing to Sark", HERE, on_day(1))
        hits = memory.search(query, record_use=False).hits
        ranks.append(next(hit.similarity for hit in hits if hit.item.text == answer))
    assert ranks[0] > ranks[1]


def test_what_the_assistant_is_asked_about_having_said_is_found_in_its_turns(open_memory: OpenMemory) -> None:
    memory = open_memory()
    asked, answered = "Which paint is good for my kitchen?", "I recommend washable green paint for the kitchen."
    memory.add([MemoryDraft("turn", asked, author="user")], HERE, on_day(0))
    memory.add([MemoryDraft("turn", answered, author="assistant")], HERE, on_day(1))
    found = memory.search(MemoryQuery("Which kitchen paint did you recommend?", HERE, on_day(2)), record_use=False)
    assert [hit.item.text for hit in found.hits] == [answered, asked]


def test_a_turn_of_the_speaker_that_the_question_names_comes_first(open_memory: OpenMemory) -> None:
    memory = open_memory()
    for minute, speaker in enumerate(["Bob", "AnnMiller", "Carla"]):
        memory.add([MemoryDraft("turn", "I sail on Sunday.", author=speaker)], HERE, on_day(minute / 1440))
    found = memory.search(MemoryQuery("When does Ann sail?", HERE, on_day(1)), record_use=False)
    assert found.hits[0].item.author == "AnnMiller"


def test_turns_become_neighbours_when_those_between_are_deleted(open_memory: OpenMemory) -> None:
    memory = open_memory()
    between = "The bread was stale."
    ids = {}
    for minute, said in enumerate(["Did Ann ever sail to the island of Sark?", *[between] * 2, "Yes, in March."]):
        ids[minute] = memory.add([MemoryDraft("turn", said)], HERE, on_day(minute / 1440))[0].item.id
    elsewhere = replace(HERE, session="tuesday")
    memory.add([MemoryDraft("turn", f"Dinner {number} was fish.") for number in range(12)], elsewhere, on_day(0))

    def rank() -> int:
        hits = memory.search(MemoryQuery("Ann's sailing to Sark", HERE, on_day(1), limit=50), record_use=False).hits
        return [hit.item.id for hit in hits].index(ids[3])

    apart = rank()
    memory.forget([ids[1], ids[2]], HERE)
    assert rank() < apart
