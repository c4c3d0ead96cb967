"""What the graph tools share: how one is declared, the page of its answer, and how a node is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from graphctx.errors import BudgetExceeded
from graphctx.model.graph import (
    CommunityNode,
    GraphAnswer,
    Node,
    NodeSummary,
    Path,
    Relation,
    SectionParents,
    Snippet,
    Unresolved,
)
from graphctx.model.pages import Part, Shorten
from graphctx.model.requests import DescribeInput, GraphInput
from graphctx.model.results import GraphResults
from graphctx.server.call_context import CallContext
from graphctx.server.render import counted, joined, one_line, place, quoted, searched, why_empty
from graphctx.server.tool import Description, Reply, Tool

if TYPE_CHECKING:
    from graphctx.retrieve.searcher import Searcher

In = TypeVar("In", bound=GraphInput)
Out = TypeVar("Out", bound=GraphAnswer)

NodeNames = Mapping[str, str]
"""The names of nodes by id."""

_NO_MATCH = "There is none in this scope. Widen filters, rel_types or max_hops, where the tool has them."
_REFERENCES = frozenset({"node_ids", "start_ids", "end_ids", "section_ids", "entity_ids", "entity_id", "parent_id"})
_LEAN_KEYS = 3
_MAX_NAMED = 20  # as many as one call may describe


def graph_tool(
    name: str,
    title: str,
    models: tuple[type[In], type[Out]],
    items: str,
    find: Callable[[Searcher, In], GraphResults[Any]],
    blocks: Callable[[Out, NodeNames], Sequence[str]],
    *,
    description: Description,
    follow: str,
    extra: Callable[[GraphResults[Any]], dict[str, Any]] = lambda found: {},
    named: Callable[[GraphResults[Any]], Iterable[str]] = lambda found: (),
    no_match: str = _NO_MATCH,
) -> Tool[In, Out]:
    """Declare a graph tool.

    Args:
        name: of the tool.
        title: for people.
        models: of its arguments and of its answer.
        items: the field of the answer that lists what was found.
        find: asks the searcher.
        blocks: the paragraphs of the text that list the items.
        description: see `graph_description`.
        follow: the last line of the text, which says what to call next.
        extra: further fields of the answer.
        named: ids of nodes whose names ``blocks`` needs.
        no_match: what the text says if nothing was found.
    """

    def run(context: CallContext, asked: In) -> Reply[Out]:
        request = _resolved(context, asked)
        found = find(context.searcher, request)
        names = _names_of(context, request, list(dict.fromkeys(named(found))))

        def page(unresolved: list[Unresolved]) -> Reply[Out]:
            def build(part: Part[Any]) -> Out:
                said = part.fields | {"unresolved": unresolved, "snapshot_id": found.snapshot_id, items: part.items}
                return models[1](**said, **extra(found))

            def render(answer: Out) -> str:
                return _text(context, answer, items, blocks(answer, names), name, follow, no_match)

            return Reply(*context.pager.page(request, found, build, render, _LEANER))

        # Where the candidates of ambiguous names leave no room for anything else, fewer of them are named.
        for n_candidates in (None, 2):
            try:
                return page(_with_candidates(found.unresolved, n_candidates))
            except BudgetExceeded:
                continue
        return page(_with_candidates(found.unresolved, 0))

    return Tool(name, "graph", title, description, *models, run)


def graph_description(use_when: str, not_when: str, returns: str, follow_up: str) -> Description:
    """A description that says when the graph is worth a call at all (tool contract, section 6.3)."""
    return Description(
        use_when=f"{use_when} Use it after kb.search, to explore how its top 1 to 3 candidates are related.",
        not_when=f"{not_when} Nor where there is no graph (mode vector_only): kb.search and kb.retrieve_evidence do. "
        "Fetch no text until you are down to three passages.",
        returns=f"page_size {returns}, one sentence of text each with include_snippet, within {{response}}.",
        follow_up=f"call again with next_cursor, or {follow_up}",
    )


def _resolved(context: CallContext, asked: In) -> In:
    """Return the request with the scope that applies, and with section ids in place of passage ids of the session.

    Raises:
        ScopeViolation: the scope asks for something outside the server's.
        InvalidArgument: a passage id is not one of this session's, or its text is no longer published.
    """
    update: dict[str, object] = {"scope": context.scope(asked.scope)}
    for name in (name for name in type(asked).model_fields if name in _REFERENCES):
        value = getattr(asked, name)
        if isinstance(value, str):
            update[name] = context.section_id(value, name)
        elif value is not None:
            update[name] = list(dict.fromkeys(context.section_id(ref, name) for ref in value))
    return asked.model_copy(update=update)


def _names_of(context: CallContext, request: GraphInput, ids: Sequence[str]) -> dict[str, str]:
    """Return the names of nodes for the text; the structure names them by id."""
    if not ids:
        return {}
    about = DescribeInput(node_ids=list(ids)[:_MAX_NAMED], scope=request.scope, filters=request.filters)
    return {node.id: node.name for node in context.searcher.graph.describe(about).items}


def _with_candidates(unresolved: Iterable[Unresolved], n: int | None) -> list[Unresolved]:
    return [one.model_copy(update={"candidates": one.candidates[:n]}) for one in unresolved]


def _lean(item: Any, _: int) -> Any:
    """Return an item without what can be spared: text, other names, all relations but the strongest."""
    if isinstance(item, CommunityNode):
        keys = item.key_entities[:_LEAN_KEYS]
        return item.model_copy(
            update={"key_entities": keys, "key_facts": [], "summary": [], "phrased": None, "formerly": []}
        )
    if isinstance(item, SectionParents):
        return item.model_copy(update={"parents": [_lean_node(node) for node in item.parents]})
    if isinstance(item, Path):
        nodes, relations = map(_lean_node, item.nodes), map(_lean_relation, item.relations)
        return item.model_copy(update={"nodes": list(nodes), "relations": list(relations)})
    return _lean_node(item)


def _lean_node(node: Node) -> Node:
    spared: dict[str, object] = {"snippet": None, "aliases": [], "tags": [], "heading": ""}
    if relations := getattr(node, "via", None):
        spared["via"] = [_lean_relation(relation) for relation in relations[:1]]
    return node.model_copy(update=spared)


def _lean_relation(relation: Relation) -> Relation:
    return relation.model_copy(update={"snippet": None, "predicates": []})


_LEANER: Shorten[Any] = Shorten(length=lambda item: 0, to=_lean)


def _text(
    context: CallContext,
    answer: GraphAnswer,
    items: str,
    blocks: Sequence[str],
    tool: str,
    follow: str,
    no_match: str,
) -> str:
    """Return the items below a first line, then unresolved names, what was cut and the next call."""
    unresolved = [
        _unresolved(one, "communities" if items == "communities" else "entities") for one in answer.unresolved
    ]
    if answer.empty_reason:
        why = no_match if answer.empty_reason == "no_match" else why_empty(answer)
        return "\n\n".join([f"No {items} from the graph of {searched(answer.scope)}. {why}", *unresolved])
    parts = [f"From the graph of {searched(answer.scope)}.", *blocks, *unresolved]
    if answer.next_cursor is not None:
        parts.append(
            context.say(f"Cut ({answer.limit_reason}). For the rest, repeat {tool} with cursor={answer.next_cursor}")
        )
    elif answer.limit_reason == "node_cap":
        parts.append(
            "Cut (node_cap): there are more than one call can give. Ask for something narrower to see the others."
        )
    elif answer.limit_reason != "none":
        parts.append(f"Shortened ({answer.limit_reason}): ask about fewer nodes, or for a longer response.")
    return "\n\n".join([*parts, context.say(follow)])


def _unresolved(one: Unresolved, kinds: str) -> str:
    why = f"stands for several {kinds}" if one.reason == "ambiguous" else "is not known in this scope"
    lines = [f"{one_line(one.asked)!r} {why}" + ("; ask again by id, of one of these:" if one.candidates else ".")]
    for node in one.candidates:
        mentions = f", {counted(node.n_mentions, 'mention')}" if node.n_mentions is not None else ""
        aliases = f", also {joined(node.aliases)}" if node.aliases else ""
        lines.append(f"{_called(node)}{mentions}{aliases}")
    return "\n".join(lines)


def _called(node: NodeSummary) -> str:
    """Return the name, id and kind of a node."""
    kind = f"{node.kind}, {node.label}" if node.label else node.kind
    return f"{one_line(node.heading or node.name)} [{node.id}] ({kind})"


def node_line(node: Node) -> str:
    """Return one line: name, id, kind, place and size; its sentence below it."""
    parts = [_called(node)]
    if node.doc_uri:
        parts.append(place(node.doc_uri, node.line, node.page))
    if node.n_mentions:
        parts.append(f"{counted(node.n_mentions, 'mention')} in {counted(node.n_units or 0, 'unit')}")
    elif node.n_units is not None and node.kind != "unit":
        parts.append(counted(node.n_units, "unit"))
    if node.n_children:
        parts.append(f"{node.n_children} below")
    if node.tags:
        parts.append(f"tags {joined(node.tags, ' ')}")
    if node.updated_at:
        parts.append(f"updated {node.updated_at}")
    if node.aliases:
        parts.append(f"also {joined(node.aliases)}")
    return ", ".join(parts) + sentence_below(node.snippet)


def sentence_below(snippet: Snippet | None) -> str:
    """Return a sentence with its place, on lines of its own below what it belongs to."""
    if snippet is None:
        return ""
    return f"\n{quoted(snippet.text)}\n  — {place(snippet.doc_uri, snippet.line, snippet.page)}"
