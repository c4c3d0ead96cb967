"""What every tool answers: true to its schema, to its documents and to its budget, in the structure and in the text."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.budgets import weigh

from .corpus import OPEN_QUESTION
from .examples import COMPAT, EVERY_TOOL, GRAPH, ITEMS, KB, LISTS, Examples
from .protocol import COUNTER, Caller, Reply, in_memory, weight
from .spec_table import (
    CITATION_FIELDS,
    EXCERPT_FIELDS,
    LIST_FIELDS,
    PLACE_FIELDS,
    QUOTE_FIELDS,
    RESULT_FIELDS,
    SOURCES,
)
from .truth import SPANS, Truth, nodes, uris_in

each_tool = pytest.mark.parametrize("tool", EVERY_TOOL)
each_list = pytest.mark.parametrize("tool", LISTS)
OURS = (*KB, *GRAPH, *COMPAT)
FILTERED = [tool for tool in LISTS if tool.startswith("graph.") or tool in ("kb.search", "kb.retrieve_evidence")]


_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]")


def lines(text: str) -> list[str]:
    """The lines of a text by any separator: a rendering may break at them, and may not change what is between."""
    return [line for line in re.split(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", text) if line.strip()]


def seen(text: str) -> str:
    """A text without control characters, which a rendering may take away: they move a terminal's cursor."""
    return _UNSEEN.sub("", text)


def check_text_stands_alone(reply: Reply) -> None:
    """The text alone tells what the structure tells: every span, its document, its handle, and how to go on."""
    if json_of(reply.text) is not None:
        assert json_of(reply.text) == reply.structure
        return
    shown = seen(reply.text)
    for node in nodes(reply.structure):
        for name in SPANS if "start_char" in node else ():
            for line in lines(node.get(name, "")):
                assert seen(line) in shown, (name, line)
        if "start_char" in node or "kind" in node:
            assert (node.get("doc_uri") or "") in reply.text
            if node.get("passage_id"):
                assert (node.get("section_id") or node["citation"]["section_id"]) in reply.text
        if "kind" in node:
            assert node["name"] in reply.text
    assert (reply.structure.get("next_cursor") or "") in reply.text


def stable(arguments: dict[str, Any], section_id: str) -> dict[str, Any]:
    """Arguments with a section in place of the passages of a session."""
    return json.loads(re.sub(r"p_[a-z2-7]{16}", section_id, json.dumps(arguments)))


def json_of(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


@each_tool
def test_an_answer_keeps_the_listed_schema(schemas: dict[str, Any], examples: Examples, tool: str) -> None:
    schema = schemas[tool]["outputSchema"]
    answer = examples.reply(tool).answer
    jsonschema.Draft202012Validator(schema).validate(answer)
    assert answer.get(ITEMS.get(tool, ""), True), "an example that has nothing to show proves nothing"


@each_tool
def test_the_text_stands_alone(caller: Caller, examples: Examples, tool: str) -> None:
    check_text_stands_alone(examples.reply(tool))


@pytest.mark.parametrize("tool", GRAPH)
def test_snippets_stand_in_the_text_too(caller: Caller, truth: Truth, examples: Examples, tool: str) -> None:
    reply = caller.call(tool, {**examples.plain[tool], "include_snippet": True})
    assert truth.check_spans(reply.answer) > 0
    check_text_stands_alone(reply)


@pytest.mark.parametrize("tool", [*GRAPH, *COMPAT[2:]])
def test_graph_answers_hold_no_text_unless_it_is_asked_for(caller: Caller, examples: Examples, tool: str) -> None:
    assert not [node for node in nodes(examples.reply(tool).answer) if "snippet" in node]


@each_tool
def test_every_span_is_the_text_at_its_place(
    schemas: dict[str, Any], truth: Truth, examples: Examples, tool: str
) -> None:
    checked = truth.check_spans(examples.reply(tool).answer)
    assert checked > 0 or tool in (*GRAPH, *COMPAT[2:]) or "start_char" not in json.dumps(schemas[tool]["outputSchema"])


@each_tool
def test_the_budget_is_kept_and_reported(caller: Caller, examples: Examples, tool: str) -> None:
    reply = examples.reply(tool)
    tokens, size = weight(reply)
    assert tokens <= 8_000
    assert size <= 30_000
    budget = reply.answer.get("budget")
    if budget is not None:
        assert tokens <= budget["tokens"] <= budget["max_tokens"] == 8_000
        assert size <= budget["bytes"] <= budget["max_bytes"] == 30_000
    else:
        assert tool in ("search", "fetch"), "only that form has no room for it"


@pytest.mark.parametrize("tool", OURS)
def test_every_answer_tells_the_scope_that_applied(caller: Caller, examples: Examples, tool: str) -> None:
    answer = examples.reply(tool).answer
    assert answer["scope"] == {"project_id": "marrow", "environment": "dev"}
    asked = {"project_id": "marrow", "environment": "dev", "repositories": ["open/"]}
    narrowed = caller.call(tool, {**examples.plain[tool], "scope": asked})
    if not narrowed.is_error:
        assert narrowed.answer["scope"] == {**asked, "repositories": ["open"]}
        if tool in LISTS:
            assert "marrow" in narrowed.text


@each_list
def test_a_list_tells_what_every_list_tells(caller: Caller, examples: Examples, tool: str) -> None:
    answer = examples.reply(tool).answer
    assert answer.keys() >= LIST_FIELDS
    assert answer["partial"] is (answer["next_cursor"] is not None)
    assert answer["session_id"]
    assert not answer.get("empty_reason")


@each_list
def test_a_list_that_a_budget_cuts_says_so_and_goes_on(caller: Caller, examples: Examples, tool: str) -> None:
    whole = examples.reply(tool).answer
    for name, reason in (("max_tokens", "token_cap"), ("max_bytes", "byte_cap")):
        least = caller.call(tool, {**examples.plain[tool], name: 1}).error["details"]
        room = (least[f"needed_{name[4:]}"] + whole["budget"][name[4:]]) // 2
        cut = caller.call(tool, {**examples.plain[tool], name: room}).answer
        assert cut["budget"][name] == room
        assert len(cut[ITEMS[tool]]) <= len(whole[ITEMS[tool]])
        if len(cut[ITEMS[tool]]) < len(whole[ITEMS[tool]]):
            assert cut["truncated"]
            assert cut["partial"]
            assert cut["limit_reason"] == reason
            assert cut["next_cursor"]
    assert len(cut[ITEMS[tool]]) < len(whole[ITEMS[tool]]) or len(whole[ITEMS[tool]]) == 1


@each_tool
def test_nothing_useful_fits_is_an_error_that_says_how_much_would(
    caller: Caller, examples: Examples, tool: str
) -> None:
    if tool in ("kb.read_excerpt", "kb.expand_excerpt", "search", "fetch"):
        pytest.skip("its limits are of the excerpt, or it takes none")
    error = caller.call(tool, {**examples.plain[tool], "max_tokens": 1}).error
    assert error["code"] == "BUDGET_EXCEEDED"
    needed = error["details"]["needed_tokens"]
    assert str(needed) in error["message"]
    again = caller.call(tool, {**examples.plain[tool], "max_tokens": needed})
    assert not again.is_error, again.text
    assert weight(again)[0] <= needed


NARROWED = [
    ("filters", {"doc_tag": ["no document has this tag"]}, "filtered_out"),
    ("filters", {"path_prefix": "nowhere/"}, "filtered_out"),
    ("filters", {"updated_after": "2199-01-01"}, "filtered_out"),
    ("scope", {"doc_tags": ["no document has this tag"]}, "nothing_in_scope"),
]


@pytest.mark.parametrize(("argument", "value", "reason"), NARROWED)
@pytest.mark.parametrize("tool", FILTERED)
def test_an_answer_that_a_filter_or_the_scope_empties_names_it(
    caller: Caller, examples: Examples, tool: str, argument: str, value: dict[str, Any], reason: str
) -> None:
    reply = caller.call(tool, {**examples.plain[tool], argument: value})
    named = f"{argument}.{next(iter(value))}"
    assert reply.answer[ITEMS[tool]] == []
    assert (reply.answer["empty_reason"], reply.answer["filtered_by"]) == (reason, [named])
    assert named in reply.text


def test_a_knowledge_base_without_a_snapshot_says_so(tmp_path: Path, examples: Examples) -> None:
    with KnowledgeBase.open(tmp_path / "kb", create=True, project_id="marrow") as kb, in_memory(kb) as caller:
        for tool in EVERY_TOOL:
            reply = caller.call(tool, stable(examples.plain[tool], "u_aaaaaaaaaaaaaaaa"))
            if reply.is_error:
                assert reply.error["code"] in ("BACKEND_UNAVAILABLE", "INVALID_ARGUMENT")
                assert "graphctx ingest" in reply.error["message"]
            elif tool != "search":
                assert reply.answer["empty_reason"] == "no_snapshot"


def test_search_results_have_the_contracts_fields(caller: Caller) -> None:
    answer = caller.call("kb.search", {"query": OPEN_QUESTION, "top_k": 20, "page_size": 20}).answer
    assert answer["session_id"]
    for number, result in enumerate(answer["results"], start=1):
        assert result.keys() >= RESULT_FIELDS | PLACE_FIELDS
        assert result.keys() & {"scores", "debug"} == set()
        assert result["rank"] == number
        assert result["source"] in SOURCES
        assert 0 < len(result["preview"]) <= 280
        assert result["scratch_uri"] == f"graphctx://scratch/{answer['session_id']}/{result['passage_id']}"
    uris = [result["doc_uri"] for result in answer["results"]]
    assert len(uris) == len(set(uris)), "one of each document by default"


def test_search_never_gives_a_whole_section_that_is_longer_than_its_preview(caller: Caller) -> None:
    answer = caller.call("kb.search", {"query": "endless line", "top_k": 50, "page_size": 50}).answer
    assert any(result["size_bytes"] > 280 * 2 for result in answer["results"])
    for result in answer["results"]:
        assert len(result["preview"].encode()) <= result["size_bytes"]


def test_scores_and_diagnostics_come_when_asked_for(caller: Caller) -> None:
    options = {"include_scores": True, "include_debug": True}
    answer = caller.call("kb.search", {"query": OPEN_QUESTION, "options": options}).answer
    assert all(result["scores"] and result["debug"] for result in answer["results"])
    asked = {"question": OPEN_QUESTION, "options": {"include_diagnostics": True}}
    assert caller.call("kb.retrieve_evidence", asked).answer["diagnostics"]["stages"]


@pytest.mark.parametrize("tool", ["kb.retrieve_evidence", "kb.extract_evidence"])
def test_quotes_have_the_contracts_fields_and_lengths(caller: Caller, examples: Examples, tool: str) -> None:
    answer = examples.reply(tool).answer
    assert answer["diagnostics"].keys() == {"mode", "candidates", "snapshot_id"}
    for quote in answer["quotes"]:
        assert quote.keys() >= QUOTE_FIELDS | PLACE_FIELDS
        assert 0 <= quote["confidence"] <= 1
        assert COUNTER.count(quote["quote"]) <= 80
        assert len(quote["quote"]) <= 500
        assert COUNTER.count(quote.get("context_before", "")) <= 20
        assert COUNTER.count(quote.get("context_after", "")) <= 20
    assert len(answer["quotes"]) <= 6


def test_quotes_are_cut_at_the_length_that_is_asked_for(caller: Caller) -> None:
    asked = {"question": OPEN_QUESTION, "max_quotes": 2, "max_quote_tokens": 8, "include_context_tokens": 0}
    quotes = caller.call("kb.retrieve_evidence", asked).answer["quotes"]
    assert len(quotes) == 2
    for quote in quotes:
        assert COUNTER.count(quote["quote"]) <= 8
        assert quote.get("truncated") or quote["quote"].endswith(".")
        assert not quote.get("context_before")


def test_a_place_in_a_source_with_pages_has_its_page(caller: Caller, nasty: KnowledgeBase) -> None:
    uri = "open/tables.pdf"
    starts = nasty.document(uri).page_starts
    assert len(starts) == 3
    pages = set()
    for words in ("tide tables every winter", "closed at spring tide", "drawings of the tide gate"):
        for tool, argument in (("kb.search", "query"), ("kb.retrieve_evidence", "question")):
            answer = caller.call(tool, {argument: words, "filters": {"path_prefix": uri}}).answer
            for place in nodes(answer):
                if "start_char" in place:
                    assert place["page"] == bisect_right(starts, place["start_char"])
                    pages.add(place["page"])
    entity = {"entity_ids": ["Halvard Works"], "filters": {"path_prefix": uri}, "include_snippet": True}
    named = caller.call("graph.sections_for_entities", entity).answer["sections"][0]["snippet"]
    assert named["page"] == 3
    assert pages


@pytest.mark.parametrize("tool", ["kb.read_excerpt", "kb.expand_excerpt"])
def test_excerpts_have_the_contracts_fields(caller: Caller, examples: Examples, tool: str) -> None:
    answer = examples.reply(tool).answer
    assert answer.keys() >= EXCERPT_FIELDS | PLACE_FIELDS
    assert answer["citation"].keys() >= CITATION_FIELDS


def test_an_excerpt_goes_on_where_it_stopped_until_the_passage_is_read(caller: Caller, truth: Truth) -> None:
    found = caller.call("kb.search", {"query": "endless line begins", "filters": {"path_prefix": "open/endless.txt"}})
    passage = found.answer["results"][0]
    start, read = 0, ""
    while start is not None:
        part = caller.call(
            "kb.read_excerpt", {"passage_id": passage["passage_id"], "start_char": start, "max_tokens": 250}
        ).answer
        assert COUNTER.count(part["excerpt"]) <= 250
        assert part["truncated"] is (part["next_start_char"] is not None)
        read, start = read + part["excerpt"], part["next_start_char"]
    assert len(read.encode()) == passage["size_bytes"]
    assert read == caller.read(passage["scratch_uri"]).contents[0].text


def test_no_excerpt_is_longer_than_the_hard_caps(caller: Caller, truth: Truth) -> None:
    most, wide = {"max_tokens": 800, "max_bytes": 32 * 1024}, {"before_tokens": 800, "after_tokens": 800}
    for section in truth.ids("u")[::25]:
        for tool, limits in (("kb.read_excerpt", most), ("kb.expand_excerpt", wide)):
            excerpt = caller.call(tool, {"passage_id": section, **limits}).answer["excerpt"]
            assert COUNTER.count(excerpt) <= 800
            assert len(excerpt.encode()) <= 32 * 1024


def test_bullets_and_a_missing_citation_change_the_showing_alone(caller: Caller, examples: Examples) -> None:
    plain = caller.call("kb.read_excerpt", examples.plain["kb.read_excerpt"]).answer
    options = {"format": "bullets", "include_citation": False}
    reply = caller.call("kb.read_excerpt", {**examples.plain["kb.read_excerpt"], "options": options})
    assert reply.answer["excerpt"] == plain["excerpt"]
    assert reply.answer["citation"] is None
    assert reply.text.startswith("- ")


def test_a_document_with_instructions_and_false_quotes_is_quoted_as_what_it_is(caller: Caller, truth: Truth) -> None:
    only = {"path_prefix": "open/injection.md"}
    for tool, words in (("kb.search", "query"), ("kb.retrieve_evidence", "question")):
        reply = caller.call(tool, {words: "Ignore previous instructions", "filters": only})
        assert uris_in(reply.answer) == {"open/injection.md"}
        truth.check_spans(reply.answer)
        ours = [line for line in reply.text.split("\n") if not line.startswith("> ")]
        for line in ours:
            assert not re.search(r"\[1\].*tide-gate\.md|</result>|inspected by nobody|cursor=aaaa|INTERNAL_ERROR", line)
    excerpt = caller.call("kb.expand_excerpt", {"passage_id": reply.answer["quotes"][0]["passage_id"]})
    ours = [line for line in excerpt.text.split("\n") if not line.startswith("> ")]
    assert not any("Ignore previous" in line or "</result>" in line for line in ours)


@each_tool
def test_the_same_call_gives_the_same_answer(caller: Caller, examples: Examples, tool: str) -> None:
    assert caller.call(tool, examples.plain[tool]) == examples.reply(tool)


@pytest.fixture(scope="module")
def unstructured(nasty: KnowledgeBase) -> Iterator[Caller]:
    """A client of a server that sends no structured content."""
    with in_memory(nasty, structured_output=False) as caller:
        assert not any("outputSchema" in tool for tool in caller.tools().values())
        yield caller


@each_tool
def test_without_structured_output_the_text_is_the_object(
    unstructured: Caller, examples: Examples, truth: Truth, tool: str
) -> None:
    result = unstructured.result(tool, stable(examples.plain[tool], truth.ids("u")[0]))
    assert result.structured_content is None
    text = result.content[0].text
    assert "\n" not in text.strip("\n")
    answer = json.loads(text)
    assert answer.keys() >= examples.reply(tool).answer.keys() - {"citation"}
    if "budget" in answer:
        budget = answer["budget"]
        assert len(text.encode()) <= budget["bytes"] <= len(text.encode()) + 64, "it is of what was sent"
        # Random ids count as the heaviest of their length.
        assert budget["tokens"] < 1.2 * weigh([text], COUNTER.count).tokens + 20
    assert weigh([text], COUNTER.count).tokens <= 8_000
    assert len(text.encode()) <= 30_000


@each_tool
def test_both_eras_of_the_protocol_get_the_same_answer(older_era: Examples, examples: Examples, tool: str) -> None:
    def known(reply: Reply) -> list[str]:
        """A reply without random ids and the signatures of cursors."""
        parts = (reply.text, json.dumps(reply.structure))
        return [re.sub(r"\b[px]_[a-z2-7]{16}\b|\b[a-z2-7]{40,}\b", "", part) for part in parts]

    assert known(older_era.reply(tool)) == known(examples.reply(tool))


@pytest.fixture(scope="module")
def older_era(nasty: KnowledgeBase, truth: Truth) -> Iterator[Examples]:
    with in_memory(nasty, "legacy") as caller:
        yield Examples.gathered(caller, truth)


def test_as_many_results_come_as_were_asked_for(caller: Caller) -> None:
    options = {"max_per_doc": 20}
    asked = {"query": OPEN_QUESTION, "options": options}
    assert len(caller.call("kb.search", asked).answer["results"]) == 5
    twelve = caller.call("kb.search", asked | {"top_k": 12}).answer
    assert len(twelve["results"]) == 12
    assert (twelve["partial"], twelve["limit_reason"]) == (False, "none")
    page = caller.call("kb.search", asked | {"top_k": 12, "page_size": 5}).answer
    assert (len(page["results"]), page["limit_reason"]) == (5, "page_size")


def test_fewer_results_than_asked_for_say_that_one_of_each_document_is_why(caller: Caller) -> None:
    reply = caller.call("kb.search", {"query": OPEN_QUESTION, "top_k": 50})
    seen = [result["doc_uri"] for result in reply.answer["results"]]
    assert len(set(seen)) == len(seen) < 50
    if not reply.answer["partial"]:
        assert (reply.answer["limit_reason"], reply.answer["truncated"]) == ("doc_cap", True)
        assert "max_per_doc" in reply.text


def test_fewer_quotes_than_asked_for_say_that_the_passages_hold_no_more(caller: Caller) -> None:
    asked = {"question": OPEN_QUESTION, "max_quotes": 20}
    reply = caller.call("kb.retrieve_evidence", asked | {"top_k": 2})
    few = reply.answer["quotes"]
    assert len(few) < 20
    assert reply.answer["limit_reason"] == "passage_cap"
    assert "larger top_k" in reply.text
    assert len(caller.call("kb.retrieve_evidence", asked | {"top_k": 20}).answer["quotes"]) > len(few)


def test_the_older_search_gives_its_twenty_results(handbook_kb: KnowledgeBase) -> None:
    with in_memory(handbook_kb) as caller:
        for query in (
            "How often does a freshly built data logger fail its cold test?",
            "What is done to keep people from getting hurt, afloat and ashore?",
            "boat crew duty safety inspection",
        ):
            answer = caller.call("search_sections", {"query": query}).answer
            assert len(answer["results"]) == 20
            assert not answer["partial"]
            assert all(result["scores"] and result["debug"] for result in answer["results"])
