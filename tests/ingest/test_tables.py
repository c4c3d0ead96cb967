"""The tables of a snapshot, as `graphctx.store.schema` promises them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from graphctx.store.schema import TABLES
from graphctx.store.snapshot import open_snapshot


@pytest.fixture(scope="module")
def tables(handbook_path: Path) -> Iterator[dict[str, pa.Table]]:
    with open_snapshot(handbook_path) as snapshot:
        yield {name: snapshot.table(name) for name in TABLES}


def test_every_table_has_its_columns_and_no_null_where_none_is_allowed(tables: dict[str, pa.Table]) -> None:
    for name, schema in TABLES.items():
        assert tables[name].schema.names == schema.names
        assert tables[name].num_rows > 0 or name == "aliases", name  # the handbook shows none
        for field in schema:
            assert tables[name].schema.field(field.name).type == field.type
            assert field.nullable or tables[name][field.name].null_count == 0


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("documents", ("uri",)),
        ("entities", ("id",)),
        ("sentences", ("unit_row", "ordinal")),
        ("mentions", ("unit_row", "start_char", "end_char", "entity_row")),
        ("facts", ("sentence_row", "id")),
        ("related", ("source_row", "target_row")),
        ("aliases", ("source_row", "target_row", "reason", "sentence_row")),
        ("links", ("source_row", "target_row")),
        ("communities", ("level", "id")),
    ],
)
def test_every_table_is_sorted_as_it_says(tables: dict[str, pa.Table], name: str, key: tuple[str, ...]) -> None:
    keys = list(zip(*(tables[name][column].to_pylist() for column in key), strict=True))
    assert keys == sorted(keys)


def test_units_and_sections_stand_in_document_order(tables: dict[str, pa.Table]) -> None:
    units = list(zip(tables["units"]["doc_row"].to_pylist(), tables["units"]["ordinal"].to_pylist(), strict=True))
    assert units == sorted(units)
    documents = {doc_id: row for row, doc_id in enumerate(tables["documents"]["id"].to_pylist())}
    sections = [
        (documents[doc_id], ordinal)
        for doc_id, ordinal in zip(
            tables["sections"]["doc_id"].to_pylist(), tables["sections"]["ordinal"].to_pylist(), strict=True
        )
    ]
    assert sections == sorted(sections)


def test_every_span_is_a_span_of_its_document(tables: dict[str, pa.Table]) -> None:
    texts = tables["documents"]["text"].to_pylist()
    units = tables["units"].to_pylist()
    for unit in units:
        assert texts[unit["doc_row"]][unit["start_char"] : unit["end_char"]] == unit["text"]
    for name in ("sentences", "mentions", "facts"):
        for row in tables[name].to_pylist():
            unit = units[row["unit_row"]]
            assert unit["start_char"] <= row["start_char"] < row["end_char"] <= unit["end_char"]


def test_ids_are_distinct_and_lead_somewhere(tables: dict[str, pa.Table]) -> None:
    ids = {
        name: tables[name]["id"].to_pylist()
        for name in ("documents", "sections", "units", "entities", "facts", "communities")
    }
    for name, values in ids.items():
        assert len(set(values)) == len(values)
        assert all(value.startswith(f"{name[0]}_") for value in values)
    assert set(tables["units"]["section_id"].to_pylist()) <= set(ids["sections"])
    assert {parent for parent in tables["sections"]["parent_id"].to_pylist() if parent} <= set(ids["sections"])
    for end in ("subject_id", "object_id"):
        assert set(tables["facts"][end].to_pylist()) <= set(ids["entities"])
    for members in tables["communities"]["entity_ids"].to_pylist():
        assert set(members) <= set(ids["entities"])


def test_entities_are_counted_as_they_are_mentioned(tables: dict[str, pa.Table]) -> None:
    mentions = tables["mentions"]["entity_row"].to_pylist()
    counts = [0] * tables["entities"].num_rows
    for row in mentions:
        counts[row] += 1
    assert tables["entities"]["n_mentions"].to_pylist() == counts


def test_the_links_of_the_handbook_lead_from_its_index_to_its_pages(tables: dict[str, pa.Table]) -> None:
    uris = tables["documents"]["uri"].to_pylist()
    links = {(uris[row["source_row"]], uris[row["target_row"]]): row for row in tables["links"].to_pylist()}
    assert links["index.md", "people/ingrid-vasslund.md"]["n_links"] == 1
    assert all(row["n_links"] or row["n_title_mentions"] for row in links.values())
    assert all(source != target for source, target in links)
