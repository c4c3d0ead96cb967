"""A graph is built of tables, into one file, or not at all."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from graphctx.errors import InternalError, InvalidArgument
from graphctx.model.ids import content_id
from graphctx.store.graph.base import GraphEngine, GraphStore
from graphctx.store.graph.schema import NODE_TABLES, REL_TABLES

from ..world import world


def test_building_leaves_one_file_and_no_log(file: Path) -> None:
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_the_counts_that_building_returns_are_those_of_the_file(
    engine: GraphEngine, store: GraphStore, tmp_path: Path
) -> None:
    built = engine.build(tmp_path / "graph.again", world())
    assert built == store.counts()
    assert list(built) == [table.label for table in NODE_TABLES] + [table.label for table in REL_TABLES]
    assert built == {
        "Document": 4, "Section": 8, "TextUnit": 12, "Entity": 7, "Community": 3, "HAS_SECTION": 8, "PARENT_OF": 4, "HAS_UNIT": 12,
        "NEXT": 8, "MENTIONS": 24, "RELATED": 6, "LINKS_TO": 3, "IN_COMMUNITY": 7, "CHILD_OF": 2,
    }  # fmt: skip


def test_an_empty_corpus_builds_an_empty_graph(engine: GraphEngine, tmp_path: Path) -> None:
    empty = {name: table.slice(0, 0) for name, table in world().items()}
    counts = engine.build(tmp_path / "graph.empty", empty)
    assert set(counts.values()) == {0}
    opened = engine.open(tmp_path / "graph.empty")
    assert opened.counts() == counts
    opened.close()


def test_a_file_that_is_there_is_not_built_over(engine: GraphEngine, file: Path) -> None:
    with pytest.raises(InvalidArgument):
        engine.build(file, world())


def test_an_id_that_occurs_twice_is_refused(engine: GraphEngine, tmp_path: Path) -> None:
    tables = world()
    tables["entities"] = pa.concat_tables([tables["entities"], tables["entities"].slice(0, 1)])
    with pytest.raises(InternalError, match="entities"):
        engine.build(tmp_path / "graph.x", tables)


def test_a_relation_without_its_end_is_refused(engine: GraphEngine, tmp_path: Path) -> None:
    tables = world()
    at = tables["units"].schema.get_field_index("section_id")
    lost = pa.array([content_id("s", "nowhere")] * tables["units"].num_rows)
    tables["units"] = tables["units"].set_column(at, tables["units"].schema.field(at), lost)
    with pytest.raises(InternalError):
        engine.build(tmp_path / "graph.x", tables)
