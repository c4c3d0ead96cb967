"""Documents outside of the boundary, or outside of the scope of a call, cannot be reached."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference

from .conftest import fenced_kb
from .corpus import OPEN_QUESTION, SEALED_WORDS
from .examples import COMPAT, EVERY_TOOL, GRAPH, ITEMS, KB, Examples
from .naming import QUESTIONED, naming
from .protocol import Caller, Reply, in_memory
from .truth import Truth, nodes, uris_in

Sealed = Callable[[str], bool]


def is_sealed(uri: str) -> bool:
    return uri.startswith("sealed/")


def is_open(uri: str) -> bool:
    return not is_sealed(uri)


def check_nothing_sealed(truth: Truth, reply: Reply, asked: Any = "", within: Sealed = is_open) -> None:
    """Nothing in an answer or a refusal is of a document that may not be seen, but for what the caller said itself."""
    said = json.dumps(asked, ensure_ascii=False)
    whole = reply.text + json.dumps(reply.structure, ensure_ascii=False)
    assert all(map(within, uris_in(reply.structure)))
    assert not truth.strangers(whole, within, said)
    for word in SEALED_WORDS:
        assert word in said or word.casefold() not in whole.casefold()
    assert not set(re.findall(r"sealed/[\w./-]+", whole)) - set(re.findall(r"sealed/[\w./-]+", said))


def sealed_names(truth: Truth) -> list[str]:
    """Two ids of every kind that only sealed documents have, and URIs and names of these."""
    ids = sorted(identifier for identifier, uris in truth.places.items() if uris and all(map(is_sealed, uris)))
    some = [identifier for kind in "dsuec" for identifier in [i for i in ids if i[0] == kind][:2]]
    return [*some, *sorted(filter(is_sealed, truth.uris))[:2], "Quillfeather", "Obsidian Ledger"]


BOUNDARIES: list[dict[str, list[str]]] = [
    {"repositories": ["open"]},
    {"doc_tags": ["public", "people", "science", "week"]},
]


@pytest.mark.parametrize("boundary", BOUNDARIES, ids=lambda boundary: next(iter(boundary)))
def test_nothing_outside_the_settings_boundary_is_reached_by_any_name(
    nasty_path: Path, truth: Truth, boundary: dict[str, list[str]]
) -> None:
    within = is_open
    if "doc_tags" in boundary:
        wanted = set(boundary["doc_tags"])
        within = lambda uri: not wanted.isdisjoint(truth.kb.document(uri).tags)  # noqa: E731
    outside = [i for i, uris in truth.places.items() if uris and not any(map(within, uris)) and i[0] != "e"]
    names = sorted(outside)[::40] + [uri for uri in sorted(truth.uris) if not within(uri)][:3]
    with fenced_kb(nasty_path, **boundary) as kb, in_memory(kb) as caller:
        for name in names:
            for tool, arguments in naming(name):
                reply = caller.call(tool, arguments)
                if not reply.is_error:
                    assert not reply.answer.get(ITEMS.get(tool, "none")), (tool, name)
                else:
                    assert reply.error["code"] in ("INVALID_ARGUMENT", "SCOPE_VIOLATION")
                assert all(map(within, uris_in(reply.structure)))


def check_like_nowhere(caller: Caller, truth: Truth, narrow: dict[str, Any]) -> None:
    """What is sealed looks like what never was, to every tool that takes a name."""
    never: dict[str, str] = {}
    for name in sealed_names(truth):
        nowhere = name[:2] + "a" * 16
        for tool, arguments in naming(name):
            if tool == "fetch" and narrow:  # its form takes no scope
                continue
            reply = caller.call(tool, {**arguments, **narrow})
            check_nothing_sealed(truth, reply, arguments)
            if re.fullmatch(r"[dsue]_[a-z2-7]{16}", name):
                asked = {**json.loads(json.dumps(arguments).replace(name, nowhere)), **narrow}
                key = f"{tool} {asked}"
                never[key] = never.get(key) or caller.call(tool, asked).text
                assert reply.text.replace(name, nowhere) == never[key], (tool, name)


def test_outside_the_boundary_looks_like_nowhere(fenced: Caller, truth: Truth) -> None:
    check_like_nowhere(fenced, truth, {})


def test_outside_the_scope_of_a_call_looks_like_nowhere(caller: Caller, truth: Truth) -> None:
    check_like_nowhere(caller, truth, {"scope": {"repositories": ["open"]}})


def test_whatever_is_asked_about_it_nothing_sealed_is_reported(fenced: Caller, truth: Truth) -> None:
    for question in ("What does the Obsidian Ledger of Quillfeather list?", "vantablack code name secretly"):
        for tool, name in QUESTIONED.items():
            arguments = {name: question}
            check_nothing_sealed(truth, fenced.call(tool, arguments), arguments)


def everywhere(truth: Truth) -> list[dict[str, Any]]:
    """Expansions from every entity that an open document names."""
    starts = truth.ids("e", is_open)
    return [{"node_ids": starts[i : i + 20], "max_hops": 2, "page_size": 100} for i in range(0, len(starts), 20)]


PER_CALL: list[dict[str, Any]] = [
    {"scope": {"repositories": ["open"]}},
    {"filters": {"path_prefix": "open/"}},
]


@pytest.mark.parametrize("narrowed", PER_CALL, ids=["scope", "filters"])
def test_the_graph_never_passes_through_what_is_outside(caller: Caller, truth: Truth, narrowed: dict[str, Any]) -> None:
    reached = set()
    for arguments in everywhere(truth):
        asked = {**arguments, **narrowed, "include_snippet": True}
        reply = caller.call("graph.expand", asked)
        check_nothing_sealed(truth, reply, asked)
        if not reply.is_error:
            reached |= {node["id"] for node in reply.answer["nodes"]}
    assert len(reached) > 30
    for end in ("Oda Brenn", "Halvard Works", "Mercury"):
        asked = {"start_ids": ["Harbour Office", "Marrow Bay"], "end_ids": [end], "max_hops": 4, "max_paths": 50}
        asked |= {**narrowed, "include_snippet": True}
        reply = caller.call("graph.paths", asked)
        check_nothing_sealed(truth, reply, asked)
        assert reply.answer["paths"]


@pytest.mark.parametrize("narrowed", PER_CALL, ids=["scope", "filters"])
@pytest.mark.parametrize("tool", [*KB, *GRAPH, *COMPAT])
def test_a_call_that_is_narrowed_speaks_of_nothing_else(
    caller: Caller, schemas: dict[str, Any], truth: Truth, examples: Examples, tool: str, narrowed: dict[str, Any]
) -> None:
    properties = schemas[tool]["inputSchema"]["properties"]
    if not narrowed.keys() <= properties.keys():
        pytest.skip("it does not take that")
    arguments = {**examples.plain[tool], **narrowed}
    for limit in ("top_k", "page_size"):
        if limit in properties:
            arguments[limit] = properties[limit]["maximum"]
    check_nothing_sealed(truth, caller.call(tool, arguments), arguments)


def test_counts_are_of_the_scope(caller: Caller) -> None:
    for name in ("Oda Brenn", "Halvard Works", "Marrow Bay"):
        whole, opened, sealed = (
            caller.call("graph.describe", {"node_ids": [name], "scope": {"repositories": folders}}).answer["nodes"][0]
            for folders in ([], ["open"], ["sealed"])
        )
        for count in ("n_mentions", "n_units"):
            assert whole[count] == opened[count] + sealed[count]
            assert sealed[count] > 0


def test_resources_outside_the_boundary_are_unknown(fenced: Caller, truth: Truth) -> None:
    for kind, prefix in (("document", "d"), ("entity", "e")):
        hidden = [i for i in sealed_names(truth) if i.startswith(f"{prefix}_")]
        hidden += ["sealed%2Ftide-gate.md"] if kind == "document" else ["Quillfeather", "Obsidian%20Ledger"]
        assert len(hidden) > 2
        messages = set()
        for name in [*hidden, f"{prefix}_aaaaaaaaaaaaaaaa"]:
            with pytest.raises(MCPError) as caught:
                fenced.read(f"graphctx://{kind}/{name}")
            shown = name.replace("%2F", "/").replace("%20", " ")
            messages.add(json.dumps(caught.value.error.model_dump(mode="json")).replace(shown, "…"))
        assert len(messages) == 1, "one that is sealed looks like one that never was"
    seen = fenced.read("graphctx://document/open%2Ftide-gate.md").contents[0]
    assert "Dr. Oda Brenn every spring" in seen.text
    entity = fenced.read("graphctx://entity/Oda%20Brenn").contents[0]
    check_nothing_sealed(truth, Reply(json.loads(entity.text), entity.text, False))


def test_the_whole_seen_from_above_ends_at_the_boundary(fenced: Caller, caller: Caller, truth: Truth) -> None:
    for level in ("concept", "section", "unit"):
        text = fenced.read(f"graphctx://hierarchy/{level}").contents[0].text
        assert len(re.findall("\n *- ", text)) > 1
        check_nothing_sealed(truth, Reply({}, text, False))
    known, messages = 0, set()
    every = [caller.call("graph.communities", {"level": level, "page_size": 100}).answer for level in range(3)]
    ids = [community["id"] for answer in every for community in answer["communities"]]
    for community in [*ids, "c_aaaaaaaaaaaaaaaa", "Quillfeather", "Obsidian Ledger"]:
        try:
            text = fenced.read(f"graphctx://community/{community}").contents[0].text
        except MCPError as error:
            shown = json.dumps(error.error.model_dump(mode="json"))
            messages.add(shown.replace(community, "…"))
            continue
        known += 1
        check_nothing_sealed(truth, Reply({}, text, False))
    assert known
    assert len(messages) == 1, "one that is sealed looks like one that never was"
    narrowed = [{"community_ids": [community], "include_snippet": True} for community in ids]
    for asked in [{"include_snippet": True}, {"level": 1}, *narrowed]:
        check_nothing_sealed(truth, fenced.call("graph.communities", asked), asked)


def test_completion_and_prompts_know_nothing_sealed(fenced: Caller, truth: Truth) -> None:
    entity = ResourceTemplateReference(uri="graphctx://entity/{entity_id}")
    document = ResourceTemplateReference(uri="graphctx://document/{doc_id}")
    community = ResourceTemplateReference(uri="graphctx://community/{community_id}")
    prompt = PromptReference(name="explore_entity")
    for ref, argument in (
        (entity, "entity_id"),
        (document, "doc_id"),
        (community, "community_id"),
        (prompt, "entity"),
    ):
        for typed in ("", "Quill", "Obsidian", "seal", "sealed/", "Oda", "d_", "e_", "c_", "The"):
            result = fenced.run(fenced.client.complete, ref, {"name": argument, "value": typed})
            for value in result.completion.values:
                check_nothing_sealed(truth, Reply({}, value, False))
            if typed in ("Quill", "Obsidian") or (typed == "sealed/" and argument == "doc_id"):
                assert result.completion.values == []
                assert not result.completion.total
    for listed in fenced.run(fenced.client.list_prompts).prompts:
        arguments = {argument.name: "Oda Brenn" for argument in listed.arguments}
        shown = fenced.run(fenced.client.get_prompt, listed.name, arguments)
        check_nothing_sealed(truth, Reply({}, shown.model_dump_json(), False))


def test_no_listed_resource_is_sealed(fenced: Caller, truth: Truth) -> None:
    fenced.call("kb.search", {"query": OPEN_QUESTION, "top_k": 50, "page_size": 50})
    listed = fenced.resources()
    assert listed
    for resource in listed:
        assert is_open(resource.description)
        text = fenced.read(resource.uri).contents[0].text
        check_nothing_sealed(truth, Reply({}, text, False))


def test_a_passage_of_a_wide_call_is_not_read_in_a_narrow_one(caller: Caller) -> None:
    found = caller.call("kb.search", {"query": "Obsidian Ledger vantablack"}).answer["results"][0]
    assert is_sealed(found["doc_uri"])
    for tool, arguments in naming(found["passage_id"]):
        if tool == "fetch":
            continue
        reply = caller.call(tool, {**arguments, "scope": {"repositories": ["open"]}})
        if reply.is_error:
            assert found["preview"] not in reply.text
        else:
            assert not reply.answer[ITEMS[tool]] or not [
                n for n in nodes(reply.answer) if is_sealed(n.get("doc_uri") or "")
            ]


def test_every_tool_is_tried_here() -> None:
    tried = {tool for tool, _ in naming("x")} | QUESTIONED.keys()
    assert tried == set(EVERY_TOOL)
