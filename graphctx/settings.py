"""Every setting and its default.

A value comes from the first of these: an argument in code or on the command line, an environment variable
(``GRAPHCTX_RETRIEVE__CANDIDATES=400``), the knowledge base's ``kb.toml`` (``[retrieve] candidates = 400``), the
default. Two flags have a second variable each, under the tool contract's name (`CONTRACT_VARIABLES`), with lower
precedence. Secrets never appear in errors, logs or ``repr``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from graphctx.errors import InvalidArgument

_Name = Annotated[str, Field(min_length=1, max_length=200)]
"""A tag or a folder, at most as long as in a request's scope."""

MemoryPersistence = Literal["session", "project", "global"]

CONTRACT_VARIABLES = {"kb_v2": "MCP_KB_V2_ENABLED", "structured_output": "MCP_STRUCTURED_OUTPUT_ENABLED"}
"""Settings of ``[server]`` and their environment variables in section 10 of the tool contract."""

_SECRETS = ("server.cursor_key", "server.tokens", "llm.api_key", "context.cache_url")


class _Group(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class IngestSettings(_Group):
    """``[ingest]``: how documents become an index. A change takes effect at the next ingest."""

    unit_tokens: int = Field(
        256, ge=32, le=2048, description="Maximum tokens in a text unit; the default embedder truncates at 256."
    )
    max_file_mb: int = Field(256, ge=1, description="Larger files are skipped.")
    ignore_files: bool = Field(True, description="Leave out what files named .gitignore and .ignore exclude.")
    include: tuple[str, ...] = Field(
        (), max_length=1000, description="Of a folder, only files that match one of these patterns of .gitignore files."
    )
    exclude: tuple[str, ...] = Field(
        (), max_length=1000, description="Of a folder, no files and folders that match one of these patterns."
    )
    processes: int = Field(0, ge=0, description="Worker processes that read and extract; 0 is one for each core.")
    document_seconds: float = Field(
        60.0,
        ge=10,
        description="CPU time limit in seconds for reading, splitting or extracting a document, per 100,000 characters "
        "(bytes of a file), rounded up; a document that takes longer is skipped.",
    )
    document_memory_mb: int = Field(
        2048, ge=256, description="Memory in MiB of each of these steps for a document; enforced on Linux only."
    )
    max_community_size: int = Field(25, ge=3, description="A community with more entities is divided.")
    max_community_depth: int = Field(6, ge=1, le=20, description="Levels of the community hierarchy at most.")
    keep_snapshots: int = Field(3, ge=1, description="Older snapshots are removed after a publish.")


class ReplicaSettings(_Group):
    """``[replica]``: how a knowledge base on an object store is copied to this machine. docs/scale.md says how."""

    folder: str = Field(
        "",
        description="Folder of the copies, read from the environment alone; empty is graphctx below $XDG_CACHE_HOME, "
        "which is ~/.cache by default.",
    )
    poll_seconds: float = Field(30.0, gt=0, description="Seconds between two looks for a newer snapshot.")


class RetrieveSettings(_Group):
    """``[retrieve]``: how evidence is found. docs/retrieval.md says how."""

    first_stage: str = Field(
        "arrays",
        description="First stage, a name in FIRST_STAGES: `arrays` searches vectors exactly, in memory; `lancedb` uses "
        "LanceDB's index, which is approximate from 10,000 units on and is written by the ingests after this is set.",
    )
    expansion: str = Field(
        "graph",
        description="Expansion, a name in EXPANSIONS: `graph` follows edges between units; with `none`, mode auto is "
        "vector_only.",
    )
    reranker: str = Field("none", description="Reranker, a name in RERANKERS: `none` keeps the scores.")
    candidates: int = Field(100, ge=10, le=5000, description="Units taken from each first-stage search.")
    max_per_document: int = Field(
        8, ge=1, le=50, description="Most units of one document that evidence is quoted from."
    )
    timeout_seconds: float = Field(30.0, gt=0, description="Timeout of a Cypher query, in seconds.")


ToolsetName = Literal["core", "kb", "graph", "compat", "connector", "layers", "memory", "iteration", "context"]


class ServerSettings(_Group):
    """``[server]``: how the MCP server answers."""

    tool_names: Literal["underscore", "dotted"] = Field(
        "underscore", description="How tools are named in lists and texts: `kb_search` or `kb.search`."
    )
    max_tokens: int = Field(8000, ge=256, description="Most tokens of a response; a common client warns at 10,000.")
    max_bytes: int = Field(30_000, ge=1000, description="Most bytes of a response; a common client cuts at 50,000.")
    call_timeout_seconds: float = Field(
        45.0, gt=0, description="Seconds until a call fails with TIMEOUT; clients commonly give up after 60."
    )
    scratch_ttl_seconds: float = Field(1800.0, gt=0, description="Seconds that a passage id lives after its last use.")
    scratch_mb: int = Field(256, ge=1, description="Memory in MiB for the passages of all sessions.")
    doc_tags: tuple[_Name, ...] = Field(
        (), max_length=50, description="Boundary: only documents with one of these tags; a call may narrow it."
    )
    repositories: tuple[_Name, ...] = Field(
        (), max_length=50, description="Boundary: only documents below these folders; a call may narrow it."
    )
    environment: Literal["dev", "prod", "scratch"] = Field("dev", description="Environment of this server.")
    toolsets: tuple[ToolsetName, ...] = Field(
        ("core",),
        min_length=1,
        max_length=9,
        description="Tools to offer: the six most used, evidence, graph, their older names, search and fetch, layers "
        "(always offered if `[layers] folder` is set), memory, iteration, context.",
    )
    index_roots: tuple[str, ...] = Field(
        (),
        max_length=50,
        description="Folders below which the tool `index_directory` may ingest; none by default.",
    )
    full_form: bool = Field(
        False,
        description="On: `core` too lists every argument and output schema, and its answers have every field. "
        "Without `core` among the toolsets it is always so.",
    )
    kb_v2: bool = Field(True, description="Off: only the older tool names (`compat`) are offered and callable.")
    structured_output: bool = Field(
        True, description="Off: an answer is JSON text alone, without structuredContent and outputSchema."
    )
    cursor_key: SecretStr = Field(
        SecretStr(""),
        description="Secret that signs cursors, for replicas with separate folders; empty uses `cursor.key`.",
    )
    tokens: dict[str, SecretStr] = Field(
        {}, description="Secrets: bearer tokens over HTTP by the name of their owner; without any, everybody is let in."
    )
    admins: tuple[_Name, ...] = Field(
        (),
        max_length=50,
        description="Owners of tokens who may ingest, remove and roll back on the web page. Without tokens, a page "
        "that only this machine can reach may.",
    )


class LlmSettings(_Group):
    """``[llm]``: a language model that may phrase answers, over any OpenAI-compatible endpoint."""

    base_url: str = Field(
        "",
        pattern=r"^(https?://\S+)?$",
        description="The endpoint, such as http://localhost:11434/v1; empty is off: everything is extractive. "
        "Needs `pip install 'graphctx[llm]'`.",
    )
    model: str = Field("", max_length=200, description="Name of the model at the endpoint.")
    api_key: SecretStr = Field(
        SecretStr(""), description="Secret for the endpoint, best set in the environment; empty sends none."
    )
    timeout_seconds: float = Field(60.0, gt=0, description="Seconds of one attempt, its whole answer included.")
    max_retries: int = Field(2, ge=0, le=10, description="Further attempts after a failure; Retry-After is obeyed.")
    concurrency: int = Field(4, ge=1, le=64, description="Concurrent requests.")
    max_output_tokens: int = Field(512, ge=32, le=32_768, description="Most tokens of one answer.")
    input_price: float = Field(0.0, ge=0, description="Price of a million input tokens, for estimates; 0 is unknown.")
    output_price: float = Field(0.0, ge=0, description="Price of a million output tokens, for estimates; 0 is unknown.")

    @property
    def enabled(self) -> bool:
        """Whether a language model is set; else everything is extractive."""
        return bool(self.base_url and self.model)

    @field_validator("base_url")
    @classmethod
    def _names_a_host(cls, url: str) -> str:
        """Refuse addresses that no HTTP client accepts, when the setting is read and not when a question is asked."""
        if url and not _is_address(url):
            raise ValueError(
                "not an address of an endpoint, such as http://localhost:11434/v1 (a name in other letters than a to z "
                "is written in its xn-- form)"
            )
        return url

    @model_validator(mode="after")
    def _both_or_neither(self) -> Self:
        if bool(self.base_url) != bool(self.model):
            given, missing = ("base_url", "model") if self.base_url else ("model", "base_url")
            raise ValueError(
                f"Setting llm.{missing} is empty although llm.{given} is set, and a language model needs both. Set it "
                f"too, as GRAPHCTX_LLM__{missing.upper()} or under [llm] in kb.toml, or leave both empty to stay "
                "extractive."
            )
        return self


def _is_address(url: str) -> bool:
    """Return whether a URL names a host, and perhaps a port, in a form that can be connected to."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port  # a port that is none is a ValueError
        if ":" in host:
            IPv6Address(host)
        elif host.replace(".", "").isdigit():
            IPv4Address(host)
    except ValueError:
        return False
    return bool(host) and host.isascii() and url.isprintable()


class LayersSettings(_Group):
    """``[layers]``: the layers of AGENTS.db beside the documents."""

    folder: str = Field(
        "",
        max_length=1000,
        description="Folder of AGENTS.db and its layers, relative to the knowledge base; empty is off.",
    )
    writable: bool = Field(True, description="Let tools append to the local and the delta layer.")
    despite_boundary: bool = Field(
        False,
        description="Offer layers although `[server] doc_tags` or `repositories` set a boundary, which does not apply "
        "to them.",
    )


class ContextSettings(_Group):
    """``[context]``: what search_context returns, and the cache of composed contexts."""

    levels: tuple[Literal[1, 2, 3, 4], ...] = Field(
        (1, 2, 3, 4),
        min_length=1,
        description="Levels that search_context returns where a call names none: 1 concepts, 2 sections, 3 chunks, 4 "
        "exact matches.",
    )
    chunk_tokens: int = Field(
        0,
        ge=0,
        le=8192,
        description="Most tokens of a chunk of search_context, such as 512: text units that follow one another in a "
        "section are joined; 0 keeps them apart. How long a unit is, `[ingest] unit_tokens` says.",
    )
    chunk_overlap: int = Field(
        0,
        ge=0,
        le=1024,
        description="Tokens before such a chunk that are in it too, in whole sentences of its section, such as 64.",
    )

    cache_entries: int = Field(
        512,
        ge=0,
        le=5_000,
        description="Most questions whose context is kept for another wording of the question; 0 keeps none.",
    )
    cache_seconds: float = Field(3600.0, ge=1, description="Seconds that an entry lives after its last use.")
    cache_url: SecretStr = Field(
        SecretStr(""),
        description="Secret: address of a Redis 8 that replicas share, such as redis://localhost:6379/0; empty keeps "
        "entries in the process. Needs `pip install 'graphctx[redis]'`.",
    )


SHIPPED_MODEL, SHIPPED_DIMENSIONS = "all-MiniLM-L6-v2", 384


class MemoryStorageSettings(_Group):
    """``[memory.storage]``: where memories are kept and for how long."""

    max_size_mb: int = Field(500, ge=1, description="Most MiB of the store; beyond, the least valuable are pruned.")
    persistence: MemoryPersistence = Field(
        "project", description="Where a stored item is visible by default: in its session, its project, or everywhere."
    )
    retention_days: int = Field(0, ge=0, description="Days after which an item is deleted; 0 keeps it.")
    busy_timeout_seconds: float = Field(10.0, gt=0, description="Seconds to wait for another process that writes.")
    max_text_chars: int = Field(100_000, ge=100, description="Most characters of an item.")


class MemoryEmbeddingSettings(_Group):
    """``[memory.embeddings]``: the model that embeds memories. After a change run ``graphctx memory reindex``."""

    provider: Literal["local", "st"] = Field(
        "local",
        description="local is the shipped model, st sentence-transformers (`pip install 'graphctx[st]'`). After a "
        "change of it or of `model` run `graphctx memory reindex`.",
    )
    model: str = Field(
        SHIPPED_MODEL, min_length=1, max_length=1000, description="Model; of st its folder, or its name on the hub."
    )
    dimensions: int = Field(SHIPPED_DIMENSIONS, ge=1, description="Dimensions of the model's vectors.")
    cache_embeddings: bool = Field(
        True, description="Whether the vectors of the last questions are kept in the process, for those asked again."
    )

    @model_validator(mode="after")
    def _is_shipped(self) -> Self:
        if self.provider == "local" and (self.model, self.dimensions) != (SHIPPED_MODEL, SHIPPED_DIMENSIONS):
            raise ValueError(
                f"the provider local has {SHIPPED_MODEL} with {SHIPPED_DIMENSIONS} dimensions alone; another model "
                "needs the provider st"
            )
        return self


class MemoryRetrievalSettings(_Group):
    """``[memory.retrieval]``: what a question of an iteration returns."""

    max_items_per_query: int = Field(10, ge=1, le=50, description="Items returned by default.")
    min_relevance_score: float = Field(0.3, ge=0, le=1, description="Items with a lower score are not returned.")
    context_types: tuple[str, ...] = Field(
        ("skill", "error", "iteration"), description="Kinds that match if a question names none."
    )
    max_context_tokens: int = Field(4000, ge=100, description="Most tokens of the block for a prompt.")


class MemoryLifecycleSettings(_Group):
    """``[memory.lifecycle]``: ages in iterations."""

    aging_after_iterations: int = Field(5, ge=0, description="Older items are `aging`.")
    summarize_after_iterations: int = Field(20, ge=0, description="Older items are `summarized`.")
    archive_after_iterations: int = Field(50, ge=0, description="Older items are `archived`.")
    prune_after_iterations: int = Field(100, ge=0, description="Older items of low usefulness are deleted.")
    prune_min_usefulness: float = Field(0.3, ge=0, le=1, description="Usefulness below which an item is pruned.")


class MemoryScoringSettings(_Group):
    """``[memory.scoring]``: the score of an item for an iteration."""

    semantic_weight: float = Field(0.4, ge=0, le=1, description="Weight of the similarity to the query.")
    recency_weight: float = Field(0.25, ge=0, le=1, description="Weight of recency.")
    usefulness_weight: float = Field(0.2, ge=0, le=1, description="Weight of usefulness.")
    type_match_weight: float = Field(0.15, ge=0, le=1, description="Weight of a kind that was asked for.")
    recency_decay: float = Field(0.1, ge=0, description="Decay of recency for each iteration.")
    skill_recency_decay: float = Field(0.05, ge=0, description="The same for skills.")
    helpful_step: float = Field(0.1, ge=0, le=1, description="Added to usefulness by helpful feedback.")
    unhelpful_step: float = Field(0.15, ge=0, le=1, description="Taken from usefulness by unhelpful feedback.")
    lexical_share: float = Field(0.4, ge=0, le=1, description="Share of BM25 in the similarity; cosine has the rest.")
    min_similarity: float = Field(
        0.26,
        ge=0,
        le=1,
        description="Similarity that the best of 1,000 items or more must have, else nothing bears on the question; "
        "of a tenth of the items it is 0.05 less. 0 returns the nearest, whatever they are.",
    )


class MemoryTokenBudgets(_Group):
    """``[memory.token_budgets]``: tokens of each part of a retrieved block."""

    tier0_working: int = Field(2000, ge=0, description="Tokens of the session's working memory.")
    tier1_session: int = Field(500, ge=0, description="Tokens of session summaries.")
    tier2_epoch: int = Field(300, ge=0, description="Tokens of epoch summaries.")
    tier3_core: int = Field(200, ge=0, description="Tokens of core memory.")
    retrieval: int = Field(2000, ge=0, description="Tokens of items found by search.")
    graph_facts: int = Field(500, ge=0, description="Tokens of facts.")
    default_retrieve_budget: int = Field(3000, ge=1, description="Tokens of a block by default.")


class MemoryCompressionSettings(_Group):
    """``[memory.compression]``: when memory is compressed, and how confidence decays."""

    tier0_overflow_threshold: int = Field(2500, ge=1, description="Tokens of working memory that start a compression.")
    tier1_consolidation_count: int = Field(10, ge=2, description="Session summaries that become an epoch summary.")
    session_idle_minutes: int = Field(
        60,
        ge=0,
        description="Minutes without a turn after which a session has ended; it is summarised when another one begins. "
        "0 waits for an overflow, or for `memory_compress`.",
    )
    session_summary_tokens: int = Field(200, ge=20, description="Most tokens of a session summary.")
    epoch_summary_tokens: int = Field(100, ge=20, description="Most tokens of an epoch summary.")
    confidence_decay_rate: float = Field(0.01, ge=0, lt=1, description="Share of confidence lost in an interval.")
    confidence_decay_interval_hours: float = Field(24.0, gt=0, description="Hours of an interval of the decay.")


class MemoryRankingSettings(_Group):
    """``[memory.ranking]``: the score of an item for a block under a token budget."""

    semantic_weight: float = Field(0.4, ge=0, le=1, description="Weight of the similarity to the query.")
    recency_weight: float = Field(0.3, ge=0, le=1, description="Weight of recency.")
    priority_weight: float = Field(0.2, ge=0, le=1, description="Weight of the tier.")
    frequency_weight: float = Field(0.1, ge=0, le=1, description="Weight of how often an item was used.")
    recency_decay_per_day: float = Field(0.001, ge=0, description="Decay of recency for each day.")
    dedup_similarity_threshold: float = Field(0.85, gt=0, le=1, description="Cosine from which two items say the same.")
    top_k: int = Field(20, ge=1, le=500, description="Candidates of the search.")


class MemoryFactSettings(_Group):
    """``[memory.facts]``: facts in time."""

    extract_kinds: tuple[str, ...] = Field(
        ("fact", "preference", "event", "core"),
        description="Kinds whose facts are extracted when they are stored; those of turns are when facts are asked.",
    )
    single_valued: tuple[str, ...] = Field((), description="Further predicates that hold one value at a time.")
    many_valued: tuple[str, ...] = Field((), description="Predicates that hold many values although by default one.")


class MemorySettings(_Group):
    """``[memory]``: what agents write and remember."""

    folder: str = Field(
        "",
        max_length=1000,
        description="Folder of memory.db, relative to the knowledge base; empty is its folder `memory`.",
    )
    project: str = Field(
        "",
        max_length=200,
        description="Project where there is no knowledge base; empty is the name of the folder, or of the one above "
        "`memory` and `.graphctx`.",
    )
    preset: Literal["minimal", "standard", "aggressive"] = Field(
        "standard",
        description="Defaults of `persistence`, `max_size_mb`, `max_items_per_query`, `summarize_after_iterations`: "
        "session, 100, 5, 10; project, 500, 10, 20; global, 2000, 25, 50.",
    )
    skillbook: str = Field(
        "", max_length=1000, description="File skillbook.json, whose skills are read before a question; empty is none."
    )
    storage: MemoryStorageSettings = Field(MemoryStorageSettings(), description="Where and how long.")
    embeddings: MemoryEmbeddingSettings = Field(MemoryEmbeddingSettings(), description="What embeds memories.")
    retrieval: MemoryRetrievalSettings = Field(MemoryRetrievalSettings(), description="What a question returns.")
    lifecycle: MemoryLifecycleSettings = Field(MemoryLifecycleSettings(), description="Ages in iterations.")
    scoring: MemoryScoringSettings = Field(MemoryScoringSettings(), description="The score for an iteration.")
    token_budgets: MemoryTokenBudgets = Field(MemoryTokenBudgets(), description="Tokens of the parts of a block.")
    compression: MemoryCompressionSettings = Field(MemoryCompressionSettings(), description="When to compress.")
    ranking: MemoryRankingSettings = Field(MemoryRankingSettings(), description="The score for a block.")
    facts: MemoryFactSettings = Field(MemoryFactSettings(), description="Facts in time.")

    @model_validator(mode="before")
    @classmethod
    def _with_preset(cls, given: Any) -> Any:
        """Fill what is not given from the preset."""
        preset = _MEMORY_PRESETS.get(given.get("preset", "")) if isinstance(given, dict) else None
        filled = dict(given) if preset else given
        for group, values in (preset or {}).items():
            table = filled.get(group, {})
            filled[group] = {**values, **table} if isinstance(table, dict) else table
        return filled


_MEMORY_PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "minimal": {
        "storage": {"persistence": "session", "max_size_mb": 100},
        "retrieval": {"max_items_per_query": 5},
        "lifecycle": {"summarize_after_iterations": 10},
    },
    "aggressive": {
        "storage": {"persistence": "global", "max_size_mb": 2000},
        "retrieval": {"max_items_per_query": 25},
        "lifecycle": {"summarize_after_iterations": 50},
    },
}


class Settings(BaseSettings):
    """All groups."""

    model_config = SettingsConfigDict(
        env_prefix="GRAPHCTX_",
        env_nested_delimiter="__",
        frozen=True,
        extra="ignore",
        hide_input_in_errors=True,
    )

    ingest: IngestSettings = IngestSettings()
    replica: ReplicaSettings = ReplicaSettings()
    retrieve: RetrieveSettings = RetrieveSettings()
    server: ServerSettings = ServerSettings()
    llm: LlmSettings = LlmSettings()
    layers: LayersSettings = LayersSettings()
    memory: MemorySettings = MemorySettings()
    context: ContextSettings = ContextSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Let environment variables win over ``kb.toml``, whose tables arrive as init arguments."""
        given = {name: os.environ[variable] for name, variable in CONTRACT_VARIABLES.items() if variable in os.environ}
        contract = InitSettingsSource(settings_cls, {"server": given} if given else {})
        return env_settings, contract, init_settings


def load_settings(kb_tables: Mapping[str, Any] | None = None) -> Settings:
    """Read the settings of a knowledge base.

    Args:
        kb_tables: the tables of ``kb.toml``; those that are not a settings group are ignored.

    Raises:
        InvalidArgument: a value is of the wrong type or out of range, or a setting has an unknown name.
    """
    groups = {name: value for name, value in (kb_tables or {}).items() if name in Settings.model_fields}
    try:
        return Settings(**groups)
    except ValidationError as error:
        raise _refused(error) from None  # the cause would show the value of a secret
    except SettingsError as error:  # raised before validation, and without the variable's name
        raise _unreadable(error) from None


def layers_folder(settings: Settings, kb_dir: Path) -> Path | None:
    """Return the folder of the layers; ``None`` if there is none or the server's boundary excludes layers.

    Args:
        settings: of the knowledge base.
        kb_dir: its folder, the base of a relative path.
    """
    layers, server = settings.layers, settings.server
    fenced = bool(server.doc_tags or server.repositories) and not layers.despite_boundary
    return kb_dir / Path(layers.folder).expanduser() if layers.folder and not fenced else None


def memory_folder(settings: Settings, kb_dir: Path) -> Path:
    """Return the folder of the memory; ``kb_dir`` is the base of a relative path."""
    return kb_dir / Path(settings.memory.folder or "memory").expanduser()


def memory_project(settings: MemorySettings, folder: Path) -> str:
    """Return the project of a memory without a knowledge base: that of the settings, or the name of its folder.

    Of ``NAME/memory`` and ``NAME/.graphctx/memory`` it is ``NAME``, as that of a knowledge base beside it would be.
    """
    place = folder.resolve()
    for name in ("memory", ".graphctx"):
        place = place.parent if place.name == name else place
    return settings.project or place.name or "default"


def without_secrets(kb_tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings groups among the tables of ``kb.toml``, with every secret emptied.

    Tokens keep the names of their owners: an empty token lets nobody in, where no tokens at all would let in everybody.
    """
    kept = {
        name: dict(table)
        for name, table in kb_tables.items()
        if name in Settings.model_fields and isinstance(table, Mapping)
    }
    for secret in _SECRETS:
        group, _, name = secret.partition(".")
        if (value := kept.get(group, {}).get(name)) is not None:
            kept[group][name] = dict.fromkeys(value, "") if isinstance(value, Mapping) else ""
    if "@" in str(kept.get("llm", {}).get("base_url", "")):  # a password may be in the address
        del kept["llm"]
    return kept


def _refused(error: ValidationError) -> InvalidArgument:
    """Return the error about the first value that a setting cannot have."""
    first = error.errors(include_url=False)[0]
    name = ".".join(str(part) for part in first["loc"])
    why = first["msg"].removeprefix("Value error, ")
    if first["type"] == "string_pattern_mismatch":
        group, key = map(str, first["loc"])
        why = f"{type(Settings.model_fields[group].default).model_fields[key].description}".rstrip(".")
    if name in Settings.model_fields and first["type"] == "value_error":  # about settings that go together
        return InvalidArgument(why, setting=name)
    value = _redacted(name, first["input"])
    variables = [f"GRAPHCTX_{name.upper().replace('.', '__')}"]
    variables += [other for key, other in CONTRACT_VARIABLES.items() if name == f"server.{key}"]
    return InvalidArgument(
        f"Setting {name} is {value!r}: {why}. Correct it in kb.toml or in the environment ({' or '.join(variables)}).",
        setting=name,
        value=str(value),
    )


def _redacted(name: str, value: object) -> object:
    """Return a value for a message, without secrets."""
    secret = (
        name in ("server", "llm", "context")
        or name.startswith(_SECRETS)
        or (name == "llm.base_url" and "@" in str(value))
    )
    return "(a secret)" if secret else value


def _unreadable(error: SettingsError) -> InvalidArgument:
    """Return the error about a variable that is not the JSON that a list, or a whole group, must be."""
    given = {name.upper(): value for name, value in os.environ.items()}
    for group, field in Settings.model_fields.items():
        whole = f"GRAPHCTX_{group.upper()}"
        names = type(field.default).model_fields
        advice = {whole: f"Set its values one by one: {whole}__{next(iter(names)).upper()}, …"}
        for name in names:
            variable = f"{whole}__{name.upper()}"
            if variable in given and isinstance(getattr(field.default, name), dict):
                advice[variable] = 'Write a table as \'{"name": "value"}\''
            elif variable in given and isinstance(getattr(field.default, name), tuple):
                parts = [part.strip() for part in given[variable].split(",")]
                advice[variable] = f"Write a list as '{json.dumps(parts, ensure_ascii=False)}'"
        for variable, remedy in advice.items():
            value = given.get(variable)
            if value is not None and not _is_json(value):
                said = _redacted(variable.removeprefix("GRAPHCTX_").lower().replace("__", "."), value)
                return InvalidArgument(
                    f"{variable} is {said!r}, which is not JSON. {remedy}.", setting=variable, value=said
                )
    return InvalidArgument(f"A GRAPHCTX_ variable cannot be read: {error}. Lists and groups are written as JSON.")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
