"""Appending: a new file in the place of the old one, whole, by one writer at a time."""

from __future__ import annotations

import os
import random
import select
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from graphctx.errors import InvalidArgument
from graphctx.layers import LayerContent, LayerFile, append, to_bytes, write_layer
from tests.conftest import EFFORT

from .world import REPO, content, note

KILLS = max(3, round(30 * EFFORT))

WRITER = """
import sys
from graphctx.layers import append
from tests.layers.world import content, note
path, start, number = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for i in range(start, start + number):
    append(path, lambda old: content(note(i, f"chunk {i} " + "x" * 2000), dim=512))
    print(i, flush=True)
"""


def writer(path: Path, start: int, number: int) -> subprocess.Popen[str]:
    """A process that appends chunks and tells the id of each when it is written."""
    environment = {**os.environ, "PYTHONPATH": str(REPO)}
    arguments = [sys.executable, "-c", WRITER, str(path), str(start), str(number)]
    return subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, text=True)


def test_a_writer_killed_at_any_moment_leaves_the_old_or_the_new_file(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.local.db"
    write_layer(path, content(*(note(i, f"first {i}") for i in range(1, 400)), dim=512))
    draw, start = random.Random(20260701), 1000
    for _ in range(KILLS):
        before = path.read_bytes()
        with LayerFile.open(path) as layer:
            count, old = len(layer), list(layer.chunks())
        process = writer(path, start, 100_000)
        assert process.stdout is not None
        told = [int(process.stdout.readline())]  # it is at work
        # Then it is killed at some point of one of the next appends, each of which takes a few milliseconds.
        select.select([], [], [], draw.uniform(0, 0.03))
        process.kill()
        told += [int(line) for line in process.stdout.read().split()]
        process.stdout.close()
        process.wait()
        with LayerFile.open(path) as layer:
            after = list(layer.chunks())
            assert after[:count] == old
            ids = [chunk.id for chunk in after[count:]]
            # Every append that was reported is there, and at most one that could not be reported any more.
            assert ids[: len(told)] == told
            assert len(ids) - len(told) in (0, 1)
            assert ids == list(range(start, start + len(ids)))
        assert before != path.read_bytes()
        start += len(ids)
    append(path, lambda _: content(note(7, "last"), dim=512))
    assert [found.name for found in tmp_path.glob(".*.tmp")] == []


def test_writers_in_several_processes_follow_one_another(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.delta.db"
    processes = [writer(path, 1000 * n, 15) for n in range(1, 4)]
    for process in processes:
        process.communicate()
        assert process.returncode == 0
    with LayerFile.open(path) as layer:
        ids = [chunk.id for chunk in layer.chunks()]
    assert sorted(ids) == [1000 * n + i for n in range(1, 4) for i in range(15)]
    for n in range(1, 4):  # each writer's own are in its order
        own = [number for number in ids if number // 1000 == n]
        assert own == sorted(own)


def test_the_base_layer_is_never_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.db"
    write_layer(path, content(note(1, "canonical")))
    before = path.read_bytes()
    with pytest.raises(InvalidArgument, match="base layer, which is never changed"):
        append(path, lambda _: content(note(2, "more")))
    assert path.read_bytes() == before


def test_a_file_that_is_there_is_not_written_over_unless_asked(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.db"
    write_layer(path, content(note(1, "one")))
    with pytest.raises(InvalidArgument, match="is there already"):
        write_layer(path, content(note(2, "two")))
    assert LayerFile.open(path).chunk(0).content == "one"


def test_a_damaged_layer_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.local.db"
    path.write_bytes(to_bytes(content(note(1, "one")))[:-1])
    before = path.read_bytes()
    with pytest.raises(InvalidArgument, match=r"header\.file_length"):
        append(path, lambda _: content(note(2, "two")))
    assert path.read_bytes() == before


def test_what_does_not_fit_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.local.db"
    write_layer(path, content(note(1, "one")))
    before = path.read_bytes()
    wrong = [content(note(2, "two"), dim=5), content(note(0, "no id")), content(note(2, "x", confidence=2.0))]
    for made in wrong:
        with pytest.raises(InvalidArgument):
            append(path, lambda _, made=made: made)
    with pytest.raises(InvalidArgument, match="surrogate"):
        append(path, lambda _: LayerContent((note(2, "half \ud800"),), np.ones((1, 16), np.float32)))
    assert path.read_bytes() == before


def test_a_layer_with_sections_of_a_later_format_is_not_rewritten(tmp_path: Path) -> None:
    from graphctx.layers import format as f

    from .world import entry_of, patched

    path = tmp_path / "AGENTS.local.db"
    data = to_bytes(content(note(1, "one")))
    path.write_bytes(patched(data, entry_of(data, f.METADATA), "I", 44))
    with pytest.raises(InvalidArgument, match="later format"):
        append(path, lambda _: content(note(2, "two")))


def test_numbers_are_quantised_where_the_layer_holds_i8(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.local.db"
    write_layer(path, LayerContent((note(1, "one"),), np.array([[127, -127, 0]], np.int8), 0.01))
    append(path, lambda _: LayerContent((note(2, "two"),), np.array([[0.5, -0.016, 9.0]], np.float32)))
    with LayerFile.open(path) as layer:
        assert layer.matrix.tolist() == [[127, -127, 0], [50, -2, 127]]
        assert layer.vector(1) == pytest.approx([0.5, -0.02, 1.27])


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    real, link = folder / "AGENTS.user.db", tmp_path / "AGENTS.user.db"
    write_layer(real, content(note(1, "one")))
    real.chmod(0o640)
    link.symlink_to(real)
    append(link, lambda _: content(note(2, "two")))
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert len(LayerFile.open(real)) == 2


def test_nothing_but_layers_and_empty_locks_is_left_beside_them(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.local.db"
    for i in range(1, 4):
        append(path, lambda _, i=i: content(note(i, "x")))
    left = {found.name: found.stat().st_size for found in tmp_path.iterdir() if found != path}
    assert left in ({}, {".AGENTS.local.db.lock": 0})
