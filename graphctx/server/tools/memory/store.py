"""memory_store: keep something (memory design, section 4.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, model_validator

from graphctx.errors import InvalidArgument
from graphctx.model.answers import Budget
from graphctx.model.requests import Label, Strict
from graphctx.server.call_context import CallContext
from graphctx.server.render import counted, one_line
from graphctx.server.tool import Description, Reply, Tool

if TYPE_CHECKING:
    from graphctx.memory import Moment, Triple
from graphctx.server.tools.memory.base import (
    MAX_CONTENT_CHARS,
    MemoryChange,
    MemoryInput,
    RememberedFact,
    change_reply,
    entity_tag,
    fact_line,
    optional_time,
    time_field,
)

MAX_TRIPLES = 100


class MemoryTriple(Strict):
    """A fact: subject, predicate, object, and when it holds."""

    subject: str = Field(min_length=1, max_length=500)
    predicate: str = Field(min_length=1, max_length=200, description="Such as lives_in or works_at.")
    object: str = Field(min_length=1, max_length=500)
    temporal_start: str | None = time_field("Since when it holds; default: the time of what is stored.")
    temporal_end: str | None = time_field("Until when it holds.")
    confidence: float = Field(1.0, ge=0, le=1)

    def triple(self) -> Triple:
        """Return the triple."""
        from graphctx.memory import Triple

        return Triple(
            self.subject,
            self.predicate,
            self.object,
            optional_time(self.temporal_start, "triples.temporal_start"),
            optional_time(self.temporal_end, "triples.temporal_end"),
            self.confidence,
        )


class MemoryStoreInput(MemoryInput):
    """Arguments of memory_store."""

    content: str = Field(
        min_length=1, max_length=MAX_CONTENT_CHARS, pattern=r"\S", description="What to remember, as it was said."
    )
    memory_type: Literal["fact", "preference", "event", "summary", "core", "turn"] = Field(
        description="core is part of every block and never evicted; turn is a turn of the conversation, word for word."
    )
    confidence: float = Field(1.0, ge=0, le=1, description="How sure you are; it decays with time.")
    entities: list[Label] = Field([], max_length=50, description="Names that it is about, for graph_query.")
    speaker: Label | None = Field(None, description="Who said it.")
    time: str | None = time_field("When it was said; default: now.")
    triples: list[MemoryTriple] = Field(
        [], max_length=MAX_TRIPLES, description="Facts that it states, in place of those that are extracted."
    )
    source: Literal["user", "agent", "tool", "document"] = Field(
        "agent", description="Where it comes from; what tools and documents say is kept apart from what people say."
    )
    tags: list[Label] = Field([], max_length=50, description="For filters.tags.")
    persistence: Literal["session", "project", "global"] | None = Field(
        None, description="Where it is visible: this session, this project, all projects; default: the setting."
    )
    source_ids: list[Label] = Field([], max_length=1000, description="Ids of memories that a summary is made from.")

    @model_validator(mode="before")
    @classmethod
    def _triples_alone(cls, given: Any) -> Any:
        """Accept triples without content, as ``store_facts`` sends them: their words become the content."""
        if not isinstance(given, Mapping) or "content" in given or not isinstance(given.get("triples"), list):
            return given
        lines = []
        for triple in given["triples"]:
            if not isinstance(triple, Mapping):
                return given
            words = [str(triple.get(name, "")).strip() for name in ("subject", "predicate", "object")]
            lines.append(f"{words[0]} {words[1].replace('_', ' ')} {words[2]}.")
        return {"memory_type": "fact", **given, "content": "\n".join(lines)}


class MemoryStoreAnswer(MemoryChange):
    """Output of memory_store."""

    SILENT: ClassVar[frozenset[str]] = MemoryChange.SILENT | {"facts", "ended", "summaries"}

    id: str = Field(description="Of the memory, for memory_forget.")
    created: bool = Field(description="Whether it is new; storing the same again changes nothing.")
    memory_type: str
    tier: int = Field(description="0 working, 1 session, 2 epoch, 3 core.")
    created_at: str
    n_facts: int = Field(description="New facts; those of turns are extracted when graph_query is called.")
    facts: list[RememberedFact] = Field([], description="The first of the new facts.")
    ended: list[RememberedFact] = Field([], description="Older facts that these replace, which stay in the history.")
    summaries: list[str] = Field([], description="Ids of summaries of the working memory, which had become too large.")


def _said_at(context: CallContext, time: str | None) -> Moment:
    """Return when something was said.

    Raises:
        InvalidArgument: in the future.
    """
    from graphctx.memory import Moment

    at = optional_time(time, "time") or context.now
    if at > context.now:
        raise InvalidArgument(
            f"time = {time!r} lies in the future; it is now {context.now.isoformat(timespec='seconds')}. Leave time "
            "out, and say in the content when something will happen.",
            field="time",
            value=time,
        )
    return Moment(at)


def _store(context: CallContext, asked: MemoryStoreInput) -> Reply[MemoryStoreAnswer]:
    from graphctx.memory import MemoryDraft

    context.require_writer("the memory")
    scope, now = context.memory_scope(asked.scope), _said_at(context, asked.time)
    memory = context.open_memory()
    entities = tuple(dict.fromkeys(asked.entities))
    if asked.source_ids and asked.memory_type != "summary":
        raise InvalidArgument("source_ids belong to memory_type summary; leave them out.", field="source_ids")
    sources = [memory.get(item_id, scope) for item_id in dict.fromkeys(asked.source_ids)]
    of_summaries = bool(sources) and all(source.kind == "summary" for source in sources)
    draft = MemoryDraft(
        asked.memory_type,
        asked.content,
        tier=2 if of_summaries else None,
        verbatim=asked.memory_type != "summary",
        source_ids=tuple(source.id for source in sources),
        tags=tuple(dict.fromkeys([*asked.tags, *map(entity_tag, entities)])),
        metadata={"entities": list(entities)} if entities else {},
        persistence=asked.persistence,
        author=asked.speaker or "",
        source=asked.source,
        confidence=asked.confidence,
        triples=tuple(triple.triple() for triple in asked.triples) or None,
    )
    memory.lifecycle.expire(scope, context.moment())
    live = [source.id for source in sources if source.state in ("active", "aging")]
    outcome = memory.add([draft], scope, now, summarised=live)[0]
    item, facts = outcome.item, outcome.facts
    notes = [outcome.degraded] if outcome.degraded else []
    if outcome.pruned:
        notes.append(f"{counted(outcome.pruned, 'memory')} of little use deleted to make room.")
    if item.text != asked.content:
        notes.append("The content was normalised.")

    def build(n: int, budget: Budget) -> MemoryStoreAnswer:
        return MemoryStoreAnswer(
            id=item.id,
            created=outcome.created,
            memory_type=item.kind,
            tier=item.tier,
            created_at=item.created_at.isoformat(),
            n_facts=len(facts.added),
            facts=[RememberedFact.of(fact) for fact in facts.added[:n]],
            ended=[RememberedFact.of(fact) for fact in facts.ended[:n]],
            summaries=[summary.id for summary in outcome.compressed[:n]],
            notes=notes,
            session_id=context.session_id,
            budget=budget,
        )

    return change_reply(context, build, _stored)


def _stored(answer: MemoryStoreAnswer) -> str:
    done = "Remembered" if answer.created else "Known already"
    lines = [f"{done} as {answer.id} ({answer.memory_type}, tier {answer.tier}, {answer.created_at})."]
    lines += [f"New: {fact_line(fact)}" for fact in answer.facts]
    lines += [f"Ended: {fact_line(fact)}" for fact in answer.ended]
    if answer.summaries:
        lines.append(f"Working memory was compressed into {', '.join(answer.summaries)}.")
    return "\n".join([*lines, *map(one_line, answer.notes)])


MEMORY_STORE = Tool(
    name="memory_store",
    toolset="memory",
    title="Remember something",
    description=Description(
        use_when="something is worth remembering beyond this conversation: a fact, a preference, a decision, an event; "
        "or, with memory_type turn, to keep what was said word for word, with speaker and time. A newer value of a "
        "fact ends the older one, and says so.",
        not_when="it is in the documents already, or is a secret such as a password.",
        returns="one memory: its id, the new facts that it states, and older facts that these ended, when it is safely "
        "on the disk.",
        follow_up="call memory_forget with the id to correct or delete it, or graph_query for the history of a fact.",
    ),
    input=MemoryStoreInput,
    output=MemoryStoreAnswer,
    run=_store,
    effect="append",
    aliases=("store_facts",),
)
