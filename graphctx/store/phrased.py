"""The column ``communities.phrased``: a language model's sentences for a community, and what each rests on.

The value is a JSON array of objects, one for each sentence in its order: ``text``, and ``rows``, the rows of the
``sentences`` table that it cites, which are among the ``summary_rows`` of the community, sorted. It is null where the
summary is extractive.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PhrasedSentence:
    """A sentence in a language model's words, and the rows of the sentences of documents that it cites."""

    text: str
    rows: tuple[int, ...]


def write_phrased(sentences: Sequence[PhrasedSentence]) -> str | None:
    """The value of the column; null for no sentence."""
    if not sentences:
        return None
    plain = [{"text": one.text, "rows": list(one.rows)} for one in sentences]
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


def read_phrased(value: str | None) -> list[PhrasedSentence]:
    """The sentences of a value of the column; none where the summary is extractive, or the value is of no such form."""
    try:
        found: Any = json.loads(value or "[]")
        return [PhrasedSentence(str(one["text"]), tuple(int(row) for row in one["rows"])) for one in found]
    except (ValueError, TypeError, KeyError):
        return []
