"""What extraction finds in a document, and what resolution makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

MentionKind = Literal["ner", "noun_chunk", "proper", "identifier", "code", "code_block", "acronym", "title", "heading"]
"""Where a mention comes from. ``proper`` is a capitalised span, ``identifier`` is CamelCase, snake_case or a
dotted name, ``code`` is a back-ticked span, ``code_block`` is anything in a block of code once it is linked, ``title``
and ``heading`` name the document and its sections."""

EntityLabel = Literal["person", "organization", "location", "event", "product", "work", "group", "code", "term"]
"""A hint for readers. Labels of statistical taggers are unreliable on technical text, so no identity hangs on
them; ``term`` is the label of everything without a better one."""

LABELS: tuple[EntityLabel, ...] = get_args(EntityLabel)
"""The labels in a fixed order, for arrays that store their positions."""


AliasReason = Literal["apposition", "brackets", "heading", "stated"]
"""Why a name of code and a name of prose mean one thing. ``apposition``: one is the other before its kind ("the
``--set`` flag"); ``brackets``: one stands in brackets behind the other, and abbreviates it or has its words;
``heading``: a section is headed by one and writes the other, in the same words; ``stated``: the text says so ("also
called")."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of the document that names something.

    ``surface`` is the name in the form that resolution compares: the span without determiner, possessive and
    markup. ``sentence`` is the index of the sentence inside the unit. ``alias_of`` is the surface of the longer
    name that the text itself equates it with, as in "Site Reliability Group (SRG)".
    """

    unit_id: str
    sentence: int
    surface: str
    label: EntityLabel
    kind: MentionKind
    start_char: int
    end_char: int
    alias_of: str | None = None


@dataclass(frozen=True, slots=True)
class RawFact:
    """A subject–predicate–object triple as it was parsed, before its ends are resolved to entities.

    ``start_char:end_char`` is the sentence that states it. The ends are spans of the document; ``subject`` and
    ``object`` are their names in the form that resolution compares. ``predicate`` is the lemma of the verb (of a
    passive, ``be`` and the participle) with its particle, noun and preposition as far as it has them, behind the modal
    and the negation of the clause: ``may not depend on``.
    """

    unit_id: str
    sentence: int
    subject: str
    predicate: str
    object: str
    subject_start: int
    subject_end: int
    object_start: int
    object_end: int
    start_char: int
    end_char: int


@dataclass(frozen=True, slots=True)
class Extraction:
    """All that was found in one document, sorted by position."""

    doc_id: str
    mentions: tuple[Mention, ...]
    facts: tuple[RawFact, ...]


@dataclass(frozen=True, slots=True)
class Entity:
    """A resolved name.

    Attributes:
        id: ``e_…``, from the normalised canonical name.
        name: the most frequent surface form, ties to the longest and then the first in code-point order.
        label: the most frequent label of its mentions other than ``term``.
        aliases: the other surface forms, sorted.
        n_mentions: how often it is mentioned.
        n_units: in how many text units (its document frequency).
    """

    id: str
    name: str
    label: EntityLabel
    aliases: tuple[str, ...]
    n_mentions: int
    n_units: int


@dataclass(frozen=True, slots=True)
class Fact:
    """A triple whose ends are resolved. ``start_char:end_char`` is the sentence that states it."""

    id: str
    unit_id: str
    sentence: int
    subject_id: str
    predicate: str
    object_id: str
    subject: str
    object: str
    start_char: int
    end_char: int


@dataclass(frozen=True, slots=True)
class Community:
    """A cluster of entities. Level 0 is the root level, where ``parent_id`` is ``None``; deeper levels are finer.

    Attributes:
        id: ``c_…``, from the level and the entity that is bound most strongly to the others. An entity is in one
            community of a level at most, so that no two have one id.
        level, parent_id: its place in the tree.
        entity_ids: its entities, sorted.
        modularity: its part of the modularity of a division that it belongs to (Newman 2004): the share of all weight
            that lies inside, less the share that would by chance. The modularity of a division is the sum over its
            communities.
    """

    id: str
    level: int
    parent_id: str | None
    entity_ids: tuple[str, ...]
    modularity: float


@dataclass(frozen=True, slots=True)
class CommunitySummary:
    """What a community is about, in its own sentences.

    Attributes:
        title: its two or three most characteristic names.
        key_entity_ids: at most 10, the most characteristic first.
        key_fact_ids: at most 10 facts between its entities, the most telling first.
        n_units: how many text units treat of it.
        point_rows: rows of at most 40 sentences, the best first.
        summary_rows: those of them that make up the summary.
        summary: the title and those sentences, for vectors.
        phrased: what a language model made of them, if one was asked and answered.
    """

    title: str
    key_entity_ids: tuple[str, ...]
    key_fact_ids: tuple[str, ...]
    n_units: int
    point_rows: tuple[int, ...]
    summary_rows: tuple[int, ...]
    summary: str
    phrased: str | None = None
