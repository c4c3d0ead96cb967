"""Resolve the ids, URIs and names of a request to nodes; report what is unknown or ambiguous, and guess nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from rapidfuzz import fuzz, process, utils

from graphctx.errors import InvalidArgument
from graphctx.model.graph import NodeKind, NodeSummary, Unresolved
from graphctx.model.interrupt import checkpoint
from graphctx.model.knowledge import LABELS
from graphctx.retrieve.graph.nodes import node_fields
from graphctx.retrieve.graph.view import KINDS, GraphView, NodeKey
from graphctx.retrieve.index import row_of
from graphctx.store.walk import name_hash
from graphctx.text.gazetteer import name_words
from graphctx.text.names import normalise_name
from graphctx.text.normalise import normalise

MAX_AMBIGUOUS = 10
"""Candidates that are listed for an ambiguous name."""

MAX_NEAR = 5
"""Similar names that are offered for an unknown one."""

MIN_SIMILARITY = 60.0
"""Least `rapidfuzz.fuzz.ratio`, of 100, of a name that is offered."""

_POOL = 50
"""Entities with a similar name or alias anywhere, whose names within the scope are compared."""

_ID = re.compile(r"[dsue]_[a-z2-7]{16}")
_KIND_OF_LETTER: dict[str, NodeKind] = {"d": "document", "s": "section", "u": "unit", "e": "entity"}

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class ResolvedNodes:
    """The nodes that some references name.

    Attributes:
        keys: distinct, in the order of the references.
        unresolved: references that name nothing or several entities.
    """

    keys: list[NodeKey]
    unresolved: list[Unresolved]

    @property
    def ambiguous(self) -> bool:
        """Whether one of the references is the name of several entities."""
        return any(item.reason == "ambiguous" for item in self.unresolved)


def resolve(view: GraphView, refs: Sequence[str], field: str, kinds: Sequence[NodeKind] = KINDS) -> ResolvedNodes:
    """Resolve references to nodes.

    Args:
        view: what is visible; everything else is unknown.
        refs: ids, URIs of documents, names of entities.
        field: the field of the request that holds them.
        kinds: the kinds of nodes that the field takes.

    Raises:
        InvalidArgument: no reference is known or ambiguous.
    """

    def find(asked: str) -> tuple[list[NodeKey], list[NodeKey]]:
        found = _find(view, asked, kinds)
        return found, found[:MAX_AMBIGUOUS] or _similar(view, asked, kinds)

    keys, unresolved, near = resolve_each(refs, find, lambda key: _short(view, key))
    resolved = ResolvedNodes(keys, unresolved)
    if not keys and not resolved.ambiguous:
        raise _nothing_known(view, [item.asked for item in unresolved], near[:MAX_NEAR], field, kinds)
    return resolved


def resolve_each(
    refs: Sequence[str], find: Callable[[str], tuple[list[Key], list[Key]]], short: Callable[[Key], NodeSummary]
) -> tuple[list[Key], list[Unresolved], list[Key]]:
    """Return what references name that name one thing, the other references, and the candidates for unknown ones.

    ``find`` returns what a reference names, and what to offer where it names nothing or several things.
    """
    keys: dict[Key, None] = {}
    near: dict[Key, None] = {}
    unresolved: list[Unresolved] = []
    for ref in dict.fromkeys(refs):
        checkpoint()
        asked = normalise(ref)
        found, candidates = find(asked.strip())
        if len(found) == 1:
            keys.setdefault(found[0])
            continue
        if not found:
            near |= dict.fromkeys(candidates)
        shown = [short(candidate) for candidate in candidates]
        unresolved.append(Unresolved(asked=asked, reason="ambiguous" if found else "unknown", candidates=shown))
    return list(keys), unresolved, list(near)


def entities_called(view: GraphView, name: str) -> list[int]:
    """Return the rows of the entities that the visible documents call by a name, the most mentioned first.

    Names and aliases are compared as `normalise_name` folds them. Where names of code and of prose fold alike, those
    that are written as asked come alone: "Helm" is not the command ``helm``.
    """
    key = normalise_name(name)
    if not key:
        return []
    entities, walk = view.tables.entities, view.walk
    folded, owner = entities.folded
    # Most names that fold alike hold the longest word of the key; of those with accents the hash knows one entity.
    longest = max(key.split(), key=lambda word: (len(word), word))
    rows = set(owner[pc.match_substring(folded, longest).to_numpy(zero_copy_only=False)].tolist())
    wanted = np.uint64(name_hash([word for word, _, _ in name_words(key)]))
    at = int(np.searchsorted(walk.name_hash, wanted))
    if at < len(walk.name_hash) and walk.name_hash[at] == wanted:
        rows.add(int(walk.name_entity[at]))
    called = [
        row
        for row in rows
        if any(normalise_name(surface) == key for surface in entities.surfaces(row)) and view.is_called(row, key)
    ]
    code = LABELS.index("code")
    if len({bool(walk.entity_label[row] == code) for row in called}) > 1:
        called = [row for row in called if entities.surfaces(row)[0] == name] or called
    return sorted(called, key=lambda row: (-_n_mentions(view, row), row))


def similar_entities(view: GraphView, name: str) -> list[int]:
    """Return the rows of at most `MAX_NEAR` entities whose visible names are similar to a name, most similar first."""
    folded, owner = view.tables.entities.folded
    asked = utils.default_process(name)
    if not len(folded) or not asked:
        return []
    visible = np.diff(view.walk.entity_ptr)[owner] > 0
    surfaces, owner = folded.filter(pa.array(visible)).to_pylist(), owner[visible]
    found = process.extract(asked, surfaces, scorer=fuzz.ratio, score_cutoff=MIN_SIMILARITY, limit=_POOL)
    scored = []
    for row in dict.fromkeys(int(owner[at]) for _, _, at in found):
        names = view.names_of(row)
        if names is not None:
            score = max(fuzz.ratio(asked, utils.default_process(own)) for own in (names.name, *names.aliases))
            if score >= MIN_SIMILARITY:
                scored.append((-round(score, 4), -_n_mentions(view, row), row))
    return [row for _, _, row in sorted(scored)[:MAX_NEAR]]


def _n_mentions(view: GraphView, row: int) -> int:
    return int(view.mention_counts(view.pairs_of(row)).sum())


def _find(view: GraphView, ref: str, kinds: Sequence[NodeKind]) -> list[NodeKey]:
    """Return the node that a reference names, all entities of that name, or nothing."""
    if _ID.fullmatch(ref) and (key := _by_id(view, ref, kinds)) is not None:
        return [key]
    if "document" in kinds:
        row = row_of(view.tables.documents.uris, ref)
        if row is None:
            row = view.index.former_documents.get(ref)
        if row is not None and view.sees_document(row):
            return [view.key("document", row)]
    return [view.key("entity", row) for row in entities_called(view, ref)] if "entity" in kinds else []


def _by_id(view: GraphView, ref: str, kinds: Sequence[NodeKind]) -> NodeKey | None:
    kind = _KIND_OF_LETTER[ref[0]]
    row = view.row(kind, ref) if kind in kinds else None
    if row is None and kind in kinds and kind in ("document", "unit"):
        row = (view.index.former_documents if kind == "document" else view.index.former_units).get(ref)
    if row is None:
        return None
    key = view.key(kind, row)
    visible = view.names_of(row) is not None if kind == "entity" else view.sees_document(view.document_of(key))
    return key if visible else None


def _similar(view: GraphView, ref: str, kinds: Sequence[NodeKind]) -> list[NodeKey]:
    """Return nodes with a name similar to an unknown one: documents if it looks like a path, else entities."""
    if _ID.fullmatch(ref):
        return []
    if "document" in kinds and ("/" in ref or re.search(r"\.\w{1,5}$", ref)):
        uris = view.tables.documents.uris.to_pylist()
        visible = {row: uri for row, uri in enumerate(uris) if view.sees_document(row)}
        found = process.extract(ref, visible, scorer=fuzz.ratio, score_cutoff=MIN_SIMILARITY, limit=MAX_NEAR)
        if found:
            ordered = sorted((-round(score, 4), row) for _, score, row in found)
            return [view.key("document", row) for _, row in ordered]
    return [view.key("entity", row) for row in similar_entities(view, ref)] if "entity" in kinds else []


def _short(view: GraphView, key: NodeKey) -> NodeSummary:
    fields = node_fields(view, key)
    return NodeSummary(**{name: fields[name] for name in NodeSummary.model_fields if name in fields})


def _nothing_known(
    view: GraphView, asked: list[str], near: Sequence[NodeKey], field: str, kinds: Sequence[NodeKind]
) -> InvalidArgument:
    found = [node_fields(view, key) for key in near]
    names = [str(fields.get("doc_uri") or fields["name"]) for fields in found]
    hint = (
        f"Near it: {', '.join(map(repr, names))}."
        if names
        else "Ids come from earlier answers, and change when the text that they stand for does; search again."
    )
    return InvalidArgument(
        f"{field}: no {' or '.join(kinds)} within this scope is known as {', '.join(map(repr, asked))}. {hint}",
        field=field,
        value=asked if len(asked) > 1 else asked[0],
        allowed=f"ids of earlier answers, URIs of documents or names, of a {' or '.join(kinds)} within this scope",
        near=[{"id": fields["id"], "name": name} for fields, name in zip(found, names, strict=True)],
    )
