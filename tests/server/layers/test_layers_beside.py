"""Layers beside documents, and whatever comes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphctx.errors import BudgetExceeded, InvalidArgument
from graphctx.knowledge_base import KnowledgeBase
from graphctx.layers import FILES, LayerFile, LayerStack, hashed, write_layer
from graphctx.model.budgets import Limits, weigh
from graphctx.server.call_context import CallContext
from tests.conftest import EFFORT
from tests.layers.world import DIM, content, contents, note, stack

from ..calls import call, context_over
from .world import OFFICER, QUESTION, context_with


def slices_back(kb: KnowledgeBase, folder: Path, spans: list[dict[str, Any]], name: str) -> None:
    for span in spans:
        if "layer" in span:
            with LayerFile.open(folder / span["doc_uri"].split("#")[0]) as file:
                text = file.content(file.record_of(int(span["doc_uri"].split("#")[1])))
        else:
            text = kb.document(span["doc_uri"]).text
        assert text[span["start_char"] : span["end_char"]] == span[name]
        assert span["line"] == text.count("\n", 0, span["start_char"]) + 1


def test_quotes_of_layers_stand_beside_those_of_documents_with_their_marks(
    context: CallContext, kb: KnowledgeBase, folder: Path
) -> None:
    options = {"layers": ["base", "user", "delta", "local"]}
    answer, text = call(context, "kb.retrieve_evidence", question=QUESTION, options=options)
    slices_back(kb, folder, answer["quotes"], "quote")
    first, second = answer["quotes"][:2]
    assert first["quote"] == OFFICER
    assert first["layer"] == {
        "name": "delta",
        "chunk_id": 12,
        "kind": "correction",
        "author": "mcp",
        "confidence": 0.75,
        "sources": ["people/duty.md:3"],
    }
    assert "Ines Halvorsen" in second["quote"]
    assert "layer" not in second
    assert "delta layer, by mcp, who gives it confidence 0.75; sources people/duty.md:3" in text
    assert "There is no local layer here." in answer["layer_notes"]
    assert "There is no local layer here." in text


def test_results_of_layers_stand_beside_those_of_documents(
    context: CallContext, kb: KnowledgeBase, folder: Path
) -> None:
    options = {"layers": ["delta"], "include_scores": True}
    answer, text = call(context, "kb.search", query=QUESTION, options=options)
    slices_back(kb, folder, answer["results"], "preview")
    assert [result["rank"] for result in answer["results"]] == list(range(1, len(answer["results"]) + 1))
    assert answer["results"][0]["doc_uri"] == "AGENTS.delta.db#12"
    scores = [result["score"] for result in answer["results"]]
    assert scores == sorted(scores, reverse=True)
    assert "delta layer, by mcp" in text


def test_without_the_option_no_layer_is_asked(context: CallContext, kb: KnowledgeBase) -> None:
    plain = context_over(kb)
    for tool, argument in (("kb.search", "query"), ("kb.retrieve_evidence", "question")):
        answer = call(context, tool, **{argument: QUESTION})[0]
        assert "layer_notes" not in answer
        names = ("doc_uri", "start_char", "end_char")
        items = answer.get("quotes") or answer["results"]
        without = call(plain, tool, **{argument: QUESTION})[0]
        assert [[i[n] for n in names] for i in items] == [
            [i[n] for n in names] for i in without.get("quotes") or without["results"]
        ]


def test_a_chunk_that_says_nothing_to_the_question_takes_no_place(context: CallContext) -> None:
    answer, _ = call(
        context, "kb.retrieve_evidence", question="How long is the backup kept?", options={"layers": ["base", "user"]}
    )
    assert answer["quotes"]
    assert not [quote for quote in answer["quotes"] if "layer" in quote]


def test_a_text_that_several_layers_hold_is_quoted_once_from_the_one_that_goes_first(
    kb: KnowledgeBase, tmp_path: Path
) -> None:
    one = content(note(1, OFFICER))
    stack(tmp_path / "r", base=one, user=content(note(9, OFFICER)))
    context = context_with(kb, tmp_path / "r")
    answer, _ = call(context, "kb.retrieve_evidence", question=QUESTION, options={"layers": ["base", "user"]})
    assert [q["doc_uri"] for q in answer["quotes"] if "layer" in q] == ["AGENTS.user.db#9"]


def test_conflicts_are_reported_beside_documents_too(context: CallContext) -> None:
    answer, text = call(context, "kb.search", query="Gulls are not fed", options={"layers": ["base", "delta"]})
    marks = {r["doc_uri"]: r["layer"] for r in answer["results"] if "layer" in r}
    assert marks["AGENTS.delta.db#2"]["conflicts"] == ["AGENTS.db#2"]
    assert any("disagree" in note for note in answer["layer_notes"])
    assert "at odds with AGENTS.db#2" in text


def test_passages_of_layers_are_read_widened_and_quoted_like_others(context: CallContext) -> None:
    found, _ = call(context, "kb.search", query=QUESTION, top_k=4, options={"layers": ["delta"]})
    chunk = next(result for result in found["results"] if "layer" in result)
    other = next(result for result in found["results"] if "layer" not in result)
    for tool in ("kb.read_excerpt", "kb.expand_excerpt"):
        read, _ = call(context, tool, passage_id=chunk["passage_id"])
        assert (read["excerpt"], read["doc_uri"]) == (OFFICER, "AGENTS.delta.db#12")
    both = [chunk["passage_id"], other["passage_id"]]
    quoted, _ = call(context, "kb.extract_evidence", question=QUESTION, passage_ids=both)
    assert {quote["section_id"] for quote in quoted["quotes"]} == {chunk["section_id"], other["section_id"]}
    alone, _ = call(context, "kb.extract_evidence", question=QUESTION, passage_ids=["layer:delta:12"])
    assert [quote["quote"] for quote in alone["quotes"]] == [OFFICER]


def test_a_passage_is_refused_once_its_chunk_was_edited_and_the_section_id_follows_the_edit(
    context: CallContext, folder: Path
) -> None:
    from graphctx.layers import write_context

    found, _ = call(context, "kb.search", query=QUESTION, options={"layers": ["delta"]})
    passage = found["results"][0]["passage_id"]
    stack_of = LayerStack(folder, hashed(DIM))
    write_context(stack_of, content="It is Ada Moe.", kind="correction", confidence=1, scope="delta", edit=12)
    with pytest.raises(InvalidArgument, match="has changed since it was found"):
        call(context, "kb.read_excerpt", passage_id=passage)
    assert call(context, "kb.read_excerpt", passage_id="layer:delta:12")[0]["excerpt"] == "It is Ada Moe."
    found, _ = call(context, "kb.search", query="It is Ada Moe.", options={"layers": ["delta"]})
    assert found["results"][0]["preview"] == "It is Ada Moe."
    assert (
        call(context, "kb.read_excerpt", passage_id=found["results"][0]["passage_id"])[0]["excerpt"] == "It is Ada Moe."
    )


@pytest.mark.parametrize(
    "name", ["layer:delta:99", "layer:delta:", "layer:delta:-1", "layer:cloud:1", "layer:", "layer:base:¹"]
)
def test_a_chunk_that_is_not_there_is_refused(context: CallContext, name: str) -> None:
    with pytest.raises(InvalidArgument):
        call(context, "kb.read_excerpt", passage_id=name)


def test_the_scope_narrows_documents_and_no_layers(context: CallContext) -> None:
    scope = {"doc_tags": ["ops"], "repositories": ["ops"]}
    answer, _ = call(context, "kb.search", query=QUESTION, scope=scope, options={"layers": ["delta"]})
    assert {r["doc_uri"] for r in answer["results"] if "layer" not in r} <= {"ops/backup.md"}
    chunk = next(r for r in answer["results"] if "layer" in r)
    assert call(context, "kb.read_excerpt", passage_id=chunk["passage_id"], scope=scope)[0]["excerpt"] == OFFICER


# Whatever comes


anything = st.text(max_size=40) | st.sampled_from(
    ["tide\x00gate", "\ud800", "‮x‬", "9" * 300, "e" + "\u0301" * 60, "👩‍👩‍👧‍👦"]
)


@settings(max_examples=int(60 * EFFORT), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    made=st.dictionaries(st.sampled_from(sorted(FILES)), contents(), max_size=3),
    query=anything,
    k=st.integers(1, 50),
    chars=st.integers(40, 20_000),
    limits=st.builds(Limits, st.integers(60, 8000), st.integers(400, 30_000)),
    tool=st.sampled_from(["agents_search", "kb.search", "kb.retrieve_evidence"]),
)
def test_any_layers_and_any_query_give_an_answer_that_fits_or_a_refusal(
    kb: KnowledgeBase,
    tmp_path_factory: pytest.TempPathFactory,
    made: Any,
    query: str,
    k: int,
    chars: int,
    limits: Limits,
    tool: str,
) -> None:
    folder = tmp_path_factory.mktemp("any")
    for name, told in made.items():
        write_layer(folder / FILES[name], told)
    context = context_with(kb, folder, limits)
    asked: dict[str, Any] = {"query": query, "k": k, "max_content_chars": chars}
    if tool != "agents_search":
        asked = {"query" if tool == "kb.search" else "question": query, "top_k": k, "options": {"layers": list(FILES)}}
    try:
        answer, text = call(context, tool, **asked)
    except (InvalidArgument, BudgetExceeded):
        return
    assert answer["budget"]["tokens"] <= limits.max_tokens
    assert answer["budget"]["bytes"] <= limits.max_bytes
    assert weigh([text], kb.tokens.count).bytes <= limits.max_bytes
    for span in answer.get("chunks") or answer.get("results") or answer.get("quotes") or ():
        if span["doc_uri"].startswith("AGENTS"):
            with LayerFile.open(folder / span["doc_uri"].split("#")[0]) as file:
                whole = file.content(file.record_of(int(span["doc_uri"].split("#")[1])))
            said = span.get("content", span.get("preview", span.get("quote")))
            assert whole[span["start_char"] : span["end_char"]] == said
