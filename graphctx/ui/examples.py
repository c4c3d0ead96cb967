"""``examples``: questions that the documents answer, to begin with."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice, zip_longest
from typing import Any

import numpy as np

from graphctx.model.knowledge import LABELS
from graphctx.model.requests import CommunitiesInput, RetrieveInput
from graphctx.retrieve.graph.view import GraphView
from graphctx.retrieve.searcher import Searcher
from graphctx.ui.documents import skips_of, unpublished
from graphctx.ui.operation import AnyOperation, NoInput, Operation, PageCall

N_QUESTIONS = 3
N_TRIED = 12
"""Questions that are asked to find those with an answer."""
MIN_CONFIDENCE = 0.5
MAX_CHARS = 90
N_NAMES = 4
"""Candidates of each kind."""
MIN_WORDS = 5
"""Shorter headings need the text around them to be understood."""
_FORMS = {"person": "Who is {}?", "organization": "What does {} do?"}


def _examples(call: PageCall, asked: NoInput) -> dict[str, Any]:
    """Return up to three questions with a good quote, the same ones for the same snapshot, and what is published."""
    searcher = call.searcher()
    seen = searcher.index.visible_documents
    kinds = (_names(searcher), _headings(searcher), _themes(searcher))
    mixed = (text for text in chain.from_iterable(zip_longest(*kinds)) if text and len(text) <= MAX_CHARS)
    tried = islice(dict.fromkeys(mixed), N_TRIED)
    return {
        "questions": list(islice(filter(lambda text: _is_answered(searcher, text), tried), N_QUESTIONS)),
        "documents": len(searcher.index.documents) if seen is None else int(np.count_nonzero(seen)),
        "skipped": len(unpublished(searcher, skips_of(call, searcher))),
    }


def _is_answered(searcher: Searcher, question: str) -> bool:
    quotes = searcher.evidence(RetrieveInput(question=question, max_quotes=1)).items
    return bool(quotes) and quotes[0].confidence >= MIN_CONFIDENCE


def _names(searcher: Searcher) -> Iterator[str]:
    """Yield questions about the entities that a passage is about, the most named first."""
    walk, view = searcher.index.walk, GraphView(searcher.index, searcher.graph.tables)
    about = np.flatnonzero(np.diff(walk.definition_ptr))
    best = np.maximum.reduceat(walk.definition_value, walk.definition_ptr[about]) if len(about) else np.zeros(0)
    about = about[best >= 1.0]
    named = np.diff(walk.entity_ptr)[about]
    for row in about[np.argsort(-named, kind="stable")][:N_NAMES].tolist():
        names = view.names_of(row)
        if names is not None:
            plain = "What does “{}” mean?" if names.name.islower() else "What is {}?"
            yield _FORMS.get(LABELS[walk.entity_label[row]], plain).format(names.name)


def _headings(searcher: Searcher) -> Iterator[str]:
    """Yield headings that are questions themselves."""
    headings = searcher.index.units["heading"].take(searcher.index.visible_rows).to_pylist()
    last = dict.fromkeys(heading.rpartition(" › ")[2].strip() for heading in headings)
    yield from islice((one for one in last if one.endswith("?") and len(one.split()) >= MIN_WORDS), N_NAMES)


def _themes(searcher: Searcher) -> Iterator[str]:
    for community in searcher.communities(CommunitiesInput(page_size=N_NAMES)).items[:N_NAMES]:
        yield f"What do the documents say about {community.title}?"


OPERATIONS: tuple[AnyOperation, ...] = (Operation("examples", NoInput, _examples),)
