"""The file: several writers, killed writers, damage, later versions, no room."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from graphctx.errors import BackendUnavailable
from graphctx.memory import Memory, MemoryDraft, MemoryFull, MemoryQuery, MemoryScope, exported_lines, repair
from graphctx.memory.database import MIGRATIONS

from .conftest import HERE, OpenMemory, on_day

WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from memory.conftest import HERE, on_day
from graphctx.memory import Memory, MemoryDraft, MemoryQuery, Triple
from graphctx.nlp.embedders import make_embedder
memory = Memory(Path(sys.argv[2]), embedder=make_embedder(threads=1))
writer, first, count = sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
for number in range(first, first + count):
    triple = Triple(f"Writer {writer}", "deadline", f"May {number}", on_day(number).at)
    draft = MemoryDraft("fact", f"Writer {writer} says {number}. " * 20, triples=(triple,), author=writer)
    item = memory.add([draft], HERE, on_day(number))[0].item
    print(item.id, flush=True)
    memory.search(MemoryQuery(f"writer {writer}", HERE, on_day(number)))
"""


def start(folder: Path, writer: int, first: int, count: int) -> subprocess.Popen[str]:
    tests = str(Path(__file__).parents[1])
    command = [sys.executable, "-c", WRITER, tests, str(folder), str(writer), str(first), str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def assert_whole(memory: Memory, answered: set[str]) -> None:
    """Every item that was answered is there, and every item there is whole."""
    assert memory.integrity() == []
    found = {item.id: item for item in memory.select(HERE, on_day(10_000))}
    assert answered <= set(found)
    for item in found.values():
        number = item.text.split(" says ")[1].split(".")[0]
        assert item.text == f"Writer {item.author} says {number}. " * 20
    assert memory.stats(HERE)["n_facts"] == len(found)
    assert len(memory.vectors(list(found))) == len(found)
    for hit in memory.search(MemoryQuery("writer", HERE, on_day(10_000), limit=5)).hits:
        assert hit.item.id in found


@pytest.mark.parametrize(("n_writers", "count"), [(2, 15), pytest.param(8, 150, marks=pytest.mark.slow)])
def test_processes_that_write_at_once_lose_nothing(
    open_memory: OpenMemory, tmp_path: Path, n_writers: int, count: int
) -> None:
    processes = [start(tmp_path / "memory", writer, 0, count) for writer in range(n_writers)]
    answered: set[str] = set()
    for process in processes:
        output, _ = process.communicate()
        assert process.returncode == 0
        answered |= set(output.split())
    assert len(answered) == n_writers * count
    memory = open_memory()
    assert_whole(memory, answered)
    for writer in range(n_writers):
        kept = memory.facts.timeline(f"Writer {writer}", "deadline", HERE)
        assert [fact.object for fact in kept] == [f"May {number}" for number in range(count)]


@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_what_was_answered_survives_a_killed_writer(open_memory: OpenMemory, tmp_path: Path, kills: int) -> None:
    draw, answered = random.Random(20260101), set[str]()
    memory = open_memory()
    for kill in range(kills):
        with start(tmp_path / "memory", kill, 0, 10_000) as process:
            assert process.stdout is not None
            for _ in range(draw.randrange(1, 12)):
                answered.add(process.stdout.readline().strip())
            process.kill()
            answered |= {line.strip() for line in process.stdout if line.endswith("\n")}
        assert_whole(memory, answered)


def test_a_later_version_is_refused_and_left_alone(open_memory: OpenMemory, tmp_path: Path) -> None:
    open_memory().close()
    path = tmp_path / "memory" / "memory.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    before = path.read_bytes()
    with pytest.raises(BackendUnavailable, match="Update graphctx"):
        open_memory()
    assert path.read_bytes() == before


def test_an_earlier_version_is_migrated_and_keeps_what_it_has(open_memory: OpenMemory, tmp_path: Path) -> None:
    with closing(open_memory()) as memory:
        said = memory.add([MemoryDraft("fact", "Ana lives in Oslo.")], HERE, on_day(0))[0].item
        lines = list(exported_lines(memory, HERE))
    with closing(sqlite3.connect(tmp_path / "memory" / "memory.db")) as connection:
        for kind, name in connection.execute(
            "SELECT type, name FROM sqlite_master WHERE sql LIKE '%writes%'"
        ).fetchall():
            connection.execute(f"DROP {kind} {name}")
        connection.execute("PRAGMA user_version = 1")
        connection.commit()
    memory = open_memory()
    assert list(exported_lines(memory, HERE)) == lines
    assert memory.n_writes("") == 0
    memory.feedback(said.id, True, HERE)
    assert memory.n_writes("") == 1
    memory.record_use([said.id], on_day(1))
    assert memory.n_writes("") == 1


@pytest.mark.parametrize("damage", ["pages", "header"])
def test_a_damaged_file_is_named_kept_and_salvaged(open_memory: OpenMemory, tmp_path: Path, damage: str) -> None:
    memory = open_memory()
    said = [f"Note {number}: " + f"service {number} has a limit. " * 60 for number in range(80)]
    memory.add([MemoryDraft("output", text) for text in said], HERE, on_day(0))
    memory.backup(tmp_path / "copy.db")
    memory.close()
    path = tmp_path / "memory" / "memory.db"
    for each in path.parent.iterdir():
        each.unlink()
    data = bytearray((tmp_path / "copy.db").read_bytes())
    if damage == "header":
        data[:100] = bytes(100)
    else:
        middle = len(data) // 4096 // 2  # among the rows
        for page in range(middle, middle + 4):
            data[4096 * page : 4096 * (page + 1)] = random.Random(page).randbytes(4096)
    path.write_bytes(data)
    if damage == "header":
        with pytest.raises(BackendUnavailable, match="memory repair"):
            open_memory()
    else:
        assert open_memory().integrity()
    report = repair(tmp_path / "memory")
    assert (path.parent / report.damaged_file).read_bytes()[4096:] == bytes(data)[4096:]
    sound = open_memory()
    assert sound.integrity() == []
    kept = {item.text for item in sound.select(HERE, on_day(1))}
    assert kept <= set(said)
    assert len(kept) == report.items
    if damage == "pages":
        assert report.items > 40
        assert report.lost > 0
        hits = sound.search(MemoryQuery("Which service has a limit?", HERE, on_day(1))).hits
        assert hits[0].item.text in kept
    sound.add([MemoryDraft("fact", "Ana lives in Oslo.")], HERE, on_day(2))


def test_a_full_store_prunes_the_least_useful_of_its_principal_and_then_refuses(open_memory: OpenMemory) -> None:
    memory = open_memory(storage={"max_size_mb": 1})
    other = MemoryScope(principal="ben", project="p")
    memory.add([MemoryDraft("fact", "Ben lives in Rome.", usefulness=0.0)], other, on_day(0))
    precious = memory.add([MemoryDraft("core", "The user is Ana.", usefulness=0.0)], HERE, on_day(0))[0].item
    pruned = 0
    for number in range(30):
        draft = MemoryDraft("output", f"{number} " + random.Random(number).randbytes(20_000).hex())
        pruned += memory.add([draft], HERE, on_day(1, number))[0].pruned
    assert pruned > 0
    kept = memory.select(HERE, on_day(2))
    assert precious in kept
    assert kept[0].created_iteration == 29
    assert len(memory.select(other, on_day(2))) == 1
    large = [MemoryDraft("output", f"{number} " + "x " * 40_000) for number in range(20)]
    with pytest.raises(MemoryFull, match="max_size_mb"):
        memory.add(large, HERE, on_day(3))
    assert memory.integrity() == []
    assert precious in memory.select(HERE, on_day(4))
