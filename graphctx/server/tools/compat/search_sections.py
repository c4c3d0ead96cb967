"""search_sections: kb.search with the defaults of before (tool contract, sections 3.1 and 4.1).

Its results carry all that they can (scores and diagnostics), twenty of them, and as many of one document as there are.
"""

from __future__ import annotations

from graphctx.model.compat import SearchSectionsInput
from graphctx.model.requests import MAX_TOP_K, SearchInput, SearchOptions
from graphctx.server.tools.compat.wrapper import older, shared
from graphctx.server.tools.search import SEARCH

SNIPPET_CHARS = 160
"""Twenty results with scores and diagnostics keep within the default response budget with previews so long; with those
of kb.search eighteen did."""

# kb.search refuses so many of one document from a caller; the older tool never dropped any.
_OPTIONS = SearchOptions(include_scores=True, include_debug=True, max_snippet_chars=SNIPPET_CHARS).model_copy(
    update={"max_per_doc": MAX_TOP_K}
)


def _translate(request: SearchSectionsInput) -> SearchInput:
    return SearchInput(
        query=request.query,
        top_k=request.top_k,
        page_size=request.page_size or request.top_k,
        filters=request.filters,
        **shared(request),
    ).model_copy(update={"options": _OPTIONS})


SEARCH_SECTIONS = older(
    "search_sections",
    SEARCH,
    SearchSectionsInput,
    _translate,
    returns="top_k results (20), each with a preview, its scores and diagnostics; never whole sections",
)
