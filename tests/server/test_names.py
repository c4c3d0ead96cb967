from __future__ import annotations

import pytest

from graphctx.errors import InvalidArgument
from graphctx.server.names import DOTTED
from graphctx.server.tools import TOOLSETS
from graphctx.server.tools.compat import OLDER
from tests.contract.spec_table import REQUIRED

from .calls import LISTED


def test_a_text_names_the_tools_that_there_are_and_nothing_else_in_the_listed_form() -> None:
    said = "After kb.search call graph.entities_for_sections; graphs and kb are no tools."
    assert DOTTED.text(said) == said
    assert LISTED.text(said) == "After kb_search call graph_entities_for_sections; graphs and kb are no tools."
    files = "See kb.toml, kb.search.md, docs/kb.search, kb.notes and kb.searches."
    assert LISTED.text(files) == files


def test_older_names_are_those_of_the_older_tools() -> None:
    older = {OLDER.name(tool.name) for tool in (*TOOLSETS["kb"], *TOOLSETS["graph"]) if tool.name in REQUIRED}
    assert older == {tool.name for tool in TOOLSETS["compat"]}
    assert OLDER.text("Repeat the kb.search or kb.retrieve_evidence call.") == "Repeat the search_sections call."


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("Repeat the kb.search or kb.read_excerpt call.", "Repeat the kb_search or kb_read_excerpt call."),
        ("'kb.search' is no session's; call kb.search.", "'kb.search' is no session's; call kb_search."),
        ("query = 'use kb.search and…: call kb.search.", "query = 'use kb.search and…: call kb_search."),
        ('"it\'s kb.search" is unknown: kb.search knows.', '"it\'s kb.search" is unknown: kb_search knows.'),
        ("The document's kb.search.md is kb.notes.md.", "The document's kb.search.md is kb.notes.md."),
    ],
)
def test_a_message_names_tools_as_listed_and_leaves_what_it_quotes(message: str, told: str) -> None:
    assert LISTED.message(message) == told
    assert DOTTED.message(message) == message


def test_an_error_advises_calls_by_their_listed_names() -> None:
    error = InvalidArgument("Repeat the kb.search call.", repeat=["kb.search", "kb.retrieve_evidence"])
    assert LISTED.error(error).details["repeat"] == ["kb_search", "kb_retrieve_evidence"]


def test_a_schema_describes_fields_in_the_listed_form_and_keeps_their_names() -> None:
    schema = {"properties": {"description": {"description": "Handle for kb.read_excerpt.", "enum": ["kb.search"]}}}
    described = {"description": "Handle for kb_read_excerpt.", "enum": ["kb.search"]}
    assert LISTED.schema(schema) == {"properties": {"description": described}}
