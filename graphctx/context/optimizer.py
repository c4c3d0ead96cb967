"""The optimizer: any text within a number of tokens, by leaving sentences out and never rewriting one."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graphctx.context.render import GAP
from graphctx.model.context import KeptSpan, OptimizedContext
from graphctx.model.documents import Block, BlockKind
from graphctx.nlp.base import Embedder
from graphctx.retrieve.cite import TokenCounter
from graphctx.retrieve.question import answer_test, answer_type
from graphctx.text.lexical import terms
from graphctx.text.sentences import marker_start, split_sentences

LEXICAL, COSINE, PLACE, SPREAD, CENTRAL, FIRST = 0.4, 0.7, 1.0, 0.3, 0.05, 0.02
"""What a sentence is worth: the share of the question's terms that it holds, by inverse sentence frequency, and its
cosine with the question, a part of both from the sentences beside it; both of all that stands below its heading; and a
little for what it shares with the whole text, which decides without a question, and for opening a block."""

NAMED = 0.2
"""What a sentence that names the title of another place adds to all of that place, as a share of its own worth: the
second step of a question seldom has the question's words."""

ANSWERS = 0.2
"""What a piece is worth more for a date, a number or code where the question asks for it."""

BREVITY = 0.1
"""Pieces are taken by their worth over the tokens that they take to this power."""

MAX_NAMING = 0.1
"""A title that more than this share of the pieces names tells nothing."""

MAX_EMBEDDED = 1_000
"""Pieces of a text whose cosines are looked at; of a text with more of them terms alone decide."""

MAX_EMBEDDED_CHARS = 200_000
"""Characters of these pieces together, which take some seconds; of a longer text terms alone decide."""

WHOLE_SHARE = 0.5
"""A block of code, a table or a list is kept whole or left out if it takes at most so much of the target; a larger one
is taken line by line, row by row, item by item."""

SAME = 0.9
"""Sentences that share so much of their terms (Jaccard) repeat each other; one with a number of its own does not."""

MIN_TERMS = 4
"""Sentences of fewer terms count as repeated only if they are equal and no heading."""

_ROUNDS = 4
"""Sentences that stand next to each other need no ellipsis between them: what that saves is filled again."""

_RAREST, _COMPARED = 3, 20
"""A sentence is compared with the last 20 that share one of its three rarest terms."""

Values = npt.NDArray[np.float64]
_Part = tuple[int, int, BlockKind | str]


@dataclass(frozen=True, slots=True)
class _Piece:
    """What is kept or left out as one: a sentence, a block, a row, an item or a heading."""

    start: int
    end: int
    kind: BlockKind | str
    block: int
    heading: int


def optimize_context(
    text: str, target_tokens: int, tokens: TokenCounter, query: str = "", embedder: Embedder | None = None
) -> OptimizedContext:
    """Shorten a text to what bears on a question, or without one on its own subject.

    Usage::

        shorter = optimize_context(prompt, 2_000, AnswerCounter(), "How is a chart signed?")
        print(shorter.text)

    Args:
        text: any text; Markdown is understood. A text that fits is returned as it is.
        target_tokens: most tokens of the result, at least 1.
        tokens: counts tokens.
        query: a question.
        embedder: compares the sentences with the question by meaning too.

    Returns:
        Spans of the text in its order, with a map to where they were. Repeated sentences are left out first.
    """
    return ContextOptimizer(text, tokens, query, embedder).fit(target_tokens)


class ContextOptimizer:
    """Shortens one text to several targets, and reads and embeds it once.

    Usage::

        optimizer = ContextOptimizer(prompt, AnswerCounter(), "How is a chart signed?")
        print(optimizer.fit(2_000).text, optimizer.fit(200).text)

    Args:
        text, tokens, query, embedder: as for `optimize_context`.
    """

    def __init__(self, text: str, tokens: TokenCounter, query: str = "", embedder: Embedder | None = None) -> None:
        self._text, self._tokens, self._query, self._embedder = text, tokens, query, embedder
        self._weight = tokens.count(text)
        self._parts: list[_Part] | None = None
        self._terms: dict[str, frozenset[str]] = {}
        self._cosines: dict[str, float] = {}

    def fit(self, target_tokens: int) -> OptimizedContext:
        """Return the text within at most so many tokens."""
        text, tokens, query, weight = self._text, self._tokens, self._query, self._weight
        if weight <= target_tokens:
            whole = [KeptSpan(start_char=0, end_char=len(text), at=0)] if text else []
            return OptimizedContext(text=text, tokens=weight, source_tokens=weight, kept=whole)
        if self._parts is None:
            self._parts = _parts(text)
        pieces = _pieces(text, self._parts, target_tokens, tokens)
        texts = [text[one.start : one.end] for one in pieces]
        self._terms |= {own: frozenset(terms(own)) for own in texts if own not in self._terms}
        found = [self._terms[own] for own in texts]
        frequency = Counter(term for own in found for term in own)
        cosine = self._cosine(texts)
        asked = set(terms(query))
        values = _values(pieces, found, frequency, asked, cosine)
        if asked:
            held = zip(pieces, found, strict=True)
            titled = [_title(text, one) if one.kind == "heading" else own for one, own in held]
            values += _named(pieces, titled, asked, values)
            if (answers := answer_test(query, answer_type(query))) is not None:
                code = answer_type(query) == "code"
                values += [
                    ANSWERS * ((code and one.kind == "code") or answers(own))
                    for one, own in zip(pieces, texts, strict=True)
                ]
        repeated = _repeated(text, pieces, found, frequency)
        # With what is between it and the piece before, such as the rule of a table.
        starts = [0, *(one.end for one in pieces[:-1])]
        costs = tokens.count_many([text[start : one.end] for start, one in zip(starts, pieces, strict=True)])
        order = sorted(
            (at for at, one in enumerate(pieces) if one.kind != "heading" and found[at] and at not in repeated),
            key=lambda at: (-round(float(values[at]) / max(costs[at], 1) ** BREVITY, 6), at),
        )
        gap = tokens.count(GAP)
        kept: set[int] = set()
        total, result, spans = 0, "", []
        margin = 0
        for _ in range(_ROUNDS):
            left, more = target_tokens - total - margin, set(kept)
            for at in order:
                new = {at, pieces[at].heading} - more - {-1}
                cost = sum(costs[one] + gap for one in new)
                if at not in more and cost <= left:
                    more |= new
                    left -= cost
            trial, where = _joined(text, pieces, sorted(more))
            trial_tokens = tokens.count(trial)
            if trial_tokens > target_tokens:
                margin += trial_tokens - target_tokens
            elif more == kept:
                break
            else:
                kept, total, result, spans = more, trial_tokens, trial, where
        if kept:
            return OptimizedContext(
                text=result,
                tokens=total,
                source_tokens=weight,
                kept=spans,
                repeated=len(repeated),
                cut=_cut(pieces, kept),
            )
        clipped = _clipped(text, target_tokens, tokens, weight, pieces[order[0]] if order else None)
        return clipped.model_copy(update={"cut": _cut(pieces, ()), "repeated": len(repeated)})

    def _cosine(self, texts: Sequence[str]) -> Values | None:
        """Return the cosines of pieces with the question, ``None`` without one and for too many or too long pieces."""
        long = len(texts) > MAX_EMBEDDED or sum(map(len, texts)) > MAX_EMBEDDED_CHARS
        if self._embedder is None or not self._query or long:
            return None
        if more := [own for own in dict.fromkeys(texts) if own not in self._cosines]:
            vectors = self._embedder.embed(more)
            cosines = np.einsum("ij,j->i", vectors, self._embedder.embed([self._query])[0])
            self._cosines |= dict(zip(more, cosines.tolist(), strict=True))
        return np.array([self._cosines[own] for own in texts])


def _parts(text: str) -> list[_Part]:
    """Return the start, end and kind of headings and blocks, in order."""
    from graphctx.ingest.read.markdown import parse_markdown

    outline, _ = parse_markdown(text)
    parts: list[_Part] = [(one.start_char, one.end_char, "heading") for one in outline.headings]
    parts += [(one.start_char, one.end_char, one.kind) for one in _apart(outline.blocks)]
    return sorted(parts)


def _pieces(text: str, parts: Sequence[_Part], target_tokens: int, tokens: TokenCounter) -> list[_Piece]:
    pieces: list[_Piece] = []
    heading, at = -1, 0
    for block, (start, end, kind) in enumerate([*parts, (len(text), len(text), "prose")]):
        start = max(start, at)
        for first, last in _sentences(text, at, start, "prose"):  # what is in no block, such as front matter
            pieces.append(_Piece(first, last, "prose", -1 - block, heading))
        if start >= end:
            continue
        if kind == "heading":
            heading = len(pieces)
            pieces.append(_Piece(start, end, kind, block, -1))
        elif kind != "prose" and tokens.count(text[start:end]) <= WHOLE_SHARE * target_tokens:
            pieces.append(_Piece(start, end, kind, block, heading))
        else:
            spans = _lines(text, start, end) if kind == "code" else _sentences(text, start, end, kind)
            pieces += [_Piece(first, last, kind, block, heading) for first, last in spans]
        at = end
    return pieces


def _apart(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield blocks without those that lie within the one before."""
    end = 0
    for one in sorted(blocks, key=lambda block: (block.start_char, -block.end_char)):
        if one.end_char > end:
            yield one
            end = one.end_char


def _sentences(text: str, start: int, end: int, kind: BlockKind | str) -> Iterator[tuple[int, int]]:
    own = text[start:end]
    after = 0
    for first, last in split_sentences(own, kind):  # type: ignore[arg-type]
        first = max(marker_start(own, first), after)
        yield start + first, start + last
        after = last


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for line in text[start:end].splitlines(keepends=True):
        bare = line.rstrip()
        if bare:
            yield at, at + len(bare)
        at += len(line)


def _values(
    pieces: Sequence[_Piece],
    found: Sequence[frozenset[str]],
    frequency: Counter[str],
    asked: set[str],
    cosine: Values | None,
) -> Values:
    """Return what each piece is worth, from what it and its place hold of the question."""
    n = len(pieces)
    block = np.array([one.block for one in pieces])
    opens = np.append(True, block[1:] != block[:-1])
    central = np.array(
        [math.fsum(sorted(math.log1p(frequency[term] - 1) for term in own)) / math.sqrt(8 + len(own)) for own in found]
    )
    values: Values = CENTRAL * central / max(float(central.max(initial=0.0)), 1e-9) + FIRST * opens
    idf = {term: math.log(1 + n / frequency[term]) for term in sorted(asked) if term in frequency}
    total = math.fsum(idf.values())
    if not total:
        return values
    own = LEXICAL * np.array([math.fsum(idf[term] for term in sorted(held & idf.keys())) / total for held in found])
    own = own if cosine is None else own + COSINE * cosine
    before, after = own.copy(), own.copy()
    before[1:][~opens[1:]] = own[:-1][~opens[1:]]
    after[:-1][~opens[1:]] = own[1:][~opens[1:]]
    own = (1 - SPREAD) * own + SPREAD / 2 * (before + after)
    places: dict[int, list[int]] = defaultdict(list)
    for at, one in enumerate(pieces):
        places[at if one.kind == "heading" else one.heading].append(at)
    for members in places.values():
        held = frozenset(term for at in members for term in found[at])
        own[members] += PLACE * math.fsum(idf[term] for term in sorted(held & idf.keys())) / total
        if cosine is not None:
            own[members] += PLACE * float(cosine[members].max())
    return values + own


def _title(text: str, piece: _Piece) -> frozenset[str]:
    """Return the terms of a heading, of a path of headings those of the first."""
    return frozenset(terms(text[piece.start : piece.end].partition("›")[0]))


def _named(pieces: Sequence[_Piece], found: Sequence[frozenset[str]], asked: set[str], values: Values) -> Values:
    """Return what pieces gain since the best sentence elsewhere that names the title of their place is worth much."""
    places: dict[int, list[int]] = defaultdict(list)
    naming: dict[str, set[int]] = defaultdict(set)
    for at, one in enumerate(pieces):
        if one.kind != "heading":
            places[one.heading].append(at)
            for term in found[at]:
                naming[term].add(at)
    gain = np.zeros(len(pieces))
    best_first: dict[frozenset[str], list[int]] = {}
    for heading, members in places.items():
        title = found[heading] if heading >= 0 else frozenset()
        if title <= asked:
            continue
        if title not in best_first:
            rarest, *more = sorted((naming[term] for term in sorted(title)), key=len)
            best_first[title] = sorted(rarest.intersection(*more), key=lambda at: -float(values[at]))
        own = set(members)
        n_others = len(best_first[title]) - sum(title <= found[at] for at in members)
        if 0 < n_others <= 2 + MAX_NAMING * len(pieces):
            gain[members] = NAMED * float(values[next(at for at in best_first[title] if at not in own)])
    return gain


def _repeated(
    text: str, pieces: Sequence[_Piece], found: Sequence[frozenset[str]], frequency: Counter[str]
) -> set[int]:
    """Return the pieces that say the same as an earlier one."""
    by_term: dict[str, list[int]] = defaultdict(list)
    texts: set[str] = set()
    repeated: set[int] = set()
    for at, (one, own) in enumerate(zip(pieces, found, strict=True)):
        if one.kind == "heading":
            continue
        plain = " ".join(text[one.start : one.end].split())
        rarest = sorted(own, key=lambda term: (frequency[term], term))[:_RAREST]
        near = {other for term in rarest for other in by_term[term][-_COMPARED:]} if len(own) >= MIN_TERMS else set()
        if plain in texts or any(_same(own, found[other]) for other in near):
            repeated.add(at)
            continue
        texts.add(plain)
        for term in rarest:
            by_term[term].append(at)
    return repeated


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    apart = one ^ other
    return len(one & other) >= SAME * len(one | other) and not any(any(c.isdigit() for c in term) for term in apart)


def _joined(text: str, pieces: Sequence[_Piece], kept: Sequence[int]) -> tuple[str, list[KeptSpan]]:
    """Return the text of some pieces, in order, and where each span of it was."""
    runs: list[tuple[int, int, int, int]] = []  # start, end, first and last piece
    for at in kept:
        if runs and runs[-1][3] == at - 1:
            runs[-1] = (runs[-1][0], pieces[at].end, runs[-1][2], at)
        else:
            runs.append((pieces[at].start, pieces[at].end, at, at))
    parts: list[str] = []
    spans: list[KeptSpan] = []
    length = 0
    for number, (start, end, first, _) in enumerate(runs):
        if number:
            before = pieces[runs[number - 1][3]]
            between = f"\n{GAP}\n" if before.block == pieces[first].block else "\n\n"
            parts.append(between)
            length += len(between)
        parts.append(text[start:end])
        spans.append(KeptSpan(start_char=start, end_char=end, at=length))
        length += end - start
    return "".join(parts), spans


def _cut(pieces: Sequence[_Piece], kept: Collection[int]) -> dict[str, int]:
    """Return how many blocks of each kind but prose are not whole."""
    missing = {(one.kind, one.block) for at, one in enumerate(pieces) if at not in kept}
    found = Counter(kind for kind, _ in sorted(missing) if kind in ("code", "table", "list"))
    return dict(sorted(found.items()))


def _clipped(text: str, target: int, tokens: TokenCounter, weight: int, best: _Piece | None) -> OptimizedContext:
    """Return the beginning of the best piece, of which not even one fits whole."""
    start, end = (best.start, best.end) if best else (0, len(text))
    end = start + tokens.clip(text[start:end], target)
    kept = [KeptSpan(start_char=start, end_char=end, at=0)] if end > start else []
    own = text[start:end]
    return OptimizedContext(text=own, tokens=tokens.count(own), source_tokens=weight, kept=kept)
