"""Damaged files give a clean result or a clean error: no crash, no hang, no memory beyond the file's."""

from __future__ import annotations

import os
import random
import resource
import time

import numpy as np
import pytest

from graphctx.errors import InvalidArgument
from graphctx.layers import LayerContent, LayerFile, chunk_json
from graphctx.layers.effective import LayerView
from graphctx.layers.files import to_bytes
from graphctx.layers.tables import Tables

from .world import COUNTS, REAL, content, note

CASES = int(100_000 * float(os.environ.get("GRAPHCTX_TEST_EFFORT", "1")))
_EDGES = [0, 1, 2, 3, 7, 0x7F, 0x80, 0xFF]


def samples() -> list[bytes]:
    """Small files of every kind of table, and one of another implementation where there is one."""
    chunks = (note(1, "déjà vu", sources=(2, "a:1")), note(2, "two words", author="mcp"), note(1, "anew", sources=(1,)))
    i8 = LayerContent(chunks[:2], np.array([[1, -2, 3], [4, 5, -6]], np.int8), 0.25, b'{"v":1}')
    made = [to_bytes(content(*chunks, dim=4)), to_bytes(i8), to_bytes(LayerContent((), np.empty((0, 2), np.float32)))]
    return made + [(REAL / name).read_bytes() for name in COUNTS if (REAL / name).is_file()][:1]


def damaged(data: bytes, draw: random.Random) -> bytes:
    """One bit flipped, one byte changed, inserted, removed, or the end cut off; mostly where tables are."""
    made = bytearray(data)
    place = draw.randrange(len(made)) if draw.random() < 0.4 else draw.randrange(min(len(made), 1200))
    match draw.randrange(6):
        case 0:
            made[place] ^= 1 << draw.randrange(8)
        case 1:
            made[place] = draw.choice(_EDGES)
        case 2:
            made.insert(place, draw.randrange(256))
        case 3:
            del made[place]
        case 4:
            del made[place:]
        case _:
            made[place : place + 8] = draw.choice([b"\xff" * 8, b"\x00" * 8, b"\xff" * 4, b"\x00\x00\x00\x80"])
    if draw.random() < 0.5 and len(made) >= 16:  # past the first check of all, the file's length
        made[8:16] = len(made).to_bytes(8, "little")
    return bytes(made)


def use(data: bytes) -> bool:
    """Do with a file what every part of the program does; whether it opened."""
    try:
        layer = LayerFile.parse(data, "AGENTS.user.db")
    except InvalidArgument:
        return False
    view = LayerView("user", layer)
    for record in range(len(layer)):
        chunk_json(layer, record)
    if len(layer) and layer.dim < 4096:
        assert np.isfinite(view.similarities("two words", np.ones(layer.dim, np.float32), "cosine")).all()
        view.similarities("two words", None, "cosine")
    assert set(view.records) == set(layer.ids.tolist())
    assert view.retractions is not None
    if not layer.layout.unknown_sections:
        sum(len(piece) for piece in Tables.of(layer).pieces())
    return True


def test_no_damaged_byte_crashes_hangs_or_fills_the_memory() -> None:
    draw, made = random.Random(20260601), samples()
    weights = [8, 8, 3, 1][: len(made)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    opened, slowest = 0, 0.0
    for _ in range(CASES):
        data = damaged(draw.choices(made, weights)[0], draw)
        start = time.process_time()
        opened += use(data)
        slowest = max(slowest, time.process_time() - start)
    assert 0 < opened < CASES
    assert slowest < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes


@pytest.mark.slow
def test_every_bit_of_the_tables_of_a_small_file_may_be_flipped() -> None:
    data = samples()[1]
    for bit in range(len(data) * 8):
        made = bytearray(data)
        made[bit // 8] ^= 1 << bit % 8
        use(bytes(made))
