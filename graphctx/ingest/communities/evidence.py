"""The evidence that communities are described from: the tables of the snapshot in the making, as arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from graphctx.ingest.embed import Quantised
from graphctx.store.walk import WalkArrays

Int = npt.NDArray[np.int64]
Real = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CommunityEvidence:
    """Mentions, facts and sentences by row. Rows are those of the snapshot's tables.

    Attributes:
        entity_ids, names: of each entity.
        label: of each entity.
        proper: float64 [E], the smoothed share of its mentions that are capitalised.
        named: float64 [E], how much the unit that is most about it is (1 a title, 0.5 a heading, 0 none).
        mention_unit, mention_sentence, mention_entity: int64 [m].
        definition_unit, definition_entity: int64, units that are about an entity.
        fact_ids, fact_source, fact_target, fact_sentence: of each fact; its ends are entity rows.
        fact_predicate: of each fact.
        fact_weight: float64, how strongly the ends of each fact are related.
        sentence_unit, sentence_start, sentence_end: int64 [M], spans in the text of the unit's document.
        unit_doc, unit_kind, unit_heading: of each unit; the heading is the path below the title.
        texts, titles: of each document.
        vectors: int8 [M, d] with their scales.
    """

    entity_ids: Sequence[str]
    names: Sequence[str]
    label: Sequence[str]
    proper: Real
    named: Real
    mention_unit: Int
    mention_sentence: Int
    mention_entity: Int
    definition_unit: Int
    definition_entity: Int
    fact_ids: Sequence[str]
    fact_predicate: Sequence[str]
    fact_source: Int
    fact_target: Int
    fact_sentence: Int
    fact_weight: Real
    sentence_unit: Int
    sentence_start: Int
    sentence_end: Int
    unit_doc: Int
    unit_kind: Sequence[str]
    unit_heading: Sequence[str]
    texts: Sequence[str]
    titles: Sequence[str]
    vectors: Quantised

    @classmethod
    def of(
        cls, tables: Mapping[str, pa.Table], texts: Sequence[str], arrays: WalkArrays, vectors: Quantised
    ) -> CommunityEvidence:
        """Take the evidence from the tables, the texts of the documents, the walk arrays and the sentences' vectors."""
        entities, mentions, facts = tables["entities"], tables["mentions"], tables["facts"]
        ids = entities["id"].to_pylist()
        row_of = {entity: row for row, entity in enumerate(ids)}
        ends = [
            np.array([row_of[one] for one in facts[name].to_pylist()], dtype=np.int64)
            for name in ("subject_id", "object_id")
        ]
        definition_entity = np.repeat(np.arange(len(ids)), np.diff(arrays.definition_ptr))
        named = np.zeros(len(ids))
        np.maximum.at(named, definition_entity, arrays.definition_value.astype(np.float64))
        return cls(
            entity_ids=ids,
            names=entities["name"].to_pylist(),
            label=entities["label"].to_pylist(),
            proper=arrays.entity_proper.astype(np.float64),
            named=named,
            mention_unit=_numbers(mentions, "unit_row"),
            mention_sentence=_numbers(mentions, "sentence_row"),
            mention_entity=_numbers(mentions, "entity_row"),
            definition_unit=arrays.definition_unit.astype(np.int64),
            definition_entity=definition_entity,
            fact_ids=facts["id"].to_pylist(),
            fact_predicate=facts["predicate"].to_pylist(),
            fact_source=ends[0],
            fact_target=ends[1],
            fact_sentence=_numbers(facts, "sentence_row"),
            fact_weight=_weights(tables["related"], ends[0], ends[1], len(ids)),
            sentence_unit=_numbers(tables["sentences"], "unit_row"),
            sentence_start=_numbers(tables["sentences"], "start_char"),
            sentence_end=_numbers(tables["sentences"], "end_char"),
            unit_doc=_numbers(tables["units"], "doc_row"),
            unit_kind=tables["units"]["kind"].to_pylist(),
            unit_heading=tables["units"]["heading"].to_pylist(),
            texts=texts,
            titles=tables["documents"]["title"].to_pylist(),
            vectors=vectors,
        )

    def sentence(self, row: int) -> str:
        """The text of a sentence, exactly as its document has it."""
        text = self.texts[self.unit_doc[self.sentence_unit[row]]]
        return str(text[self.sentence_start[row] : self.sentence_end[row]])

    def fact(self, row: int) -> str:
        """A fact in words."""
        subject, target = self.names[self.fact_source[row]], self.names[self.fact_target[row]]
        return f"{subject} {self.fact_predicate[row]} {target}"


@dataclass(frozen=True, slots=True)
class Level:
    """The communities of one level over the entities, mentions and units.

    Attributes:
        owner: int64 [E], the position of the entity's community in this level, or -1.
        count: how many communities there are.
        units: int64 [count], how many units treat of each.
        weight: float64 [E], how characteristic each entity is of its community.
    """

    owner: Int
    count: int
    units: Int
    weight: Real

    @classmethod
    def of(cls, evidence: CommunityEvidence, owner: Int, count: int) -> Level:
        """Count the mentions of each community's units: class-based TF-IDF (Grootendorst 2022, BERTopic).

        A unit treats of a community if it names two of its entities or is about one; where no unit does, those
        that name one do. The weight of an entity is ``tf * log(1 + A / f)``: ``tf`` its mentions in those units,
        ``f`` all its mentions, ``A`` the mean of the communities' mentions, rounded to a power of two, so that most
        changes of a corpus leave the weights elsewhere as they are.
        """
        n_units = len(evidence.unit_doc)
        of_mention = owner[evidence.mention_entity]
        kept = of_mention >= 0
        place, entity = of_mention[kept], evidence.mention_entity[kept]
        key = place * n_units + evidence.mention_unit[kept]
        named = np.unique(np.stack([key, entity], axis=1), axis=0)
        keys, distinct = np.unique(named[:, 0], return_counts=True)
        of_definition = owner[evidence.definition_entity]
        definitions = of_definition[of_definition >= 0] * n_units + evidence.definition_unit[of_definition >= 0]
        treats = (distinct >= 2) | np.isin(keys, definitions)
        having = np.bincount(keys[treats] // n_units, minlength=count) if n_units else np.zeros(count, np.int64)
        if n_units:
            treats |= having[keys // n_units] == 0
        units = np.bincount(keys[treats] // n_units, minlength=count) if n_units else np.zeros(count, np.int64)
        here = treats[np.searchsorted(keys, key)] if len(keys) else np.zeros(0, bool)
        tf = np.bincount(entity[here], minlength=len(owner)).astype(np.float64)
        f = np.maximum(np.bincount(evidence.mention_entity, minlength=len(owner)), 1)
        mean = 2.0 ** round(math.log2(max(tf.sum() / max(count, 1), 1.0)))
        return cls(owner, count, units.astype(np.int64), tf * np.log1p(mean / f))


def _numbers(table: pa.Table, column: str) -> Int:
    numbers: Int = table[column].to_numpy().astype(np.int64)
    return numbers


def _weights(related: pa.Table, source: Int, target: Int, count: int) -> Real:
    """Return the weight of the edge between each two entities, 0 without one."""
    keys = _numbers(related, "source_row") * count + _numbers(related, "target_row")
    if not len(keys):
        return np.zeros(len(source))
    wanted = np.minimum(source, target) * count + np.maximum(source, target)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, related["weight"].to_numpy().astype(np.float64)[at], 0.0)
