"""The server's settings, with their defaults and where those come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from graphctx.model.budgets import Limits

ToolNames = Literal["auto", "dotted", "underscore"]
Transport = Literal["stdio", "http"]


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """How the server behaves.

    Attributes:
        tool_names: how tools are listed; both forms can always be called. See `graphctx.server.names`.
        transport: ``stdio`` is one client and one session a process; ``http`` is many.
        limits: what one response may weigh.
        call_timeout: seconds after which a call gives ``TIMEOUT``; clients commonly give up after 60.
        workers: calls that run at the same time; further ones wait.
        scratch_ttl: seconds that a passage id lives after its last use (tool contract, section 5.1).
        scratch_bytes: memory for passages, all sessions together (256 MB, the same section).
        doc_tags, repositories: the default scope, where a call gives none.
    """

    tool_names: ToolNames = "auto"
    transport: Transport = "stdio"
    limits: Limits = field(default_factory=Limits)
    call_timeout: float = 45.0
    workers: int = 4
    scratch_ttl: float = 1800.0
    scratch_bytes: int = 256 * 1024 * 1024
    doc_tags: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()
