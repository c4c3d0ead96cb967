"""``search`` and ``fetch``: the form that ChatGPT's connectors and deep research ask of a server.

The form is fixed: each takes one string, and answers with one text item that holds exactly the JSON object which is
the structured content too (https://platform.openai.com/docs/mcp). So ``search`` can say neither which scope it searched
nor why it found nothing, and ``fetch`` says in ``metadata`` where its text stands, in which scope, and what cut it.
Neither tells its budget, and both keep it, as they keep within the server's own scope. Ids are those of passages (or of
documents, for ``fetch``): they hold for every session and outlive it.
"""

from __future__ import annotations

from urllib.parse import quote

from graphctx.errors import InvalidArgument
from graphctx.model.answers import Answer, Budget, SearchResult
from graphctx.model.budgets import CapReason, Weight, fit, weigh
from graphctx.model.compat import (
    ConnectorDocument,
    ConnectorFetchInput,
    ConnectorMetadata,
    ConnectorResult,
    ConnectorSearchAnswer,
    ConnectorSearchInput,
)
from graphctx.model.found import UnitText
from graphctx.model.requests import Scope, SearchInput, SearchOptions
from graphctx.server.call_context import CallContext
from graphctx.server.scratch import URI_SCHEME
from graphctx.server.tool import AnyTool, Description, Reply, Tool

N_RESULTS = 10
"""A connector reads on from what it is shown and cannot ask for more; ten titles cost about as much as two quotes."""


_FRAGMENT = "!$&'()*+,;=:@/?"
"""What may stand in a fragment as it is (RFC 3986, section 3.5)."""


def _search(context: CallContext, asked: ConnectorSearchInput) -> Reply[ConnectorSearchAnswer]:
    scope = context.scope(Scope())
    request = SearchInput(query=asked.query, top_k=N_RESULTS, scope=scope, options=SearchOptions(max_per_doc=2))
    results = [_result(found) for found in context.searcher.search(request).items]

    def weight(n: int, cut: CapReason | None) -> Weight:
        made = _as_json(ConnectorSearchAnswer(results=results[:n]))
        return weigh(context.sent(made, made), context.count)

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
    """A whole document, as if it were one unit; one outside the scope is as good as unknown."""
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
    """Where a document can be cited: its own address on the web, else the resource that this server has of it."""
    base = doc_uri if doc_uri.startswith(("https://", "http://")) else f"{URI_SCHEME}://document/{doc_id}"
    return f"{base}#{quote(anchor, _FRAGMENT)}" if anchor and "#" not in base else base


def _result(found: SearchResult) -> ConnectorResult:
    return ConnectorResult(
        id=found.section_id,
        title=_title(found.title, found.heading),
        url=address(found.doc_uri, found.doc_id, found.anchor),
    )


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
        returns=f"{N_RESULTS} passages, best first, each with id, title and url; no text.",
        follow_up="call fetch with an id, or search again in other words.",
        defaults=f"none. Max: {N_RESULTS} results, two of one document.",
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
        defaults="none. Max: one id.",
    ),
    input=ConnectorFetchInput,
    output=ConnectorDocument,
    run=_fetch,
)

CONNECTOR_TOOLS: tuple[AnyTool, ...] = (SEARCH_FOR_CONNECTORS, FETCH_FOR_CONNECTORS)
