"""The readable text of an answer: short and complete, with citations, what was cut and what to call next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphctx.model.answers import LOW_CONFIDENCE, EvidenceAnswer, ExcerptAnswer, LimitReason, SearchAnswer
from graphctx.model.documents import has_file_lines
from graphctx.text.sentences import split_sentences

if TYPE_CHECKING:
    from graphctx.server.desk import Desk

_EMPTY = {
    "no_snapshot": "Nothing is published in this knowledge base yet. Ingest some documents, then ask again.",
    "filtered_out": "The filters leave no document of the scope. Widen or drop them.",
    "ambiguous": "The name stands for several entities; ask again by the id of one.",
    "empty_knowledge_base": "The knowledge base holds no documents yet. Ingest some, then ask again.",
    "nothing_in_scope": "The scope and filters leave no document to look in. Widen or drop them.",
    "no_match": "Nothing fits. Try other words, or a larger top_k.",
    "no_evidence": "Nothing in scope bears on the question.",
}
_CUT: dict[LimitReason, str] = {
    "token_cap": "the response's token limit",
    "byte_cap": "the response's size limit",
    "page_size": "the page size",
}


def citation(title: str, heading: str, doc_uri: str, line: int, page: int | None) -> str:
    """``title › heading — uri:line``; the line only where the file itself has it, the page where there are pages."""
    place = f"{title} › {heading}" if heading else title
    at = f"{doc_uri}:{line}" if has_file_lines(doc_uri) else doc_uri
    return f"{place} — {at} (page {page})" if page is not None else f"{place} — {at}"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.split("\n"))


def _more(cursor: str | None, reason: LimitReason, call: str) -> list[str]:
    if cursor is None:
        return []
    return [f"Cut by {_CUT.get(reason, 'a limit')}. For the rest, repeat {call} with cursor={cursor}"]


def search_text(desk: Desk, answer: SearchAnswer) -> str:
    """Previews with citations."""
    if answer.empty_reason:
        return f"No results. {_EMPTY[answer.empty_reason]}"
    blocks = [f"{len(answer.results)} results from project {answer.scope.project_id}."]
    for result in answer.results:
        where = citation(result.title, result.heading, result.doc_uri, result.line, result.page)
        blocks.append(f"[{result.rank}] {where}\npassage {result.passage_id}\n{_quoted(result.preview)}")
    blocks += _more(answer.next_cursor, answer.limit_reason, desk.say("kb.search"))
    if answer.results:
        blocks.append(
            desk.say(
                "Previews only. Quotes: kb.extract_evidence with passage ids; text: kb.read_excerpt. "
                f"Whole passages: graphctx://scratch/{answer.session_id}/<passage>"
            )
        )
    return "\n\n".join(blocks)


def evidence_text(desk: Desk, answer: EvidenceAnswer) -> str:
    """Quotes with citations."""
    if answer.empty_reason:
        said = f"No quotes. {_EMPTY[answer.empty_reason]}"
        return f"{said} {_nearest(desk, answer.nearest)}" if answer.nearest else said
    blocks = [f"{len(answer.quotes)} quotes from project {answer.scope.project_id}, word for word."]
    for number, quote in enumerate(answer.quotes, start=1):
        where = citation(quote.title, quote.heading, quote.doc_uri, quote.line, quote.page)
        cut = ", shortened" if quote.truncated else ""
        blocks.append(
            f"[{number}] {where}\npassage {quote.passage_id}, confidence {quote.confidence:.2f}{cut}\n"
            f"{_quoted(quote.quote)}"
        )
    if all(quote.confidence < LOW_CONFIDENCE for quote in answer.quotes):
        blocks.append("None of these fits the question well: the documents may not hold the answer.")
    blocks += _more(answer.next_cursor, answer.limit_reason, "the call")
    if answer.quotes:
        blocks.append(
            desk.say(
                "To read on around a quote: kb.read_excerpt or kb.expand_excerpt with its passage. "
                f"Whole passages: graphctx://scratch/{answer.session_id}/<passage>"
            )
        )
    return "\n\n".join(blocks)


def _nearest(desk: Desk, uris: Sequence[str]) -> str:
    """What comes nearest, and what to do."""
    advice = "Ask in the words that the documents would use, or look around with kb.search; else they may not say it."
    return f"Nearest, though not near, come: {', '.join(uris)}. {desk.say(advice)}"


def excerpt_text(desk: Desk, answer: ExcerptAnswer, bullets: bool = False) -> str:
    """The excerpt below its citation; as a list of its sentences where that is asked for."""
    blocks = []
    if (source := answer.citation) is not None:
        where = citation(source.title, source.heading, source.doc_uri, source.line, source.page)
        blocks.append(f"{where}\npassage {answer.passage_id}, {source.uri}")
    if bullets:
        sentences = (answer.excerpt[start:end] for start, end in split_sentences(answer.excerpt))
        blocks.append("\n".join(f"- {' '.join(sentence.split())}" for sentence in sentences))
    else:
        blocks.append(_quoted(answer.excerpt))
    if answer.next_start_char is not None:
        blocks.append(
            desk.say(
                f"The passage goes on: kb.read_excerpt with passage_id={answer.passage_id}, "
                f"start_char={answer.next_start_char}"
            )
        )
    elif answer.truncated:
        blocks.append(desk.say("Cut at the excerpt's limit. Use smaller numbers with kb.expand_excerpt."))
    return "\n\n".join(blocks)
