"""The link step: mentions of entities, the arrays that a search walks on, and links between documents."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from graphctx.ingest.corpus import Corpus
from graphctx.ingest.definitions import Definition
from graphctx.ingest.link_targets import LinkTargets
from graphctx.ingest.name_keys import CODE_MARK, name_key
from graphctx.ingest.resolve import Resolution
from graphctx.model.documents import BLOCK_KINDS
from graphctx.model.knowledge import LABELS, Entity, Extraction
from graphctx.nlp.identifiers import is_capitals
from graphctx.store.schema import LINKS, MENTIONS
from graphctx.store.walk import Long, WalkArrays, name_hash, pointers, proper_share
from graphctx.text.gazetteer import Gazetteer, is_identifier, name_words
from graphctx.text.names import normalise_name, singular_of, unnumbered

PLACE_TITLE, PLACE_FIRST_SENTENCE, PLACE_ELSEWHERE = 0.7, 0.5, 0.3
"""How close a unit is to an entity, by the place of the mention (docs/retrieval.md, step 5)."""

ACRONYM_SHARE = 3
"""An acronym is the name of what it stands for where it is this many times as frequent: "API"."""

_MARKUP = re.compile(r"\]\([^()\s]*\)|\]\[[^\[\]]*\]|<!--.*?-->|[`*\[\]]", re.DOTALL)
_UNIT, _SENTENCE, _ENTITY, _START, _END, _CAPITAL = range(6)  # columns of mentions while they are gathered


@dataclass(frozen=True, slots=True)
class Linked:
    """Entities with everything that links them.

    Attributes:
        entities: sorted by id.
        mentions: schema ``MENTIONS``.
        links: schema ``LINKS``.
        arrays: the walk arrays.
    """

    entities: list[Entity]
    mentions: pa.Table
    links: pa.Table
    arrays: WalkArrays

    def entity_rows(self) -> dict[str, int]:
        """Return the row of each entity id."""
        return {entity.id: row for row, entity in enumerate(self.entities)}


def link_corpus(
    corpus: Corpus,
    extractions: Iterable[Extraction],
    resolution: Resolution,
    definitions: Sequence[Definition],
    boilerplate: frozenset[tuple[str, int]] = frozenset(),
) -> Linked:
    """Link a corpus.

    Args:
        corpus: documents, sections and units in row order.
        extractions: one for each document, in row order.
        resolution: of their mentions and definitions.
        definitions: as `corpus_definitions` returns them.
        boilerplate: sentences that name nothing and are no evidence, each as the id of its unit and its place in there.

    Returns:
        The resolved entities without those that nothing mentions.
    """
    targets = LinkTargets([document.uri for document in corpus.documents])
    entities, number_of = resolution.entities, resolution.entity_of
    defined = {d.key: number_of[d.key] for d in definitions if d.key in number_of}
    gazetteer = Gazetteer(defined)
    forms = corpus.sentence_forms()
    mentions, kinds = _mentions(corpus, forms, extractions, resolution.mention_entity, gazetteer, boilerplate)
    own = [
        defined.get(name_key(unnumbered(document.title))) if document.titled else None for document in corpus.documents
    ]
    titled = [
        (unit, entity)
        for row, document in enumerate(corpus.documents)
        for entity in {match.value for match in gazetteer.find(document.title)} | ({own[row]} - {None})
        for unit in range(corpus.first_unit[row], corpus.first_unit[row + 1])
    ]
    defining: dict[tuple[int, int], float] = defaultdict(float)
    for definition in definitions:
        if definition.key in defined:
            pair = definition.unit_row, defined[definition.key]
            defining[pair] = max(defining[pair], definition.value)
    # From here on entities are known by their rows: those that something mentions, sorted by id.
    used = {*mentions[:, _ENTITY].tolist(), *(entity for _, entity in [*titled, *defining])}
    kept = sorted(used, key=lambda number: entities[number].id)
    row_of = np.full(len(entities), -1, dtype=np.int64)
    row_of[kept] = np.arange(len(kept))
    mentions[:, _ENTITY] = row_of[mentions[:, _ENTITY]]
    order = np.lexsort((mentions[:, _ENTITY], mentions[:, _END], mentions[:, _START], mentions[:, _UNIT]))
    mentions = mentions[order]
    arrays = _arrays(
        corpus,
        forms,
        _barred(corpus, forms, boilerplate),
        [LABELS.index(entities[number].label) for number in kept],
        mentions,
        [(unit, int(row_of[entity])) for unit, entity in titled],
        {(unit, int(row_of[entity])): value for (unit, entity), value in defining.items()},
        {name: int(row_of[number]) for name, number in number_of.items() if row_of[number] >= 0},
    )
    n_units = np.diff(arrays.entity_ptr)
    n_mentions = np.bincount(mentions[:, _ENTITY], minlength=len(kept))
    columns = [pa.array(mentions[:, at].astype(np.int32)) for at in (_UNIT, _SENTENCE, _ENTITY, _START, _END)]
    columns.insert(3, pa.array([kinds[at] for at in order], pa.string()))
    written = _written(corpus, mentions, len(kept))
    return Linked(
        [
            replace(_named(entities[number], written[row]), n_mentions=int(n_mentions[row]), n_units=int(n_units[row]))
            for row, number in enumerate(kept)
        ],
        pa.table(columns, schema=MENTIONS),
        _document_links(corpus, targets, [None if one is None else int(row_of[one]) for one in own], arrays),
        arrays,
    )


def _written(corpus: Corpus, mentions: Long, n_entities: int) -> list[Counter[str]]:
    """How often each form of each entity occurs."""
    forms: list[Counter[str]] = [Counter() for _ in range(n_entities)]
    texts = [document.text for document, _, _ in corpus.placed_units()]
    for unit, entity, start, end in mentions[:, [_UNIT, _ENTITY, _START, _END]].tolist():
        forms[entity][" ".join(_MARKUP.sub("", texts[unit][start:end]).split())] += 1
    return forms


def _named(entity: Entity, forms: Counter[str]) -> Entity:
    """The entity by the most frequent form of its name, in the singular or plural, among its mentions."""
    words = _joined(entity.name)
    fit = {form: count for form, count in forms.items() if _joined(form) == words}
    fit = fit or {entity.name: 0}
    short, times = forms.most_common(1)[0] if forms else ("", 0)
    if is_capitals(short) and times > ACRONYM_SHARE * sum(fit.values()):
        fit = {short: times}
    name = min(fit, key=lambda form: (-fit[form], form != entity.name, -len(form), form))
    return replace(
        entity, name=name, aliases=tuple(sorted(({*entity.aliases} | (fit.keys() & {entity.name})) - {name}))
    )


def _joined(name: str) -> str:
    """The words of a name in the singular, written together: forms of one name may break them in other places."""
    return singular_of(normalise_name(name)).replace(" ", "")


def _mentions(
    corpus: Corpus,
    forms: Mapping[str, npt.NDArray[np.int32]],
    extractions: Iterable[Extraction],
    mention_entity: npt.NDArray[np.int32],
    gazetteer: Gazetteer,
    boilerplate: frozenset[tuple[str, int]],
) -> tuple[Long, list[str]]:
    """The mentions that were extracted, and further ones of defined names: their columns, int64 [n, 6], and kinds."""
    rows = [np.zeros((0, 6), dtype=np.int64)]
    kinds: list[str] = []
    unit_row = corpus.unit_rows()
    numbers = iter(mention_entity.tolist())
    in_code = (forms["kind"] == BLOCK_KINDS.index("code")).tolist()
    for document_row, (document, extraction) in enumerate(zip(corpus.documents, extractions, strict=True)):
        taken: set[tuple[int, int]] = set()
        found: list[tuple[int, int, int, int, int, str]] = []
        for mention, entity in zip(extraction.mentions, islice(numbers, len(extraction.mentions)), strict=True):
            row = unit_row.get(mention.unit_id)
            if entity >= 0 and row is not None:
                found.append((row, mention.sentence, entity, mention.start_char, mention.end_char, mention.kind))
                taken.add((mention.start_char, entity))
        for row, unit in enumerate(corpus.units_of(document_row), corpus.first_unit[document_row]):
            for ordinal, sentence in enumerate(unit.sentences):
                if (unit.id, ordinal) in boilerplate:
                    continue
                at = sentence.start_char
                prose = not in_code[corpus.first_sentence[row] + ordinal]
                for match in gazetteer.find(document.text[at : sentence.end_char], prose=prose):
                    if (at + match.start, match.value) not in taken:
                        found.append((row, ordinal, match.value, at + match.start, at + match.end, "proper"))
        here = []
        for row, ordinal, entity, start, end, how in found:
            capital = _is_proper(document.text, start, end)
            number = corpus.first_sentence[row] + ordinal
            here.append((row, number, entity, start, end, capital))
            kinds.append("code_block" if in_code[number] else how)
        rows.append(np.array(here, dtype=np.int64).reshape(-1, 6))
    return np.concatenate(rows), kinds


def _is_proper(text: str, start: int, end: int) -> bool:
    """Whether a span is written as a name: with a capital, or as code."""
    surface = text[start:end]
    if any(c.isupper() for c in surface):
        return True
    return surface[:1].isalpha() and not any(c.isspace() for c in surface) and is_identifier(text, start, end)


def _arrays(
    corpus: Corpus,
    forms: Mapping[str, npt.NDArray[np.int32]],
    barred: npt.NDArray[np.bool_],
    labels: Sequence[int],
    mentions: Long,
    titled: Sequence[tuple[int, int]],
    defining: Mapping[tuple[int, int], float],
    names: Mapping[str, int],
) -> WalkArrays:
    """Lay out the walk arrays.

    Args:
        corpus: documents and units.
        forms: of the sentences.
        barred: the sentences that are no evidence.
        labels: of each entity, as a position in ``LABELS``.
        mentions: sorted by unit.
        titled, defining: pairs of unit and entity rows.
        names: entity rows by the keys of their names.
    """
    n_entities, width = len(labels), max(len(labels), 1)

    def keys(pairs: npt.ArrayLike) -> Long:
        unit, entity = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return np.asarray(unit * width + entity)

    mention_key, title_key = keys(mentions[:, [_UNIT, _ENTITY]]), keys(titled)
    definition_key = keys(list(defining))
    pair_key = np.unique(np.concatenate([mention_key, title_key, definition_key]))
    pair_unit, pair_entity = pair_key // width, pair_key % width
    mention_pair = np.searchsorted(pair_key, mention_key)
    place = np.full(len(pair_key), PLACE_ELSEWHERE, dtype=np.float32)
    place[mention_pair[np.isin(mentions[:, _SENTENCE], corpus.first_sentence[:-1])]] = PLACE_FIRST_SENTENCE
    place[np.searchsorted(pair_key, title_key)] = PLACE_TITLE
    definition = np.zeros(len(pair_key), dtype=np.float32)
    definition[np.searchsorted(pair_key, definition_key)] = list(defining.values())
    pair_sentence = np.unique(np.stack([mention_pair, mentions[:, _SENTENCE]], axis=1).reshape(-1, 2), axis=0)
    by_entity = np.lexsort((pair_unit, pair_entity))
    defined = by_entity[definition[by_entity] > 0]
    counts = np.bincount(mention_pair, minlength=len(pair_key))
    capitals = np.bincount(mention_pair[mentions[:, _CAPITAL] > 0], minlength=len(pair_key))
    by_hash: dict[int, int] = {}
    for name in sorted(names, key=lambda name: (name.startswith(CODE_MARK), name)):  # prose before code
        by_hash.setdefault(name_hash([word for word, _, _ in name_words(name)]), names[name])
    hashes = sorted(by_hash)
    return WalkArrays(
        unit_doc=np.repeat(np.arange(len(corpus.documents), dtype=np.int32), np.diff(corpus.first_unit)),
        unit_sentence=np.array(corpus.first_sentence, dtype=np.int32),
        sentence_start=forms["start_char"],
        sentence_end=forms["end_char"],
        sentence_tokens=np.minimum(forms["n_tokens"], np.iinfo(np.uint16).max).astype(np.uint16),
        sentence_kind=forms["kind"].astype(np.uint8),
        sentence_opens=forms["opens"].astype(bool),
        sentence_links=barred,
        unit_pair=pointers(pair_unit, len(corpus.units)),
        pair_unit=pair_unit.astype(np.int32),
        pair_entity=pair_entity.astype(np.int32),
        pair_place=place,
        pair_definition=definition,
        pair_sentence_ptr=pointers(pair_sentence[:, 0], len(pair_key)),
        pair_sentence=pair_sentence[:, 1].astype(np.int32),
        entity_ptr=pointers(pair_entity[by_entity], n_entities),
        entity_pair=by_entity.astype(np.int32),
        definition_ptr=pointers(pair_entity[defined], n_entities),
        definition_unit=pair_unit[defined].astype(np.int32),
        definition_value=definition[defined],
        entity_proper=proper_share(pair_entity, counts, capitals, n_entities),
        entity_label=np.array(labels, dtype=np.int8),
        name_hash=np.array(hashes, dtype=np.uint64),
        name_entity=np.array([by_hash[one] for one in hashes], dtype=np.int32),
        pair_mentions=_smallest(counts),
        pair_capitals=_smallest(capitals),
    )


def _barred(
    corpus: Corpus, forms: Mapping[str, npt.NDArray[np.int32]], boilerplate: frozenset[tuple[str, int]]
) -> npt.NDArray[np.bool_]:
    """Whether each sentence is no evidence: its block is links, or it is boilerplate."""
    unit_row = corpus.unit_rows()
    barred = forms["links"].astype(bool)
    barred[[corpus.first_sentence[unit_row[unit]] + ordinal for unit, ordinal in boilerplate]] = True
    return barred


def _smallest(counts: Long) -> npt.NDArray[np.integer]:
    """Counts in the smallest type that holds them."""
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))


def _document_links(corpus: Corpus, targets: LinkTargets, own: Sequence[int | None], arrays: WalkArrays) -> pa.Table:
    """Hyperlinks to other documents of the corpus, and mentions of other documents' titles.

    ``own`` is the entity that each document's title names. One of several documents counts for none of them.
    """
    counts: dict[tuple[int, int], list[int]] = {}
    for row, document in enumerate(corpus.documents):
        for link in document.links:
            target = targets.target(document, link.target)
            if target is not None and target != row:
                counts.setdefault((row, target), [0, 0])[0] += 1
    documents = Counter(own)
    for row, entity in enumerate(own):
        if entity is None or documents[entity] > 1:
            continue
        pairs = arrays.entity_pair[arrays.entity_ptr[entity] : arrays.entity_ptr[entity + 1]]
        for source in np.unique(arrays.unit_doc[arrays.pair_unit[pairs]]).tolist():
            if source != row:
                counts.setdefault((source, row), [0, 0])[1] += 1
    rows = [(*edge, *counts[edge]) for edge in sorted(counts)]
    return pa.Table.from_pylist([dict(zip(LINKS.names, row, strict=True)) for row in rows], schema=LINKS)
