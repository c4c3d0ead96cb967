"""Communities and global search as tools, resources and completion, over communities that can be counted by hand."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import ResourceTemplateReference, TextResourceContents

from graphctx.errors import BudgetExceeded, InvalidArgument
from graphctx.model.found import GlobalFound
from graphctx.model.requests import GlobalSearchInput
from graphctx.model.themes import PhrasedSentence
from graphctx.server.app import build_server
from graphctx.server.config import ServerConfig
from graphctx.server.hierarchy import MAX_HIERARCHY_BYTES
from graphctx.server.warmup import Engine, Warmup

from .calls import call, desk_over
from .conftest import Connect
from .library import Library, count_tokens
from .library_communities import community_id
from .library_graph import entity_id

QUESTION = "What does the duty officer do about the ledger and the vault key?"
LIBRARY = Library()


# graph.communities


def test_roots_come_first_and_children_by_parent() -> None:
    answer, text = call(desk_over(LIBRARY), "graph.communities")
    assert [one["id"] for one in answer["communities"]] == [community_id("c_duties"), community_id("c_books")]
    assert "4 entities" in text
    assert "2 below" in text
    below, _ = call(desk_over(LIBRARY), "graph.communities", parent_id=community_id("c_duties"))
    assert {one["id"] for one in below["communities"]} == {community_id("c_officer"), community_id("c_watch")}
    assert {one["parent_id"] for one in below["communities"]} == {community_id("c_duties")}


def test_one_that_is_named_tells_everything_and_a_former_id_leads_to_it() -> None:
    asked = [community_id("c_bookkeeping")]
    answer, text = call(desk_over(LIBRARY), "graph.communities", community_ids=asked, include_snippet=True)
    [one] = answer["communities"]
    assert (one["id"], one["formerly"]) == (community_id("c_books"), asked)
    assert one["key_facts"]
    for sentence in one["summary"]:
        assert LIBRARY.text_of(sentence["doc_uri"])[sentence["start_char"] : sentence["end_char"]] == sentence["text"]
        assert f"> {sentence['text'].splitlines()[0]}" in text
    assert f"Formerly {asked[0]}" in text


def test_the_entity_of_a_community_is_asked_by_name() -> None:
    answer, _ = call(desk_over(LIBRARY), "graph.communities", entity_id="Ines Halvorsen")
    assert [one["level"] for one in answer["communities"]] == [0, 1]
    assert all(
        entity_id("Ines Halvorsen") in [key["id"] for key in one["key_entities"]] for one in answer["communities"]
    )


def test_where_nothing_is_of_a_level_the_text_says_what_to_leave_out() -> None:
    answer, text = call(desk_over(LIBRARY), "graph.communities", level=7)
    assert (answer["communities"], answer["empty_reason"]) == ([], "no_match")
    assert "Leave level" in text


def test_documents_without_communities_give_an_empty_answer_that_says_so() -> None:
    none = Library({"a.txt": ("A", "", "Nothing in it is named.\n")})
    for arguments in ({}, {"community_ids": ["c_aaaaaaaaaaaaaaaa"]}):
        answer, text = call(desk_over(none), "graph.communities", **arguments)
        assert (answer["communities"], answer["empty_reason"]) == ([], "no_communities")
        assert "There are no communities here" in text


def test_a_title_that_two_have_gives_both_by_id() -> None:
    library = Library({"a.txt": ("A", "", "The night watch sleeps.\n")})
    answer, text = call(desk_over(library), "graph.communities", community_ids=["night watch"])
    assert (answer["communities"], answer["empty_reason"]) == ([], "ambiguous")
    [asked] = answer["unresolved"]
    assert {one["id"] for one in asked["candidates"]} == {community_id("c_duties"), community_id("c_watch")}
    assert "stands for several communities" in text
    assert all(one["id"] in text for one in asked["candidates"])


def test_within_a_scope_titles_and_sizes_are_of_what_may_be_seen() -> None:
    within = {"scope": {"repositories": ["people"]}}
    answer, _ = call(desk_over(LIBRARY), "graph.communities", **within)
    sizes = {one["title"]: one["n_entities"] for one in answer["communities"]}
    assert sizes == {"duty officer, night watch": 4, "ledger": 1}
    with pytest.raises(InvalidArgument, match="vault"):
        call(desk_over(LIBRARY), "graph.communities", community_ids=["ledger, vault key"], **within)


def test_one_that_does_not_fit_whole_is_told_in_short() -> None:
    asked: dict[str, Any] = {"community_ids": [community_id("c_duties")], "include_snippet": True}
    whole, _ = call(desk_over(LIBRARY), "graph.communities", **asked)
    lean, text = call(desk_over(LIBRARY), "graph.communities", **asked, max_tokens=whole["budget"]["tokens"] - 60)
    assert lean["communities"][0].keys() == whole["communities"][0].keys() - {"summary", "key_facts"}
    assert lean["truncated"]
    assert "Shortened" in text
    with pytest.raises(BudgetExceeded):
        call(desk_over(LIBRARY), "graph.communities", **asked, max_tokens=40)


# kb.global_search


def test_points_stand_below_their_themes_with_their_places() -> None:
    desk = desk_over(LIBRARY)
    answer, text = call(desk, "kb.global_search", question=QUESTION)
    assert len(answer["points"]) > 3
    assert answer["extractive"]
    assert {theme["id"] for theme in answer["themes"]} == {point["community_id"] for point in answer["points"]}
    for number, point in enumerate(answer["points"], start=1):
        assert LIBRARY.text_of(point["doc_uri"])[point["start_char"] : point["end_char"]] == point["quote"]
        assert f"[{number}] {point['title']}" in text
        assert f"{point['doc_uri']}:{point['line']}" in text
        assert f"> {point['quote'].splitlines()[0]}" in text
        held = desk.scratch.get(desk.session_id, point["passage_id"])
        assert held.unit.section_id == point["section_id"]
        assert point["uri"] == held.uri
    for theme in answer["themes"]:
        assert f"{theme['title']} [{theme['id']}]" in text
    told = answer["diagnostics"]
    assert f"Of {told['communities']} communities {told['rated']} were rated" in text
    assert "word for word" in text
    assert "No language model took part." in text


def test_pages_of_points_join_to_the_whole() -> None:
    desk = desk_over(LIBRARY)
    whole, _ = call(desk, "kb.global_search", question=QUESTION)
    least = whole["budget"]["tokens"] * 2 // 3
    cursor, joined, pages = None, [], 0
    while True:
        page, text = call(desk, "kb.global_search", question=QUESTION, max_tokens=least, cursor=cursor)
        joined += [point["quote"] for point in page["points"]]
        pages += 1
        assert {theme["id"] for theme in page["themes"]} == {point["community_id"] for point in page["points"]}
        cursor = page["next_cursor"]
        if cursor is None:
            break
        assert f"repeat kb.global_search with cursor={cursor}" in text
    assert pages > 1
    assert joined == [point["quote"] for point in whole["points"]]


class Loose(Library):
    """A library of which the first point is of no community."""

    def global_search(self, request: GlobalSearchInput) -> GlobalFound:
        found = super().global_search(request)
        first, *others = found.items
        return replace(found, items=[first.model_copy(update={"community_id": ""}), *others])


def test_a_point_of_no_theme_is_told_too() -> None:
    answer, text = call(desk_over(Loose()), "kb.global_search", question=QUESTION)
    assert answer["points"][0]["community_id"] == ""
    below = text.partition("Of no single theme")[2].partition("\n\n")[0]
    assert f"[1] {answer['points'][0]['title']}" in below
    assert "[2] " not in below


class Poor(Library):
    """A library of which no point fits well."""

    def global_search(self, request: GlobalSearchInput) -> GlobalFound:
        found = super().global_search(request)
        return replace(found, items=[point.model_copy(update={"rating": 0.2}) for point in found.items])


def test_an_answer_none_of_whose_points_fits_says_so() -> None:
    _, text = call(desk_over(Poor()), "kb.global_search", question=QUESTION)
    assert "None of these fits the question well" in text
    _, good = call(desk_over(LIBRARY), "kb.global_search", question=QUESTION)
    assert "None of these fits" not in good


class Phrasing(Library):
    """A library of which a language model has said something: one sentence of the first and the third point."""

    def global_search(self, request: GlobalSearchInput) -> GlobalFound:
        found = super().global_search(request)
        said = [PhrasedSentence(text="The officer has the key.", points=[1, 3])]
        return replace(found, phrased=said)


def test_phrased_sentences_are_told_apart_from_the_documents_words() -> None:
    answer, text = call(desk_over(Phrasing()), "kb.global_search", question=QUESTION)
    assert not answer["extractive"]
    assert "> The officer has the key. [1][3]" in text
    assert "in a language model's words" in text
    assert "No language model" not in text


@pytest.mark.parametrize(
    ("arguments", "reason", "said"),
    [
        ({"question": "zeppelin"}, "no_match", "were rated"),
        ({"question": "ledger", "filters": {"path_prefix": "nowhere"}}, "nothing_in_scope", "kb.retrieve_evidence"),
    ],
)
def test_where_there_is_no_point_the_text_says_why_and_what_to_do(
    arguments: dict[str, Any], reason: str, said: str
) -> None:
    answer, text = call(desk_over(LIBRARY), "kb.global_search", **arguments)
    assert (answer["points"], answer["themes"], answer["empty_reason"]) == ([], [], reason)
    assert said in text


# Resources and completion

pytest_anyio = pytest.mark.anyio
COMMUNITY = ResourceTemplateReference(uri="graphctx://community/{community_id}")
LEVEL = ResourceTemplateReference(uri="graphctx://hierarchy/{level}")


async def read(client: Client, uri: str) -> tuple[str, dict[str, Any]]:
    [contents] = (await client.read_resource(uri)).contents
    assert isinstance(contents, TextResourceContents)
    assert contents.mime_type == "text/markdown"
    return contents.text, (contents.meta or {})["graphctx/resource"]


@pytest_anyio
@pytest.mark.parametrize("name", ["id", "former", "title"])
async def test_a_community_is_read_by_its_id_a_former_one_or_its_title(connect: Connect, name: str) -> None:
    names = {"id": community_id("c_books"), "former": community_id("c_bookkeeping"), "title": "ledger%2C%20vault%20key"}
    async with connect() as client:
        text, said = await read(client, f"graphctx://community/{names[name]}")
        assert text.startswith("# ledger, vault key\n")
        assert (said["community_id"], said["n_entities"]) == (community_id("c_books"), 2)
        assert f"- vault key (`{entity_id('vault key')}`)" in text
        assert "glossary.txt:1, u_" in text
        parent, _ = await read(client, f"graphctx://community/{community_id('c_duties')}")
        assert f"graphctx://community/{community_id('c_watch')})" in parent
        child, _ = await read(client, f"graphctx://community/{community_id('c_watch')}")
        assert f"Part of [duty officer, night watch](graphctx://community/{community_id('c_duties')})." in child


@pytest_anyio
async def test_every_level_of_the_whole_is_a_tree(connect: Connect) -> None:
    async with connect() as client:
        for names, lines in (
            (("1", "concept"), ["- duty officer, night watch (`", "  - night watch (`"]),
            (("2", "section"), ["- Backups — ops/backup.md (`", "  - Restore (`s_"]),
            (("3", "unit"), ["- Glossary — glossary.txt (`", "  - Glossary (`u_"]),
        ):
            told = [await read(client, f"graphctx://hierarchy/{name}") for name in names]
            assert told[0][0] == told[1][0]
            text, said = told[0]
            assert not said["truncated"]
            assert said["shown"] == len(re.findall(r"^ *- ", text, re.MULTILINE))
            for line in lines:
                assert f"\n{line}" in text
        for wrong in ("4", "0", "token", "%20"):
            with pytest.raises(MCPError, match="1 or concept, 2 or section, 3 or unit"):
                await read(client, f"graphctx://hierarchy/{wrong}")


@pytest_anyio
@pytest.mark.parametrize("level", ["section", "unit"])
async def test_a_level_that_is_too_large_is_cut_and_says_so(era: str, level: str) -> None:
    text = "".join(f"# Heading {number}\n\nText of it.\n\n" for number in range(5))
    library = Library({f"folder/{number:03}.md": (f"Title {number}", "", text) for number in range(400)})
    async with Client(build_server(Warmup(lambda: Engine(library, count_tokens))), mode=era) as client:
        told, said = await read(client, f"graphctx://hierarchy/{level}")
    assert said["truncated"]
    assert MAX_HIERARCHY_BYTES * 0.9 < len(told.encode()) < MAX_HIERARCHY_BYTES + 600
    cut = re.search(r"Cut: (\d+) or more", told)
    assert cut is not None
    assert int(cut[1]) + said["shown"] == 400 * 6
    assert said["shown"] > 400, "all documents stand there before any of their parts"


@pytest_anyio
async def test_what_the_boundary_leaves_out_is_in_no_resource_and_completes_nothing(connect: Connect) -> None:
    async with connect(ServerConfig(doc_tags=("people",))) as client:
        for uri in ("hierarchy/1", "hierarchy/2", "hierarchy/3", f"community/{community_id('c_books')}"):
            text, _ = await read(client, f"graphctx://{uri}")
            assert "vault key" not in text
            assert "ops/" not in text
            assert "glossary" not in text
        told = []
        for name in ("ledger, vault key", "zeppelin"):
            with pytest.raises(MCPError) as caught:
                await client.read_resource(f"graphctx://community/{name}")
            told.append(json.dumps(caught.value.error.data).replace(name, "…"))
        assert told[0] == told[1]
        found = await client.complete(COMMUNITY, {"name": "community_id", "value": "vault"})
        assert found.completion.values == []


@pytest_anyio
async def test_communities_are_completed_to_titles_and_levels_to_names(connect: Connect) -> None:
    async with connect() as client:
        found = await client.complete(COMMUNITY, {"name": "community_id", "value": "vault"})
        assert found.completion.values == ["ledger, vault key"]
        every = await client.complete(LEVEL, {"name": "level", "value": ""})
        assert every.completion.values == ["concept", "section", "unit", "1", "2", "3"]
        some = await client.complete(LEVEL, {"name": "level", "value": "Sec"})
        assert some.completion.values == ["section"]
