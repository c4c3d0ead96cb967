"""Summaries in the words of a language model, over a real socket, and what is left where it fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphctx.memory import Memory, MemoryDraft, MemoryItem
from tests.nlp.llm_stub import Exchange, Stub, closed_port, completion, hang, says, sends, stub

from .conftest import EMBEDDER, EXTRACTOR, HERE, on_day

__all__ = ["stub"]


def filled(folder: Path, stub: Stub, url: str = "", seconds: float = 10.0) -> tuple[Memory, list[MemoryItem]]:
    """A memory with the stub as its language model, and three turns."""
    llm = stub.settings(base_url=url or stub.url)
    memory = Memory(folder, embedder=EMBEDDER, extractor=EXTRACTOR, llm=llm, llm_seconds=seconds)
    turns = ["The release moves to 14 May.", "Ben is unhappy about it.", "Who tells the customers?"]
    drafts = [MemoryDraft("turn", text, author=name) for text, name in zip(turns, ("ana", "ana", "ben"), strict=True)]
    return memory, [memory.add([draft], HERE, on_day(0, at))[0].item for at, draft in enumerate(drafts)]


def test_the_model_writes_a_summary_that_cites_its_turns(tmp_path: Path, stub: Stub) -> None:
    stub.otherwise = says(
        "The release is on 14 May, which Ben dislikes [1][2].\nIt costs 99 euros [3].\nOpen: who tells customers [3]."
    )
    memory, turns = filled(tmp_path, stub)
    with memory:
        done = memory.lifecycle.compress("working", HERE, on_day(1))
        assert (done.model, done.degraded) == ("stub", "")
        summary = done.summaries[0]
        assert summary.text == "The release is on 14 May, which Ben dislikes.\nOpen: who tells customers."
        cited = [(each["line"], each["item"]) for each in summary.metadata["sentences"]]
        assert cited == [(0, turns[0].id), (0, turns[1].id), (1, turns[2].id)]
        assert summary.source_ids == tuple(turn.id for turn in turns)
        assert stub.requests[0].given == [f"{turn.author}: {turn.text}" for turn in turns]
        assert memory.lifecycle.working(HERE, on_day(1)) == []


@pytest.mark.parametrize("fault", ["refuses", "closed", "uncited", "too long", "hangs"])
def test_where_the_model_fails_the_summary_is_extractive_and_says_why(tmp_path: Path, stub: Stub, fault: str) -> None:
    replies = {"uncited": says("Nobody knows."), "too long": says("word " * 400 + "[1]."), "hangs": hang}
    stub.otherwise = replies.get(fault, sends(500))
    url = f"http://127.0.0.1:{closed_port()}/v1" if fault == "closed" else ""
    memory, turns = filled(tmp_path, stub, url, seconds=0.5 if fault == "hangs" else 10.0)
    with memory:
        done = memory.lifecycle.compress("working", HERE, on_day(1))
        assert "1 of 1 summaries are extractive" in done.degraded
        assert done.model == ""
        assert done.summaries[0].text == "\n".join(f"{turn.author}: {turn.text}" for turn in turns)


def test_what_is_forgotten_while_the_model_writes_is_in_no_summary(tmp_path: Path, stub: Stub) -> None:
    memory, turns = filled(tmp_path, stub)

    def forgets(exchange: Exchange) -> None:
        with Memory(tmp_path, embedder=EMBEDDER) as other:
            other.forget([turns[0].id], HERE)
        exchange.send(200, completion("The release moves to 14 May [1]."))

    stub.otherwise = forgets
    with memory:
        assert memory.lifecycle.compress("working", HERE, on_day(1)).summaries == ()
        assert [turn.id for turn in memory.lifecycle.working(HERE, on_day(1))] == [turn.id for turn in turns[1:]]


def test_storing_waits_for_no_model(tmp_path: Path, stub: Stub) -> None:
    stub.otherwise = hang
    memory, _ = filled(tmp_path, stub)
    with memory:
        long = [MemoryDraft("turn", f"Turn {number}. " + "Servers were counted. " * 400) for number in range(3)]
        assert [outcome.compressed for outcome in memory.add(long, HERE, on_day(2))][-1]
        memory.add([MemoryDraft("output", "The build took nine minutes.")], HERE, on_day(2))
        assert memory.lifecycle.maintain(HERE, on_day(3, 60)).summaries
    assert stub.requests == []
