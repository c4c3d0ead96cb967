"""graph_query: facts about an entity (memory design, section 4.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from graphctx.model.answers import ListAnswer
from graphctx.model.pages import Part
from graphctx.model.requests import Label, PagedInput
from graphctx.model.results import Results
from graphctx.server.call_context import CallContext
from graphctx.server.entities import entity_named
from graphctx.server.render import counted, more, one_line
from graphctx.server.tool import Description, Reply, Tool

if TYPE_CHECKING:
    from graphctx.memory import FactStep
from graphctx.server.tools.memory.base import DATA_NOTE, MemoryInput, RememberedFact, entity_tag, fact_line, time_field
from graphctx.server.tools.memory.retrieve import (
    _as_of,
)

_MAX_ENTITY_ITEMS = 5

_PENDING_PER_QUERY = 200
"""Turns whose facts one graph_query extracts at most; each takes some milliseconds."""


class GraphQueryInput(MemoryInput, PagedInput):
    """Arguments of graph_query."""

    entity: str = Field(min_length=1, max_length=500, pattern=r"\S", description="The entity, by its name.")
    relation: Label | None = Field(None, description="Only facts of this relation, such as lives_in.")
    depth: int = Field(1, ge=1, le=5, description="Hops from the entity.")
    history: bool = Field(False, description="Also facts that no longer hold.")
    as_of: str | None = time_field("Facts that hold at this ISO 8601 time; default: now.")
    page_size: int = Field(50, ge=1, le=200, description="Facts in an answer.")


class GraphQueryAnswer(ListAnswer):
    """Output of graph_query."""

    SILENT: ClassVar[frozenset[str]] = ListAnswer.SILENT | {"mentioned_in", "document_entity"}

    facts: list[RememberedFact] = Field(description="By hop, then by start.")
    document_entity: str = Field("", description="Id of the entity in the documents, for graph.expand.")
    mentioned_in: list[str] = Field([], description="Ids of memories that were stored as being about the entity.")
    as_of: str


def _graph_query(context: CallContext, asked: GraphQueryInput) -> Reply[GraphQueryAnswer]:
    from graphctx.memory import MemoryFilter

    scope, now = context.memory_scope(asked.scope), _as_of(context, asked.as_of)
    memory = context.open_memory()
    memory.extraction.pending(_PENDING_PER_QUERY)
    steps = memory.facts.about(
        asked.entity, scope, now, predicate=asked.relation or "", depth=asked.depth, history=asked.history, limit=1000
    )
    tagged = memory.select(scope, now, MemoryFilter(tags=(entity_tag(asked.entity),)), limit=_MAX_ENTITY_ITEMS)
    known = entity_named(context.searcher, asked.entity)
    results = Results(
        items=steps, snapshot_id="", scope=context.scope(asked.scope), empty_reason=None if steps else "no_match"
    )

    def build(part: Part[FactStep]) -> GraphQueryAnswer:
        return GraphQueryAnswer(
            facts=[RememberedFact.of(step.fact, step.hop) for step in part.items],
            document_entity=known.id if known else "",
            mentioned_in=[item.id for item in tagged],
            as_of=now.at.isoformat(),
            **part.fields,
        )

    def render(answer: GraphQueryAnswer) -> str:
        about = one_line(asked.entity)
        if not answer.facts:
            said = f"No facts are remembered about {about!r} as of {answer.as_of}."
        else:
            said = f"{counted(len(answer.facts), 'fact')} about {about!r} as of {answer.as_of}. {DATA_NOTE}"
        lines = "\n".join(f"[hop {fact.hop}] {fact_line(fact)}" for fact in answer.facts)
        named = f"Memories about it: {', '.join(answer.mentioned_in)}" if answer.mentioned_in else ""
        if answer.document_entity:
            named += context.say(f"{named and chr(10)}In the documents: graph.expand with {answer.document_entity}")
        return "\n\n".join(filter(None, [said, lines, named, *more(context, answer, "graph_query")]))

    answer, text = context.pager.page(asked, results, build, render)
    return Reply(answer, text)


GRAPH_QUERY = Tool(
    name="graph_query",
    toolset="memory",
    title="Ask for remembered facts about an entity",
    description=Description(
        use_when="you want facts about a person, a project or a thing as triples: what holds now, at a date (as_of), "
        "or all that ever did (history).",
        not_when="you have a question in words: memory_retrieve.",
        returns="{page_size} facts with the time in which they hold and the memory that states them, within "
        "{response}.",
        follow_up="repeat with next_cursor or a larger depth.",
    ),
    input=GraphQueryInput,
    output=GraphQueryAnswer,
    run=_graph_query,
)
