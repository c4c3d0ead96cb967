"""The server's configuration, made of settings and the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from graphctx.model.budgets import Limits
from graphctx.server.names import ToolNames

if TYPE_CHECKING:
    from pydantic import SecretStr

    from graphctx.settings import ContextSettings, LlmSettings, MemorySettings, ServerSettings


Transport = Literal["stdio", "http"]
Toolset = Literal["core", "kb", "graph", "compat", "connector", "layers", "memory", "iteration", "context"]
"""Groups of tools: the six of ``kb`` and ``graph`` that models use most; evidence and excerpts; the graph; the older
names of both; ``search`` and ``fetch`` of connectors; the layers of AGENTS.db; what agents remember; the
context of an orchestrator's iterations; composed contexts."""

MEMORY_TOOLSETS = frozenset({"memory", "iteration"})
"""The toolsets that need a memory; they are off until asked for."""

CONTRACT: tuple[Toolset, ...] = ("kb", "graph")
"""The toolsets of the tool contract; ``core`` lists some of their tools, in a slim form."""


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """How the server behaves.

    Attributes:
        tool_names: the form of tools' names in lists and texts; both forms can always be called.
        transport: ``stdio`` has one client and one session in a process; ``http`` has many.
        limits: tokens and bytes of one response.
        call_timeout: seconds after which a call fails with ``TIMEOUT``; clients commonly give up after 60.
        workers: calls that run at the same time; further ones wait.
        scratch_ttl: seconds that a passage id lives after its last use (tool contract, section 5.1).
        scratch_bytes: memory for the passages of all sessions (256 MB, the same section).
        toolsets: the tools to offer.
        full_form: whether ``core`` too lists every argument and output schema, and answers with every field.
        has_boundary: whether the settings draw a boundary, which a call can narrow.
        kb_v2: If false, offer only the older names of the tools.
        structured_output: if false, answers are JSON text alone.
        cursor_key: signs cursors; empty for the knowledge base's own key.
        tokens: bearer tokens by the name of their owner, for HTTP; without any, everybody is let in.
        admins: owners of tokens who may ingest, remove and roll back on the web page.
        layers: the folder of AGENTS.db and its layers, if there is one.
        layers_writable: whether tools may append to layers.
        anonymous_writes: over HTTP, whether callers without a token may write into layers and the memory.
        memory: the folder of the memory, if one is served.
        memory_settings: of the ``[memory]`` group.
        llm: the language model that may write summaries of memories, over half of ``call_timeout``.
        index_roots: folders below which documents may be ingested by a tool.
        context_settings: of the ``[context]`` group.
    """

    tool_names: ToolNames = "underscore"
    transport: Transport = "stdio"
    limits: Limits = field(default_factory=Limits)
    call_timeout: float = 45.0
    workers: int = 4
    scratch_ttl: float = 1800.0
    scratch_bytes: int = 256 * 1024 * 1024
    toolsets: tuple[Toolset, ...] = ("core",)
    full_form: bool = False
    has_boundary: bool = False
    kb_v2: bool = True
    structured_output: bool = True
    cursor_key: str = field(default="", repr=False)
    tokens: Mapping[str, SecretStr] = field(default_factory=dict)
    admins: tuple[str, ...] = ()
    layers: Path | None = None
    layers_writable: bool = True
    anonymous_writes: bool = False
    memory: Path | None = None
    memory_settings: MemorySettings | None = None
    llm: LlmSettings | None = None
    index_roots: tuple[str, ...] = ()
    context_settings: ContextSettings | None = None

    def slim(self, toolset: Toolset) -> bool:
        """Return whether tools of a toolset are listed and answer in the slim form."""
        return "core" in self.toolsets and toolset in CONTRACT and not self.full_form

    @classmethod
    def from_settings(
        cls,
        settings: ServerSettings,
        transport: Transport = "stdio",
        layers: Path | None = None,
        layers_writable: bool = True,
        memory: Path | None = None,
        memory_settings: MemorySettings | None = None,
        llm: LlmSettings | None = None,
        context_settings: ContextSettings | None = None,
    ) -> ServerConfig:
        """Build the configuration from the ``[server]`` settings of a knowledge base."""
        toolsets = settings.toolsets
        return cls(
            tool_names=settings.tool_names,
            transport=transport,
            limits=Limits(settings.max_tokens, settings.max_bytes),
            call_timeout=settings.call_timeout_seconds,
            scratch_ttl=settings.scratch_ttl_seconds,
            scratch_bytes=settings.scratch_mb * 1024 * 1024,
            toolsets=(*toolsets, "layers") if layers and "layers" not in toolsets else toolsets,
            full_form=settings.full_form,
            has_boundary=bool(settings.doc_tags or settings.repositories),
            kb_v2=settings.kb_v2,
            structured_output=settings.structured_output,
            cursor_key=settings.cursor_key.get_secret_value(),
            tokens=settings.tokens,
            admins=settings.admins,
            layers=layers,
            layers_writable=layers_writable,
            memory=memory if MEMORY_TOOLSETS & set(toolsets) else None,
            memory_settings=memory_settings,
            llm=llm,
            index_roots=settings.index_roots,
            context_settings=context_settings,
        )
