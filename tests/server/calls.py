"""Calling a tool as the server does, without a protocol around it."""

from __future__ import annotations

from typing import Any

from graphctx.model.arguments import parse_arguments
from graphctx.model.budgets import Limits
from graphctx.server.backend import Backend
from graphctx.server.config import ServerConfig
from graphctx.server.desk import Desk
from graphctx.server.names import Spelling
from graphctx.server.scratch import ScratchStore
from graphctx.server.tools import TOOLS

from .library import Library, count_tokens

LISTED = Spelling.of((tool.name for tool in TOOLS), "underscore")
BY_NAME = {tool.name: tool for tool in TOOLS}


def desk_over(backend: Backend, limits: Limits | None = None, session: str = "x_" + "a" * 16, **settings: Any) -> Desk:
    """A desk of one session over a knowledge base."""
    config = ServerConfig(limits=limits or Limits())
    return Desk(backend, count_tokens, ScratchStore(1 << 24, 60), session, config, **settings)


def call(desk: Desk, tool: str, **arguments: Any) -> tuple[dict[str, Any], str]:
    """The structure and the text of an answer; the structure is held to the output model, as on the way out."""
    declared = BY_NAME[tool]
    reply = declared.run(desk, parse_arguments(declared.input, arguments))
    structure = reply.answer.model_dump(mode="json")
    declared.output.model_validate(structure)
    return structure, reply.text


def unit_at(library: Library, doc_uri: str, words: str) -> str:
    """The id of the unit of a document that holds some words."""
    return next(u.section_id for u in library.units.values() if u.doc_uri == doc_uri and words in u.text)
