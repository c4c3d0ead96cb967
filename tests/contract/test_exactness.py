"""Whatever is asked of any tool: no fault inside, no answer over its budget, no span that is not in its document, and
nothing from outside the scope.

Thousands of calls through the protocol, made from each tool's own listed schema, on one event loop; how many is scaled
by ``GRAPHCTX_TEST_EFFORT``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.scope import within

from .corpus import SEALED_WORDS
from .examples import EVERY_TOOL, Examples
from .protocol import Caller, Reply, in_memory, weight
from .spec_table import ERROR_CODES
from .strategies import NASTY, arguments_of
from .test_contract_answers import check_text_stands_alone
from .truth import Truth, uris_in

EXAMPLES_PER_TOOL = 100
"""At full effort: some 5,000 calls, half of them of a server that may see the open half alone."""

CAPS = {"tokens": 8_000, "bytes": 30_000}
ERROR_BYTES = 20_000
"""A refusal names what was sent in short; twice, in the structure and in the text."""


@pytest.fixture(scope="module")
def whole(nasty: KnowledgeBase) -> Iterator[Caller]:
    """A server that may see everything."""
    with in_memory(nasty) as caller:
        yield caller


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
def askers(whole: Caller, fenced: Caller, truth: Truth) -> dict[str, Asker]:
    return {"whole": Asker(whole, truth, ()), "fenced": Asker(fenced, truth, ("open",))}


@pytest.mark.parametrize("half", ["whole", "fenced"])
@pytest.mark.parametrize("tool", EVERY_TOOL)
def test_whatever_is_asked_the_answer_is_exact_bounded_and_in_scope(
    askers: dict[str, Asker], effort: float, tool: str, half: str
) -> None:
    asker = askers[half]

    @settings(max_examples=max(10, int(EXAMPLES_PER_TOOL * effort)), derandomize=True, database=None)
    @given(arguments=arguments_of(asker.tools[tool]["inputSchema"], asker.known()))
    def ask(arguments: dict[str, Any]) -> None:
        asker.check(tool, arguments)

    ask()


@pytest.mark.parametrize("text", [*NASTY, "tide " * 20_000], ids=range(len(NASTY) + 1))
def test_any_text_for_any_argument_is_answered_or_refused(askers: dict[str, Asker], truth: Truth, text: str) -> None:
    asker = askers["whole"]
    plain = Examples.gathered(asker.caller, truth).plain
    for tool in EVERY_TOOL:
        for name, schema in asker.tools[tool]["inputSchema"]["properties"].items():
            if schema["type"] == "string":
                asker.check(tool, {**plain[tool], name: text})
            elif schema["type"] == "array":
                asker.check(tool, {**plain[tool], name: [text]})
        for inside, name in (("scope", "doc_tags"), ("scope", "repositories"), ("filters", "doc_tag")):
            if inside in asker.tools[tool]["inputSchema"]["properties"]:
                asker.check(tool, {**plain[tool], inside: {name: [text]}})


@pytest.mark.parametrize("char", ["a", "tide ", "\u0301", "\x00", "\U0001f30a", "\u202e", '"', "\n"], ids=ascii)
def test_a_megabyte_in_an_argument_is_refused(askers: dict[str, Asker], truth: Truth, char: str) -> None:
    asker = askers["whole"]
    plain = Examples.gathered(asker.caller, truth).plain
    megabyte = char * (1_000_000 // len(char.encode()))
    for tool in EVERY_TOOL:
        name = next(iter(asker.tools[tool]["inputSchema"].get("required", ())), None)
        if name is None:
            continue
        value = [megabyte] if isinstance(plain[tool][name], list) else megabyte
        asker.check(tool, {**plain[tool], name: value})
        assert asker.caller.call(tool, {**plain[tool], name: value}).error["code"] == "INVALID_ARGUMENT"


@settings(max_examples=30, derandomize=True, database=None)
@given(start=st.integers(0, 9_000), tokens=st.integers(1, 800), size=st.integers(1, 400))
def test_excerpts_from_anywhere_are_exact(
    askers: dict[str, Asker], truth: Truth, start: int, tokens: int, size: int
) -> None:
    asker = askers["whole"]
    for section in truth.ids("u")[:: max(1, len(truth.ids("u")) // 6)]:
        asker.check(
            "kb.read_excerpt", {"passage_id": section, "start_char": start, "max_tokens": tokens, "max_bytes": size}
        )
        asker.check(
            "kb.expand_excerpt",
            {"passage_id": section, "before_tokens": tokens, "after_tokens": size, "max_bytes": size},
        )
