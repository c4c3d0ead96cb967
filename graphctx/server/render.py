"""What the readable texts of all answers share: quoted text, citations, the first line, what was cut, why it is empty.

The text of a document is marked line by line, so that nothing in it can pass for the server's own words. The structured
answer has every character as it is in the document; a text is for reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from graphctx.model.answers import EmptyReason, LayerMark, LimitReason, ListAnswer
from graphctx.model.documents import has_file_lines
from graphctx.model.requests import Scope
from graphctx.server.resources import section_uri

if TYPE_CHECKING:
    from graphctx.server.call_context import CallContext

_CONTROLS = re.compile("[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")
"""Control characters, which a terminal may obey, except for tabs and line breaks; halves of a surrogate pair."""
_DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Bidirectional formatting characters."""

_EMPTY: dict[EmptyReason, str] = {
    "no_snapshot": "Nothing is published in this knowledge base yet. Ingest some documents, then ask again.",
    "filtered_out": "The filters leave no document of the scope. Widen or drop them.",
    "no_communities": "There are no communities here: the documents are too few. Widen the scope, or ingest more.",
    "ambiguous": "The name stands for several; ask again by the id of one.",
    "empty_knowledge_base": "The documents of the knowledge base hold no text to quote. Ingest others, then ask again.",
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
"""What to ask for if a cap of the request itself left something out."""

ONLY_NEAR = "Only near matches: none of these fits the question well, the documents may not hold the answer."


def quoted(text: str, indent: str = "") -> str:
    """Return the lines of a document's text, each after a ``>``; any character that a client may break at ends one."""
    lines = _CONTROLS.sub("\ufffd", text).splitlines() or [""]
    return "\n".join(f"{indent}> {line}" for line in lines)


def clean(text: str) -> str:
    """Return a text without characters that a terminal may obey."""
    return _DIRECTIONS.sub("", _CONTROLS.sub("\ufffd", text))


def one_line(text: str) -> str:
    """Return a name out of a document (title, heading, URI) on one line, without control or bidirectional marks."""
    return _DIRECTIONS.sub("", _CONTROLS.sub("\ufffd", " ".join(text.split())))


def joined(texts: Iterable[str], by: str = "; ") -> str:
    """Join names out of documents on one line."""
    return by.join(map(one_line, texts))


def counted(n: int, what: str) -> str:
    """Return ``1 unit``, ``2 units``, ``3 entities``."""
    return f"{n} {what if n == 1 else plural(what)}"


def plural(what: str) -> str:
    """Return the plural of a noun: ``units``, ``entities``."""
    return f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"


def place(doc_uri: str, line: int | None, page: int | None) -> str:
    """Return ``uri:line (page n)``: the line if the file itself has it, the page if there are pages."""
    at = one_line(doc_uri) + (f":{line}" if line is not None and has_file_lines(doc_uri) else "")
    return f"{at} (page {page})" if page is not None else at


def citation(title: str, heading: str, doc_uri: str, line: int, page: int | None) -> str:
    """Return ``title › heading — uri:line (page n)``."""
    name = f"{one_line(title)} › {one_line(heading)}" if heading else one_line(title)
    return f"{name} — {place(doc_uri, line, page)}"


def searched(scope: Scope) -> str:
    """Return where an answer looked: the project, and what narrowed it."""
    said = f"project {scope.project_id}"
    if scope.doc_tags:
        said += f", tags {joined(scope.doc_tags, ', ')}"
    if scope.repositories:
        said += f", below {joined(scope.repositories, ', ')}"
    return said


def why_empty(answer: ListAnswer) -> str:
    """Return why a list is empty, with the arguments that are the cause; an empty string if it is not empty."""
    if answer.empty_reason is None:
        return ""
    if not answer.filtered_by:
        return _EMPTY[answer.empty_reason]
    named = ", ".join(answer.filtered_by)
    several = len(answer.filtered_by) > 1
    return f"{named} {'leave' if several else 'leaves'} no document. Widen or drop {'them' if several else 'it'}."


def head(answer: ListAnswer, n: int, what: str) -> str:
    """Return how many items there are, and where they were looked for."""
    return f"{n or 'No'} {what if n == 1 else what + 's'} from {searched(answer.scope)}"


def more(context: CallContext, answer: ListAnswer, call: str) -> list[str]:
    """Return what was cut and the next call, as at most one block; nothing if nothing was cut."""
    cut = _CUT.get(answer.limit_reason, "a limit")
    if answer.next_cursor is not None:
        return [context.say(f"Cut by {cut}. For the rest, repeat {call} with cursor={answer.next_cursor}")]
    if answer.limit_reason in CAPPED:
        return [CAPPED[answer.limit_reason]]
    return [f"Shortened by {cut}; allow more with max_tokens and max_bytes."] if answer.truncated else []


def how_named(context: CallContext) -> str:
    """Return how to name a passage in the next call, by what works in every session."""
    argument = "" if context.naming.name("kb.search") == "search_sections" else " as passage_id"
    return f"a section's id{argument}. Resource: {section_uri('<section>')}"


def mark_line(mark: LayerMark) -> str:
    """Return the provenance of a layer's chunk: layer, author, confidence, sources and conflicts."""
    said = f"{mark.name} layer, by {mark.author}, who gives it confidence {mark.confidence:.2f}"
    said += sources_of(mark.sources, mark.more_sources)
    if mark.conflicts:
        said += f"; at odds with {', '.join(mark.conflicts)}"
    return said


def sources_of(sources: Sequence[str], more_sources: int | None) -> str:
    """Return the sources that an author names, as the end of a line; an empty string without any."""
    if not sources:
        return ""
    rest = f" and {more_sources} more" if more_sources else ""
    return f"; sources {joined(sources, ', ')}{rest}"


def respelt(read_as: Mapping[str, str]) -> list[str]:
    """Return which misspelt words were read as which, as at most one block."""
    words = ", ".join(f"{one_line(typed)} as {one_line(read)}" for typed, read in read_as.items())
    return [f"No document holds these words as they are spelt; read {words}."] if words else []


def unheld(words: Sequence[str]) -> list[str]:
    """Return which key words of the question no document holds, as at most one block."""
    return [f"No document holds {one_line(', '.join(words))}."] if words else []


def note_lines(notes: Sequence[str]) -> list[str]:
    """Return the notes about layers as at most one block."""
    return ["\n".join(f"Layers: {one_line(note)}" for note in notes)] if notes else []
