"""The embed step: vectors of units and sentences, each computed once and memoised by its text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from graphctx.ingest.corpus import Corpus
from graphctx.model.documents import Document, Sentence, TextUnit
from graphctx.model.ids import fingerprint
from graphctx.nlp.base import Embedder, Vectors
from graphctx.store.cache import Memo

MIN_SENTENCE_CHARS = 15
"""Shorter sentences carry too little meaning to be ranked by it; their vector is zero."""

BATCH = 512
_QUANTISED_AT_ONCE = 8_192  # rows: float vectors take four times the memory of quantised ones
_KIND = "vector"


@dataclass(frozen=True, slots=True)
class Quantised:
    """int8 vectors [n, d] with a float32 scale [n] each: ``vector = values * scale``, error below 0.4 %."""

    values: npt.NDArray[np.int8]
    scale: npt.NDArray[np.float32]


def naming_title(document: Document) -> str:
    """Return the title, or an empty string for a JSONL row without one, whose title is its id."""
    return document.title if document.titled or "#" not in document.uri else ""


def unit_text(document: Document, heading: str, unit: TextUnit) -> str:
    """Return the text that is embedded of a unit: title and headings, then its own text."""
    label = " › ".join(part for part in (naming_title(document), heading) if part)
    text = document.text[unit.start_char : unit.end_char]
    return f"{label}\n{text}" if label else text


def sentence_texts(document: Document, heading: str, unit: TextUnit) -> list[str]:
    """Return the text that is embedded of each sentence: the nearest title, then the sentence; empty if too short."""
    label = heading.rsplit(" › ", 1)[-1] or naming_title(document)
    prefix = f"{label}: " if label else ""
    return [f"{prefix}{document.text[s.start_char : s.end_char]}" if _is_embedded(s) else "" for s in unit.sentences]


def _is_embedded(sentence: Sentence) -> bool:
    return sentence.end_char - sentence.start_char >= MIN_SENTENCE_CHARS


def embed_corpus(
    corpus: Corpus,
    embedder: Embedder,
    memo: Memo,
    progress: Callable[[int, int, str], None] = lambda done, total, unit: None,
    at_once: int = BATCH,
) -> tuple[Quantised, Quantised]:
    """Embed a corpus.

    Returns:
        The vectors of units and sentences, by row.
    """

    def units() -> Iterator[str]:
        return (unit_text(*placed) for placed in corpus.placed_units())

    def sentences() -> Iterator[str]:
        return (text for placed in corpus.placed_units() for text in sentence_texts(*placed))

    spoken = sum(_is_embedded(sentence) for unit in corpus.units for sentence in unit.sentences)
    total, done = len(corpus.units) + spoken, 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        progress(done, total, "texts")

    def quantised(texts: Iterator[str], count: int) -> Quantised:
        made = Quantised(np.empty((count, embedder.dimension), np.int8), np.empty(count, np.float32))
        for at in range(0, count, _QUANTISED_AT_ONCE):
            some = quantise(embed_texts(list(islice(texts, _QUANTISED_AT_ONCE)), embedder, memo, advance, at_once))
            made.values[at : at + len(some.values)], made.scale[at : at + len(some.scale)] = some.values, some.scale
        return made

    return quantised(units(), len(corpus.units)), quantised(sentences(), corpus.first_sentence[-1])


def embed_texts(
    texts: Sequence[str],
    embedder: Embedder,
    memo: Memo,
    on_done: Callable[[int], None] | None = None,
    at_once: int = BATCH,
) -> Vectors:
    """Embed texts, taking what was embedded before from the memo.

    Returns:
        float32 [len(texts), d]; the row of an empty text is zero.
    """
    vectors = np.zeros((len(texts), embedder.dimension), dtype=np.float32)
    rows: dict[str, list[int]] = {}
    for row, text in enumerate(texts):
        if text:
            rows.setdefault(text, []).append(row)
    distinct, made_by = list(rows), embedder.fingerprint
    for start in range(0, len(distinct), at_once):
        batch = distinct[start : start + at_once]
        keys = [fingerprint((made_by, text)) for text in batch]
        known = memo.get_many(_KIND, keys)
        missing = [at for at, key in enumerate(keys) if key not in known]
        if missing:
            made = embedder.embed([batch[at] for at in missing])
            fresh = {keys[at]: vector.tobytes() for at, vector in zip(missing, made, strict=True)}
            memo.put_many(_KIND, fresh)
            known |= fresh
        for key, text in zip(keys, batch, strict=True):
            vectors[rows[text]] = np.frombuffer(known[key], dtype=np.float32)
        if on_done:
            on_done(sum(len(rows[text]) for text in batch))
    return vectors


def quantise(vectors: Vectors) -> Quantised:
    """Quantise rows symmetrically to int8; a zero row stays zero."""
    peak = np.abs(vectors).max(axis=1, initial=0.0)
    scale = (peak / 127).astype(np.float32)
    divisor = np.where(scale > 0, scale, 1.0).astype(np.float32)
    return Quantised(np.rint(vectors / divisor[:, None]).astype(np.int8), scale)
