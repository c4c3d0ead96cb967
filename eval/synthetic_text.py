"""Made-up documents by the hundred thousand: words, sentences and names as parallel arrays, texts joined by Arrow.

Everything is drawn by one seeded generator, so that a size always gives the same corpus. The shape is that of the
encyclopaedic development sets: 2.5 units a document, 4.5 sentences of 11 to 22 words a unit, some ten mentions a unit
whose names are as unequal as real ones (half of them name something that no other unit names, the commonest is in
every eighth unit), and a topic for each document, which its words, names and vectors share.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Ints = npt.NDArray[np.int64]

N_WORDS = 30_000
MAX_TOPICS = 400
UNITS_PER_TOPIC = 25
TOPIC_WORDS = 60
ENTITIES_PER_UNIT = 4
MENTIONS_PER_UNIT = 10
COMMON_NAMES = 1_000
"""This many of the commonest names belong to no topic."""

_SEPARATORS = ("", " ", ". ", ".\n\n")
_SYLLABLES = [
    a + b for a in "b br c d f g gr h k l m n p r s st t v w".split() for b in "a ai e ea i o or u an en".split()
]


@dataclass(frozen=True, slots=True)
class Corpus:
    """D documents, N units, M sentences, S slots (a word or a name each), E entities.

    Attributes:
        texts: the documents' texts.
        doc_unit: [D+1], the units of each document; ``unit_sentence`` [N+1] and ``sentence_slot`` [M+1] likewise.
        sentence_start, sentence_end: spans in the document's text.
        slot: which of ``bodies`` is in each slot.
        bodies: words, the same capitalised, then the names of the entities.
        topic: of each document.
        title: of each document, the entity that it is about, or -1.
        mention_slot, mention_entity: the slots that hold a name, sorted.
        topic_words: [T, W], words of each topic.
    """

    texts: pa.Array
    doc_unit: Ints
    unit_sentence: Ints
    sentence_slot: Ints
    sentence_start: Ints
    sentence_end: Ints
    slot: Ints
    bodies: list[str]
    topic: Ints
    title: Ints
    mention_slot: Ints
    mention_entity: Ints
    topic_words: Ints

    @property
    def n_units(self) -> int:
        """The number of units."""
        return len(self.unit_sentence) - 1

    @property
    def names(self) -> list[str]:
        """The entities' names."""
        return self.bodies[2 * N_WORDS :]

    def titles(self) -> list[str]:
        """Return the documents' titles."""
        names = self.names
        return [names[entity] if entity >= 0 else f"Notes {row}" for row, entity in enumerate(self.title)]


def make_corpus(n_units: int, sample: Path, seed: int = 20) -> Corpus:
    """Make a corpus.

    Args:
        n_units: how many units.
        sample: a folder of Markdown whose words, in order of their frequency, are the commonest words.
        seed: of everything.
    """
    rng = np.random.default_rng(seed)
    words = _words(sample, rng)
    n_entities = ENTITIES_PER_UNIT * n_units
    bodies = [*words, *(word[:1].upper() + word[1:] for word in words), *_names(n_entities, rng)]
    doc_unit = _cut(n_units, rng.choice([1, 2, 3, 4], p=[0.25, 0.3, 0.2, 0.25], size=n_units))
    unit_sentence = _pointers(rng.integers(3, 7, size=n_units))
    sentence_slot = _pointers(rng.integers(11, 23, size=unit_sentence[-1]))
    n_topics = min(MAX_TOPICS, 1 + n_units // UNITS_PER_TOPIC)
    topic = rng.integers(0, n_topics, size=len(doc_unit) - 1)
    topic_words = np.sort(rng.integers(150, N_WORDS // 3, size=(n_topics, TOPIC_WORDS)), axis=1)
    n_slots = int(sentence_slot[-1])
    sentence_of = np.repeat(np.arange(len(sentence_slot) - 1), np.diff(sentence_slot))
    unit_of = np.repeat(np.arange(n_units), np.diff(unit_sentence))[sentence_of]
    topic_of = topic[np.repeat(np.arange(len(doc_unit) - 1), np.diff(doc_unit))][unit_of]
    slot = (N_WORDS * rng.random(n_slots) ** 4).astype(np.int64)
    local = np.flatnonzero(rng.random(n_slots) < 0.3)
    slot[local] = topic_words[topic_of[local], (TOPIC_WORDS * rng.random(len(local)) ** 1.5).astype(np.int64)]
    opens = sentence_slot[:-1]
    slot[opens] += N_WORDS
    mention_slot = np.flatnonzero(rng.random(n_slots) < MENTIONS_PER_UNIT * n_units / n_slots)
    entity = (n_entities * rng.random(len(mention_slot)) ** 2.7).astype(np.int64)
    rare = entity >= COMMON_NAMES
    entity[rare] += (topic_of[mention_slot[rare]] - entity[rare]) % n_topics - n_topics
    slot[mention_slot] = 2 * N_WORDS + entity
    title = COMMON_NAMES + rng.permutation(n_entities - COMMON_NAMES)[: len(topic)]
    title[rng.random(len(title)) < 0.3] = -1
    texts, start, end = _spell(bodies, slot, doc_unit, unit_sentence, sentence_slot)
    return Corpus(
        texts, doc_unit, unit_sentence, sentence_slot, start, end, slot, bodies, topic, title, mention_slot, entity,
        topic_words,
    )  # fmt: skip


def _words(sample: Path, rng: np.random.Generator) -> list[str]:
    """Words, commonest first: those of real text, then made-up ones."""
    found: Counter[str] = Counter()
    for path in sorted(sample.rglob("*.md")):
        found.update(re.findall(r"\b[a-z]{1,14}\b", path.read_text("utf-8")))
    real = sorted(found, key=lambda word: (-found[word], word))
    parts = rng.integers(0, len(_SYLLABLES), size=(4 * N_WORDS, 3)).tolist()
    invented = ("".join(_SYLLABLES[at] for at in row[: 2 + number % 2]) for number, row in enumerate(parts))
    return list(dict.fromkeys([*real, *invented]))[:N_WORDS]


def _names(count: int, rng: np.random.Generator) -> list[str]:
    """Distinct names of two or three words."""
    parts = rng.integers(0, len(_SYLLABLES), size=(count, 5)).tolist()
    names = []
    for row, (a, b, c, d, e) in enumerate(parts):
        first, second = _SYLLABLES[a] + _SYLLABLES[b], _SYLLABLES[c] + _SYLLABLES[d]
        names.append(f"{first.title()} {second.title()}" + (f" {_SYLLABLES[e].title()}" if row % 4 == 0 else ""))
    taken: set[str] = set()
    for row, name in enumerate(names):
        if name in taken:
            names[row] = f"{name} {row}"
        taken.add(names[row])
    return names


def _cut(total: int, sizes: Ints) -> Ints:
    ends = np.cumsum(sizes)
    return np.concatenate([[0], ends[ends < total], [total]])


def _pointers(lengths: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths)])


def _spell(
    bodies: list[str], slot: Ints, doc_unit: Ints, unit_sentence: Ints, sentence_slot: Ints
) -> tuple[pa.Array, Ints, Ints]:
    """Return the documents' texts, and where each sentence starts and ends in its own."""
    opens = sentence_slot[:-1]
    separator = np.ones(len(slot), dtype=np.int64)
    separator[opens] = 2
    separator[opens[unit_sentence[:-1]]] = 3
    doc_slot = sentence_slot[unit_sentence[doc_unit]]
    separator[doc_slot[:-1]] = 0
    dictionary = pa.array(bodies)
    pieces = pc.binary_join_element_wise(
        pa.array(_SEPARATORS).take(pa.array(separator)), dictionary.take(pa.array(slot)), ""
    )
    if isinstance(pieces, pa.ChunkedArray):
        pieces = pieces.combine_chunks()
    lengths = np.array([len(body) for body in bodies])[slot] + np.array([len(mark) for mark in _SEPARATORS])[separator]
    after = _pointers(lengths)
    joined = pc.binary_join(pa.ListArray.from_arrays(pa.array(doc_slot.astype(np.int32)), pieces), "")
    texts = pc.binary_join_element_wise(joined, ".", "")
    origin = np.repeat(after[doc_slot[:-1]], np.diff(unit_sentence[doc_unit]))
    start = after[opens] + np.array([len(mark) for mark in _SEPARATORS])[separator[opens]] - origin
    end = after[sentence_slot[1:]] + 1 - origin
    return texts, start, end
