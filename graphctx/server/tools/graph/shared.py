"""What the graph tools share: the request within its scope, the page of an answer, and the words of a description."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from graphctx.errors import BudgetExceeded
from graphctx.model.found import GraphFound
from graphctx.model.graph import GraphAnswer, Node, Path, Relation, SectionParents, Unresolved
from graphctx.model.pages import Part, Shorten
from graphctx.model.requests import DescribeInput, GraphInput
from graphctx.model.themes import CommunityNode
from graphctx.server.call_context import CallContext
from graphctx.server.tool import Description, Reply
from graphctx.server.tools.limits import limits_of

Asked = TypeVar("Asked", bound=GraphInput)
Item = TypeVar("Item", bound=Node | Path | SectionParents | CommunityNode)
Out = TypeVar("Out", bound=GraphAnswer)

_REFERENCES = frozenset({"node_ids", "start_ids", "end_ids", "section_ids", "entity_ids", "entity_id", "parent_id"})
_LEAN_KEYS = 3
_MAX_NAMED = 20  # as many as one call may describe


def resolved(context: CallContext, asked: Asked) -> Asked:
    """The request with the scope that applies, and with section ids where this session's passage ids stood.

    Raises:
        ScopeViolation: the scope asks for something outside the server's.
        InvalidArgument: a passage id is not one of this session's, or its text is no longer published.
    """
    update: dict[str, object] = {"scope": context.scope(asked.scope)}
    for name in _REFERENCES & type(asked).model_fields.keys():
        value = getattr(asked, name)
        if value is None:
            continue
        update[name] = (
            context.section_id(value, name)
            if isinstance(value, str)
            else list(dict.fromkeys(context.section_id(ref, name) for ref in value))
        )
    return asked.model_copy(update=update)


def names_of(context: CallContext, request: GraphInput, ids: Sequence[str]) -> dict[str, str]:
    """What the nodes with these ids are called, for the readable text; the structure names them by id."""
    if not ids:
        return {}
    about = DescribeInput(node_ids=list(ids)[:_MAX_NAMED], scope=request.scope, filters=request.filters)
    return {node.id: node.name for node in context.searcher.graph.describe(about).items}


def graph_reply(
    context: CallContext,
    request: GraphInput,
    found: GraphFound[Item],
    build: Callable[[list[Item], dict[str, Any]], Out],
    render: Callable[[Out], str],
) -> Reply[Out]:
    """Answer with one page of what was found.

    Where the candidates of ambiguous names leave no room for anything else, fewer of them are named.

    Args:
        context: where the call is served.
        request: as `resolved` gave it; the cursor belongs to it.
        found: every item, in order.
        build: makes the answer of the page's items and of the fields that all graph answers have.
        render: makes the readable text.

    Raises:
        BudgetExceeded: not even the first item, without its text, fits.
        InvalidArgument: the cursor belongs to another call.
    """

    def page(unresolved: list[Unresolved]) -> Reply[Out]:
        def made(part: Part[Item]) -> Out:
            return build(part.items, part.fields | {"unresolved": unresolved, "snapshot_id": found.snapshot_id})

        return Reply(*context.pager.page(request, found, made, render, _LEANER))

    for n_candidates in (None, 2):
        try:
            return page([_with_candidates(unresolved, n_candidates) for unresolved in found.unresolved])
        except BudgetExceeded:
            continue
    return page([_with_candidates(unresolved, 0) for unresolved in found.unresolved])


def _with_candidates(unresolved: Unresolved, n: int | None) -> Unresolved:
    return unresolved.model_copy(update={"candidates": unresolved.candidates[:n]})


def _lean(item: Any, _: int) -> Any:
    """An item without what can be spared: text, other names, all relations but the strongest."""
    if isinstance(item, CommunityNode):
        keys = item.key_entities[:_LEAN_KEYS]
        return item.model_copy(
            update={"key_entities": keys, "key_facts": [], "summary": [], "phrased": None, "formerly": []}
        )
    if isinstance(item, SectionParents):
        return item.model_copy(update={"parents": [_lean_node(node) for node in item.parents]})
    if isinstance(item, Path):
        return item.model_copy(
            update={
                "nodes": [_lean_node(node) for node in item.nodes],
                "relations": [_lean_relation(relation) for relation in item.relations],
            }
        )
    return _lean_node(item)


def _lean_node(node: Node) -> Node:
    spared: dict[str, object] = {"snippet": None, "aliases": [], "tags": [], "heading": ""}
    if relations := getattr(node, "via", None):
        spared["via"] = [_lean_relation(relation) for relation in relations[:1]]
    return node.model_copy(update=spared)


def _lean_relation(relation: Relation) -> Relation:
    return relation.model_copy(update={"snippet": None, "predicates": []})


_LEANER: Shorten[Any] = Shorten(length=lambda item: 0, to=_lean)


def graph_description(
    model: type[GraphInput], use_when: str, not_when: str, returns: str, follow_up: str
) -> Description:
    """A description that says when the graph is worth a call at all (tool contract, section 6.3)."""
    return Description(
        use_when=f"{use_when} Call it after kb.search, to explore how its top 1 to 3 candidates are related.",
        not_when=f"{not_when} Nor where the knowledge base has no graph (mode vector_only): there, kb.search and "
        "kb.retrieve_evidence are all there is. Fetch no text until you are down to three passages or fewer.",
        returns=f"page_size {returns}; no text but one sentence each with include_snippet. "
        "A response stays below {response}.",
        follow_up=f"repeat the call with next_cursor, or {follow_up}",
        defaults=limits_of(model),
    )
