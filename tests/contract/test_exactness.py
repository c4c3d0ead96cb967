"""Whatever is asked of any tool: no fault inside, no answer over its budget, no span that is not in its document, and
nothing from outside the scope.

Thousands of calls through the protocol, made from each tool's own listed schema, on one event loop; how many is scaled
by ``GRAPHCTX_TEST_EFFORT``.
"""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphctx.model.scope import within
from tests.conftest import EFFORT

from .corpus import SEALED_WORDS
from .examples import EVERY_TOOL, Examples
from .protocol import Caller, Reply, weight
from .spec_table import ERROR_CODES
from .strategies import NASTY, arguments_of
from .test_contract_answers import check_text_stands_alone
from .truth import Truth, uris_in

EXAMPLES_PER_TOOL = 60
"""At full effort: some 3,000 calls, half of them of a server that may see the open half alone."""

CAPS = {"tokens": 8_000, "bytes": 30_000}
ERROR_BYTES = 20_000
"""A refusal names what was sent in short; twice, in the structure and in the text."""


class Asker:
    """Asks one server, and holds every answer against the documents."""

    def __init__(self, caller: Caller, truth: Truth, boundary: tuple[str, ...]) -> None:
        self.caller = caller
        self.truth = truth
        self.boundary = boundary
        self.tools = caller.tools()
        found = caller.call("kb.search", {"query": "tide gate", "top_k": 10, "page_size": 10}).answer
        self.held = [result["passage_id"] for result in found["results"]]
        self.cursors = [caller.call("kb.search", {"query": "tide gate", "page_size": 1}).answer["next_cursor"]]

    def known(self) -> dict[str, st.SearchStrategy[str]]:
        """Strings that mean something: ids of every kind from both halves, URIs, names, cursors of earlier answers."""
        ids = [identifier for kind in "duse" for identifier in self.truth.ids(kind)[::7]]
        uris = sorted(self.truth.uris)
        names = ["Oda Brenn", "Halvard Works", "Mercury", "RTB", "tide gate", "Nobody"]
        anything = st.one_of(*map(st.sampled_from, (ids, uris, names, self.held, ["p_aaaaaaaaaaaaaaaa"])))
        labels = st.sampled_from(["person", "organization", "term", "public", "gates", "week", "sealed"])
        folders = st.sampled_from(["open", "open/weeks", "open/", "sealed", "o", "../sealed", "open/../sealed"])
        return {
            "": anything,
            "cursor": st.sampled_from(self.cursors),
            "session_id": st.sampled_from(
                [self.caller.call("kb.search", {"query": "x"}).structure.get("session_id", "x")]
            ),
            "project_id": st.sampled_from(["marrow", "marrow", "other"]),
            "doc_tags": labels,
            "doc_tag": labels,
            "labels": labels,
            "repositories": folders,
            "path_prefix": folders,
            "fields": st.sampled_from(["name", "label", "doc_uri", "snippet", "nothing"]),
        }

    def check(self, tool: str, arguments: dict[str, Any]) -> None:
        """Ask, and look at the answer from all sides."""
        reply = self.caller.call(tool, arguments)
        if reply.is_error:
            self._check_error(tool, arguments, reply)
            return
        answer = reply.answer
        jsonschema.Draft202012Validator(self.tools[tool]["outputSchema"]).validate(answer)
        self._check_budget(arguments, reply)
        self.truth.check_spans(answer)
        if (arguments.get("options") or {}) == {}:
            check_text_stands_alone(reply)
        self._check_scope(arguments, reply)
        if answer.get("next_cursor"):
            self.cursors.append(answer["next_cursor"])
            del self.cursors[:-20]

    def _check_error(self, tool: str, arguments: dict[str, Any], reply: Reply) -> None:
        error = reply.error
        assert error["code"] in ERROR_CODES - {"INTERNAL_ERROR"}, error
        assert weight(reply)[1] <= ERROR_BYTES
        assert error["message"].strip()
        asked = json.dumps(arguments)
        assert not self.truth.strangers(reply.text, self.visible({}), asked)
        if error["code"] == "INVALID_ARGUMENT":
            self._check_culprit(tool, error["details"])

    def _check_culprit(self, tool: str, details: dict[str, Any]) -> None:
        """What is refused is named: the argument as this tool's schema has it, its value, and what is allowed."""
        assert {"field", "value", "allowed"} <= details.keys(), (tool, details)
        assert details["value"] is not None
        assert details["allowed"], (tool, details)
        if not str(details["allowed"]).startswith("there is no such argument"):
            assert details["field"].split(".")[0] in self.tools[tool]["inputSchema"]["properties"], (tool, details)

    def _check_budget(self, arguments: dict[str, Any], reply: Reply) -> None:
        tokens, size = weight(reply)
        budget = reply.structure.get("budget") or {}
        assert (
            tokens <= budget.get("tokens", CAPS["tokens"]) <= budget.get("max_tokens", CAPS["tokens"]) <= CAPS["tokens"]
        )
        assert size <= budget.get("bytes", CAPS["bytes"]) <= budget.get("max_bytes", CAPS["bytes"]) <= CAPS["bytes"]
        if "excerpt" not in reply.structure:
            for name in ("max_tokens", "max_bytes"):
                if arguments.get(name) not in (None, "") and budget:
                    assert budget[name] == min(int(arguments[name]), budget[name])

    def visible(self, scope: dict[str, Any]) -> Any:
        """Which documents an answer with this applied scope may speak of."""
        seen = within((), scope.get("repositories") or self.boundary)
        tags = within(scope.get("doc_tags") or ())
        return lambda uri: seen((), uri) and tags(self.truth.kb.document(uri).tags, uri)

    def _check_scope(self, arguments: dict[str, Any], reply: Reply) -> None:
        scope = reply.structure.get("scope") or {}
        visible = self.visible(scope)
        filters = arguments.get("filters") if isinstance(arguments.get("filters"), dict) else {}
        prefix = (filters or {}).get("path_prefix") or ""
        tags = (filters or {}).get("doc_tag") or []

        def allowed(uri: str) -> bool:
            own = self.truth.kb.document(uri).tags
            return visible(uri) and uri.startswith(prefix) and (not tags or not set(tags).isdisjoint(own))

        assert all(map(allowed, uris_in(reply.structure)))
        strangers = self.truth.strangers(json.dumps(reply.structure) + reply.text, allowed, json.dumps(arguments))
        assert not strangers
        if not visible("sealed/tide-gate.md"):
            asked = json.dumps(arguments, ensure_ascii=False)
            for word in SEALED_WORDS:
                assert word in asked or word not in reply.text + json.dumps(reply.structure, ensure_ascii=False)


@pytest.fixture(scope="module")
def askers(caller: Caller, fenced: Caller, truth: Truth) -> dict[str, Asker]:
    return {"whole": Asker(caller, truth, ()), "fenced": Asker(fenced, truth, ("open",))}


@pytest.mark.parametrize("half", ["whole", "fenced"])
@pytest.mark.parametrize("tool", EVERY_TOOL)
def test_whatever_is_asked_the_answer_is_exact_bounded_and_in_scope(
    askers: dict[str, Asker], tool: str, half: str
) -> None:
    asker = askers[half]

    @settings(max_examples=max(5, int(EXAMPLES_PER_TOOL * EFFORT)), derandomize=True, database=None)
    @given(arguments=arguments_of(asker.tools[tool]["inputSchema"], asker.known()))
    def ask(arguments: dict[str, Any]) -> None:
        asker.check(tool, arguments)

    ask()


ODD = [*NASTY, "tide " * 20_000, "\u0301" * 500_000, '"' * 1_000_000]


@pytest.mark.parametrize("tool", EVERY_TOOL)
def test_any_text_is_answered_or_refused(askers: dict[str, Asker], examples: Examples, tool: str) -> None:
    asker, plain = askers["whole"], examples.plain[tool]
    schema = asker.tools[tool]["inputSchema"]
    name = next((name for name in (*schema.get("required", []), "entity_id") if name in schema["properties"]), None)
    if name is None:
        pytest.skip(f"{tool} needs no argument")
    step = 1 if EFFORT >= 1 else 6  # then each text meets every sixth tool
    for text in ODD[EVERY_TOOL.index(tool) % step :: step]:
        asker.check(tool, {**plain, name: [text] if schema["properties"][name]["type"] == "array" else text})
