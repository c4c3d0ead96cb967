from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphctx.store.content import content_hash

from .world import world

ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "text": st.none() | st.text(max_size=6),
            "large": st.text(max_size=4),
            "tags": st.none() | st.lists(st.none() | st.text(max_size=3), max_size=3),
            "pages": st.lists(st.integers(0, 9), max_size=3),
            "count": st.none() | st.integers(-(2**31), 2**31 - 1),
            "weight": st.floats(width=32, allow_nan=False),
            "flag": st.booleans(),
        }
    ),
    min_size=1,
    max_size=12,
)
SCHEMA = pa.schema(
    {
        "text": pa.string(),
        "large": pa.large_string(),
        "tags": pa.list_(pa.string()),
        "pages": pa.list_(pa.int32()),
        "count": pa.int32(),
        "weight": pa.float32(),
        "flag": pa.bool_(),
    }
)


def table(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def hash_of(rows: pa.Table) -> str:
    return content_hash({"t": rows}, {})


@given(rows=ROWS, data=st.data())
def test_the_layout_in_memory_does_not_count(rows: list[dict[str, Any]], data: st.DataObject) -> None:
    whole = table(rows)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(rows)))))
    edges = [0, *cuts, len(rows)]
    # Each piece is cut out of a longer table, so that it has an offset and strange bytes around it.
    padded = [table([rows[0], *rows[a:b], rows[-1]]).slice(1, b - a) for a, b in pairwise(edges)]
    assert hash_of(pa.concat_tables(padded)) == hash_of(whole)
    assert hash_of(whole.select(list(reversed(whole.column_names)))) == hash_of(whole)
    at = SCHEMA.get_field_index("text")
    assert hash_of(whole.set_column(at, "text", whole["text"].dictionary_encode())) == hash_of(whole)
    assert hash_of(whole.set_column(at, "text", whole["text"].cast(pa.large_string()))) == hash_of(whole)


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(one=ROWS, other=ROWS)
def test_two_contents_have_two_hashes(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> None:
    # -0.0 equals 0.0 but has other bits.
    same = [[{**row, "weight": str(row["weight"])} for row in rows] for rows in (one, other)]
    assert (hash_of(table(one)) == hash_of(table(other))) == (same[0] == same[1])


def test_borders_between_cells_and_nulls_count() -> None:
    def of(kind: pa.DataType, *values: object) -> str:
        return hash_of(pa.table({"column": pa.array(values, kind)}))

    texts = [("ab", "c"), ("a", "bc"), ("abc", ""), ("abc", None), (None, "abc"), ("abc",)]
    assert len({of(pa.string(), *some) for some in texts}) == len(texts)
    lists = [([], ["a"]), (None, ["a"]), (["a"], []), (["a", None],), ([None, "a"],), (["a"],)]
    assert len({of(pa.list_(pa.string()), *some) for some in lists}) == len(lists)


def test_bytes_under_a_null_leave_no_trace() -> None:
    values = np.array([1, 2, 3], np.int32)
    mask = np.array([False, True, False])
    other = np.array([1, 99, 3], np.int32)
    one, two = (pa.table({"n": pa.array(numbers, mask=mask)}) for numbers in (values, other))
    assert hash_of(one) == hash_of(two)


def test_times_of_files_are_left_out_and_nothing_else() -> None:
    tables = world()
    before = content_hash(tables, {})
    for name, column, same in [
        ("documents", "mtime", True),
        ("documents", "title", False),
        ("units", "updated_at", True),
    ]:
        changed = dict(tables)
        at = tables[name].schema.get_field_index(column)
        changed[name] = tables[name].set_column(at, column, pa.array(["x"] * tables[name].num_rows))
        assert (content_hash(changed, {}) == before) is same


def test_arrays_count_by_name_type_shape_and_value() -> None:
    base = np.arange(6, dtype=np.int32)
    variants: list[dict[str, np.ndarray]] = [
        {"a": base},
        {"b": base},
        {"a": base.astype(np.int64)},
        {"a": base.reshape(2, 3)},
        {"a": base + 1},
        {"a": base, "b": base},
        {},
    ]
    hashes = {content_hash({}, arrays) for arrays in variants}
    assert len(hashes) == len(variants)
    wide = np.zeros((2, 6), np.int32)
    wide[:, ::2] = base.reshape(2, 3)
    assert content_hash({}, {"a": wide[:, ::2]}) == content_hash({}, {"a": base.reshape(2, 3)})
    assert content_hash({}, {"a": base.astype(">i4")}) == content_hash({}, {"a": base})
