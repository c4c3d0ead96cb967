"""A publishing process is killed at any moment; readers never see anything but a whole snapshot."""

from __future__ import annotations

import random
import select
import subprocess
import sys
from pathlib import Path

import pytest

from graphctx.store.lock import IngestLock
from graphctx.store.publish import STEPS
from graphctx.store.snapshot import open_snapshot

from .world import publish_world

LOOP = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from store.world import publish_world
from graphctx.store.history import prune
from graphctx.store.lock import IngestLock
kb_dir = Path(sys.argv[2])
for turn in range(int(sys.argv[3]), 10_000):
    with IngestLock(kb_dir):
        publish_world(kb_dir, stamp=f"turn{turn}", at=f"{turn:06d}", on_step=lambda step: print(step, flush=True))
        prune(kb_dir, keep=1)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kills", [8])
def test_readers_see_whole_snapshots_whenever_the_writer_dies(tmp_path: Path, kills: int) -> None:
    publish_world(tmp_path, stamp="turn0", at="000000")
    draw = random.Random(20260101)
    tests = str(Path(__file__).parents[1])
    for kill in range(kills):
        command = [sys.executable, "-c", LOOP, tests, str(tmp_path), str(1 + 100 * kill)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            wanted = STEPS[(3 + kill) % len(STEPS)]
            for line in process.stdout:  # some moment after this step began
                read_one(tmp_path)
                if line.strip() == wanted:
                    break
            select.select([process.stdout], [], [], draw.random() * 0.3)
            process.kill()
        read_one(tmp_path)
    with IngestLock(tmp_path):
        last = publish_world(tmp_path, stamp="last", at="999999")
    assert not list((tmp_path / "snapshots").glob(".tmp-*"))
    with open_snapshot(tmp_path) as snapshot:
        assert snapshot.id == last.snapshot_id


def read_one(kb_dir: Path) -> None:
    """Open what is published and see that all its parts are of one publication."""
    with open_snapshot(kb_dir) as snapshot:
        text = snapshot.table("units", ["text"])["text"].to_pylist()
        stamp = text[0].split(" built")[0].rsplit(" ", 1)[1]
        assert all(f"was {stamp} built" in each for each in text)
        assert snapshot.tables.count("units") == len(text)
        assert snapshot.graph.counts()["TextUnit"] == len(text)
