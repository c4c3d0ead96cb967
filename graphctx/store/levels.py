"""Figures of the hierarchy of communities, level by level."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    import pyarrow as pa

_COLUMNS = ["id", "level", "parent_id", "n_entities", "modularity"]


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
    """The figures of a table of schema ``COMMUNITIES``, from the root level down."""
    rows = communities.select(_COLUMNS).to_pylist()
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
    """The figures of a snapshot by its directory; none where it cannot be read or is of an older version."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return levels_of(pq.read_table(directory / "parquet" / "communities.parquet", columns=_COLUMNS))
    except (OSError, pa.ArrowException, KeyError):
        return []
