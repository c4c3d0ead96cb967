"""The readable text of graph answers: nodes, relations and paths, what was cut, and what to call next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, TypeVar

from graphctx.model.documents import has_file_lines
from graphctx.model.graph import (
    ChildrenAnswer,
    DescribeAnswer,
    EntitiesAnswer,
    ExpandAnswer,
    GraphAnswer,
    Named,
    Node,
    ParentsAnswer,
    Path,
    PathsAnswer,
    Relation,
    SectionsAnswer,
    Snippet,
    Unresolved,
)
from graphctx.server.quoting import one_line, quoted
from graphctx.server.render import searched, why_empty

if TYPE_CHECKING:
    from graphctx.server.call_context import CallContext

NodeT = TypeVar("NodeT", bound=Node)

Names = Mapping[str, str]
"""What nodes are called, by id."""

_NO_MATCH = "There is none in this scope. Widen filters, rel_types or max_hops, where the tool has them."


def describe_text(context: CallContext, answer: DescribeAnswer) -> str:
    """One line a node."""
    blocks = ["\n".join(map(_node, answer.nodes))] if answer.nodes else []
    return framed(context, answer, "nodes", blocks, "graph.describe", "Around one of them: graph.expand with its id.")


def expand_text(context: CallContext, answer: ExpandAnswer, names: Names) -> str:
    """The start nodes, then each node with the relations that led to it, by hop."""
    known = {**names, **_names(answer.nodes)}
    blocks = []
    if answer.nodes:
        blocks.append("From " + ", ".join(_named(start, known) for start in answer.starts))
    for hop, nodes in groupby(answer.nodes, key=lambda node: node.hop):
        lines = [f"{hop} relation{'s' if hop > 1 else ''} away:"]
        for node in nodes:
            lines.append(_node(node))
            lines += [f"  {_relation(relation, known, shown=node.snippet)}" for relation in node.via]
        blocks.append("\n".join(lines))
    return framed(context, answer, "nodes", blocks, "graph.expand", "Further: graph.expand with a node's id.")


def paths_text(context: CallContext, answer: PathsAnswer) -> str:
    """Each path as a chain of names, with what its relations say below it; then each node once."""
    nodes = {node.id: node for path in answer.paths for node in path.nodes}
    names = _names(nodes.values())
    called = Counter(names.values())
    names = {node: name if called[name] == 1 else f"{name} [{node}]" for node, name in names.items()}
    blocks = ["\n".join(_path(number, path, names) for number, path in enumerate(answer.paths, start=1))]
    blocks.append("\n".join(["The nodes on them:", *map(_node, nodes.values())]))
    follow = "The text of a section on a path: kb.read_excerpt with its id."
    return framed(context, answer, "paths", blocks, "graph.paths", follow)


def parents_text(context: CallContext, answer: ParentsAnswer) -> str:
    """Each section with what is above it."""
    blocks = ["\n".join([f"Above {one.section_id}:", *map(_node, one.parents)]) for one in answer.sections]
    return framed(
        context, answer, "sections", blocks, "graph.parents", "Beside a section: graph.children of its parent."
    )


def children_text(context: CallContext, answer: ChildrenAnswer) -> str:
    """The nodes below the parent, in reading order."""
    blocks = ["\n".join([f"Below {answer.parent_id}:", *map(_node, answer.children)])] if answer.children else []
    follow = "Further down: graph.children with a section's id. Text: kb.read_excerpt with a unit's id."
    return framed(context, answer, "nodes", blocks, "graph.children", follow)


def entities_text(context: CallContext, answer: EntitiesAnswer, names: Names) -> str:
    """The entities of each section."""
    blocks = _grouped(answer.entities, lambda entity: entity.section_id, "Named in", names)
    follow = "Around an entity: graph.expand with its id. Where it is named: graph.sections_for_entities."
    return framed(context, answer, "entities", blocks, "graph.entities_for_sections", follow)


def sections_text(context: CallContext, answer: SectionsAnswer, names: Names) -> str:
    """The sections of each entity."""
    blocks = _grouped(answer.sections, lambda section: section.entity_id, "Naming", names)
    follow = "What they say: kb.extract_evidence or kb.read_excerpt, with up to three of these ids."
    return framed(context, answer, "sections", blocks, "graph.sections_for_entities", follow)


def _grouped(nodes: Iterable[NodeT], key: Callable[[NodeT], str], lead: str, names: Names) -> list[str]:
    return [
        "\n".join([f"{lead} {_named(about, names)}:", *map(_node, group)]) for about, group in groupby(nodes, key=key)
    ]


def framed(
    context: CallContext,
    answer: GraphAnswer,
    what: str,
    blocks: Sequence[str],
    tool: str,
    follow: str,
    no_match: str = _NO_MATCH,
) -> str:
    """The items below a head line, then what could not be told, what was cut and the next call."""
    if answer.empty_reason:
        why = no_match if answer.empty_reason == "no_match" else why_empty(answer)
        return "\n\n".join(
            [f"No {what} from the graph of {searched(answer.scope)}. {why}", *_unresolved(answer.unresolved, what)]
        )
    parts = [f"From the graph of {searched(answer.scope)}.", *blocks, *_unresolved(answer.unresolved, what)]
    if answer.next_cursor is not None:
        parts.append(
            context.say(f"Cut ({answer.limit_reason}). For the rest, repeat {tool} with cursor={answer.next_cursor}")
        )
    elif answer.limit_reason != "none":
        parts.append(
            "Cut (node_cap): there are more than one call can give. Ask for something narrower to see the others."
            if answer.limit_reason == "node_cap"
            else f"Shortened ({answer.limit_reason}): ask about fewer nodes, or for a longer response."
        )
    parts.append(context.say(follow))
    return "\n\n".join(parts)


def _unresolved(unresolved: Iterable[Unresolved], what: str) -> list[str]:
    several = what if what == "communities" else "entities"
    blocks = []
    for one in unresolved:
        why = f"stands for several {several}" if one.reason == "ambiguous" else "is not known in this scope"
        lines = [f"{one_line(one.asked)!r} {why}" + ("; ask again by id, of one of these:" if one.candidates else ".")]
        blocks.append("\n".join([*lines, *map(_candidate, one.candidates)]))
    return blocks


def _named(node_id: str, names: Names) -> str:
    return f"{one_line(names[node_id])} [{node_id}]" if node_id in names else f"[{node_id}]"


def _names(nodes: Iterable[Node]) -> dict[str, str]:
    return {node.id: one_line(node.name) for node in nodes}


def _called(node: Named) -> str:
    """Name, id and kind."""
    kind = f"{node.kind}, {node.label}" if node.label else node.kind
    return f"{one_line(node.heading or node.name)} [{node.id}] ({kind})"


def _candidate(node: Named) -> str:
    mentions = f", {counted(node.n_mentions, 'mention')}" if node.n_mentions is not None else ""
    aliases = f", also {_listed(node.aliases)}" if node.aliases else ""
    return f"{_called(node)}{mentions}{aliases}"


def _node(node: Node) -> str:
    """One line: name, id, kind, place and size; its sentence below it."""
    parts = [_called(node)]
    if node.doc_uri:
        parts.append(_place(node.doc_uri, node.line, node.page))
    if node.n_mentions:
        parts.append(f"{counted(node.n_mentions, 'mention')} in {counted(node.n_units or 0, 'unit')}")
    elif node.n_units is not None and node.kind != "unit":
        parts.append(counted(node.n_units, "unit"))
    if node.n_children:
        parts.append(f"{node.n_children} below")
    if node.tags:
        parts.append(f"tags {' '.join(map(one_line, node.tags))}")
    if node.updated_at:
        parts.append(f"updated {node.updated_at}")
    if node.aliases:
        parts.append(f"also {_listed(node.aliases)}")
    return ", ".join(parts) + sentence_below(node.snippet)


def _place(uri: str, line: int | None, page: int | None) -> str:
    at = one_line(uri) + (f":{line}" if line is not None and has_file_lines(uri) else "")
    return f"{at} (page {page})" if page is not None else at


def sentence_below(snippet: Snippet | None) -> str:
    """A sentence with its place, on lines of its own below what it belongs to."""
    if snippet is None:
        return ""
    return f"\n{quoted(snippet.text)}\n  — {_place(snippet.doc_uri, snippet.line, snippet.page)}"


def _relation(relation: Relation, names: Names, shown: Snippet | None) -> str:
    """``A —TYPE→ B (weight, counts)``, what it says, and its sentence unless that has just been shown."""
    ends = [one_line(names[end]) if end in names else f"[{end}]" for end in (relation.source, relation.target)]
    measures = f" ({said})" if (said := _measures(relation)) else ""
    predicates = f": {_listed(relation.predicates)}" if relation.predicates else ""
    sentence = sentence_below(relation.snippet) if relation.snippet != shown else ""
    return f"{ends[0]} {_arrow(relation, relation.source)} {ends[1]}{measures}{predicates}{sentence}"


def _arrow(relation: Relation, left: str, measures: str = "") -> str:
    """``—TYPE→``, or ``←TYPE—`` where the target stands on the left; RELATED has no direction and no head."""
    body = f"{relation.type} ({measures})" if measures else relation.type
    if relation.type == "RELATED":
        return f"—{body}—"
    return f"—{body}→" if relation.source == left else f"←{body}—"


def _measures(relation: Relation) -> str:
    said = []
    if relation.weight is not None:
        said.append(f"weight {relation.weight:g}")
    if relation.n_facts:
        said.append(counted(relation.n_facts, "fact"))
    if relation.n_units:
        said.append(counted(relation.n_units, "unit"))
    return ", ".join(said)


def _listed(texts: Iterable[str]) -> str:
    return "; ".join(map(one_line, texts))


def counted(n: int, what: str) -> str:
    """``1 unit``, ``2 units``, ``3 entities``."""
    several = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{n} {what if n == 1 else several}"


def _path(number: int, path: Path, names: Names) -> str:
    chain = [names[node.id] for node in path.nodes[:1]]
    below = []
    for relation, left, node in zip(path.relations, path.nodes, path.nodes[1:], strict=False):
        chain += [_arrow(relation, left.id, _measures(relation)), names[node.id]]
        below += [f"  {one_line(predicate)}" for predicate in relation.predicates]
        below += [sentence_below(relation.snippet).removeprefix("\n")] if relation.snippet else []
    return "\n".join([f"[{number}] {' '.join(chain)}", *below])
