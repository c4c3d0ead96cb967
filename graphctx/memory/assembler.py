"""The assembler: a block of memories under a token budget for a question (memory design, section 3.2.4).

Core memory first, then items and facts by score, without repetition, each as one entry:

    [Core Memory] Ann is allergic to nuts.
    [Turn: 2026-01-15 10:00, Ann] I booked the table for six.
    [Preference: 2025-12-01 09:00, outdated since 2026-01-01] Ann prefers tea.
    [Fact] Ann → lives in → Oslo (since 2026-01-01, confidence 0.90)
    [Output: 2026-01-15 10:05, excerpt 900:1740 of 5200 characters] The second test failed, since the port was taken.

An item that is too long for the room that is left is shown by an excerpt: the sentences of the window that is nearest
to the question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from graphctx.errors import BackendUnavailable
from graphctx.memory.facts import FactStep, OutdatedItem
from graphctx.memory.index import windows
from graphctx.memory.items import CORE_TIER, MemoryFilter, MemoryItem, TemporalFact, to_micros
from graphctx.memory.scorer import block_parts, block_scores
from graphctx.memory.search import MemoryHits, MemoryQuery, SearchStage
from graphctx.model.packing import TokenBudget, labelled
from graphctx.settings import MemoryTokenBudgets
from graphctx.text.lexical import terms
from graphctx.text.sentences import Span, split_sentences

if TYPE_CHECKING:
    from graphctx.memory.memory import Memory

FACT_TIER = 2
FACT_DEPTH = 2
MAX_FACTS = 40
"""Facts that are scored for one question."""

MIN_EXCERPT_TOKENS = 60
"""Room below which no excerpt is made."""

TOKENS_PER_CANDIDATE = 60
"""A budget asks for a candidate for this many of its tokens, which a short turn has; more if the query says so."""


@dataclass(frozen=True, slots=True)
class BlockEntry:
    """An entry of a block.

    Attributes:
        content: an item or a fact.
        score: what orders the entries.
        label, shown: what the entry is, and what it says.
        tokens: of the entry and a line break.
        excerpt: the span of the item's text that is shown; ``None`` if it is the whole.
    """

    content: MemoryItem | TemporalFact
    score: float
    label: str
    shown: str
    tokens: int
    excerpt: Span | None = None

    @property
    def text(self) -> str:
        """The entry as the block has it."""
        return labelled(self.label, self.shown)


@dataclass(frozen=True, slots=True)
class MemoryBlock:
    """Memories for a prompt.

    Attributes:
        entries: in the order of the block: core memory, then by score.
        n_left_out: candidates that repeat others or did not fit.
        stage: which stage of the search answered; anything but ``semantic`` is degraded.
        degraded: why, empty if it is not.
        why_empty: why there are no entries, a sentence; empty if there are some.
    """

    entries: tuple[BlockEntry, ...] = ()
    n_left_out: int = 0
    stage: SearchStage = "semantic"
    degraded: str = ""
    why_empty: str = ""

    @property
    def text(self) -> str:
        """The block; empty if nothing is remembered."""
        return "\n".join(entry.text for entry in self.entries)


def assemble_block(
    memory: Memory, query: MemoryQuery, token_budget: int, count: Callable[[str], int], *, record_use: bool = True
) -> MemoryBlock:
    """Return what is remembered that bears on a question, within a token budget.

    Usage::

        block = assemble_block(memory, MemoryQuery("Where does Ann live?", here, now), 500, AnswerCounter().count)
        print(block.text)

    Args:
        memory: to ask.
        query: the question; its ``limit`` is the least number of candidates of the search.
        token_budget: most tokens of the block.
        count: counts the tokens of a text.
        record_use: count the use of the items that are in the block.

    Raises:
        InvalidArgument: the query is blank.
    """
    with suppress(BackendUnavailable):  # the search says what is wrong, and may have an answer
        if memory.statistics.is_empty(query.scope):
            return MemoryBlock(why_empty=f"Nothing is remembered in project {query.scope.project!r} yet.")
    wanted = replace(query, limit=max(query.limit, token_budget // TOKENS_PER_CANDIDATE))
    found = memory.search(wanted, record_use=False)
    facts = _facts(memory, query) if found.stage == "semantic" else []
    core = _core(memory, query) if found.stage in ("semantic", "text") else []
    known = {item.id for item in core}
    scored: list[tuple[float, MemoryItem | TemporalFact]] = [(item.usefulness * item.confidence, item) for item in core]
    scored += [(hit.score, hit.item) for hit in found.hits if hit.item.id not in known]
    scored += facts
    kept = _without_repetition(memory, scored, found, memory.settings.ranking.dedup_similarity_threshold)
    outdated: dict[str, OutdatedItem] = {}
    with suppress(BackendUnavailable):
        outdated = memory.facts.outdated([each.id for _, each in kept], query.now.at)
        kept = _newer_first(kept, outdated)
    window_of = {hit.item.id: hit.window for hit in found.hits}

    def entry_of(score: float, content: MemoryItem | TemporalFact, excerpt: Span | None = None) -> BlockEntry:
        ended = outdated[content.id].since if content.id in outdated else None
        label, shown = _label_and_text(content, ended, excerpt)
        return BlockEntry(content, score, label, shown, count(labelled(label, shown)) + 1, excerpt)

    def shortened(entry: BlockEntry, room: int) -> BlockEntry:
        item = entry.content
        if isinstance(item, TemporalFact):
            return entry
        window = windows(item.text)[window_of.get(item.id, 0)]
        sentences = [each for each in split_sentences(item.text) if window[0] <= each[0] < window[1]] or [window]
        start, ends = sentences[0][0], [end for _, end in sentences]
        while entry.tokens > room and ends:
            end = ends.pop()
            entry = entry_of(entry.score, item, (start, end))
            ends = [each for each in ends if each - start <= (end - start) * room // entry.tokens]
        return entry

    entries = [entry_of(score, content) for score, content in kept]
    chosen = _fill(entries, token_budget, memory.settings.token_budgets, shortened)
    if record_use and found.stage in ("semantic", "text"):
        memory.record_use([entry.content.id for entry in chosen if isinstance(entry.content, MemoryItem)], query.now)
    why_empty = "" if chosen else _why_empty(len(scored), found, token_budget)
    return MemoryBlock(chosen, len(scored) - len(chosen), found.stage, found.degraded, why_empty)


def _why_empty(n_scored: int, found: MemoryHits, token_budget: int) -> str:
    if n_scored:
        return f"No memory that bears on this fits into {token_budget} tokens; {n_scored} were found."
    if found.stage in ("cached", "none"):
        return "The memory cannot be searched now."
    if found.stage == "text":
        return "No memory has a word of the question."
    if not found.n_candidates:
        return "No memory passes the filters at this time. Widen or drop them."
    return f"Nothing that is remembered here ({found.n_candidates:,} in all) bears on this."


def _fill(
    entries: list[BlockEntry],
    left: int,
    budgets: MemoryTokenBudgets,
    shortened: Callable[[BlockEntry, int], BlockEntry],
) -> tuple[BlockEntry, ...]:
    """Choose entries by score: each part within its budget at first, then what fits into the rest of the whole."""
    whole = TokenBudget(left)
    rooms = {
        "core": max(budgets.tier3_core, left // 2),
        "session": budgets.tier1_session,
        "epoch": budgets.tier2_epoch,
        "facts": budgets.graph_facts,
    }
    wanted = Counter[str]()
    for entry in entries:
        wanted[_part(entry.content)] += entry.tokens
    unused = left - sum(min(wanted[part], room) for part, room in rooms.items())
    rooms["items"] = max(budgets.retrieval, unused)  # else the best item may be too long for its part
    parts = {part: TokenBudget(room, within=whole) for part, room in rooms.items()}
    chosen: dict[int, BlockEntry] = {}
    for within_part in (True, False):
        for at, entry in enumerate(entries):
            if at in chosen:
                continue
            budget = parts[_part(entry.content)] if within_part else whole
            if entry.tokens > budget.free >= MIN_EXCERPT_TOKENS:
                entry = shortened(entry, budget.free)
            if budget.take(entry.tokens):
                chosen[at] = entry
    return tuple(chosen[at] for at in sorted(chosen))


def entry_text(
    content: MemoryItem | TemporalFact, outdated: datetime | None = None, excerpt: Span | None = None
) -> str:
    """Return the entry of a block. Lines of a text after its first are indented, so that none can pass for an entry.

    Args:
        content: an item or a fact.
        outdated: since when what an item states no longer holds.
        excerpt: the span of an item's text that is shown; the whole by default.
    """
    return labelled(*_label_and_text(content, outdated, excerpt))


def _label_and_text(
    content: MemoryItem | TemporalFact, outdated: datetime | None, excerpt: Span | None
) -> tuple[str, str]:
    if isinstance(content, TemporalFact):
        words = " → ".join(" ".join(each.split()) for each in (content.subject, content.predicate, content.object))
        until = f" until {_day(content.temporal_end)}" if content.temporal_end else ""
        return "Fact", f"{words} (since {_day(content.temporal_start)}{until}, confidence {content.confidence:.2f})"
    ended = f", outdated since {_day(outdated)}" if outdated else ""
    start, end = excerpt or (0, len(content.text))
    part = f", excerpt {start}:{end} of {len(content.text)} characters" if excerpt else ""
    return f"{_label(content)}{ended}{part}", content.text[start:end]


def _label(item: MemoryItem) -> str:
    when = item.valid_from or item.created_at
    by = f", {' '.join(item.author.split())}" if item.author else ""
    if item.source not in ("", "user", "agent", "graphctx"):
        by += f", from {' '.join(item.source.split())}"
    if item.tier == CORE_TIER:
        return f"Core Memory{by}"
    if item.kind == "summary":
        return f"{'Session' if item.tier == 1 else 'Epoch'}: {_day(when)}{by}"
    return f"{item.kind.capitalize()}: {when:%Y-%m-%d %H:%M}{by}"


def _day(at: datetime) -> str:
    return f"{at:%Y-%m-%d}"


def _part(content: MemoryItem | TemporalFact) -> str:
    if isinstance(content, TemporalFact):
        return "facts"
    if content.tier == CORE_TIER:
        return "core"
    if content.kind == "summary":
        return "session" if content.tier == 1 else "epoch"
    return "items"


def _core(memory: Memory, query: MemoryQuery) -> list[MemoryItem]:
    """Return core memory, unless the filter asks for other kinds or tiers."""
    wanted = query.filter
    if (wanted.tiers and CORE_TIER not in wanted.tiers) or (wanted.kinds and "core" not in wanted.kinds):
        return []
    chosen = MemoryFilter(kinds=wanted.kinds, tiers=(CORE_TIER,), min_confidence=wanted.min_confidence)
    return memory.select(query.scope, query.now, chosen, newest_first=False)


def _facts(memory: Memory, query: MemoryQuery) -> list[tuple[float, MemoryItem | TemporalFact]]:
    """Return the facts about what the question names, scored by the words that they share with it.

    Facts about the user, whom a pronoun names, must share one. Embedding facts would take longer than all else.
    """
    wanted = query.filter
    if wanted.kinds and "fact" not in wanted.kinds:
        return []
    steps: dict[str, FactStep] = {}
    asked = set(terms(query.text))
    for name in memory.facts.named_in(query.text, query.scope):
        is_named = not asked.isdisjoint(terms(name))
        for step in memory.facts.about(name, query.scope, query.now, depth=FACT_DEPTH, limit=MAX_FACTS):
            if is_named or not asked.isdisjoint(terms(_words(step.fact))):
                steps.setdefault(step.fact.id, step)
    facts = [
        step.fact
        for step in sorted(steps.values(), key=lambda step: (step.hop, step.fact.id))[:MAX_FACTS]
        if step.fact.confidence >= wanted.min_confidence
        and (wanted.after is None or step.fact.recorded_at >= wanted.after)
        and (wanted.before is None or step.fact.recorded_at < wanted.before)
    ]
    if not facts:
        return []
    ages = np.array([to_micros(query.now.at) - to_micros(fact.temporal_start) for fact in facts])
    words = [set(terms(_words(fact))) for fact in facts]
    similarity = np.array([len(asked & own) / max(1, min(len(asked), len(own))) for own in words])
    tiers, uses = np.full(len(facts), FACT_TIER), np.zeros(len(facts))
    settings = memory.settings.ranking
    scores = block_scores(block_parts(similarity, ages, tiers, uses, settings), settings)
    return list(zip(scores.tolist(), facts, strict=True))


def _words(fact: TemporalFact) -> str:
    return f"{fact.subject} {fact.predicate} {fact.object}"


def _without_repetition(
    memory: Memory, scored: list[tuple[float, MemoryItem | TemporalFact]], found: MemoryHits, threshold: float
) -> list[tuple[float, MemoryItem | TemporalFact]]:
    """Return entries by score, without items that say the same as one of a higher tier or score.

    An item with a word of its own does not say the same, be it near: "on track" and "on hold". A fact whose source
    item is among the entries is left out.
    """
    items = sorted(
        [(score, each) for score, each in scored if isinstance(each, MemoryItem)],
        key=lambda each: (-each[1].tier, -each[0], each[1].id),
    )
    vectors = memory.vectors([item.id for _, item in items]) if found.stage == "semantic" else {}
    words = cache(lambda text: frozenset(terms(text)))
    kept: list[tuple[float, MemoryItem]] = []
    kept_vectors = np.zeros((len(items), len(next(iter(vectors.values()), ()))), np.float32)
    texts: set[str] = set()
    for score, item in items:
        vector = vectors.get(item.id)
        near = [] if vector is None else np.flatnonzero(kept_vectors[: len(kept)] @ vector >= threshold).tolist()
        if item.text in texts or any(words(item.text) <= words(kept[at][1].text) for at in near):
            continue
        if vector is not None:
            kept_vectors[len(kept)] = vector
        texts.add(item.text)
        kept.append((score, item))
    said = {item.id for _, item in kept}
    facts = [(score, each) for score, each in scored if isinstance(each, TemporalFact) and each.source_item not in said]
    return sorted([*kept, *facts], key=lambda each: (_part(each[1]) != "core", -each[0], each[1].id))


def _newer_first(
    kept: list[tuple[float, MemoryItem | TemporalFact]], outdated: Mapping[str, OutdatedItem]
) -> list[tuple[float, MemoryItem | TemporalFact]]:
    """Move what is outdated behind what says otherwise, with its score at most."""
    scores = {each.id: score for score, each in kept}

    def place(score: float, item_id: str) -> tuple[float, int]:
        """Return the least score on the way to what holds now, and how many items are on it."""
        way = {item_id}
        while (old := outdated.get(item_id)) and old.by in scores and old.by not in way:
            item_id = old.by
            way.add(item_id)
            score = min(score, scores[item_id])
        return score, len(way)

    placed = [(place(score, each.id), each) for score, each in kept]
    placed.sort(key=lambda entry: (_part(entry[1]) != "core", -entry[0][0], entry[0][1]))
    return [(score, each) for (score, _), each in placed]
