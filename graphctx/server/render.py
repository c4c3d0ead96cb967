"""The readable text of an answer: short and complete, with citations, what was cut and what to call next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphctx.model.answers import (
    LOW_CONFIDENCE,
    EmptyReason,
    EvidenceAnswer,
    ExcerptAnswer,
    LayerMark,
    LimitReason,
    ListAnswer,
    SearchAnswer,
)
from graphctx.model.documents import has_file_lines
from graphctx.model.requests import Scope
from graphctx.server.quoting import one_line, quoted
from graphctx.server.resources import section_uri
from graphctx.text.sentences import split_sentences

if TYPE_CHECKING:
    from graphctx.server.call_context import CallContext

_EMPTY: dict[EmptyReason, str] = {
    "no_snapshot": "Nothing is published in this knowledge base yet. Ingest some documents, then ask again.",
    "filtered_out": "The filters leave no document of the scope. Widen or drop them.",
    "no_communities": "There are no communities here: the documents are too few. Widen the scope, or ingest more.",
    "ambiguous": "The name stands for several; ask again by the id of one.",
    "empty_knowledge_base": "The knowledge base holds no documents yet. Ingest some, then ask again.",
    "nothing_in_scope": "The scope leaves no document to look in. Widen it if you may.",
    "no_match": "Nothing fits. Try other words, or a larger top_k.",
    "no_evidence": "Nothing in scope bears on the question.",
    "no_layers": "The layers asked for hold no chunk.",
}
_CUT: dict[LimitReason, str] = {
    "token_cap": "the response's token limit",
    "byte_cap": "the response's size limit",
    "page_size": "the page size",
}
CAPPED: dict[LimitReason, str] = {
    "doc_cap": "There is more in these documents: options.max_per_doc lets more of one document in.",
    "passage_cap": "These passages hold no more: a larger top_k quotes from more of them.",
}
"""What to ask for where a cap of the request's own left something out."""


def citation(title: str, heading: str, doc_uri: str, line: int, page: int | None) -> str:
    """``title › heading — uri:line``; the line only where the file itself has it, the page where there are pages."""
    place = f"{one_line(title)} › {one_line(heading)}" if heading else one_line(title)
    at = one_line(doc_uri) + (f":{line}" if has_file_lines(doc_uri) else "")
    return f"{place} — {at} (page {page})" if page is not None else f"{place} — {at}"


def searched(scope: Scope) -> str:
    """Where an answer looked: the project, and what narrowed it."""
    said = f"project {scope.project_id}"
    if scope.doc_tags:
        said += f", tags {', '.join(map(one_line, scope.doc_tags))}"
    if scope.repositories:
        said += f", below {', '.join(map(one_line, scope.repositories))}"
    return said


def why_empty(answer: ListAnswer) -> str:
    """Why there is nothing, with the arguments that are the cause; empty where there is something."""
    if answer.empty_reason is None:
        return ""
    if not answer.filtered_by:
        return _EMPTY[answer.empty_reason]
    named = ", ".join(answer.filtered_by)
    several = len(answer.filtered_by) > 1
    return f"{named} {'leave' if several else 'leaves'} no document. Widen or drop {'them' if several else 'it'}."


def head(answer: ListAnswer, n: int, what: str) -> str:
    """How many there are, and where they were looked for."""
    return f"{n or 'No'} {what if n == 1 else what + 's'} from {searched(answer.scope)}"


def more(context: CallContext, answer: ListAnswer, call: str) -> list[str]:
    """What was cut, and the next call; nothing where all is there."""
    cut = _CUT.get(answer.limit_reason, "a limit")
    if answer.next_cursor is not None:
        return [context.say(f"Cut by {cut}. For the rest, repeat {call} with cursor={answer.next_cursor}")]
    if answer.limit_reason in CAPPED:
        return [CAPPED[answer.limit_reason]]
    return [f"Shortened by {cut}; allow more with max_tokens and max_bytes."] if answer.truncated else []


def mark_line(mark: LayerMark) -> str:
    """Return the provenance of a layer's chunk: layer, author, confidence, sources and conflicts."""
    said = f"{mark.name} layer, by {mark.author}, who gives it confidence {mark.confidence:.2f}"
    said += sources_of(mark.sources, mark.more_sources)
    if mark.conflicts:
        said += f"; at odds with {', '.join(mark.conflicts)}"
    return said


def sources_of(sources: Sequence[str], more_sources: int | None) -> str:
    """Return the sources that an author names, as the end of a line; empty without any."""
    if not sources:
        return ""
    rest = f" and {more_sources} more" if more_sources else ""
    return f"; sources {', '.join(map(one_line, sources))}{rest}"


def note_lines(notes: Sequence[str]) -> list[str]:
    """Return the notes about layers as one block; empty without any."""
    return ["\n".join(f"Layers: {one_line(note)}" for note in notes)] if notes else []


def search_text(context: CallContext, answer: SearchAnswer) -> str:
    """Previews with citations."""
    start = f"{head(answer, len(answer.results), 'result')}."
    if answer.empty_reason:
        return "\n\n".join([f"{start} {why_empty(answer)}", *note_lines(answer.layer_notes)])
    blocks = [start]
    for result in answer.results:
        where = citation(result.title, result.heading, result.doc_uri, result.line, result.page)
        mark = f"\n{mark_line(result.layer)}" if result.layer else ""
        blocks.append(f"[{result.rank}] {where}\nsection {result.section_id}{mark}\n{quoted(result.preview)}")
    blocks += note_lines(answer.layer_notes)
    blocks += more(context, answer, "kb.search")
    blocks.append(
        context.say(
            f"These are previews. Quotes: kb.extract_evidence; text: kb.read_excerpt. Both take {how_named(context)}"
        )
    )
    return "\n\n".join(blocks)


def evidence_text(context: CallContext, answer: EvidenceAnswer, call: str) -> str:
    """Quotes with citations; ``call`` is the tool that gave them."""
    start = head(answer, len(answer.quotes), "quote")
    if answer.empty_reason:
        said = "\n\n".join([f"{start}. {why_empty(answer)}", *note_lines(answer.layer_notes)])
        return f"{said} {_nearest(context, answer.nearest)}" if answer.nearest else said
    blocks = [f"{start}, word for word."]
    for number, quote in enumerate(answer.quotes, start=1):
        where = citation(quote.title, quote.heading, quote.doc_uri, quote.line, quote.page)
        cut = ", shortened" if quote.truncated else ""
        mark = f"\n{mark_line(quote.layer)}" if quote.layer else ""
        blocks.append(
            f"[{number}] {where}\nsection {quote.section_id}, confidence {quote.confidence:.2f}{cut}{mark}\n"
            f"{quoted(quote.quote)}"
        )
    if all(quote.confidence < LOW_CONFIDENCE for quote in answer.quotes):
        blocks.append("None of these fits the question well: the documents may not hold the answer.")
    blocks += note_lines(answer.layer_notes)
    if answer.next_cursor is not None or answer.limit_reason in CAPPED:
        blocks += more(context, answer, call)
    blocks.append(context.say(f"More text: kb.read_excerpt or kb.expand_excerpt with {how_named(context)}"))
    return "\n\n".join(blocks)


def how_named(context: CallContext) -> str:
    """How the texts of answers name passages: by what works in every session."""
    place = "" if context.spelling.name("kb.search") == "search_sections" else " as passage_id"
    return f"a section's id{place}. Resource: {section_uri('<section>')}"


def _nearest(context: CallContext, uris: Sequence[str]) -> str:
    """What comes nearest, and what to do."""
    advice = "Ask in the words that the documents would use, or look around with kb.search; else they may not say it."
    return f"Nearest, though not near, come: {', '.join(map(one_line, uris))}. {context.say(advice)}"


def excerpt_text(context: CallContext, answer: ExcerptAnswer, section_id: str, bullets: bool = False) -> str:
    """The excerpt of a section below its citation; as a list of its sentences where that is asked for."""
    blocks = []
    if (source := answer.citation) is not None:
        where = citation(source.title, source.heading, source.doc_uri, source.line, source.page)
        blocks.append(f"{where}\nsection {section_id}, {section_uri(section_id)}")
    if bullets:
        sentences = (answer.excerpt[start:end] for start, end in split_sentences(answer.excerpt))
        blocks.append("\n".join(f"- {one_line(sentence)}" for sentence in sentences))
    else:
        blocks.append(quoted(answer.excerpt))
    if answer.next_start_char is not None:
        blocks.append(
            context.say(
                f"The passage goes on: kb.read_excerpt with passage_id={section_id}, "
                f"start_char={answer.next_start_char}"
            )
        )
    elif answer.truncated:
        blocks.append("Cut at the excerpt's limit: ask for less around the passage, or for more tokens.")
    return "\n\n".join(blocks)
