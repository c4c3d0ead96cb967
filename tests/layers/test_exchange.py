"""JSON that is no export is refused with the place of the fault; the round trip is in test_roundtrip."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.errors import InvalidArgument
from graphctx.layers import LayerContent, LayerFile, from_json, from_ndjson, to_bundle, to_bytes, to_ndjson

from .world import content, note

LAYER = LayerFile.parse(to_bytes(content(note(1, "one", sources=(2, "a:1")), note(2, "two"), dim=2)), "AGENTS.user.db")
BUNDLE = to_bundle([LAYER])


def changed(*path: Any, value: Any) -> str:
    told = copy.deepcopy(BUNDLE)
    place: Any = told
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return json.dumps(told)


CHUNK = ("layers", 0, "chunks", 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ("[]", "is no JSON object"),
        (changed("format", value="v2"), r"agentsdb\.export\.v1"),
        (changed("layers", value={}), "layers"),
        (changed("layers", 0, "path", value=""), "path"),
        (changed("layers", 0, "schema", "dim", value=0), r"schema\.dim"),
        (changed("layers", 0, "schema", "dim", value=1 << 40), r"schema\.dim"),
        (changed("layers", 0, "schema", "element_type", value="f64"), "f32 or i8"),
        (changed("layers", 0, "schema", "quant_scale", value="x"), "quant_scale"),
        (changed(*CHUNK, value=5), "chunk 1"),
        (changed(*CHUNK, "id", value=0), "id is 0"),
        (changed(*CHUNK, "id", value="1"), "id is '1'"),
        (changed(*CHUNK, "content", value=None), "content"),
        (changed(*CHUNK, "content", value="changed"), "content_sha256"),
        (changed(*CHUNK, "author", value="me"), "author is 'me'"),
        (changed(*CHUNK, "confidence", value=2), "confidence is 2"),
        (changed(*CHUNK, "created_at_unix_ms", value=-1), "created_at_unix_ms is -1"),
        (changed(*CHUNK, "sources", value=[{"type": "chunk_id", "id": "x"}]), "sources"),
        (changed(*CHUNK, "sources", value=[{"type": "source_string", "value": 5}]), "sources"),
        (changed(*CHUNK, "embedding", value=[1.0]), "2 numbers"),
        (changed(*CHUNK, "embedding", value=None), "2 numbers"),
        (changed(*CHUNK, "embedding", value=[1.0, "x"]), "2 numbers"),
        (changed(*CHUNK, "embedding", value=[1.0, 1e300]), "too large"),
        (changed(*CHUNK, "embedding_base64", value="%%"), "base64"),
        (changed(*CHUNK, "embedding_base64", value="AAAA"), "8 bytes"),
    ],
)
def test_what_is_no_export_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        from_json(text)


def test_lines_are_refused_by_their_number() -> None:
    lines = list(to_ndjson([LAYER]))
    cases = [
        (lines[1:], "line 1"),
        ([lines[0], lines[2]], "line 2"),
        ([*lines, '{"type":"other"}'], f"line {len(lines) + 1}"),
        ([lines[0], "{"], "line 2"),
    ]
    for wrong, message in cases:
        with pytest.raises(InvalidArgument, match=message):
            from_ndjson(wrong)


def test_several_layers_and_blank_lines_are_one_export() -> None:
    other = LayerFile.parse(to_bytes(content(note(9, "nine"), dim=3)), "AGENTS.db")
    lines = [line for text in to_ndjson([LAYER, other]) for line in (text, "", "\n")]
    for made in (from_ndjson(lines), from_json(json.dumps(to_bundle([LAYER, other])))):
        assert list(made) == ["AGENTS.user.db", "AGENTS.db"]
        assert to_bytes(made["AGENTS.db"]) == other.data


def test_numbers_of_i8_layers_are_read_from_lists_too() -> None:
    made = LayerContent((note(1, "x"),), np.array([[5, -7]], np.int8), 0.5)
    told = to_bundle([LayerFile.parse(to_bytes(made), "a.db")])
    assert told["layers"][0]["chunks"][0]["embedding"] == [2.5, -3.5]
    del told["layers"][0]["chunks"][0]["embedding_base64"]
    assert to_bytes(from_json(json.dumps(told))["a.db"]) == to_bytes(made)


def test_revisions_are_exported_in_their_order() -> None:
    layer = LayerFile.parse(to_bytes(content(note(1, "old"), note(1, "new"))), "a.db")
    assert [chunk["content"] for chunk in to_bundle([layer])["layers"][0]["chunks"]] == ["old", "new"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda s: st.lists(s) | st.dictionaries(st.text(), s),
    )
)
def test_any_json_in_any_place_gives_layers_or_a_clean_error(value: Any) -> None:
    for path in (
        ("layers",),
        ("layers", 0),
        ("layers", 0, "schema"),
        CHUNK,
        (*CHUNK, "sources"),
        (*CHUNK, "embedding"),
    ):
        try:
            from_json(changed(*path, value=value))
        except InvalidArgument:
            continue
