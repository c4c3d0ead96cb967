"""What the page shows, as one JSON object: names and quotes are written once and referred to by number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphctx.export.communities import SeenCommunity, seen_communities
from graphctx.export.options import ExportOptions, OnProgress
from graphctx.export.quotes import QuoteBook, Quoted
from graphctx.export.relations import Edges, Said, edges_between
from graphctx.export.seen import SeenEntity, rows_of, seen_entities
from graphctx.model.interrupt import checkpoint
from graphctx.retrieve.graph.view import GraphView

COMMUNITY_QUOTES = 6
"""Of each community: as much as is read before one goes on to what is in it."""

MAX_RELATED = 8
MAX_ALIASES = 6
MAX_NAME_CHARS = 200
"""Of a name on a page; the map shows the beginning of it anyway."""

_STEP = 200


@dataclass(frozen=True, slots=True)
class Gathered:
    """The object, how much of what is in it, and one sentence for each limit that left something out."""

    data: dict[str, Any]
    counts: dict[str, int]
    left_out: list[str]


def page_data(view: GraphView, project_id: str, options: ExportOptions, on_progress: OnProgress) -> Gathered:
    """Gather what the page shows.

    Entities are chosen by the number of units that name them, ties by id. A community none of whose entities is chosen
    is left out.
    """
    every = seen_entities(view)
    whole_tree = seen_communities(view)
    shown = sorted(every, key=lambda entity: (-entity.n_units, -entity.n_mentions, entity.id))[: options.max_entities]
    shown.sort(key=lambda entity: entity.row)
    numbers = {entity.row: at for at, entity in enumerate(shown)}
    tree = [community for community in whole_tree if any(row in numbers for row in community.entities)]
    book = QuoteBook.of(view, tree)
    communities = _communities(tree, numbers, book)
    entities = _entities(shown, book, options.max_quotes, on_progress)
    _place(entities, tree, numbers)
    _relate(entities, view, shown, numbers)
    documents, quotes = _quotes(view, book.all)
    n_documents = sum(view.sees_document(row) for row in range(len(view.tables.documents)))
    whole = {"documents": n_documents, "entities": len(every), "communities": len(whole_tree)}
    left_out = _left_out(whole, len(shown), len(tree), options)
    data = {
        "project": project_id,
        "snapshot": view.index.snapshot.id,
        "counts": whole,
        "leftOut": left_out,
        "narrowed": [*(f"tag {tag}" for tag in options.doc_tag), *_below(options.path_prefix)],
        "documents": documents,
        "quotes": quotes,
        "communities": communities,
        "entities": entities,
    }
    counts = {"documents": n_documents, "entities": len(shown), "communities": len(tree), "quotes": len(quotes)}
    return Gathered(data, counts, left_out)


def _below(path_prefix: str | None) -> list[str]:
    return [f"below {path_prefix}"] if path_prefix else []


def _left_out(whole: Mapping[str, int], entities: int, communities: int, options: ExportOptions) -> list[str]:
    """What the limits left out, said to whoever looks at the page."""
    said = []
    if entities < whole["entities"]:
        said.append(
            f"The {entities:,} names that most passages use are shown, of {whole['entities']:,} "
            f"(--max-entities {options.max_entities})."
        )
    if communities < whole["communities"]:
        said.append(f"{whole['communities'] - communities:,} communities without any of these names are left out.")
    return said


def _communities(tree: Sequence[SeenCommunity], numbers: Mapping[int, int], book: QuoteBook) -> list[dict[str, Any]]:
    places = {community.id: at for at, community in enumerate(tree)}
    return [
        _lean(
            {
                "id": community.id,
                "title": _short(community.title),
                "level": community.level,
                "parent": places.get(community.parent_id or "", -1),
                "entities": len(community.entities),
                "units": community.n_units,
                "key": [numbers[row] for row in community.key if row in numbers],
                "quotes": book.of_sentences(community.summary[:COMMUNITY_QUOTES]),
                "phrased": list(community.phrased),
            }
        )
        for community in tree
    ]


def _entities(shown: Sequence[SeenEntity], book: QuoteBook, most: int, on_progress: OnProgress) -> list[dict[str, Any]]:
    found = []
    for done, entity in enumerate(shown, 1):
        found.append(
            {
                "id": entity.id,
                "name": _short(entity.name),
                "label": entity.label,
                "mentions": entity.n_mentions,
                "units": entity.n_units,
                "aliases": [_short(alias) for alias in entity.aliases[:MAX_ALIASES]],
                "quotes": book.of_entity(entity, most),
            }
        )
        if done % _STEP == 0 or done == len(shown):
            checkpoint()
            on_progress("quotes", done, len(shown), "entities")
    return found


def _place(entities: list[dict[str, Any]], tree: Sequence[SeenCommunity], numbers: Mapping[int, int]) -> None:
    """Note of each entity the deepest community that holds it; communities come level by level."""
    for at, community in enumerate(tree):
        for row in community.entities:
            if row in numbers:
                entities[numbers[row]]["community"] = at


def _relate(
    entities: list[dict[str, Any]], view: GraphView, shown: Sequence[SeenEntity], numbers: Mapping[int, int]
) -> None:
    """Note of each entity those it is related to most strongly, with what a fact says: ``[number, said]``."""
    edges, said = edges_between(view, rows_of(shown)), Said(view)
    for at, others in _strongest(edges, numbers).items():
        row = shown[at].row
        related = []
        for other in others:
            told = said.predicates(row, shown[other].row, 1)
            related.append([other, *(f"{'→' if outward else '←'} {_short(text)}" for outward, text in told)])
        entities[at]["related"] = related
    for at, entity in enumerate(entities):
        entities[at] = _lean(entity)


def _strongest(edges: Edges, numbers: Mapping[int, int]) -> dict[int, list[int]]:
    found: dict[int, list[tuple[float, int]]] = {}
    for near, far, weight in zip(edges.near.tolist(), edges.far.tolist(), edges.weight.tolist(), strict=True):
        one, other = numbers[near], numbers[far]
        found.setdefault(one, []).append((-weight, other))
        found.setdefault(other, []).append((-weight, one))
    return {at: [other for _, other in sorted(pairs)[:MAX_RELATED]] for at, pairs in found.items()}


def _quotes(view: GraphView, quotes: Sequence[Quoted]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    rows = sorted({quote.document for quote in quotes})
    places = {row: at for at, row in enumerate(rows)}
    texts = [view.index.text_of(row) for row in rows]
    documents = [_lean({"id": text.id, "uri": text.uri, "title": _short(text.title)}) for text in texts]
    told = [
        _lean(
            {
                "document": places[quote.document],
                "text": quote.text,
                "heading": quote.heading,
                "span": [quote.start_char, quote.end_char],
                "line": quote.line,
                "page": quote.page,
                "truncated": quote.truncated,
                "asis": quote.as_it_is,
            }
        )
        for quote in quotes
    ]
    return documents, told


def _lean(fields: dict[str, Any]) -> dict[str, Any]:
    """Without what is empty; numbers stay, 0 too."""
    return {name: value for name, value in fields.items() if value or (value == 0 and value is not False)}


def _short(text: str) -> str:
    return text if len(text) <= MAX_NAME_CHARS else text[: MAX_NAME_CHARS - 1].rstrip() + "…"
