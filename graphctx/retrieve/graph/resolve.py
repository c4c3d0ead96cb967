"""What a request names: ids, URIs and names become nodes, or are said to be unknown or ambiguous, never guessed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from graphctx.errors import InvalidArgument
from graphctx.model.graph import Named, NodeKind, Unresolved
from graphctx.model.interrupt import checkpoint
from graphctx.retrieve.graph.lookup import MAX_NEAR, NEAR, entities_called, entities_near
from graphctx.retrieve.graph.names import names_of
from graphctx.retrieve.graph.nodes import node_fields
from graphctx.retrieve.graph.view import KINDS, Key, View
from graphctx.text.normalise import normalise

MAX_AMBIGUOUS = 10
"""Entities of one name that are listed."""

_ID = re.compile(r"[dsue]_[a-z2-7]{16}")
_KIND_OF_LETTER: dict[str, NodeKind] = {"d": "document", "s": "section", "u": "unit", "e": "entity"}


@dataclass(frozen=True, slots=True)
class Resolved:
    """What some references stand for.

    Attributes:
        keys: distinct nodes, in the order in which they were asked for.
        unresolved: the others.
    """

    keys: list[Key]
    unresolved: list[Unresolved]

    @property
    def ambiguous(self) -> bool:
        """Whether one of them is the name of several entities."""
        return any(item.reason == "ambiguous" for item in self.unresolved)


def resolve(view: View, refs: Sequence[str], field: str, kinds: Sequence[NodeKind] = KINDS) -> Resolved:
    """Find the nodes that references name.

    Args:
        view: what may be seen; all else is unknown.
        refs: ids, URIs of documents, names of entities.
        field: of the request that they come from.
        kinds: of nodes that are meant there.

    Raises:
        InvalidArgument: none of them is known, and none is ambiguous.
    """
    keys: dict[int, Key] = {}
    unresolved: list[Unresolved] = []
    near: dict[int, Key] = {}
    for ref in dict.fromkeys(refs):
        checkpoint()
        asked = normalise(ref)  # as texts and URIs are; what no text can hold could not be told either
        found = _find(view, asked.strip(), kinds)
        if isinstance(found, Key):
            keys.setdefault(found.number, found)
        elif found:
            candidates = [_named(view, key) for key in found[:MAX_AMBIGUOUS]]
            unresolved.append(Unresolved(asked=asked, reason="ambiguous", candidates=candidates))
        else:
            close = _near(view, asked.strip(), kinds)
            near |= {key.number: key for key in close}
            candidates = [_named(view, key) for key in close]
            unresolved.append(Unresolved(asked=asked, reason="unknown", candidates=candidates))
    named = Resolved(list(keys.values()), unresolved)
    if not named.keys and not named.ambiguous:
        raise _nothing_known(view, [item.asked for item in unresolved], list(near.values())[:MAX_NEAR], field, kinds)
    return named


def _find(view: View, ref: str, kinds: Sequence[NodeKind]) -> Key | list[Key]:
    """The node that a reference names, or all entities of that name, or nothing."""
    if _ID.fullmatch(ref) and (key := _by_id(view, ref, kinds)) is not None:
        return key
    if "document" in kinds:
        row = view.tables.documents.row_of_uri(ref)
        if row is not None and view.sees_document(row):
            return view.key("document", row)
    if "entity" not in kinds:
        return []
    found = [view.key("entity", row) for row in entities_called(view, ref)]
    return found[0] if len(found) == 1 else found


def _by_id(view: View, ref: str, kinds: Sequence[NodeKind]) -> Key | None:
    kind = _KIND_OF_LETTER[ref[0]]
    if kind not in kinds:
        return None
    row = view.row(kind, ref)
    if row is None:
        return None
    key = view.key(kind, row)
    seen = names_of(view, row) is not None if kind == "entity" else view.sees_document(view.document_of(key))
    return key if seen else None


def _near(view: View, ref: str, kinds: Sequence[NodeKind]) -> list[Key]:
    """Nodes whose names come near an unknown one: documents where it looks like a path, else entities."""
    if _ID.fullmatch(ref):
        return []
    if "document" in kinds and ("/" in ref or re.search(r"\.\w{1,5}$", ref)):
        uris = view.tables.documents.uris.to_pylist()
        seen = {row: uri for row, uri in enumerate(uris) if view.sees_document(row)}
        found = process.extract(ref, seen, scorer=fuzz.ratio, score_cutoff=NEAR, limit=MAX_NEAR)
        if found:
            ordered = sorted((-round(score, 4), row) for _, score, row in found)
            return [view.key("document", row) for _, row in ordered]
    if "entity" not in kinds:
        return []
    return [view.key("entity", row) for row in entities_near(view, ref)]


def _named(view: View, key: Key) -> Named:
    """What a node is, in short."""
    fields = node_fields(view, key)
    return Named(**{name: fields[name] for name in Named.model_fields if name in fields})


def _nothing_known(
    view: View, asked: list[str], near: Sequence[Key], field: str, kinds: Sequence[NodeKind]
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
