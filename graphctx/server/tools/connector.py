"""``search`` and ``fetch``: the form that ChatGPT's connectors and deep research require of a server.

The form is fixed: each takes one string, and answers with one text item that holds exactly the JSON object of the
structured content (https://platform.openai.com/docs/mcp). So ``search`` can say neither which scope it searched nor why
it found nothing, and ``fetch`` says in ``metadata`` where its text is, in which scope, and what cut it. Neither reports
its budget; both keep it, and keep within the server's own scope. Ids are those of passages (or of documents, for
``fetch``): they are valid in every session and outlive it.
"""

from __future__ import annotations

from typing import ClassVar
from urllib.parse import quote

from pydantic import Field

from graphctx.errors import InvalidArgument
from graphctx.model.answers import Answer, Budget, LimitReason
from graphctx.model.budgets import CapReason, Weight, fit, weigh
from graphctx.model.requests import Label, Question, Scope, SearchInput, SearchOptions, Strict
from graphctx.model.results import UnitText
from graphctx.server.call_context import CallContext
from graphctx.server.scratch import URI_SCHEME
from graphctx.server.tool import Description, Reply, Tool

N_RESULTS = 10
"""A connector reads on from what it is shown and cannot ask for more; ten titles cost about as much as two quotes."""
MAX_PER_DOC = 2
_FRAGMENT = "!$&'()*+,;=:@/?"
"""Characters that need no escape in a fragment (RFC 3986, section 3.5)."""


class ConnectorSearchInput(Strict):
    """Arguments of the connector's search: the form allows no other."""

    query: Question = Field(description="What to look for: a question or key words.")


class ConnectorFetchInput(Strict):
    """Arguments of the connector's fetch: the form allows no other."""

    id: Label = Field(description="id of a search result, or doc_id of one fetched before.")


class ConnectorResult(Answer):
    """A passage, as the connector form lists it."""

    id: str = Field(description="Stable id of the passage: pass it to fetch.")
    title: str = Field(description="Title of the document and path of headings.")
    url: str = Field(description="Address of the document, at the passage's heading.")


class ConnectorSearchAnswer(Answer):
    """Output of the connector's search. The form has no room for scope, budget or a reason why it is empty."""

    results: list[ConnectorResult]


class ConnectorMetadata(Answer):
    """What the connector form has no field for: place, scope and what was cut."""

    SILENT: ClassVar[frozenset[str]] = frozenset({"page", "anchor", "tags"})

    doc_uri: str
    doc_id: str = Field(description="Pass it to fetch for the document from its start.")
    start_char: int = Field(ge=0, description="Where the text starts in the document's text.")
    end_char: int = Field(ge=0)
    line: int = Field(ge=1)
    page: int | None = None
    anchor: str | None = None
    tags: list[str] = Field([], description="The document's.")
    truncated: bool = Field(description="Whether the response's limit cut the text.")
    limit_reason: LimitReason
    snapshot_id: str
    scope: Scope = Field(description="The scope that was applied.")


class ConnectorDocument(Answer):
    """Output of the connector's fetch."""

    id: str
    title: str
    text: str = Field(description="Exactly as in the document.")
    url: str = Field(description="Address of the document, at the passage's heading.")
    metadata: ConnectorMetadata


def _search(context: CallContext, asked: ConnectorSearchInput) -> Reply[ConnectorSearchAnswer]:
    scope = context.scope(Scope())
    request = SearchInput(
        query=asked.query, top_k=N_RESULTS, scope=scope, options=SearchOptions(max_per_doc=MAX_PER_DOC)
    )
    results = [
        ConnectorResult(
            id=found.section_id,
            title=_title(found.title, found.heading),
            url=address(found.doc_uri, found.doc_id, found.anchor),
        )
        for found in context.searcher.search(request).items
    ]

    def weight(n: int, cut: CapReason | None) -> Weight:
        made = _as_json(ConnectorSearchAnswer(results=results[:n]))
        return weigh(context.payload_parts(made, made), context.count)

    fitted = fit(len(results), weight, context.config.limits)
    answer = ConnectorSearchAnswer(results=results[: fitted.n_items])
    return Reply(answer, _as_json(answer))


def _fetch(context: CallContext, asked: ConnectorFetchInput) -> Reply[ConnectorDocument]:
    scope = context.scope(Scope())
    unit = (
        _document(context, asked.id, scope)
        if asked.id.startswith("d_")
        else context.passage(asked.id, scope, "id").unit
    )

    def build(text: str, cut: CapReason | None, _: Budget) -> ConnectorDocument:
        return ConnectorDocument(
            id=asked.id,
            title=_title(unit.title, unit.heading),
            text=text,
            url=address(unit.doc_uri, unit.doc_id, unit.anchor),
            metadata=ConnectorMetadata(
                doc_uri=unit.doc_uri,
                doc_id=unit.doc_id,
                start_char=unit.start_char,
                end_char=unit.start_char + len(text),
                line=unit.line,
                page=unit.page(unit.start_char),
                anchor=unit.anchor,
                tags=list(unit.tags),
                truncated=cut is not None,
                limit_reason=cut or "none",
                snapshot_id=context.searcher.snapshot_id,
                scope=scope,
            ),
        )

    return Reply(*context.pager.span(unit.text, build, _as_json))


def _document(context: CallContext, doc_id: str, scope: Scope) -> UnitText:
    """Return a whole document as one unit; a document outside the scope is unknown."""
    try:
        document = context.searcher.catalog.document(doc_id, scope)
    except InvalidArgument:
        raise InvalidArgument(
            f"id: no document within this scope is known as {doc_id[:200]!r}. Call search and use ids of its answer.",
            field="id",
            value=doc_id[:200],
            allowed="an id of search's answer, or metadata.doc_id of fetch's",
            repeat=["search"],
        ) from None
    return UnitText(
        section_id=document.doc_id,
        doc_id=document.doc_id,
        doc_uri=document.uri,
        tags=document.tags,
        title=document.title,
        heading="",
        anchor=None,
        text=document.text,
        start_char=0,
        end_char=len(document.text),
        line=1,
        updated_at=document.updated_at,
    )


def address(doc_uri: str, doc_id: str, anchor: str | None) -> str:
    """Return where a document can be cited: its own address on the web, else the resource of this server."""
    base = doc_uri if doc_uri.startswith(("https://", "http://")) else f"{URI_SCHEME}://document/{doc_id}"
    return f"{base}#{quote(anchor, _FRAGMENT)}" if anchor and "#" not in base else base


def _title(title: str, heading: str) -> str:
    return f"{title} › {heading}" if heading else title


def _as_json(answer: Answer) -> str:
    return answer.model_dump_json()


SEARCH_FOR_CONNECTORS = Tool(
    name="search",
    toolset="connector",
    title="Search the documents",
    description=Description(
        use_when="you want to find passages of this knowledge base on a topic or question.",
        not_when="you have an id already: fetch gives its text.",
        returns=f"{N_RESULTS} passages, {MAX_PER_DOC} of one document, best first, each with id, title and url; no "
        "text.",
        follow_up="call fetch with an id, or search again in other words.",
    ),
    input=ConnectorSearchInput,
    output=ConnectorSearchAnswer,
    run=_search,
)

FETCH_FOR_CONNECTORS = Tool(
    name="fetch",
    toolset="connector",
    title="Fetch a passage or a document",
    description=Description(
        use_when="you want the text behind an id that search returned.",
        not_when="you have no id yet: search first.",
        returns="one passage, word for word, or one document by its doc_id, from its start as far as a response of "
        "{response} goes; metadata says where it stands and whether it was cut.",
        follow_up="call fetch with metadata.doc_id for the document around a passage, or with other ids.",
    ),
    input=ConnectorFetchInput,
    output=ConnectorDocument,
    run=_fetch,
)
