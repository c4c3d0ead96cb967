"""Links between units, names and entities as the walk arrays, and links between documents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from graphctx.ingest.addresses import Addresses, link_definitions
from graphctx.ingest.corpus import Corpus
from graphctx.ingest.definitions import Definition, find_definitions
from graphctx.model.documents import Document
from graphctx.model.ids import content_id
from graphctx.model.knowledge import LABELS, Entity, Extraction
from graphctx.nlp.tokens import AnswerCounter
from graphctx.store.walk import Long, WalkArrays, name_hash, pointers, proper_share
from graphctx.text.gazetteer import Gazetteer, is_identifier, name_words
from graphctx.text.names import normalise_name, reads_as_clause

PLACE_TITLE, PLACE_FIRST_SENTENCE, PLACE_ELSEWHERE = 0.7, 0.5, 0.3
"""How close a unit is to an entity, by the place of the mention (docs/retrieval.md, step 6)."""

MAX_HEADING_ENTITY_WORDS = 6

MAX_LABEL_VALUE = 0.5
"""Table cells, link labels and file stems define only what the text itself names; they make no entities."""

MAX_DEFINITIONS = 3
"""A term that more documents define is a common label ("Note:", ``--help``) and is ignored."""


@dataclass(frozen=True, slots=True)
class MentionRows:
    """Mentions, sorted by unit, span and entity.

    ``columns`` is int64 [n, 6]: unit row, sentence row, entity row, start, end, and whether it is capitalised.
    """

    columns: Long
    kind: list[str]

    @classmethod
    def sort(cls, columns: Long, kind: Sequence[str]) -> MentionRows:
        """Sort mentions."""
        order = np.lexsort((columns[:, 2], columns[:, 4], columns[:, 3], columns[:, 0]))
        return cls(columns[order], [kind[at] for at in order])

    def with_entities(self, entity: Long) -> MentionRows:
        """The same mentions, of entities with other rows."""
        columns = self.columns.copy()
        columns[:, 2] = entity
        return MentionRows.sort(columns, self.kind)

    @property
    def unit(self) -> Long:
        """Unit rows."""
        return self.columns[:, 0]

    @property
    def sentence(self) -> Long:
        """Sentence rows."""
        return self.columns[:, 1]

    @property
    def entity(self) -> Long:
        """Entity rows."""
        return self.columns[:, 2]

    @property
    def capital(self) -> Long:
        """1 where the mention has a capital, else 0."""
        return self.columns[:, 5]


@dataclass(frozen=True, slots=True)
class Linked:
    """Entities with everything that links them.

    Attributes:
        entities: sorted by id.
        entity_row: the row of each entity id.
        mentions: of entity rows.
        arrays: the walk arrays.
        links: int64 [n, 4], sorted: source row and target row of documents, hyperlinks, title mentions.
    """

    entities: list[Entity]
    entity_row: dict[str, int]
    mentions: MentionRows
    arrays: WalkArrays
    links: Long


def link_corpus(
    corpus: Corpus,
    extractions: Sequence[Extraction],
    resolved: Sequence[Entity],
    mention_entity: npt.NDArray[np.int32],
) -> Linked:
    """Link a corpus.

    Args:
        corpus: documents, sections and units in row order.
        extractions: one for each document, in row order.
        resolved: entities of the resolve step.
        mention_entity: for each mention in order, the position of its entity in ``resolved``, or -1.
    """
    addresses = Addresses([document.uri for document in corpus.documents])
    definitions = _definitions(corpus, addresses)
    names = {
        normalise_name(surface): number
        for number, entity in reversed(list(enumerate(resolved)))
        for surface in (*entity.aliases, entity.name)
    }
    entities = list(resolved)
    titles = {normalise_name(document.title) for document in corpus.documents if document.titled}
    for definition in definitions:
        if (
            definition.key not in names
            and _is_short(definition)
            and (definition.key in titles or not reads_as_clause(definition.surface))
        ):
            names[definition.key] = len(entities)
            entities.append(Entity(content_id("e", definition.key), definition.surface, "term", (), 0, 0))
    definitions = [definition for definition in definitions if definition.key in names]
    definition_names = {definition.key: names[definition.key] for definition in definitions}
    found = _mentions(corpus, extractions, mention_entity, Gazetteer(definition_names))
    return _finish(corpus, entities, names, definitions, found, definition_names, addresses)


def _definitions(corpus: Corpus, addresses: Addresses) -> list[Definition]:
    """All definitions, without the labels that many documents define."""
    definitions: list[Definition] = []
    definers: dict[str, set[int]] = defaultdict(set)
    for number, document in enumerate(corpus.documents):
        sections, units = corpus.sections_of(number), corpus.units_of(number)
        for definition in find_definitions(document, sections, units, corpus.first_unit[number]):
            definitions.append(definition)
            if not definition.own:
                definers[definition.key].add(number)
    kept = [
        definition for definition in definitions if definition.own or len(definers[definition.key]) <= MAX_DEFINITIONS
    ]
    return kept + link_definitions(corpus, addresses)


def _is_short(definition: Definition) -> bool:
    """Whether an unmentioned definition may become an entity. Questions, long headings and labels may not."""
    return (
        (definition.own or definition.value > MAX_LABEL_VALUE)
        and len(definition.key.split()) <= MAX_HEADING_ENTITY_WORDS
        and not definition.surface.rstrip().endswith(("?", "!", ":"))
    )


def _mentions(
    corpus: Corpus, extractions: Sequence[Extraction], mention_entity: npt.NDArray[np.int32], gazetteer: Gazetteer
) -> MentionRows:
    rows: list[tuple[int, int, int, int, int, bool]] = []
    kinds: list[str] = []
    unit_row = {unit.id: row for row, unit in enumerate(corpus.units)}
    at = 0
    for number, (document, extraction) in enumerate(zip(corpus.documents, extractions, strict=True)):
        taken: set[tuple[int, int]] = set()
        for mention in extraction.mentions:
            entity = int(mention_entity[at])
            at += 1
            row = unit_row.get(mention.unit_id)
            if entity < 0 or row is None:
                continue
            rows.append(
                (
                    row,
                    corpus.first_sentence[row] + mention.sentence,
                    entity,
                    mention.start_char,
                    mention.end_char,
                    _is_proper(document.text, mention.start_char, mention.end_char),
                )
            )
            kinds.append(mention.kind)
            taken.add((mention.start_char, entity))
        for row, unit in enumerate(corpus.units_of(number), corpus.first_unit[number]):
            for order, sentence in enumerate(unit.sentences):
                text = document.text[sentence.start_char : sentence.end_char]
                for match in gazetteer.find(text):
                    start = sentence.start_char + match.start
                    if (start, match.value) not in taken:
                        end = sentence.start_char + match.end
                        capital = _is_proper(document.text, start, end)
                        rows.append((row, corpus.first_sentence[row] + order, match.value, start, end, capital))
                        kinds.append("proper")
    return MentionRows.sort(np.array(rows, dtype=np.int64).reshape(-1, 6), kinds)


def _is_proper(text: str, start: int, end: int) -> bool:
    """Whether a span is written as a name: with a capital, or as code."""
    surface = text[start:end]
    if any(c.isupper() for c in surface):
        return True
    return surface[:1].isalpha() and not any(c.isspace() for c in surface) and is_identifier(text, start, end)


def _finish(
    corpus: Corpus,
    entities: list[Entity],
    names: Mapping[str, int],
    definitions: Sequence[Definition],
    mentions: MentionRows,
    definition_names: Mapping[str, int],
    addresses: Addresses,
) -> Linked:
    """Drop entities that nothing mentions, sort the rest by id, and build the arrays over the new rows."""
    gazetteer = Gazetteer(definition_names)
    titles = [
        sorted({names_in.value for names_in in gazetteer.find(document.title)} | _own(document, definition_names))
        for document in corpus.documents
    ]
    title_pairs = [
        (row, entity)
        for number in range(len(corpus.documents))
        for row in range(corpus.first_unit[number], corpus.first_unit[number] + len(corpus.units_of(number)))
        for entity in titles[number]
    ]
    definition_pairs = {(definition.unit_row, definition_names[definition.key]): 0.0 for definition in definitions}
    for definition in definitions:
        pair = (definition.unit_row, definition_names[definition.key])
        definition_pairs[pair] = max(definition_pairs[pair], definition.value)
    used = np.zeros(len(entities), dtype=bool)
    used[mentions.entity] = True
    for _, entity in [*title_pairs, *definition_pairs]:
        used[entity] = True
    kept = sorted((entity.id, number) for number, entity in enumerate(entities) if used[number])
    new_row = np.full(len(entities), -1, dtype=np.int64)
    for row, (_, number) in enumerate(kept):
        new_row[number] = row
    mentions = mentions.with_entities(new_row[mentions.entity])
    arrays = _arrays(
        corpus,
        len(kept),
        mentions,
        [(unit, int(new_row[entity])) for unit, entity in title_pairs],
        {(unit, int(new_row[entity])): value for (unit, entity), value in definition_pairs.items()},
        {name: int(new_row[entity]) for name, entity in names.items() if new_row[entity] >= 0},
        np.array([LABELS.index(entities[number].label) for _, number in kept], dtype=np.int8),
    )
    n_units = np.diff(arrays.entity_ptr)
    n_mentions = np.bincount(mentions.entity, minlength=len(kept))
    final = [
        replace(entities[number], n_mentions=int(n_mentions[row]), n_units=int(n_units[row]))
        for row, (_, number) in enumerate(kept)
    ]
    entity_row = {entity.id: row for row, entity in enumerate(final)}
    links = _document_links(corpus, addresses, definition_names, arrays, new_row)
    return Linked(final, entity_row, mentions, arrays, links)


def _own(document: Document, definition_names: Mapping[str, int]) -> set[int]:
    key = normalise_name(document.title)
    return {definition_names[key]} if document.titled and key in definition_names else set()


def _arrays(
    corpus: Corpus,
    n_entities: int,
    mentions: MentionRows,
    title_pairs: Sequence[tuple[int, int]],
    definitions: Mapping[tuple[int, int], float],
    names: Mapping[str, int],
    labels: npt.NDArray[np.int8],
) -> WalkArrays:
    n_units = len(corpus.units)
    width = max(n_entities, 1)
    mention_key = mentions.unit * width + mentions.entity
    title_key = np.array([unit * width + entity for unit, entity in title_pairs], dtype=np.int64)
    definition_key = np.array([unit * width + entity for unit, entity in definitions], dtype=np.int64)
    pair_key = np.unique(np.concatenate([mention_key, title_key, definition_key]))
    pair_unit, pair_entity = pair_key // width, pair_key % width
    place = np.full(len(pair_key), PLACE_ELSEWHERE, dtype=np.float32)
    first = np.isin(mentions.sentence, np.asarray(corpus.first_sentence[:-1], dtype=np.int64))
    place[np.searchsorted(pair_key, mention_key[first])] = PLACE_FIRST_SENTENCE
    place[np.searchsorted(pair_key, title_key)] = PLACE_TITLE
    definition_value = np.fromiter(definitions.values(), dtype=np.float32, count=len(definitions))
    pair_definition = np.zeros(len(pair_key), dtype=np.float32)
    pair_definition[np.searchsorted(pair_key, definition_key)] = definition_value
    by_pair = np.unique(
        np.stack([np.searchsorted(pair_key, mention_key), mentions.sentence], axis=1).reshape(-1, 2), axis=0
    )
    by_entity = np.lexsort((pair_unit, pair_entity))
    defining = by_entity[pair_definition[by_entity] > 0]
    mention_pair = np.searchsorted(pair_key, mention_key)
    counts = np.bincount(mention_pair, minlength=len(pair_key))
    capitals = np.bincount(mention_pair[mentions.capital > 0], minlength=len(pair_key))
    hashes = np.array([name_hash([word for word, _, _ in name_words(name)]) for name in names], dtype=np.uint64)
    name_order = np.argsort(hashes, kind="stable")
    n_docs_units = np.repeat(
        np.arange(len(corpus.documents)), [len(corpus.units_of(i)) for i in range(len(corpus.documents))]
    )
    return WalkArrays(
        unit_doc=n_docs_units.astype(np.int32),
        unit_sentence=np.asarray(corpus.first_sentence, dtype=np.int32),
        sentence_start=np.array([s.start_char for u in corpus.units for s in u.sentences], dtype=np.int32),
        sentence_end=np.array([s.end_char for u in corpus.units for s in u.sentences], dtype=np.int32),
        sentence_tokens=_token_counts(corpus),
        unit_pair=pointers(pair_unit, n_units),
        pair_unit=pair_unit.astype(np.int32),
        pair_entity=pair_entity.astype(np.int32),
        pair_place=place,
        pair_definition=pair_definition,
        pair_sentence_ptr=pointers(by_pair[:, 0], len(pair_key)),
        pair_sentence=by_pair[:, 1].astype(np.int32),
        entity_ptr=pointers(pair_entity[by_entity], n_entities),
        entity_pair=by_entity.astype(np.int32),
        definition_ptr=pointers(pair_entity[defining], n_entities),
        definition_unit=pair_unit[defining].astype(np.int32),
        definition_value=pair_definition[defining],
        entity_proper=proper_share(pair_entity, counts, capitals, n_entities),
        entity_label=labels,
        name_hash=hashes[name_order],
        name_entity=np.array(list(names.values()), dtype=np.int32)[name_order],
        pair_mentions=_small(counts),
        pair_capitals=_small(capitals),
    )


def _token_counts(corpus: Corpus) -> npt.NDArray[np.uint16]:
    """Return the tokens of each sentence as quotes are measured, or the largest uint16 for more."""
    counter = AnswerCounter()
    counts = [
        count
        for document, _, unit in corpus.placed_units()
        for count in counter.count_many([document.text[s.start_char : s.end_char] for s in unit.sentences])
    ]
    return np.minimum(np.array(counts, dtype=np.int64), np.iinfo(np.uint16).max).astype(np.uint16)


def _small(counts: Long) -> npt.NDArray[np.integer]:
    """Counts in the smallest type that holds them."""
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))


def _document_links(
    corpus: Corpus, addresses: Addresses, definition_names: Mapping[str, int], arrays: WalkArrays, new_row: Long
) -> Long:
    """Hyperlinks that lead to another document of the corpus, and mentions of other documents' titles."""
    counts: dict[tuple[int, int], list[int]] = {}
    for row, document in enumerate(corpus.documents):
        for item in document.links:
            other = addresses.target(document, item.target)
            if other is not None and other != row:
                counts.setdefault((row, other), [0, 0])[0] += 1
    owner: dict[int, int] = {}
    for row, document in enumerate(corpus.documents):
        for named in _own(document, definition_names):
            own = int(new_row[named])
            owner[own] = -1 if own in owner else row
    for entity, row in owner.items():
        if row < 0:
            continue
        pairs = arrays.entity_pair[arrays.entity_ptr[entity] : arrays.entity_ptr[entity + 1]]
        for source in np.unique(arrays.unit_doc[arrays.pair_unit[pairs]]):
            if source != row:
                counts.setdefault((int(source), row), [0, 0])[1] += 1
    return np.array([(*edge, *counts[edge]) for edge in sorted(counts)], dtype=np.int64).reshape(-1, 4)
