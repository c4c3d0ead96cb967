"""Entity resolution: the mentions of a corpus become entities.

Names with one normalised form are one; `graphctx.ingest.merges` merges further names by rules. Names that are noise,
and descriptions that name nothing of this corpus, are pruned.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from graphctx.ingest.definitions import Definition
from graphctx.ingest.labels import Labels, is_about_software, is_evidence
from graphctx.ingest.merges import merge_names
from graphctx.ingest.names import Name, NameTable, UnionFind
from graphctx.model.ids import content_id
from graphctx.model.knowledge import Entity, EntityLabel, Extraction, Fact, RawFact
from graphctx.nlp.commonness import expected_mentions, rank_of
from graphctx.nlp.identifiers import is_code_name
from graphctx.text.names import is_nameable, normalise_name, shown_name, singular_of

RESOLVER_VERSION = "9"
"""Counts up with every change that can change a resolution."""

HUB_SHARE = 0.05
"""A description in a larger share of the units than this ("the user", "data") connects everything to everything.
Names stay: their edges are weighted down by their frequency at query time."""

HUB_MIN_UNITS = 50
"""Units that a hub needs at least, since shares of a small corpus are unreliable."""

WEIRDNESS = 8.0
"""A single common noun counts as a term only if it is this many times as frequent here as in general English (the
weirdness ratio of Ahmad, Gillam and Tostevin 1999): "hull" and "buoy" are terms in a text on buoys, "office" is not."""

MIN_COMMON_VALUE = 0.7
"""Value of a definition that makes an everyday word a name: a title or an entry of a glossary, but no heading."""

CONSTANTS = frozenset(("true", "false", "null", "undefined"))
"""Values that prose writes as it writes names."""

MIN_MENTIONS = 3
COMMON_RANK = 10_000
"""Mentions that a noun among the most common words needs, as its ratio is chance below; a rarer word needs two."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """The entities that the mentions of a corpus name.

    Attributes:
        entities: sorted by id.
        entity_of: the position in ``entities`` of what each name is, by `graphctx.ingest.names.name_key`.
        mention_entity: for each mention, in the order of the extractions and of the mentions inside them, the
            position of its entity in ``entities``, or -1 if it was pruned.
        facts: those whose ends are both entities, in the order of the extractions, without duplicates.
    """

    entities: list[Entity]
    entity_of: dict[str, int]
    mention_entity: npt.NDArray[np.int32]
    facts: list[Fact]


class _StatedFact(NamedTuple):
    """A fact, and the canonical names of its ends; -1 for an end without one."""

    raw: RawFact
    subject: int
    object: int


@dataclass(slots=True)
class _Cluster:
    """Sums over the mentions of one canonical name."""

    mentions: int = 0
    named: int = 0
    capital: int = 0
    lower: int = 0
    defined: float = 0.0
    units: int = 0
    last_unit: str = ""
    facts: int = 0
    labels: dict[EntityLabel, int] = field(default_factory=dict)
    surfaces: dict[str, int] = field(default_factory=dict)


def resolve_names(
    extractions: Iterable[Extraction], definitions: Sequence[Definition] = (), *, n_units: int
) -> Resolution:
    """Resolve the mentions, definitions and facts of a corpus.

    Args:
        extractions: one for each document, in a fixed order, iterated twice; their mentions are sorted by position.
        definitions: of names, which are entities though nothing else mentions them.
        n_units: text units of the corpus, the base of document frequencies.
    """
    table = NameTable.of(extractions, definitions)
    same = merge_names(table)
    roots, clusters, stated = _gather(extractions, table, same)
    for row, name in enumerate(table.names):
        if name.defined:
            cluster = clusters.setdefault(same.find(row), _Cluster())
            cluster.defined = max(cluster.defined, name.defined)
    for _, subject, thing in stated:
        if subject != thing and subject in clusters and thing in clusters:
            clusters[subject].facts += 1
            clusters[thing].facts += 1
    kept = {
        root: cluster for root, cluster in clusters.items() if _is_kept(table.names[root], cluster, n_units, len(roots))
    }

    ids = {root: content_id("e", table.names[root].key) for root in kept}
    order = sorted(kept, key=ids.__getitem__)
    position = {root: at for at, root in enumerate(order)}
    labels = Labels.of(table)
    entities = [_entity(ids[root], kept[root], table.names[root], labels) for root in order]
    lookup = np.full(len(table.names) + 1, -1, dtype=np.int32)  # the last slot is for mentions without a name
    for root, at in position.items():
        lookup[root] = at
    return Resolution(
        entities=entities,
        entity_of=_entity_of(table, same, position),
        mention_entity=lookup[np.frombuffer(roots, dtype=np.int32)] if len(roots) else np.empty(0, dtype=np.int32),
        facts=list(_facts(stated, ids)),
    )


def _gather(
    extractions: Iterable[Extraction], table: NameTable, same: UnionFind
) -> tuple[array[int], dict[int, _Cluster], list[_StatedFact]]:
    """Return the canonical name of each mention, the sums over the mentions of each, and the facts."""
    roots: array[int] = array("i")
    clusters: dict[int, _Cluster] = {}
    stated: list[_StatedFact] = []
    at = 0
    for number, extraction in enumerate(extractions):
        about_software = is_about_software(extraction)
        stated += _stated_facts(extraction, number, table, table.mentions[at : at + len(extraction.mentions)], same)
        for mention in extraction.mentions:
            name = table.mentions[at]
            at += 1
            root = same.find_in(number, name, mention.surface) if name >= 0 else -1
            roots.append(root)
            if root < 0:
                continue
            cluster = clusters.get(root)
            if cluster is None:
                cluster = clusters[root] = _Cluster()
            cluster.mentions += 1
            cluster.named += mention.kind != "noun_chunk" and not (mention.kind == "code" and " " in mention.surface)
            cluster.lower += mention.surface == mention.surface.lower()
            cluster.capital += mention.kind == "proper" and mention.label == "term"
            if cluster.last_unit != mention.unit_id:
                cluster.last_unit = mention.unit_id
                cluster.units += 1
            if mention.label != "term" and is_evidence(mention, about_software):
                cluster.labels[mention.label] = cluster.labels.get(mention.label, 0) + 1
            cluster.surfaces[mention.surface] = cluster.surfaces.get(mention.surface, 0) + 1
    return roots, clusters, stated


def _stated_facts(
    extraction: Extraction, document: int, table: NameTable, names: Sequence[int], same: UnionFind
) -> list[_StatedFact]:
    """Return the facts of a document; ``names`` are those of its mentions."""
    here = dict(zip((mention.surface for mention in extraction.mentions), names, strict=True))

    def root(surface: str) -> int:
        name = here[surface] if surface in here else table.find(surface)
        return same.find_in(document, name, surface) if name >= 0 else -1

    return [_StatedFact(fact, root(fact.subject), root(fact.object)) for fact in extraction.facts]


def _entity_of(table: NameTable, same: UnionFind, position: dict[int, int]) -> dict[str, int]:
    """The entity of each name, in the whole corpus or else in the first document that says what it stands for."""
    found = {}
    for row, name in enumerate(table.names):
        at = next((position[root] for root in same.roots_of(row) if root in position), None)
        if at is not None:
            found[name.key] = at
    return found


def _is_kept(name: Name, cluster: _Cluster, n_units: int, n_mentions: int) -> bool:
    """Whether a name is worth a node: not noise, not a hub, and not a word that says nothing of this corpus.

    An everyday word needs to be more frequent here than in general English, unless it is always written as a name or
    it is the title of a document or an entry of a glossary.
    """
    if not is_nameable(name.words) or name.words in CONSTANTS or (name.is_code and not is_code_name(name.key[1:])):
        return False
    expected = expected_mentions(name.words, n_mentions) if " " not in name.words else 0.0
    if cluster.defined >= MIN_COMMON_VALUE:
        return True
    if 4 * cluster.lower >= cluster.mentions and cluster.mentions < WEIRDNESS * expected:
        return False
    if cluster.defined:
        return True
    if 2 * cluster.named >= cluster.mentions:
        return cluster.capital < cluster.named or cluster.mentions >= expected
    if cluster.units > max(HUB_MIN_UNITS, HUB_SHARE * n_units):
        return False
    if " " in name.words:
        return cluster.mentions > 1 or cluster.facts > 0
    return cluster.mentions >= (MIN_MENTIONS if 0 < rank_of(name.words) <= COMMON_RANK else 2)


def _entity(entity_id: str, cluster: _Cluster, own: Name, labels: Labels) -> Entity:
    """Make the entity; its name is the most frequent form of the canonical name, in the singular or plural."""
    words, stated = singular_of(own.words), shown_name(own.stated)
    forms = {form: count for form, count in cluster.surfaces.items() if singular_of(normalise_name(form)) == words}
    if own.stated:
        forms[stated] = forms.get(stated, 0) + 1
    forms = forms or cluster.surfaces
    name = min(forms, key=lambda form: (-forms[form], form != stated, form not in own.surfaces, -len(form), form))
    return Entity(
        id=entity_id,
        name=name,
        label=labels.choose(own, cluster.mentions, cluster.labels),
        aliases=tuple(sorted(form for form in cluster.surfaces if form != name)),
        n_mentions=cluster.mentions,
        n_units=cluster.units,
    )


def _facts(stated: Iterable[_StatedFact], ids: dict[int, str]) -> Iterator[Fact]:
    seen = set()
    for raw, subject, thing in stated:
        if subject == thing or subject not in ids or thing not in ids:
            continue
        fact_id = content_id("f", raw.unit_id, raw.sentence, ids[subject], raw.predicate, ids[thing])
        if fact_id not in seen:
            seen.add(fact_id)
            yield Fact(
                id=fact_id,
                unit_id=raw.unit_id,
                sentence=raw.sentence,
                subject_id=ids[subject],
                predicate=raw.predicate,
                object_id=ids[thing],
                subject=raw.subject,
                object=raw.object,
                start_char=raw.start_char,
                end_char=raw.end_char,
            )
