"""The layers of one folder, as tools, façade and answers use them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphctx.errors import GraphctxError, InvalidArgument
from graphctx.layer_source.chunks import PREFIX, best_span, disagreement, mark_of, section_id, uri, when
from graphctx.layers import FILES, Chunk, Conflict, LayerAnswer, LayerHit, LayerName, LayerStack, layer_named
from graphctx.layers.chunk import is_bookkeeping
from graphctx.layers.names import rank
from graphctx.model.answers import Quote, SearchResult
from graphctx.model.context import ContextInput, ContextSection, relevance_of
from graphctx.model.context_source import RetrievedPart
from graphctx.model.documents import line_starts
from graphctx.model.ids import fingerprint
from graphctx.model.packing import TokenBudget
from graphctx.model.requests import ExtractEvidenceInput, QuoteLimits, RetrieveInput, SearchInput
from graphctx.model.results import EvidenceResults, Item, Results, SearchResults, UnitText
from graphctx.retrieve.cite import TokenCounter, around, cut_span
from graphctx.retrieve.documents import DocumentText
from graphctx.text.graphemes import cut_end, first_end
from graphctx.text.lexical import words_missing
from graphctx.text.spans import overlap, question_tokens

# A search for chunks alone shows whatever comes nearest; beside documents, a chunk that says nothing to the question
# would take the place of a quote that does. With the sample handbook as a layer, the best chunk scores at least this
# for 93 % of its 55 answerable questions; with layers about something else for 16 % of them.
_BEARS = 0.16

_COPIES = 3  # chunks more for each that is wanted, up to 50 in all: what several layers hold is shown once
_ENOUGH = 50

_TOKENS_PER_CHUNK = 50  # a context looks at a chunk for this many of its tokens
_CHARS_PER_TOKEN = 12  # more than a text of words has: a longer chunk is not counted whole


# Cormack, Clarke and Büttcher, Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods,
# SIGIR 2009: 1 / (60 + rank).
_RANK_OFFSET = 60


class LayerSource:
    """The layers of one folder. Safe to share between threads.

    Args:
        stack: the layers.
        tokens: counts the tokens of quotes.
    """

    def __init__(self, stack: LayerStack, tokens: TokenCounter) -> None:
        self.stack = stack
        self._tokens = tokens

    def search(self, query: str, k: int, kinds: Sequence[str], layers: Sequence[str]) -> LayerAnswer:
        """The chunks nearest to a query.

        What was retracted, and chunks of bookkeeping, are left out, unless kinds of bookkeeping are asked for.

        Raises:
            InvalidArgument: the layers cannot be searched together, or one of them breaks a rule of the format.
        """
        live = not any(is_bookkeeping(kind) for kind in kinds)
        return self.stack.search(query, k, kinds=tuple(kinds), layers=tuple(layers), live=live)

    def stamp(self, layers: Sequence[str]) -> str:
        """What is different once one of some layers has another record."""
        return fingerprint(
            part
            for name, view in self.stack.views(layers).items()
            for part in (name, str(len(view.file.data)), view.file.layout.records.tobytes())
        )

    def chunk(self, section: str) -> tuple[LayerName, Chunk]:
        """The newest revision of a chunk, by its section id.

        Raises:
            InvalidArgument: there is none.
        """
        name, _, number = section.removeprefix(PREFIX).partition(":")
        if not section.startswith(PREFIX) or not (number.isascii() and number.isdigit() and len(number) <= 10):
            raise _unknown(section)
        view = self.stack.view(layer_named(name))
        if view is None or int(number) not in view.records:
            raise _unknown(section)
        return view.name, view.file.chunk(view.records[int(number)])

    def unit(self, section: str) -> UnitText:
        """A chunk as a passage: its content is the whole document.

        Raises:
            InvalidArgument: there is none of this section id.
        """
        layer, chunk = self.chunk(section)
        own, created = section_id(layer, chunk.id), when(chunk.created_at_unix_ms)
        return UnitText(
            section_id=own,
            doc_id=own,
            doc_uri=uri(layer, chunk.id),
            tags=(),
            title=FILES[layer],
            heading=chunk.kind[:200],
            anchor=None,
            text=chunk.content,
            start_char=0,
            end_char=len(chunk.content),
            line=1,
            updated_at=created if "T" in created else None,  # a bare number is no date
        )

    def conflicts_of(self, layer: LayerName, chunk: Chunk) -> tuple[Sequence[Conflict], list[str]]:
        """Where a chunk that was just written or proposed disagrees with chunks of any layer.

        Returns:
            The conflicts, and notes: it is written either way, so an error of the search is a note.
        """
        try:
            conflicts, notes = self.stack.conflicts_of(layer, chunk.id)
        except GraphctxError as error:
            return (), [f"Whether chunks disagree is not known: {error.message}"]
        return conflicts, list(notes)

    def merge_results(self, request: SearchInput, found: SearchResults) -> SearchResults:
        """What a search of the documents found, and the chunks of ``request.options.layers``, in one ranking.

        Raises:
            InvalidArgument: the layers cannot be searched together.
        """
        answer, hits = self._beside(request.query, request.top_k, request.options.layers)
        results = [self._result(request, hit) for hit in hits]
        said = [result.preview for result in found.items]
        own = [result for result in results if not any(result.preview in preview for preview in said)]
        ranked = _fused(_of_layers(own), _with_rows(found), request.top_k)
        items = [
            result.model_copy(update={"rank": place, "score": score})
            for place, ((result, _), score) in enumerate(ranked, start=1)
        ]
        return replace(
            found,
            items=items,
            rows=[row for (_, row), _ in ranked],
            layers=self.stamp(request.options.layers),
            layer_notes=_notes(answer, hits),
            capped=found.capped if len(items) < request.top_k else "none",
            empty_reason=None if items else found.empty_reason,
            filtered_by=() if items else found.filtered_by,
        )

    def merge_evidence(self, request: RetrieveInput, evidence: EvidenceResults) -> EvidenceResults:
        """The quotes of documents, and quotes of the chunks of ``request.options.layers``, in one ranking.

        Raises:
            InvalidArgument: the layers cannot be searched together.
        """
        answer, hits = self._beside(request.question, request.top_k, request.options.layers)
        quotes = [self._quote(request.question, request, self._text(hit), hit) for hit in hits]
        said = [quote.quote for quote in evidence.items]
        own = [quote for quote in quotes if not any(quote.quote in text for text in said)]
        ranked = _fused(_of_layers(own), _with_rows(evidence), request.max_quotes)
        items = [quote for (quote, _), _ in ranked]
        return replace(
            evidence,
            items=items,
            rows=[row for (_, row), _ in ranked],
            candidates=evidence.candidates + len(hits),
            layers=self.stamp(request.options.layers),
            layer_notes=_notes(answer, hits),
            capped=evidence.capped if len(items) < request.max_quotes else "none",
            empty_reason=None if items else evidence.empty_reason,
            filtered_by=() if items else evidence.filtered_by,
            nearest=() if items else evidence.nearest,
            unknown_words=words_missing(evidence.unknown_words, (hit.chunk.content for hit in hits)),
        )

    def extracted(
        self, request: ExtractEvidenceInput, units: Sequence[UnitText], evidence: EvidenceResults
    ) -> EvidenceResults:
        """The quotes of documents' passages, and one of each chunk that shares words with the question.

        Args:
            request: what to quote on.
            units: passages that are chunks.
            evidence: the quotes of the others.
        """
        tokens = question_tokens(request.question)
        quotes = []
        for unit in units:
            layer, chunk = self.chunk(unit.section_id)
            hit = LayerHit(layer, 0, chunk, 0.0, 0.0)
            quote = self._quote(request.question, request, _document(unit), hit)
            share = round(overlap(tokens, quote.quote), 3)
            quotes += [quote.model_copy(update={"confidence": share})] if share else []
        both = [*_of_layers(quotes), *_with_rows(evidence)]
        both.sort(key=lambda placed: -placed[0].confidence)  # stable: layers first
        return replace(
            evidence,
            items=[quote for quote, _ in both[: request.max_quotes]],
            rows=[row for _, row in both[: request.max_quotes]],
            candidates=evidence.candidates + len(units),
            layers=self.stamp([unit.section_id.split(":")[1] for unit in units]),
            empty_reason=None if both else "no_match",
        )

    def retrieve(self, request: ContextInput, budget: int) -> RetrievedPart:
        """Return the chunks of ``request.layers`` that bear on a question; a `ContextSource`.

        A chunk that is too long for what is left is shown by the piece that bears on the question most.

        Raises:
            InvalidArgument: the layers cannot be searched together.
        """
        answer, hits = self._beside(request.query, max(1, budget // _TOKENS_PER_CHUNK), request.layers)
        left, sections = TokenBudget(budget), []
        for hit in hits:
            section = self._section(request.query, hit, left.free)
            if left.take(self._tokens.count(f"### {section.label}\n{section.content}")):
                sections.append(section)
        return RetrievedPart(
            sections,
            confidence=max((min(1.0, hit.score) for hit in hits), default=0.0),
            question=request.query,
            empty_reason=None if sections else "no_match",
            notes=_notes(answer, hits),
        )

    def _section(self, query: str, hit: LayerHit, max_tokens: int) -> ContextSection:
        """Return a chunk, or where it is too long its span that bears on a question most."""
        content = hit.chunk.content
        label = f"{uri(hit.layer, hit.chunk.id)} › {' '.join(hit.chunk.kind[:200].split())}"
        room = max(1, max_tokens - self._tokens.count(f"### {label}\n"))
        start, end = 0, len(content)
        if end > _CHARS_PER_TOKEN * room or self._tokens.count(content) > room:
            cut = cut_span(content, *best_span(query, content), room, self._tokens)
            start, end = cut.start_char, cut.end_char
        return ContextSection(
            label=label,
            relevance_score=relevance_of(min(1.0, max(0.0, hit.score))),
            content=content[start:end],
            metadata={
                "layer": hit.layer,
                "section_id": section_id(hit.layer, hit.chunk.id),
                "start_char": start,
                "end_char": end,
                **mark_of(hit).model_dump(mode="json", exclude={"name"}),
            },
            hierarchy_level=3,
            origin="layers",
        )

    def _beside(self, query: str, k: int, layers: Sequence[str]) -> tuple[LayerAnswer, list[LayerHit]]:
        """The chunks that bear on a question, each text once, from the layer that goes first."""
        answer = self.search(query, max(k, min(_ENOUGH, (1 + _COPIES) * k)), (), layers)
        kept: dict[str, LayerHit] = {}
        for hit in answer.hits:
            held = kept.get(hit.chunk.content)
            if hit.score >= _BEARS and (held is None or rank(hit.layer) < rank(held.layer)):
                kept[hit.chunk.content] = hit
        return answer, list(kept.values())[:k]

    def _text(self, hit: LayerHit) -> DocumentText:
        return _document(self.unit(section_id(hit.layer, hit.chunk.id)))

    def _quote(self, question: str, limits: QuoteLimits, document: DocumentText, hit: LayerHit) -> Quote:
        start, end = best_span(question, document.text)
        cut = cut_span(document.text, start, end, limits.max_quote_tokens, self._tokens)
        before, after = around(document, cut.start_char, cut.end_char, limits.include_context_tokens, self._tokens)
        return Quote(
            quote=document.text[cut.start_char : cut.end_char],
            doc_uri=document.uri,
            section_id=document.id,
            title=document.title,
            heading=hit.chunk.kind[:200],
            start_char=cut.start_char,
            end_char=cut.end_char,
            line=document.line(cut.start_char),
            confidence=min(1.0, max(0.0, hit.score)),
            context_before=before,
            context_after=after,
            truncated=cut.truncated,
            layer=mark_of(hit),
        )

    def _result(self, request: SearchInput, hit: LayerHit) -> SearchResult:
        document = self._text(hit)
        text = document.text
        start, end = best_span(request.query, text)
        most = start + request.options.max_snippet_chars
        stop = end if end <= most else max(first_end(text, start), cut_end(text, start, most))
        parts = {"similarity": hit.similarity, "words": hit.coverage, "verbatim": float(hit.verbatim)}
        return SearchResult(
            section_id=document.id,
            doc_uri=document.uri,
            doc_id=document.id,
            title=document.title,
            heading=hit.chunk.kind[:200],
            rank=1,
            score=hit.score,
            source="hybrid",
            preview=text[start:stop],
            start_char=start,
            end_char=stop,
            line=document.line(start),
            size_bytes=len(text.encode()),
            scores=parts if request.options.include_scores else None,
            layer=mark_of(hit),
        )


def _with_rows(listing: Results[Item]) -> list[tuple[Item, int]]:
    """Pair items with their unit rows, -1 where an item has none."""
    return list(zip(listing.items, listing.rows or [-1] * len(listing.items), strict=True))


def _of_layers(items: Sequence[Item]) -> list[tuple[Item, int]]:
    """Pair the items of layers with -1: no row of the snapshot stands for a chunk."""
    return [(item, -1) for item in items]


def _document(unit: UnitText) -> DocumentText:
    """A chunk's content as a document to quote from."""
    starts = line_starts(unit.text)
    return DocumentText(-1, unit.doc_id, unit.doc_uri, unit.title, (), unit.updated_at, (), unit.text, starts)


def _notes(answer: LayerAnswer, hits: Sequence[LayerHit]) -> list[str]:
    absent = [f"There is no {name} layer here." for name in answer.absent]
    conflicts = list(dict.fromkeys(conflict for hit in hits for conflict in hit.conflicts))
    return [*absent, *answer.notes, *disagreement(conflicts)]


def _unknown(section: str) -> InvalidArgument:
    return InvalidArgument(
        f"There is no chunk {section[:60]!r} in the layers; search them with agents_search for those that there are.",
        field="passage_id",
        value=section[:200],
        allowed=f"a section_id of an answer, such as {PREFIX}delta:12",
    )


def _fused(chunks: Sequence[Item], documents: Sequence[Item], limit: int) -> list[tuple[Item, float]]:
    """Two rankings as one, by reciprocal rank, each item with its score; of two that tie, the layer's chunk first.

    The scores of the two have nothing in common, and an item is in one of them only, so what counts is how far up each
    ranking has it.

    Args:
        chunks: of layers, the best first.
        documents: what the documents gave, the best first.
        limit: items at most.
    """
    both = [(rank, origin, item) for origin, items in enumerate((chunks, documents)) for rank, item in enumerate(items)]
    both.sort(key=lambda placed: placed[:2])
    return [(item, round(1 / (_RANK_OFFSET + 1 + rank), 6)) for rank, _, item in both[:limit]]
