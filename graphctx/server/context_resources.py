"""The resources of composed contexts: one for a question, and the levels of the hierarchy, page by page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, unquote

import mcp_types as types

from graphctx.errors import InvalidArgument
from graphctx.model.arguments import parse_arguments
from graphctx.model.context import ContextInput
from graphctx.server.resources import JSON, Template, text_contents

if TYPE_CHECKING:
    from graphctx.context import ContextCache
    from graphctx.model.context_source import ContextSource
    from graphctx.retrieve.searcher import Searcher

CONTEXT_SCHEME = "context://"
PAGE_ITEMS = 100

CONTEXT_TEMPLATES = (
    Template(
        "context://query/{query}",
        "context_query",
        "Context for a question",
        "A composed context for a question: what matters most first and last. ?max_tokens=8000 sets its size; "
        "layers=local,delta and include_memory=true add what is in no document.",
        JSON,
        {"query": "nothing"},
    ),
    Template(
        "context://hierarchy/{level}",
        "context_hierarchy",
        "Items of a level",
        "1 concepts, 2 sections, 3 chunks: a page of the items of a level; next is the URI of the following page.",
        JSON,
        {"level": "level"},
    ),
)

_URI = re.compile(r"context://(query|hierarchy)/([^?]+)(?:\?(.*))?", re.DOTALL)
_LEVELS = {"1": 1, "concept": 1, "2": 2, "section": 2, "3": 3, "chunk": 3, "unit": 3}


def context_contents(
    uri: str,
    searcher: Searcher,
    cache: ContextCache | None = None,
    memory: Callable[[], ContextSource] | None = None,
) -> types.TextResourceContents:
    """Return the contents of a resource; ``memory`` returns what the caller may see of the memory.

    Raises:
        InvalidArgument: there is no such resource, or a value in it is out of range.
    """
    parsed = _URI.fullmatch(uri)
    if parsed is None:
        known = [template.uri for template in CONTEXT_TEMPLATES]
        raise InvalidArgument(
            f"There is no resource {uri[:120]!r}; there are {', '.join(known)}.",
            field="uri",
            value=uri[:200],
            allowed=known,
        )
    options = {name: values[-1] for name, values in parse_qs(parsed[3] or "").items()}
    name = unquote(parsed[2])
    if parsed[1] == "hierarchy":
        return _level(uri, name, options, searcher)
    return _query(uri, name, options, searcher, cache, memory)


def _query(
    uri: str,
    query: str,
    options: dict[str, str],
    searcher: Searcher,
    cache: ContextCache | None,
    memory: Callable[[], ContextSource] | None,
) -> types.TextResourceContents:
    from graphctx.context import compose_context
    from graphctx.nlp.tokens import AnswerCounter

    remembered = options.pop("include_memory", "false")
    if remembered not in ("true", "false") or (remembered == "true" and memory is None):
        raise InvalidArgument(
            f"include_memory = {remembered[:20]!r}: "
            + ("write true or false." if memory else "no memory is served here. Start the server with --memory DIR."),
            field="include_memory",
            value=remembered[:20],
            allowed="true or false" if memory else "left out",
        )
    layers = options.pop("layers", None)
    fields = {"query": query, **options, **({"layers": layers.split(",")} if layers else {})}
    context = compose_context(
        parse_arguments(ContextInput, fields),
        searcher,
        AnswerCounter(),
        cache=cache,
        sources=[memory()] if memory is not None and remembered == "true" else [],
    )
    return text_contents(uri, context.model_dump_json(exclude={"text"}), JSON)


def _level(uri: str, name: str, options: dict[str, str], searcher: Searcher) -> types.TextResourceContents:
    from graphctx.context.hierarchy import hierarchy_page

    level = _LEVELS.get(name.casefold())
    start = options.get("start", "0")
    if level is None or not start.isdecimal():
        raise InvalidArgument(
            f"There is no level {name[:100]!r} from {start[:20]!r} on; levels are 1 concept, 2 section and 3 chunk.",
            field="uri",
            value=uri[:200],
            allowed=list(_LEVELS),
        )
    items, total = hierarchy_page(searcher, level, int(start[:9]), PAGE_ITEMS)
    after = int(start[:9]) + len(items)
    page = {
        "level": level,
        "items": items,
        "total": total,
        "next": f"context://hierarchy/{quote(name)}?start={after}" if items and after < total else None,
        "snapshot_id": searcher.snapshot_id,
    }
    return text_contents(uri, json.dumps(page, ensure_ascii=False), JSON)
