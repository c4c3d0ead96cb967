"""The optimizer: any text within a number of tokens, by leaving sentences out and never rewriting one."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from graphctx.context.pieces import BlockSpan, Piece, blocks_of, places_of, split_pieces
from graphctx.context.render import GAP
from graphctx.model.context import KeptSpan, OptimizedContext
from graphctx.nlp.base import Embedder, Vectors
from graphctx.retrieve.cite import TokenCounter
from graphctx.retrieve.question import answer_test, answer_type
from graphctx.text.lexical import terms

CENTRAL = 0.05
"""Without a question, or a text without its terms, a sentence is worth what it shares with the whole, and `FIRST`."""

LEXICAL, COSINE, SPREAD, FIRST = 0.4, 0.7, 0.3, 0.02
"""What a sentence is worth: the share of the question's terms that it holds, by inverse sentence frequency, and its
cosine with the question, a part of both from the sentences beside it; and a little for opening a block."""

PLACE_BM25, PLACE_BEST, PLACE_MEAN, OPENING = 0.4, 0.8, 0.5, 0.1
"""What all below one heading is worth more: its BM25 as a share of the best place's, the best cosine of its sentences,
and the cosine of their mean; and its first sentence, which often says what the place is about."""

K1, B = 1.2, 0.75
"""Of BM25 (Robertson and Zaragoza 2009)."""

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
"""A block of code, a table or a list is whole or left out if it takes at most this share of the target; a larger one
is taken line by line, row by row, item by item."""

SAME = 0.9
"""Sentences that share this much of their terms (Jaccard) repeat each other; one with a number of its own does not."""

MIN_TERMS = 4
"""Sentences of fewer terms count as repeated only if they are equal and no heading."""

_ROUNDS = 4
"""Sentences that stand next to each other need no ellipsis between them: what that saves is filled again."""

_RAREST, _COMPARED = 3, 20
"""A sentence is compared with the last 20 that share one of its three rarest terms."""

Values = npt.NDArray[np.float64]


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
        self._blocks: list[BlockSpan] | None = None
        self._terms: dict[str, frozenset[str]] = {}
        self._vectors: dict[str, Vectors] = {}

    def fit(self, target_tokens: int) -> OptimizedContext:
        """Return the text within at most this many tokens."""
        text, tokens, query, weight = self._text, self._tokens, self._query, self._weight
        if weight <= target_tokens:
            whole = [KeptSpan(start_char=0, end_char=len(text), at=0)] if text else []
            return OptimizedContext(text=text, tokens=weight, source_tokens=weight, kept=whole)
        if self._blocks is None:
            self._blocks = blocks_of(text)
        pieces = split_pieces(text, self._blocks, lambda block: tokens.count(block) <= WHOLE_SHARE * target_tokens)
        texts = [text[one.start : one.end] for one in pieces]
        self._terms |= {own: frozenset(terms(own)) for own in texts if own not in self._terms}
        found = [self._terms[own] for own in texts]
        frequency = Counter(term for own in found for term in own)
        asked = set(terms(query))
        embedded = self._embedded(texts) if query.strip() else None
        if embedded is None and asked.isdisjoint(frequency):
            values = CENTRAL * _central(found, frequency) + FIRST * _opens(pieces)
        else:
            values = _relevance(pieces, texts, found, frequency, asked, embedded)
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

    def _embedded(self, texts: Sequence[str]) -> tuple[Vectors, Vectors] | None:
        """Return the vectors of pieces and of the question, ``None`` for too many or too long pieces."""
        if self._embedder is None or len(texts) > MAX_EMBEDDED or sum(map(len, texts)) > MAX_EMBEDDED_CHARS:
            return None
        if more := [own for own in dict.fromkeys([self._query, *texts]) if own not in self._vectors]:
            self._vectors |= dict(zip(more, self._embedder.embed(more), strict=True))
        return np.stack([self._vectors[own] for own in texts]), self._vectors[self._query]


def _central(found: Sequence[frozenset[str]], frequency: Counter[str]) -> Values:
    """Return what each piece shares with the whole text, in 0..1."""
    shared = [
        math.fsum(sorted(math.log1p(frequency[term] - 1) for term in own)) / math.sqrt(8 + len(own)) for own in found
    ]
    return np.array(shared) / (max(shared, default=0.0) or 1.0)


def _relevance(
    pieces: Sequence[Piece],
    texts: Sequence[str],
    found: Sequence[frozenset[str]],
    frequency: Counter[str],
    asked: set[str],
    embedded: tuple[Vectors, Vectors] | None,
) -> Values:
    """Return what each piece is worth for a question, from what it, its neighbours and its place hold of it."""
    opens = _opens(pieces)
    idf = {term: math.log(1 + len(pieces) / frequency[term]) for term in sorted(asked) if term in frequency}
    total = math.fsum(idf.values()) or 1.0
    own = LEXICAL * np.array([math.fsum(idf[term] for term in sorted(held & idf.keys())) / total for held in found])
    cosine = None if embedded is None else np.einsum("ij,j->i", *embedded).astype(np.float64)
    own = own if cosine is None else own + COSINE * cosine
    before, after = own.copy(), own.copy()
    before[1:][~opens[1:]] = own[:-1][~opens[1:]]
    after[:-1][~opens[1:]] = own[1:][~opens[1:]]
    values: Values = (1 - SPREAD) * own + SPREAD / 2 * (before + after) + FIRST * opens
    places = [([heading, *body] if heading >= 0 else body) for heading, body in places_of(pieces).items()]
    for members, bm25 in zip(places, _bm25([[found[at] for at in of] for of in places], asked), strict=True):
        values[members] += PLACE_BM25 * bm25
        if cosine is not None and embedded is not None:
            mean = embedded[0][members].mean(axis=0, dtype=np.float64)
            of_mean = float(mean @ embedded[1]) / max(float(np.linalg.norm(mean)), 1e-9)
            values[members] += PLACE_BEST * float(cosine[members].max()) + PLACE_MEAN * of_mean
        values[next((at for at in members if found[at] and pieces[at].kind != "heading"), members[0])] += OPENING
    for at in np.flatnonzero(opens[1:]).tolist():  # what ends with a colon and what it introduces go together
        if pieces[at + 1].kind in ("code", "table", "list") and texts[at].endswith(":"):
            values[at] = values[at + 1] = max(values[at], values[at + 1])
    return values


def _bm25(places: Sequence[Sequence[frozenset[str]]], asked: set[str]) -> list[float]:
    """Return the BM25 of each place as a share of the best; a term counts once a sentence."""
    held = [Counter(term for own in place for term in own) for place in places]
    lengths = [held_here.total() for held_here in held]
    mean = max(sum(lengths) / max(len(lengths), 1), 1.0)
    scores = [0.0] * len(places)
    for term in sorted(asked):
        holding = [at for at, here in enumerate(held) if term in here]
        idf = math.log(1 + (len(places) - len(holding) + 0.5) / (len(holding) + 0.5))
        for at in holding:
            n = held[at][term]
            scores[at] += idf * n * (K1 + 1) / (n + K1 * (1 - B + B * lengths[at] / mean))
    best = max(scores, default=0.0) or 1.0
    return [score / best for score in scores]


def _opens(pieces: Sequence[Piece]) -> npt.NDArray[np.bool_]:
    """Return whether each piece is the first of its block."""
    block = np.array([one.block for one in pieces])
    return np.append(True, block[1:] != block[:-1])


def _title(text: str, piece: Piece) -> frozenset[str]:
    """Return the terms of a heading, of a path of headings those of the first."""
    return frozenset(terms(text[piece.start : piece.end].partition("›")[0]))


def _named(pieces: Sequence[Piece], found: Sequence[frozenset[str]], asked: set[str], values: Values) -> Values:
    """Return what pieces gain since the best sentence elsewhere that names the title of their place is worth much."""
    naming: dict[str, set[int]] = defaultdict(set)
    for at, one in enumerate(pieces):
        if one.kind != "heading":
            for term in found[at]:
                naming[term].add(at)
    gain = np.zeros(len(pieces))
    best_first: dict[frozenset[str], list[int]] = {}
    for heading, members in places_of(pieces).items():
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


def _repeated(text: str, pieces: Sequence[Piece], found: Sequence[frozenset[str]], frequency: Counter[str]) -> set[int]:
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


def _joined(text: str, pieces: Sequence[Piece], kept: Sequence[int]) -> tuple[str, list[KeptSpan]]:
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


def _cut(pieces: Sequence[Piece], kept: Collection[int]) -> dict[str, int]:
    """Return how many blocks of each kind but prose are not whole."""
    missing = {(one.kind, one.block) for at, one in enumerate(pieces) if at not in kept}
    found = Counter(kind for kind, _ in sorted(missing) if kind in ("code", "table", "list"))
    return dict(sorted(found.items()))


def _clipped(text: str, target: int, tokens: TokenCounter, weight: int, best: Piece | None) -> OptimizedContext:
    """Return the beginning of the best piece, of which not even one fits whole."""
    start, end = (best.start, best.end) if best else (0, len(text))
    end = start + tokens.clip(text[start:end], target)
    kept = [KeptSpan(start_char=start, end_char=end, at=0)] if end > start else []
    own = text[start:end]
    return OptimizedContext(text=own, tokens=tokens.count(own), source_tokens=weight, kept=kept)
