"""Layers and memory join the documents in a context: marked, within the budget, and of the caller's scope alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.context.render import LAYERS, REMEMBERED, sections_text
from graphctx.errors import InvalidArgument
from graphctx.knowledge_base import KnowledgeBase
from graphctx.layers import LayerName, LayerStack, write_context
from graphctx.memory import (
    Memory,
    MemoryContextSource,
    MemoryDraft,
    MemoryQuery,
    MemoryScope,
    Moment,
    Triple,
    assemble_block,
)
from graphctx.model.context import OptimalContext
from graphctx.nlp.embedders import make_embedder

QUESTION = "Who is entitled to cancel a warning before it expires?"
CHUNK = "The watch officer of Skarn may cancel a warning before it expires.\n\n" + "He logs each warning. " * 100
NOW = Moment(datetime(2026, 3, 1, tzinfo=UTC))
ANN = MemoryScope(principal="ann", project="coop", session="monday")


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory(tmp_path_factory.mktemp("remembered"), embedder=make_embedder()) as store:
        stated = (Triple("Oda", "cancels", "a warning"),)
        store.add([MemoryDraft("turn", "I cancelled a warning\nby radio.", author="Ann", triples=stated)], ANN, NOW)
        store.add([MemoryDraft("core", "Ann is on watch."), MemoryDraft("turn", "A warning. " * 900)], ANN, NOW)
        store.add([MemoryDraft("turn", "Bob cancelled a warning of his.")], MemoryScope("bob", "coop"), NOW)
        store.add([MemoryDraft("turn", "Another project cancelled a warning.")], MemoryScope("ann", "other"), NOW)
        yield store


@pytest.fixture(scope="module")
def kb(handbook_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    """The handbook beside two layers."""
    folder = tmp_path_factory.mktemp("layers")
    stack = LayerStack(folder)
    write_context(stack, content=CHUNK, kind="note", confidence=0.9, scope="delta")
    write_context(stack, content="Gulls are fed at noon.", kind="note", confidence=0.9, scope="local")
    with KnowledgeBase.open(handbook_path, layers=folder) as opened:
        yield opened


def composed(kb: KnowledgeBase, memory: Memory, tokens: int = 4000, scope: MemoryScope = ANN) -> OptimalContext:
    source = MemoryContextSource(memory, scope, NOW, kb.tokens.count)
    return kb.compose_context(QUESTION, tokens, layers=["delta", "local"], sources=[source])


def test_each_section_says_where_it_is_from_and_only_documents_are_cited_as_documents(
    kb: KnowledgeBase, memory: Memory
) -> None:
    context = composed(kb, memory)
    origins = [one.origin for one in context.retrieved_sections]
    assert list(dict.fromkeys(origins)) == ["themes", "layers", "memory", "documents"]
    for one in context.retrieved_sections:
        assert ("doc_uri" in one.metadata) == (one.origin in ("themes", "documents"))
        if one.origin == "layers":
            assert one.content == CHUNK[one.metadata["start_char"] : one.metadata["end_char"]]
        elif "item_id" in one.metadata:
            item = memory.get(one.metadata["item_id"], ANN)
            assert item is not None
            assert one.content == item.text[one.metadata["start_char"] : one.metadata["end_char"]]
    assert context.text.index(LAYERS) < context.text.index(REMEMBERED) < context.text.index("## Retrieved Context:")


def test_what_is_remembered_stands_as_in_the_block_of_the_memory(kb: KnowledgeBase, memory: Memory) -> None:
    context = composed(kb, memory, 32_000)
    room = round(0.2 * 0.6 * 32_000)
    block = assemble_block(memory, MemoryQuery(QUESTION, ANN, NOW), room, kb.tokens.count, record_use=False)
    assert block.text in context.text


def test_what_is_remembered_answers_no_question_in_the_place_of_documents(
    handbook_kb: KnowledgeBase, tmp_path: Path
) -> None:
    question = "How do I bake sourdough bread with rye flour?"
    with Memory(tmp_path, embedder=make_embedder()) as store:
        store.add([MemoryDraft("turn", "I bake sourdough bread with rye flour overnight.", author="Ann")], ANN, NOW)
        store.add([MemoryDraft("core", "warning")], ANN, NOW)
        source = MemoryContextSource(store, ANN, NOW, handbook_kb.tokens.count)
        context = handbook_kb.compose_context(question, 4000, sources=[source])
        assert {one.origin for one in context.retrieved_sections} == {"memory"}
        assert (context.answered, context.task_context, context.notes) == ("no", "", [])
        assert context.nearest == handbook_kb.compose_context(question, 4000).nearest != []
        beside = handbook_kb.compose_context(QUESTION, 4000, sources=[source])
        assert "warning" in [one.content for one in beside.retrieved_sections if one.origin == "memory"]


@pytest.mark.parametrize(("layers", "unknown"), [([], ["Skarn"]), (["delta"], [])])
def test_a_word_that_a_layer_holds_is_known(kb: KnowledgeBase, layers: list[LayerName], unknown: list[str]) -> None:
    context = kb.compose_context("Who may cancel a warning of Skarn before it expires?", 4000, layers=layers)
    assert context.unknown_words == unknown


def test_a_word_that_is_only_remembered_is_known_and_makes_no_document_answer(
    handbook_kb: KnowledgeBase, tmp_path: Path
) -> None:
    question = "How do we import a terraform module into the data logger?"
    with Memory(tmp_path, embedder=make_embedder()) as store:
        store.add([MemoryDraft("turn", "We import a Terraform module into the data logger.", author="Ann")], ANN, NOW)
        source = MemoryContextSource(store, ANN, NOW, handbook_kb.tokens.count)
        beside = handbook_kb.compose_context(question, 4000, sources=[source])
    assert handbook_kb.compose_context(question, 4000).unknown_words == ["terraform"]
    assert (beside.unknown_words, beside.answered) == ([], "near")


def test_sources_that_could_not_be_asked_are_named(kb: KnowledgeBase, tmp_path: Path) -> None:
    with Memory(tmp_path, embedder=make_embedder()) as store:
        store.add([MemoryDraft("core", "Ann is on watch.")], ANN, NOW)
        with closing(sqlite3.connect(tmp_path / "memory.db")) as connection, connection:
            connection.execute("DROP TABLE item_text")
            connection.execute("DROP TABLE items")
        source = MemoryContextSource(store, ANN, NOW, kb.tokens.count)
        context = kb.compose_context(QUESTION, 4000, layers=["base", "delta"], sources=[source])
    assert context.retrieved_sections
    assert "There is no base layer here." in context.notes
    assert any("memory" in note.lower() for note in context.notes)


def test_nobody_reads_the_memory_of_another_principal_or_project(kb: KnowledgeBase, memory: Memory) -> None:
    assert "by radio" in composed(kb, memory).text
    assert "Bob" not in composed(kb, memory).text
    assert "Another project" not in composed(kb, memory).text
    nobody = composed(kb, memory, scope=MemoryScope("eve", "coop"))
    assert all(one.origin != "memory" for one in nobody.retrieved_sections)


def test_a_layer_that_is_not_asked_for_or_does_not_bear_on_the_question_is_left_out(kb: KnowledgeBase) -> None:
    assert "Skarn" not in kb.compose_context(QUESTION, 4000).text
    context = kb.compose_context(QUESTION, 4000, layers=["delta", "local"])
    assert "Skarn" in context.text
    assert "Gulls" not in context.text


def test_layers_that_are_not_there_are_refused(handbook_kb: KnowledgeBase) -> None:
    with pytest.raises(InvalidArgument, match=r"layers: .*folder"):
        handbook_kb.compose_context(QUESTION, layers=["base"])


@given(tokens=st.integers(200, 20_000))
def test_all_sources_together_keep_the_budget(kb: KnowledgeBase, memory: Memory, tokens: int) -> None:
    context = composed(kb, memory, tokens)
    assert context.tokens["total"] == kb.tokens.count(context.text) <= tokens
    assert kb.tokens.count(sections_text(context.retrieved_sections)) <= 0.6 * tokens
    assert context == composed(kb, memory, tokens)
