"""What every embedder must do. A test module subclasses ``EmbedderConformance``."""

from __future__ import annotations

import random

import numpy as np

from graphctx.nlp.base import Embedder, Vectors

# What embedders get in practice: passages, sentences, questions, code, tables, facts and names.
TEXTS = (
    "The Meridian team runs the ingest service. It reads change events from the queue, writes them to the ledger "
    "in order, and raises an alert when the backlog stays above ten thousand events for five minutes. During the "
    "outage in March the alert did not fire, because the threshold had been raised for a load test and nobody had "
    "set it back. Since then the threshold lives in version control, and a change to it needs a second reviewer.",
    "Old lighthouses along this coast burned coal in open braziers. Oil lamps came with the turn of the century, "
    "and lenses ground in rings threw their light as far as thirty kilometres out to sea.",
    "A lease is renewed by its owner every ten seconds; after three missed renewals the scheduler takes it away.",
    "Bread dough rises because yeast turns sugar into carbon dioxide, which the gluten holds as bubbles.",
    "She moved to Lisbon in 1998 and opened a bookshop near the river.",
    "Which team is on call for the ingest service at night?",
    "how do i restore a backup to another region",
    "What did the lighthouse keeper burn before oil lamps?",
    "def retry(call, attempts=3):\n    for attempt in range(attempts):\n        try:\n            return call()\n"
    "        except TimeoutError:\n            if attempt + 1 == attempts:\n                raise",
    "| field | type | default |\n|---|---|---|\n| timeout | duration | 30s |\n| retries | integer | 3 |",
    "## Rolling back a release\n\n1. Freeze deployments with `ops freeze`.\n2. Run `ops rollback --to <tag>`.",
    "Meridian team: runs: ingest service",
    "Ada Lovelace",
    "PostgreSQL connection pool",
    "New York City",
    "Zürich's Straßenbahn carries naïve tourists past the café.",
)

# Texts that carry little or nothing for an English model, and must do no harm.
ODD_TEXTS = (
    "",
    " ",
    "\n\n\t",
    "x",
    "42",
    "😀",
    "👨‍👩‍👧‍👦",
    "東京は日本の首都です。",
    "Москва — столица России",
    "مرحبا بالعالم",
    "\x00\x01",
    "\ud800 lone surrogate",
    "e\u0301" * 50,
    "[CLS] [SEP] [PAD] [MASK]",
    "a" * 5000,
    "word " * 5000,
)

# (question, what it is about, what it is not about)
TRIPLES = (
    ("How do I bake bread?", "Yeast makes the dough rise in a warm oven.", "The lease of a lock runs out."),
    ("the server ran out of memory", "The process was killed: its heap was full.", "They sailed to Lisbon."),
    ("Who wrote the first computer program?", "Ada Lovelace published an algorithm.", "Oil lamps burn brightly."),
    ("car", "automobile", "sonnet"),
)


class EmbedderConformance:
    """The module of a subclass has fixtures ``embedder`` and ``twin`` (another object for the same model).

    ``tolerance`` is how far a component may move with the other texts of the call.
    """

    tolerance: float = 0.0

    def same(self, left: Vectors, right: Vectors) -> bool:
        return left.shape == right.shape and bool((np.abs(left - right) <= self.tolerance).all())

    def test_it_is_an_embedder(self, embedder: Embedder) -> None:
        assert isinstance(embedder, Embedder)
        assert embedder.name
        assert embedder.dimension > 0
        assert embedder.max_tokens > 0

    def test_vectors_are_float32_rows_of_length_one(self, embedder: Embedder) -> None:
        vectors = embedder.embed([*TEXTS, *ODD_TEXTS])
        assert vectors.dtype == np.float32
        assert vectors.shape == (len(TEXTS) + len(ODD_TEXTS), embedder.dimension)
        assert vectors.flags.c_contiguous
        assert np.abs(np.linalg.norm(vectors.astype(np.float64), axis=1) - 1).max() < 1e-5

    def test_a_vector_depends_on_its_text_alone(self, embedder: Embedder) -> None:
        texts = [*TEXTS, *ODD_TEXTS]
        together = embedder.embed(texts)
        alone = np.concatenate([embedder.embed([text]) for text in texts])
        assert self.same(together, alone)
        order = list(range(len(texts)))
        random.Random(5).shuffle(order)
        shuffled = embedder.embed([texts[i] for i in order])
        assert self.same(together[order], shuffled)

    def test_related_texts_are_nearer_than_unrelated_ones(self, embedder: Embedder) -> None:
        for question, about, not_about in TRIPLES:
            q, near, far = embedder.embed([question, about, not_about])
            assert q @ near > q @ far + 0.1, question

    def test_words_up_to_the_limit_count_and_words_beyond_it_do_not(self, embedder: Embedder) -> None:
        # Each of these words is one token in the vocabulary of every BERT model.
        full = ["house"] * embedder.max_tokens
        base, beyond, last = embedder.embed(
            [" ".join(full), " ".join([*full, "river", "music"]), " ".join([*full[:-1], "music"])]
        )
        assert np.abs(base - beyond).max() <= self.tolerance
        assert np.abs(base - last).max() > 1e-4

    def test_its_fingerprint_is_stable(self, embedder: Embedder, twin: Embedder) -> None:
        assert embedder.fingerprint
        assert embedder.fingerprint == embedder.fingerprint == twin.fingerprint
