"""What is characteristic of each community of a level, and the titles that are made of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graphctx.ingest.communities.material import Int, Material, Real
from graphctx.text.names import normalise_name, reads_as_clause, singular_of

TITLE_NAMES = 3
TITLE_CHARS = 60
"""A title that two names make this long has no third."""

THIRD_SHARE = 0.35
"""A third name that is less characteristic than this, compared with the first, does not name the community."""

_CODE_SHARE = 0.6
_CLAUSE_SHARE = 0.2
_FILE_SHARE = 0.3
_LONG_SHARE = 0.5
_LONG_WORDS = 5
_PLAIN_SHARE = 0.4
"""What a bare noun keeps of its weight: names that are written as names title a community."""

_LABELS = frozenset(
    "author authors owner owners status date signed note notes version type name names title example examples section "
    "page chapter table figure list item step reason result thing way case part kind sort number one other time day "
    "warning tip info important default option options value values".split()
)
"""Names of columns, fields and parts of any document: they name no theme."""

_FILE = re.compile(r"\S+\.[a-z]{1,5}")


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
    def of(cls, material: Material, owner: Int, count: int) -> Level:
        """Count the mentions of each community's units: class-based TF-IDF (Grootendorst 2022, BERTopic).

        A unit treats of a community if it names two of its entities or is about one; where no unit does, those
        that name one do. The weight of an entity is ``tf * log(1 + A / f)``: ``tf`` its mentions in those units,
        ``f`` all its mentions, ``A`` the mean of the communities' mentions.
        """
        n_units = len(material.unit_doc)
        of_mention = owner[material.mention_entity]
        kept = of_mention >= 0
        place, entity = of_mention[kept], material.mention_entity[kept]
        key = place * n_units + material.mention_unit[kept]
        named = np.unique(np.stack([key, entity], axis=1), axis=0)
        keys, distinct = np.unique(named[:, 0], return_counts=True)
        of_home = owner[material.home_entity]
        homes = of_home[of_home >= 0] * n_units + material.home_unit[of_home >= 0]
        treats = (distinct >= 2) | np.isin(keys, homes)
        having = np.bincount(keys[treats] // n_units, minlength=count) if n_units else np.zeros(count, np.int64)
        if n_units:
            treats |= having[keys // n_units] == 0
        units = np.bincount(keys[treats] // n_units, minlength=count) if n_units else np.zeros(count, np.int64)
        here = treats[np.searchsorted(keys, key)] if len(keys) else np.zeros(0, bool)
        tf = np.bincount(entity[here], minlength=len(owner)).astype(np.float64)
        f = np.maximum(np.bincount(material.mention_entity, minlength=len(owner)), 1)
        mean = tf.sum() / max(count, 1)
        return cls(owner, count, units.astype(np.int64), tf * np.log1p(mean / f))


def title_share(material: Material, entity: int) -> float:
    """How fit the name of an entity is for a title, at most 2."""
    name = material.names[entity]
    share = (_PLAIN_SHARE + (1 - _PLAIN_SHARE) * float(material.proper[entity])) * (1 + float(material.named[entity]))
    if _FILE.fullmatch(name):
        share *= _FILE_SHARE
    elif material.label[entity] == "code":
        share *= _CODE_SHARE
    if reads_as_clause(name) or name.casefold() in _LABELS:
        share *= _CLAUSE_SHARE
    if len(name.split()) > _LONG_WORDS:
        share *= _LONG_SHARE
    return share


def title_of(material: Material, rows: Sequence[int], weight: Real) -> str:
    """The title of a community.

    Args:
        material: names and how they are written.
        rows: its entities.
        weight: float64 [E], how characteristic each is.

    Returns:
        Two or three names, or one where no other is left; never is one part of another.
    """
    scored = sorted(
        (-round(float(weight[row]) * title_share(material, row), 6), material.entity_ids[row], row) for row in rows
    )
    chosen: list[str] = []
    keys: list[tuple[str, ...]] = []
    best = -scored[0][0]
    for negative, _, row in scored:
        name = " ".join(material.names[row].split())
        key = tuple(singular_of(word) for word in normalise_name(name).split())
        if not key or any(_within(key, other) or _within(other, key) for other in keys):
            continue
        if len(chosen) == TITLE_NAMES - 1 and (
            -negative < THIRD_SHARE * best or len(", ".join([*chosen, name])) > TITLE_CHARS
        ):
            break
        chosen.append(name)
        keys.append(key)
        if len(chosen) == TITLE_NAMES:
            break
    return ", ".join(chosen) or material.names[rows[0]]


def _within(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    """Whether the words of one name are all words of the other."""
    return set(short) <= set(long)
