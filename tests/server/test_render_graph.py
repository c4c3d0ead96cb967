"""The texts of the graph, of communities and of global search, where the tool contract leaves them open."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphctx.errors import InvalidArgument
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.answers import Budget, GlobalAnswer, GlobalDiagnostics, PhrasedSentence, Point, Theme
from graphctx.model.requests import Scope
from graphctx.server.tools.global_search import global_text

from .calls import call, context_over, unit_with

# Nodes


def test_where_candidates_leave_no_room_fewer_are_named_and_the_rest_of_the_answer_stays(kb: KnowledgeBase) -> None:
    arguments = {"node_ids": ["ledger", "RTB"]}
    whole, _ = call(context_over(kb), "graph.describe", **arguments)
    assert len(whole["unresolved"][0]["candidates"]) == 2
    n_tokens = whole["budget"]["tokens"] - 20
    tight, text = call(context_over(kb), "graph.describe", **arguments, max_tokens=n_tokens)
    assert [node["name"] for node in tight["nodes"]] == ["ledger"]
    assert tight["unresolved"][0]["candidates"] == []
    assert "'RTB' stands for several entities" in text


def test_what_is_unknown_is_named_beside_what_is_known(kb: KnowledgeBase) -> None:
    answer, text = call(context_over(kb), "graph.describe", node_ids=["ledger", "zeppelin"])
    assert [node["name"] for node in answer["nodes"]] == ["ledger"]
    assert answer["unresolved"] == [{"asked": "zeppelin", "reason": "unknown", "candidates": []}]
    assert "'zeppelin' is not known in this scope" in text
    with pytest.raises(InvalidArgument, match="zeppelin"):
        call(context_over(kb), "graph.describe", node_ids=["zeppelin"])


def test_a_passage_id_of_the_session_stands_for_its_section(kb: KnowledgeBase) -> None:
    context, section = context_over(kb), unit_with(kb, "people/duty.md", "Ines").section_id
    held = call(context, "kb.read_excerpt", passage_id=section)[0]["passage_id"]
    for tool, argument in (
        ("graph.describe", "node_ids"),
        ("graph.expand", "node_ids"),
        ("graph.parents", "section_ids"),
        ("graph.entities_for_sections", "section_ids"),
        ("get_section_text", "section_ids"),
    ):
        assert call(context, tool, **{argument: [held]}) == call(context, tool, **{argument: [section]})


def test_a_node_that_is_too_heavy_comes_without_its_text(kb: KnowledgeBase) -> None:
    section = unit_with(kb, "odd/marks.md", "The ").section_id
    asked = {"node_ids": [section], "include_snippet": True}
    whole, _ = call(context_over(kb), "graph.describe", **asked)
    assert whole["nodes"][0]["snippet"]
    answer, text = call(context_over(kb), "graph.describe", **asked, max_tokens=whole["budget"]["tokens"] - 20)
    assert [node["id"] for node in answer["nodes"]] == [section]
    assert not any("snippet" in node for node in answer["nodes"])
    assert (answer["truncated"], answer["limit_reason"]) == (True, "token_cap")
    assert "token_cap" in text


# Communities


def test_a_community_that_does_not_fit_whole_is_shortened(kb: KnowledgeBase) -> None:
    known = call(context_over(kb), "graph.communities")[0]["communities"][0]["id"]
    asked = {"community_ids": [known], "include_snippet": True}
    whole, text = call(context_over(kb), "graph.communities", **asked)
    assert all(f"> {sentence['text'].splitlines()[0]}" in text for sentence in whole["communities"][0]["summary"])
    lean, text = call(context_over(kb), "graph.communities", **asked, max_tokens=whole["budget"]["tokens"] - 60)
    assert lean["communities"][0].keys() <= whole["communities"][0].keys() - {"summary", "key_facts"}
    assert lean["truncated"]
    assert "Shortened" in text


def test_where_there_is_no_community_the_text_says_what_to_leave_out_or_that_there_are_none(
    kb: KnowledgeBase, make_kb: Callable[..., KnowledgeBase]
) -> None:
    answer, text = call(context_over(kb), "graph.communities", level=7)
    assert (answer["communities"], answer["empty_reason"]) == ([], "no_match")
    assert "Leave level" in text
    none = make_kb({"a.txt": "Nothing in it is named.\n"})
    for arguments in ({}, {"community_ids": ["c_aaaaaaaaaaaaaaaa"]}):
        answer, text = call(context_over(none), "graph.communities", **arguments)
        assert (answer["communities"], answer["empty_reason"]) == ([], "no_communities")
        assert "There are no communities here" in text


# Global search


def point(rating: float, community: str, quote: str) -> Point:
    return Point(
        quote=quote,
        rating=rating,
        community_id=community,
        title="Rota",
        section_id="u_aaaaaaaaaaaaaaaa",
        doc_uri="rota.md",
        start_char=0,
        end_char=len(quote),
        line=1,
    )


def answer_of(*points: Point, phrased: tuple[PhrasedSentence, ...] = ()) -> GlobalAnswer:
    return GlobalAnswer(
        points=list(points),
        phrased=list(phrased),
        extractive=not phrased,
        themes=[Theme(id="c_aaaaaaaaaaaaaaaa", title="Watches", level=0, rating=0.5)],
        diagnostics=GlobalDiagnostics(snapshot_id="s", communities=3, rated=2, descended=1, dropped=1),
        partial=False,
        limit_reason="none",
        truncated=False,
        scope=Scope(project_id="handbook"),
        budget=Budget(tokens=1, bytes=1, max_tokens=1, max_bytes=1),
    )


def test_points_stand_below_their_themes_and_those_of_none_by_themselves(kb: KnowledgeBase) -> None:
    themed, other = point(0.6, "c_aaaaaaaaaaaaaaaa", "The watch is kept."), point(0.4, "", "It rains.")
    text = global_text(context_over(kb), answer_of(themed, other))
    below = text.partition("Watches [c_aaaaaaaaaaaaaaaa]")[2]
    assert "[1] Rota — rota.md:1" in below.partition("Not in any one theme")[0]
    assert "[2] Rota — rota.md:1" in below.partition("Not in any one theme")[2]
    assert "Of 3 communities 2 were rated" in text
    assert "No language model took part." in text
    assert "None of these fits" not in text


def test_points_stand_by_rating_and_those_of_no_theme_last(kb: KnowledgeBase) -> None:
    theme = "c_aaaaaaaaaaaaaaaa"
    shown = answer_of(point(0.9, "", "It rains."), point(0.3, theme, "It is kept."), point(0.6, theme, "It is read."))
    text = global_text(context_over(kb), shown)
    assert text.index("It is read.") < text.index("It is kept.") < text.index("It rains.")


def test_an_answer_of_which_no_point_fits_says_so(kb: KnowledgeBase) -> None:
    assert "None of these fits the question well" in global_text(context_over(kb), answer_of(point(0.1, "", "No.")))


def test_sentences_of_a_language_model_are_set_apart_and_cite_points(kb: KnowledgeBase) -> None:
    said = PhrasedSentence(text="The officer has the key.", points=[1, 2])
    text = global_text(context_over(kb), answer_of(point(0.6, "", "A."), point(0.6, "", "B."), phrased=(said,)))
    assert "> The officer has the key. [1][2]" in text
    assert "in a language model's words" in text
    assert "No language model" not in text
