"""What agents write, remember and forget: one store, one search, one lifecycle.

`Memory` is the way in; both toolsets are faces of it. Everything takes a `MemoryScope` (who asks, in which project and
session) and a `Moment` (time and iteration); nothing but `IterationClient` reads a clock.

- ``items``: `MemoryItem` and what a caller gives for one, `MemoryDraft`; `Triple` and `TemporalFact`; `MemoryFilter`.
- ``memory``: `Memory`, with ``add``, ``search``, ``get``, ``select``, ``correct``, ``forget``, …; its attributes
  ``lifecycle``, ``statistics``, ``facts`` and ``database`` have the rest.
- ``lifecycle``: compression, ageing, pruning and retention; ``deletion``: what is deleted, and what makes room;
  ``statistics``: counts; ``embedding``: vectors of items.
- ``database``: the file ``memory.db`` and its migrations; ``store``: items in SQL; ``repair``: salvage.
- ``index``: items as arrays that follow the file, with their terms in ``postings``; ``search``: the stages; ``scorer``:
  pure functions of the scores.
- ``facts``: `FactStore`, facts in time; ``predicates``: which hold one value; ``extraction``: triples of sentences;
  ``fact_extraction``: when they are extracted.
- ``assembler``: a block of memories under a token budget; ``context_source``: the same for composed contexts.
- ``exchange``: JSON Lines of items and facts, and the form of the reference memory server.
- ``compress``: summaries that cite their items, extractive or in the words of a language model.
- ``iteration``: `IterationClient`, the context of an orchestrator's iterations; ``iteration_reading``: what it reads
  back; ``iteration_block``: its block for a prompt; ``iteration_records``: its JSON values; ``skillbook``: skills from
  a file; ``feedback``: what helped and what did not.

A text is stored and returned exactly; ids are `m_…` for items and `r_…` for facts.
"""

from graphctx.memory.assembler import BlockEntry, MemoryBlock, assemble_block
from graphctx.memory.context_source import MemoryContextSource
from graphctx.memory.database import FILE_NAME, MemoryFull
from graphctx.memory.exchange import ImportReport, exported_lines, import_lines, reference_lines
from graphctx.memory.facts import FactChanges, FactStep, FactStore, NameResolver
from graphctx.memory.items import (
    CORE_TIER,
    KINDS,
    STATES,
    MemoryDraft,
    MemoryFilter,
    MemoryItem,
    MemoryKind,
    MemoryScope,
    MemoryState,
    Moment,
    TemporalFact,
    Triple,
)
from graphctx.memory.iteration import IterationClient, IterationRun
from graphctx.memory.iteration_block import render_block
from graphctx.memory.iteration_reading import CONTEXT_TYPES, ContextType
from graphctx.memory.lifecycle import CompressLevel, CompressOutcome, MaintainOutcome
from graphctx.memory.memory import Memory, StoreOutcome
from graphctx.memory.repair import RepairReport, repair
from graphctx.memory.search import MemoryHit, MemoryHits, MemoryQuery
from graphctx.memory.store import SHORT_ID_CHARS

__all__ = [
    "CONTEXT_TYPES",
    "CORE_TIER",
    "FILE_NAME",
    "KINDS",
    "SHORT_ID_CHARS",
    "STATES",
    "BlockEntry",
    "CompressLevel",
    "CompressOutcome",
    "ContextType",
    "FactChanges",
    "FactStep",
    "FactStore",
    "ImportReport",
    "IterationClient",
    "IterationRun",
    "MaintainOutcome",
    "Memory",
    "MemoryBlock",
    "MemoryContextSource",
    "MemoryDraft",
    "MemoryFilter",
    "MemoryFull",
    "MemoryHit",
    "MemoryHits",
    "MemoryItem",
    "MemoryKind",
    "MemoryQuery",
    "MemoryScope",
    "MemoryState",
    "Moment",
    "NameResolver",
    "RepairReport",
    "StoreOutcome",
    "TemporalFact",
    "Triple",
    "assemble_block",
    "exported_lines",
    "import_lines",
    "reference_lines",
    "render_block",
    "repair",
]
