"""The tools under their older names (tool contract, sections 3.1 and 4.1).

Each has the arguments and defaults of before, and the present tool answers. They are offered with the toolset
``compat``, and alone with the flag ``kb_v2`` off. Beside its own arguments each takes what every list of this server
takes: ``scope``, ``cursor``, ``max_tokens`` and ``max_bytes``. A tool that had no pages returns as much as a page can
hold, and a cursor for the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

from pydantic import Field, create_model

from graphctx.errors import GraphctxError
from graphctx.model.answers import CitedSpan, ListAnswer
from graphctx.model.assemble import start_of
from graphctx.model.pages import Part, Shorten
from graphctx.model.requests import (
    MAX_EXCERPT_BYTES,
    MAX_EXCERPT_TOKENS,
    MAX_TOP_K,
    Filters,
    PagedInput,
    Question,
    SearchInput,
    SearchOptions,
    SectionRefs,
)
from graphctx.model.results import Results
from graphctx.server.call_context import CallContext
from graphctx.server.clip import clip_end
from graphctx.server.names import ToolNaming
from graphctx.server.render import citation, counted, quoted, searched
from graphctx.server.scratch import Passage
from graphctx.server.tool import AnyTool, Description, Out, Reply, Tool
from graphctx.server.tools.graph import (
    CHILDREN,
    DESCRIBE,
    ENTITIES_FOR_SECTIONS,
    EXPAND,
    PARENTS,
    PATHS,
    SECTIONS_FOR_ENTITIES,
)
from graphctx.server.tools.search import SEARCH

Older = TypeVar("Older", bound=PagedInput)

OLDER = ToolNaming(
    {
        "kb.retrieve_evidence": "search_sections",
        "kb.search": "search_sections",
        "kb.extract_evidence": "get_section_text",
        "kb.read_excerpt": "get_section_text",
        "kb.expand_excerpt": "get_section_text",
        "graph.describe": "describe_nodes",
        "graph.expand": "expand_neighbors",
        "graph.paths": "get_paths_between",
        "graph.parents": "list_parents",
        "graph.children": "list_children",
        "graph.entities_for_sections": "get_entities_for_sections",
        "graph.sections_for_entities": "get_sections_for_entities",
    }
)
"""What to call if only the older tools are known; none of them quotes, so texts are read instead."""


def _older(
    name: str, newer: str, title: str, model: type[Older], output: type[Out], returns: str, run: _Run[Older, Out]
) -> Tool[Older, Out]:
    """Declare an older tool, whose texts and errors use the names that its callers know."""

    def renamed(context: CallContext, request: Older) -> Reply[Out]:
        try:
            return run(replace(context, naming=OLDER), request)
        except GraphctxError as error:
            OLDER.error(error)
            raise

    description = Description(
        use_when=f"a prompt or a client was written for {name}, the older name of {newer}.",
        not_when=f"{newer} is offered: prefer it.",
        returns=f"{returns}. A response stays below {{response}}.",
        follow_up="repeat the call with next_cursor.",
    )
    return Tool(name, "compat", f"{title} (older name)", description, model, output, renamed)


_Run = Callable[[CallContext, Older], Reply[Out]]


def _older_graph_tool(
    name: str,
    newer: AnyTool,
    arguments: str,
    returns: str,
    *,
    renamed: Mapping[str, str] = {},
    defaults: Mapping[str, Any] = {},
    aliases: Mapping[str, str] = {},
) -> AnyTool:
    """Declare the older name of a graph tool.

    Args:
        name: the older name.
        newer: the tool that answers.
        arguments: the names of the arguments, which are declared as those of ``newer`` are.
        returns: what it returns at most.
        renamed: for an argument that ``newer`` has under another name, that name.
        defaults: for an argument that had another default, that default.
        aliases: further names of arguments, each with the argument that it stands for.
    """
    fields = newer.input.model_fields
    now = {argument: renamed.get(argument, argument) for argument in arguments.split()}
    declared: dict[str, Any] = {}
    for argument, present in now.items():
        field = copy(fields[present])
        field.default = defaults.get(argument, field.default)
        declared[argument] = (field.annotation, field)
    model = create_model(f"{''.join(map(str.capitalize, name.split('_')))}Input", __base__=PagedInput, **declared)
    model.__doc__ = f"Arguments of {name}."
    model.ALIASES = aliases
    whole_page = {} if "page_size" in now else {"page_size": 100}

    def run(context: CallContext, request: PagedInput) -> Reply[Any]:
        given = {argument: getattr(request, argument) for argument in (*PagedInput.model_fields, *now)}
        return newer.run(
            context, newer.input(**{now.get(key, key): value for key, value in given.items()}, **whole_page)
        )

    return _older(name, newer.name, newer.title, model, newer.output, returns, run)


class SearchSectionsInput(PagedInput):
    """Arguments of search_sections."""

    query: Question = Field(description="What to look for: a question or key words.")
    top_k: int = Field(20, ge=1, le=MAX_TOP_K, description="How many results in all.")
    filters: Filters = Field(default_factory=Filters, description="Which documents, before ranking.")
    page_size: int | None = Field(None, ge=1, le=MAX_TOP_K, description="How many results per call; top_k if left out.")


SNIPPET_CHARS = 160
"""Twenty results with scores and diagnostics keep within the default response budget with previews of this length;
with those of kb.search eighteen do."""

# kb.search refuses so many results of one document; the older tool never dropped any.
_OPTIONS = SearchOptions(include_scores=True, include_debug=True, max_snippet_chars=SNIPPET_CHARS).model_copy(
    update={"max_per_doc": MAX_TOP_K}
)


def _search(context: CallContext, request: SearchSectionsInput) -> Reply[Any]:
    given = request.model_dump(include={*PagedInput.model_fields, "query", "top_k", "filters"})
    newer = SearchInput(**given, page_size=request.page_size or request.top_k)
    return SEARCH.run(context, newer.model_copy(update={"options": _OPTIONS}))


class GetSectionTextInput(PagedInput):
    """Arguments of get_section_text."""

    section_ids: SectionRefs
    max_bytes_per: int = Field(8192, ge=1, le=MAX_EXCERPT_BYTES, description="Most bytes of one section's text.")


class SectionText(CitedSpan):
    """The text of a section from its start, as much as the limits leave."""

    SILENT: ClassVar[frozenset[str]] = CitedSpan.SILENT | {"heading", "next_start_char"}

    section_id: str = Field(description="The passage; of a section with several, the one that opens it.")
    passage_id: str = Field(description="Handle for kb.read_excerpt.")
    doc_id: str
    doc_tag: str = Field("", description="The document's tags, joined by commas.")
    title: str
    heading: str = Field("", description="Path of headings below the title.")
    text: str = Field(description="Exactly as in the document.")
    truncated: bool = Field(description="Whether the section goes on.")
    next_start_char: int | None = Field(None, description="Where it goes on; start_char of kb.read_excerpt.")
    size_bytes: int = Field(ge=0, description="Size of the whole section.")


class SectionTextAnswer(ListAnswer):
    """Output of get_section_text."""

    sections: list[SectionText]
    snapshot_id: str


def _read(context: CallContext, asked: GetSectionTextInput) -> Reply[SectionTextAnswer]:
    request = asked.model_copy(update={"scope": context.scope(asked.scope)})
    passages = [context.passage(ref, request.scope, "section_ids") for ref in asked.section_ids]
    held = {passage.unit.section_id: passage for passage in passages}
    sections = [_section(context, passage, request.max_bytes_per) for passage in held.values()]
    listing = Results(items=sections, snapshot_id=context.searcher.snapshot_id)

    def build(part: Part[SectionText]) -> SectionTextAnswer:
        cut = part.truncated or any(section.truncated for section in part.items)
        return SectionTextAnswer(
            sections=part.items, snapshot_id=listing.snapshot_id, **part.fields | {"truncated": cut}
        )

    return Reply(*context.pager.page(request, listing, build, _sections_text, _SHORTER))


def _section(context: CallContext, passage: Passage, max_bytes: int) -> SectionText:
    unit = passage.unit
    text = unit.text[: clip_end(unit.text, MAX_EXCERPT_TOKENS, max_bytes, context.count).length]
    cut = len(text) < len(unit.text)
    return SectionText(
        section_id=unit.section_id,
        passage_id=passage.passage_id,
        doc_id=unit.doc_id,
        doc_uri=unit.doc_uri,
        doc_tag=",".join(unit.tags),
        title=unit.title,
        heading=unit.heading,
        text=text,
        truncated=cut,
        next_start_char=len(text) if cut else None,
        start_char=unit.start_char,
        end_char=unit.start_char + len(text),
        line=unit.line,
        page=unit.page(unit.start_char),
        anchor=unit.anchor,
        size_bytes=passage.size_bytes,
    )


def _shorter(section: SectionText, max_chars: int) -> SectionText:
    text = start_of(section.text, max_chars)
    if len(text) == len(section.text):
        return section
    end = section.start_char + len(text)
    return section.model_copy(update={"text": text, "end_char": end, "truncated": True, "next_start_char": len(text)})


_SHORTER: Shorten[SectionText] = Shorten(lambda section: len(section.text), _shorter)


def _sections_text(answer: SectionTextAnswer) -> str:
    """Return each text below its citation, then what is missing."""
    blocks = [f"{counted(len(answer.sections), 'section')} from {searched(answer.scope)}, word for word."]
    for section in answer.sections:
        where = citation(section.title, section.heading, section.doc_uri, section.line, section.page)
        rest = f"\nThe section goes on at character {section.next_start_char}." if section.truncated else ""
        blocks.append(f"{where}\nsection {section.section_id}\n{quoted(section.text)}{rest}")
    if answer.next_cursor is not None:
        blocks.append(
            f"Cut ({answer.limit_reason}). For the other sections, repeat get_section_text with "
            f"cursor={answer.next_cursor}"
        )
    return "\n\n".join(blocks)


COMPAT_TOOLS: tuple[AnyTool, ...] = (
    _older(
        "search_sections",
        SEARCH.name,
        SEARCH.title,
        SearchSectionsInput,
        SEARCH.output,
        "top_k results ({top_k}), each with a preview, its scores and diagnostics; never whole sections",
        _search,
    ),
    _older(
        "get_section_text",
        "kb.read_excerpt",
        "Read sections",
        GetSectionTextInput,
        SectionTextAnswer,
        f"max_bytes_per bytes ({{max_bytes_per}}) and {MAX_EXCERPT_TOKENS} tokens of each section, word for word",
        _read,
    ),
    _older_graph_tool(
        "expand_neighbors",
        EXPAND,
        "node_ids rel_types direction max_hops include_snippet page_size",
        "page_size nodes ({page_size}) with the relations that led to them",
    ),
    _older_graph_tool(
        "get_paths_between",
        PATHS,
        "start_ids end_ids rel_types max_hops max_paths",
        "max_paths paths ({max_paths})",
        aliases={"a_ids": "start_ids", "b_ids": "end_ids"},
    ),
    _older_graph_tool("describe_nodes", DESCRIBE, "node_ids fields", "one node for each id"),
    _older_graph_tool(
        "list_children", CHILDREN, "parent_id page_size", "page_size nodes ({page_size})", defaults={"page_size": 50}
    ),
    _older_graph_tool("list_parents", PARENTS, "section_ids", "the ancestors of each section"),
    _older_graph_tool(
        "get_entities_for_sections",
        ENTITIES_FOR_SECTIONS,
        "section_ids labels max_per_section",
        "max_per_section entities ({max_per_section}) of each section",
    ),
    _older_graph_tool(
        "get_sections_for_entities",
        SECTIONS_FOR_ENTITIES,
        "entity_ids max_per",
        "max_per sections ({max_per}) of each entity",
        renamed={"max_per": "max_per_entity"},
    ),
)
"""The older tools; a client is offered them in this order."""
