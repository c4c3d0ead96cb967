"""JSON that is no export is refused with the place of the fault; the round trip is in test_roundtrip."""

from __future__ import annotations

import copy
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphctx.errors import InvalidArgument
from graphctx.layers import (
    LayerContent,
    LayerFile,
    append,
    from_json,
    from_ndjson,
    to_bundle,
    to_bytes,
    to_ndjson,
    write_layer,
)
from tests.conftest import EFFORT

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
HUGE = 10**400


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "is not a JSON object"),
        (changed("format", value="v2"), r"agentsdb\.export\.v1"),
        (changed("layers", value={}), "layers"),
        (changed("layers", 0, "path", value=""), "path"),
        (changed("layers", 0, "schema", "dim", value=0), r"schema\.dim"),
        (changed("layers", 0, "schema", "dim", value=1 << 40), r"schema\.dim"),
        (changed("layers", 0, "schema", "element_type", value="f64"), "f32 or i8"),
        (changed("layers", 0, "schema", "quant_scale", value="x"), "quant_scale"),
        (changed("layers", 0, "path", value="\ud800.db"), "path holds half of a surrogate pair"),
        (changed("layers", 0, "path", value=[]), "path"),
        (changed("layers", value=[BUNDLE["layers"][0]] * 2), "another than that of a layer before it"),
        (changed("layers", 0, "schema", "dim", value=True), r"schema\.dim"),
        (changed("layers", 0, "schema", "element_type", value=["f32"]), "f32 or i8"),
        (changed("layers", 0, "schema", "quant_scale", value=HUGE), "quant_scale"),
        (changed("layers", 0, "schema", "quant_scale", value=2), "quant_scale"),
        (changed("layers", 0, "schema", "quant_scale", value=True), "quant_scale"),
        (changed("layers", 0, "schema", value={"dim": 2, "element_type": "i8", "quant_scale": 1e-60}), "quant_scale"),
        (changed("layers", 0, "schema", value={"dim": 2, "element_type": "i8", "quant_scale": 1e60}), "quant_scale"),
        (changed("layers", 0, "version_minor", value=True), "version_minor"),
        (changed("layers", 0, "layer_metadata_json", value="not json"), "layer_metadata_json"),
        (changed("layers", 0, "layer_metadata_json", value="[]"), "layer_metadata_json"),
        (changed("layers", 0, "layer_metadata_json", value='{"a":NaN}'), "layer_metadata_json"),
        (changed("layers", 0, "layer_metadata_json", value="[" * 100_000), "layer_metadata_json"),
        (changed("layers", 0, "layer_metadata_json", value='{"a":"\ud800"}'), "layer_metadata_json"),
        (changed("layers", 0, "layer_metadata_json", value={}), "layer_metadata_json"),
        (changed(*CHUNK, value=5), "chunk 1"),
        (changed(*CHUNK, "id", value=True), "id is True"),
        (changed(*CHUNK, "author", value="\ud800"), "author holds half"),
        (changed(*CHUNK, "content", value="\ud800"), "content holds half"),
        (changed(*CHUNK, "confidence", value=HUGE), "confidence is 1000"),
        (changed(*CHUNK, "confidence", value=float("nan")), "confidence is nan"),
        (changed(*CHUNK, "sources", value=[{"type": "chunk_id", "id": True}]), "sources"),
        (changed(*CHUNK, "sources", value=[{"type": [], "id": 1}]), "sources"),
        (changed(*CHUNK, "embedding", value=[True, 0]), "2 numbers"),
        (changed(*CHUNK, "embedding", value=[HUGE, 0]), "too large"),
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
        ([lines[0], lines[1], lines[1]], "another than that of a layer before it"),
        ([*lines, '{"type":"chunk","layer_path":[]}'], f"line {len(lines) + 1}"),
        ([*lines, '{"type":"chunk","layer_path":{}}'], f"line {len(lines) + 1}"),
    ]
    for wrong, message in cases:
        with pytest.raises(InvalidArgument, match=message):
            from_ndjson(wrong)


def test_numbers_of_i8_layers_are_read_from_lists_too() -> None:
    made = LayerContent((note(1, "x"),), np.array([[5, -7]], np.int8), 0.5)
    told = to_bundle([LayerFile.parse(to_bytes(made), "a.db")])
    assert told["layers"][0]["chunks"][0]["embedding"] == [2.5, -3.5]
    del told["layers"][0]["chunks"][0]["embedding_base64"]
    assert to_bytes(from_json(json.dumps(told))["a.db"]) == to_bytes(made)


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([HUGE, -HUGE, 1 << 32, 1 << 64, 2.0**200, "\ud800", "i8", "f32", "{}", "AAAA", "AGENTS.db"])
    | st.floats()
    | st.text(st.characters())
)
values = st.recursive(scalars, lambda s: st.lists(s, max_size=4) | st.dictionaries(st.text(), s, max_size=4))
PLACES: list[tuple[Any, ...]] = [
    ("format",),
    ("layers",),
    ("layers", 0),
    *(("layers", 0, key) for key in BUNDLE["layers"][0]),
    *(("layers", 0, "schema", key) for key in BUNDLE["layers"][0]["schema"]),
    CHUNK,
    *((*CHUNK, key) for key in [*BUNDLE["layers"][0]["chunks"][0], "embedding_base64"]),
    (*CHUNK, "sources", 0),
    (*CHUNK, "sources", 0, "id"),
    (*CHUNK, "sources", 0, "type"),
    (*CHUNK, "sources", 1, "value"),
    (*CHUNK, "embedding", 0),
]


def opened(made: dict[str, LayerContent]) -> None:
    """What was imported is a file that we read."""
    for name, told in made.items():
        layer = LayerFile.parse(to_bytes(told), name)
        assert len(layer) == len(told.chunks)
        json.dumps(to_bundle([layer]), ensure_ascii=False, allow_nan=False).encode()


@pytest.mark.parametrize("place", PLACES, ids=lambda place: ".".join(map(str, place)))
@settings(max_examples=max(10, int(40 * EFFORT)), deadline=None)
@given(data=st.data())
def test_any_json_in_any_place_gives_layers_that_we_read_or_a_clean_error(
    place: tuple[Any, ...], data: st.DataObject
) -> None:
    told = copy.deepcopy(BUNDLE)
    for path in (place, data.draw(st.sampled_from(PLACES))):
        spot: Any = told
        try:
            for key in path[:-1]:
                spot = spot[key]
            spot[path[-1]] = data.draw(values)
        except (TypeError, KeyError, IndexError):  # the first change took the second one's place away
            continue
    try:
        opened(from_json(json.dumps(told)))
    except InvalidArgument as error:
        json.dumps([error.message, error.details], ensure_ascii=False).encode()


def always(told: LayerContent, _: LayerFile | None) -> LayerContent:
    return told


def test_a_file_that_we_would_refuse_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.user.db"
    write_layer(path, content(note(1, "one")))
    before = path.read_bytes()
    for metadata in (b"not json", b"[]", b"\xff", b'{"a":' + b"[" * 100_000):
        broken = LayerContent((note(2, "two"),), np.ones((1, 2), np.float32), metadata=metadata)
        with pytest.raises(InvalidArgument, match=r"AGENTS\.user\.db.*metadata\.json"):
            write_layer(path, broken, replace=True)
        with pytest.raises(InvalidArgument, match=r"metadata\.json"):
            append(tmp_path / "AGENTS.local.db", partial(always, broken))
    assert path.read_bytes() == before
    assert {found.name for found in tmp_path.iterdir() if not found.name.endswith(".lock")} == {"AGENTS.user.db"}
