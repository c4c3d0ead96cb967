"""The table ``communities``: its JSON column ``phrased``, and figures of its hierarchy.

``phrased`` holds a language model's sentences for a community as a JSON array of objects, one a sentence, in order:
``text``, and ``rows``, the rows of the ``sentences`` table that it cites, which are among the community's
``summary_rows``, sorted. It is null where the summary is extractive.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    import pyarrow as pa

_LEVEL_COLUMNS = ["id", "level", "parent_id", "n_entities", "modularity"]


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A language model's sentence and the rows of the documents' sentences that it cites."""

    text: str
    rows: tuple[int, ...]


def write_phrased(sentences: Sequence[CitedSentence]) -> str | None:
    """Return the value of the column ``phrased``; null for no sentence."""
    if not sentences:
        return None
    plain = [{"text": one.text, "rows": list(one.rows)} for one in sentences]
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


def read_phrased(value: str | None) -> list[CitedSentence]:
    """Return the sentences of a value of the column ``phrased``; none where the summary is extractive."""
    found: list[dict[str, Any]] = json.loads(value or "[]")
    return [CitedSentence(one["text"], tuple(one["rows"])) for one in found]


class CommunityLevel(BaseModel):
    """One level of the hierarchy: 0 is the root level."""

    model_config = ConfigDict(frozen=True)

    level: int
    communities: int = Field(description="Communities of this level.")
    largest: int = Field(description="Entities of the largest of them.")
    largest_leaf: int = Field(description="Entities of the largest that is not divided further; 0 if all are.")
    entities: int = Field(description="Entities in the division at this level: its communities and the leaves above.")
    modularity: float = Field(description="Of that division (Newman 2004), entities of no community left out.")


def levels_of(communities: pa.Table) -> list[CommunityLevel]:
    """Return the figures of a table of schema ``COMMUNITIES``, from the root level down."""
    rows = communities.select(_LEVEL_COLUMNS).to_pylist()
    parents = {row["parent_id"] for row in rows}
    found = []
    for level in sorted({row["level"] for row in rows}):
        here = [row for row in rows if row["level"] == level]
        division = here + [row for row in rows if row["level"] < level and row["id"] not in parents]
        found.append(
            CommunityLevel(
                level=level,
                communities=len(here),
                largest=max(row["n_entities"] for row in here),
                largest_leaf=max((row["n_entities"] for row in here if row["id"] not in parents), default=0),
                entities=sum(row["n_entities"] for row in division),
                modularity=round(sum(row["modularity"] for row in division), 4),
            )
        )
    return found


def levels_in(directory: Path) -> list[CommunityLevel]:
    """Return the figures of the snapshot in a directory; none where its table cannot be read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return levels_of(pq.read_table(directory / "parquet" / "communities.parquet", columns=_LEVEL_COLUMNS))
    except (OSError, pa.ArrowException):
        return []
