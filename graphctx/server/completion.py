"""Completion of arguments: names of documents, entities and communities for resource templates and prompts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import mcp_types as types

from graphctx.errors import InvalidArgument
from graphctx.model.requests import Scope
from graphctx.model.results import NameResults
from graphctx.server import prompts
from graphctx.server.context_resources import CONTEXT_TEMPLATES
from graphctx.server.resources import LEVELS, TEMPLATES

if TYPE_CHECKING:
    from graphctx.retrieve.searcher import Searcher

MAX_VALUES = 100
"""The protocol's maximum."""
MAX_TYPED_CHARS = 300


def complete(
    params: types.CompleteRequestParams,
    playbooks: tuple[prompts.Playbook, ...],
    opened: Callable[[], tuple[Searcher, Scope]],
) -> types.CompleteResult:
    """Return the values that complete an argument: at most `MAX_VALUES`, all within the scope.

    Documents are completed to their URIs, entities to their names and communities to their titles, which resources and
    prompts accept as well as ids; what starts like an id (``d_``, ``e_``, ``c_``) is completed to ids. An argument of
    free text is completed to nothing.

    Args:
        params: the argument of a template or prompt, and the text typed so far.
        playbooks: the prompts that the server offers.
        opened: returns the pinned snapshot and the scope; called only for an argument that exists.

    Raises:
        InvalidArgument: there is no such template, prompt or argument.
    """
    kind = _kind(params, playbooks)
    searcher, scope = opened()
    typed = params.argument.value[:MAX_TYPED_CHARS]
    names = NameResults((), 0)
    if kind == "level":
        levels = [*LEVELS, *(str(number) for number in range(1, len(LEVELS) + 1))]
        found = tuple(level for level in levels if level.startswith(typed.casefold()))
        names = NameResults(found, len(found))
    elif searcher.snapshot_id:
        if kind == "entity":
            names = searcher.catalog.entities(typed, scope, MAX_VALUES)
        elif kind == "document":
            names = searcher.catalog.documents(typed, scope, MAX_VALUES)
        elif kind == "community":
            names = searcher.catalog.communities(typed, scope, MAX_VALUES)
    return types.CompleteResult(
        completion=types.Completion(
            values=list(names.values), total=names.total, has_more=names.total > len(names.values)
        )
    )


def _kind(params: types.CompleteRequestParams, playbooks: tuple[prompts.Playbook, ...]) -> str:
    """Return what the argument names: ``entity``, ``document``, ``community``, ``level`` or ``nothing``."""
    ref, argument = params.ref, params.argument.name
    if isinstance(ref, types.PromptReference):
        playbook = prompts.find(playbooks, ref.name)
        known = {blank.name: blank.completes for blank in playbook.blanks}
        if argument in known:
            return known[argument]
        raise _unknown(f"{ref.name} has no argument {argument[:100]!r}", list(known))
    for template in (*TEMPLATES, *CONTEXT_TEMPLATES):
        if template.uri == ref.uri:
            if argument in template.completes:
                return template.completes[argument]
            raise _unknown(f"{ref.uri} has no argument {argument[:100]!r}", list(template.completes))
    raise _unknown(f"there is no resource template {ref.uri[:200]!r}", [template.uri for template in TEMPLATES])


def _unknown(problem: str, known: list[str]) -> InvalidArgument:
    return InvalidArgument(f"Nothing to complete: {problem}; known: {', '.join(known)}.", allowed=known)
