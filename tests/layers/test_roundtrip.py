"""What is written is what is read."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphctx.layers import LayerContent, LayerFile, content_of, from_json, from_ndjson, to_bundle, to_bytes, to_ndjson
from graphctx.layers.checks import examine
from graphctx.layers.tables import Tables

from .world import contents


def same(one: LayerContent, other: LayerContent) -> bool:
    """Equal to the last bit, kinds of NaN included."""
    told = [(tuple(c.chunks), c.matrix.tobytes(), c.matrix.dtype, c.scale, c.metadata, c.minor) for c in (one, other)]
    return told[0] == told[1]


@given(contents())
def test_write_then_read_is_the_identity(made: LayerContent) -> None:
    data = to_bytes(made)
    assert all(finding.severity == "warning" for finding in examine(data)[1])
    read = content_of(LayerFile.parse(data, "AGENTS.local.db"))
    assert same(read, replace(made, scale=float(np.float32(made.scale))))


@given(contents())
def test_equal_contents_give_equal_bytes_and_a_file_is_byte_stable(made: LayerContent) -> None:
    data = to_bytes(made)
    assert to_bytes(replace(made, matrix=made.matrix.copy())) == data
    assert to_bytes(content_of(LayerFile.parse(data, "AGENTS.local.db"))) == data


@given(contents(), st.integers(0, 5))
def test_a_file_grown_by_appending_is_the_file_written_at_once(made: LayerContent, at: int) -> None:
    first = LayerFile.parse(to_bytes(replace(made, chunks=made.chunks[:at], matrix=made.matrix[:at])), "a.db")
    tables = Tables.of(first)
    tables.add(made.chunks[at:], made.matrix[at:])
    assert b"".join(tables.pieces()) == to_bytes(made)


@given(contents())
def test_json_and_ndjson_bring_back_every_bit(made: LayerContent) -> None:
    data = to_bytes(made)
    layer = LayerFile.parse(data, "AGENTS.local.db")
    bundle = json.dumps(to_bundle([layer]), allow_nan=False)
    assert to_bytes(from_json(bundle)["AGENTS.local.db"]) == data
    assert to_bytes(from_ndjson(to_ndjson([layer]))["AGENTS.local.db"]) == data
