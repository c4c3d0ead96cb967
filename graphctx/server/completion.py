"""Completing what somebody types: names of documents, entities and communities for resource templates and prompts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import mcp_types as types

from graphctx.errors import InvalidArgument
from graphctx.model.requests import Scope
from graphctx.model.results import NameResults
from graphctx.server import prompts
from graphctx.server.resources import LEVELS, TEMPLATES

if TYPE_CHECKING:
    from graphctx.retrieve.searcher import Searcher

MAX_VALUES = 100
"""As many as the protocol allows."""
MAX_TYPED_CHARS = 300

_NOTHING = NameResults((), 0)


def complete(
    params: types.CompleteRequestParams,
    playbooks: tuple[prompts.Playbook, ...],
    opened: Callable[[], tuple[Searcher, Scope]],
) -> types.CompleteResult:
    """The values that complete an argument, at most a hundred, and none from outside the scope.

    Documents are completed to their URIs, entities to their names and communities to their titles, which people know
    and which resources and prompts take as well as ids; what starts like an id (``d_``, ``e_``, ``c_``) is completed to
    ids. An argument that can be anything is completed to nothing.

    Args:
        params: which argument of which template or prompt, and what has been typed.
        playbooks: the prompts that there are.
        opened: gives what is published, and the scope; only asked for a template or prompt that there is.

    Raises:
        InvalidArgument: there is no such template, prompt or argument.
    """
    what = _what(params, playbooks)
    searcher, scope = opened()
    typed = params.argument.value[:MAX_TYPED_CHARS]
    names = _NOTHING
    if what != "level" and not searcher.snapshot_id:
        names = _NOTHING
    elif what == "entity":
        names = searcher.catalog.entities(typed, scope, MAX_VALUES)
    elif what == "document":
        names = searcher.catalog.documents(typed, scope, MAX_VALUES)
    elif what == "community":
        names = searcher.catalog.communities(typed, scope, MAX_VALUES)
    elif what == "level":
        levels = [*LEVELS, *(str(number) for number in range(1, len(LEVELS) + 1))]
        named = tuple(level for level in levels if level.startswith(typed.casefold()))
        names = NameResults(named, len(named))
    return types.CompleteResult(
        completion=types.Completion(
            values=list(names.values), total=names.total, has_more=names.total > len(names.values)
        )
    )


def _what(params: types.CompleteRequestParams, playbooks: tuple[prompts.Playbook, ...]) -> str:
    """What the argument names: ``entity``, ``document``, ``community``, ``level`` or ``nothing``."""
    ref, argument = params.ref, params.argument.name
    if isinstance(ref, types.PromptReference):
        playbook = prompts.find(playbooks, ref.name)
        known = {blank.name: blank.completes for blank in playbook.blanks}
        if argument in known:
            return known[argument]
        raise _unknown(f"{ref.name} has no argument {argument[:100]!r}", list(known))
    for template in TEMPLATES:
        if template.uri == ref.uri:
            if argument in template.completes:
                return template.completes[argument]
            raise _unknown(f"{ref.uri} has no argument {argument[:100]!r}", list(template.completes))
    raise _unknown(f"there is no resource template {ref.uri[:200]!r}", [template.uri for template in TEMPLATES])


def _unknown(what: str, known: list[str]) -> InvalidArgument:
    return InvalidArgument(f"Nothing to complete: {what}; known: {', '.join(known)}.", allowed=known)
