"""What tests of layers share: the other implementation's files, arbitrary contents, and an embedder without a model."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from graphctx.layers import Chunk, LayerContent, LayerStack, hashed, metadata_for
from graphctx.layers import format as f

REPO = Path(__file__).resolve().parents[2]
REAL = Path(os.environ.get("GRAPHCTX_DEV_DATA", REPO.parent / "shared" / "data")).parent / "agentsdb"
COUNTS = {"AGENTS.db": 12, "AGENTS.delta.db": 8, "AGENTS.user.db": 4}

needs_real = pytest.mark.skipif(
    not all((REAL / name).is_file() for name in COUNTS),
    reason="the layer files of another implementation are no part of the repository (GRAPHCTX_DEV_DATA)",
)

DIM = 16

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
sources = st.lists(st.one_of(st.integers(1, f.MAX_U32), text), max_size=4).map(tuple)
chunks = st.builds(
    Chunk,
    id=st.integers(1, f.MAX_U32),
    content=text,
    kind=text,
    author=st.sampled_from(f.AUTHORS),
    confidence=st.floats(0, 1, width=32),
    created_at_unix_ms=st.integers(0, f.MAX_U64),
    sources=sources,
)


@st.composite
def contents(draw: st.DrawFn) -> LayerContent:
    """Any content: all of Unicode, any numbers, f32 or i8, with metadata or without."""
    made = draw(st.lists(chunks, max_size=5))
    dim = draw(st.integers(1, 5))
    i8 = draw(st.booleans())
    raw = draw(st.binary(min_size=len(made) * dim * 4, max_size=len(made) * dim * 4))
    matrix = np.frombuffer(raw, "<f4").reshape(len(made), dim)
    scale = 1.0
    if i8:
        matrix = np.frombuffer(raw[: len(made) * dim], np.int8).reshape(len(made), dim)
        scale = draw(st.floats(width=32, allow_nan=False, allow_infinity=False).filter(bool))
    metadata = draw(st.sampled_from([b"", b'{"v":1}', metadata_for(hashed(dim).profile), '{"é":[1.5,null]}'.encode()]))
    return LayerContent(tuple(made), matrix, scale, metadata, draw(st.integers(0, 65535)))


def note(chunk_id: int, content: str, **more: Any) -> Chunk:
    """A chunk of which the rest does not matter."""
    return Chunk(**{"id": chunk_id, "content": content, "kind": "note", "author": "human", "confidence": 1.0, **more})


def content(*made: Chunk, dim: int = DIM) -> LayerContent:
    """A layer of chunks, embedded by their words and saying so."""
    embedder = hashed(dim)
    return LayerContent(made, embedder.embed([chunk.content for chunk in made]), metadata=embedder.metadata)


def stack(folder: Path, **layers: LayerContent) -> LayerStack:
    """A stack of layers in a folder, all embedded by words."""
    from graphctx.layers import FILES, layer_named, write_layer

    folder.mkdir(exist_ok=True)
    for name, told in layers.items():
        write_layer(folder / FILES[layer_named(name)], told)
    return LayerStack(folder, hashed(DIM))


def section(data: bytes, kind: int) -> int:
    """Where a section of a file begins."""
    _, _, _, _, count, table, _ = f.HEADER.unpack_from(data)
    for i in range(count):
        its, _, start, _ = f.SECTION_ENTRY.unpack_from(data, table + i * f.SECTION_ENTRY.size)
        if its == kind:
            return int(start)
    raise AssertionError(f"no section {kind}")


def entry_of(data: bytes, kind: int) -> int:
    """Where a section is listed."""
    _, _, _, _, count, table, _ = f.HEADER.unpack_from(data)
    places = range(table, table + count * f.SECTION_ENTRY.size, f.SECTION_ENTRY.size)
    return next(at for at in places if f.SECTION_ENTRY.unpack_from(data, at)[0] == kind)


def patched(data: bytes, at: int, form: str, *values: Any) -> bytes:
    """A file with other numbers at a place."""
    made = bytearray(data)
    struct.pack_into("<" + form, made, at, *values)
    return bytes(made)
