"""The server's settings, with their defaults and where those come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from graphctx.model.budgets import Limits
from graphctx.server.names import ToolNames

if TYPE_CHECKING:
    from pydantic import SecretStr

    from graphctx.settings import ServerSettings

Transport = Literal["stdio", "http"]
Toolset = Literal["kb", "graph", "compat", "connector", "layers"]
"""Groups of tools: evidence and excerpts; the graph; the older names of both; ``search`` and ``fetch``; the layers of
AGENTS.db."""


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """How the server behaves.

    Attributes:
        tool_names: the form of tools' names in lists and texts; both forms can always be called.
        transport: ``stdio`` is one client and one session a process; ``http`` is many.
        limits: what one response may weigh.
        call_timeout: seconds after which a call gives ``TIMEOUT``; clients commonly give up after 60.
        workers: calls that run at the same time; further ones wait.
        scratch_ttl: seconds that a passage id lives after its last use (tool contract, section 5.1).
        scratch_bytes: memory for passages, all sessions together (256 MB, the same section).
        toolsets: which tools are offered.
        kb_v2: off, only the older names of the tools are.
        structured_output: off, answers are JSON text alone.
        cursor_key: signs cursors; empty for the key that the knowledge base keeps.
        tokens: bearer tokens by the name of their owner; over HTTP only, and without any everybody is let in.
        layers: the folder of AGENTS.db and its layers; ``None`` is none.
        layers_writable: whether tools may append to layers.
        anonymous_writes: over HTTP, let callers without a token do so.
    """

    tool_names: ToolNames = "underscore"
    transport: Transport = "stdio"
    limits: Limits = field(default_factory=Limits)
    call_timeout: float = 45.0
    workers: int = 4
    scratch_ttl: float = 1800.0
    scratch_bytes: int = 256 * 1024 * 1024
    toolsets: tuple[Toolset, ...] = ("kb", "graph")
    kb_v2: bool = True
    structured_output: bool = True
    cursor_key: str = field(default="", repr=False)
    tokens: Mapping[str, SecretStr] = field(default_factory=dict)
    layers: Path | None = None
    layers_writable: bool = True
    anonymous_writes: bool = False

    @classmethod
    def from_settings(
        cls,
        settings: ServerSettings,
        transport: Transport = "stdio",
        layers: Path | None = None,
        layers_writable: bool = True,
    ) -> ServerConfig:
        """Take the ``[server]`` settings of a knowledge base.

        Args:
            settings: they.
            transport: how clients come.
            layers: the folder of the layers, whose tools are offered then.
            layers_writable: whether these tools may append to them.
        """
        toolsets = settings.toolsets
        return cls(
            tool_names=settings.tool_names,
            transport=transport,
            limits=Limits(settings.max_tokens, settings.max_bytes),
            call_timeout=settings.call_timeout_seconds,
            scratch_ttl=settings.scratch_ttl_seconds,
            scratch_bytes=settings.scratch_mb * 1024 * 1024,
            toolsets=(*toolsets, "layers") if layers and "layers" not in toolsets else toolsets,
            kb_v2=settings.kb_v2,
            structured_output=settings.structured_output,
            cursor_key=settings.cursor_key.get_secret_value(),
            tokens=settings.tokens,
            layers=layers,
            layers_writable=layers_writable,
        )
