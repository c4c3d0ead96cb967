"""The file: several writers, killed writers, damage, later versions, no room."""

from __future__ import annotations

import random
import shutil
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, nullcontext, suppress
from pathlib import Path

import pytest

from graphctx.errors import BackendUnavailable
from graphctx.memory import Memory, MemoryDraft, MemoryFull, MemoryQuery, MemoryScope, exported_lines, repair
from graphctx.memory.database import MIGRATIONS, RESERVED_BYTES

from .conftest import EMBEDDER, HERE, OpenMemory, on_day

WRITER = """
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from graphctx.memory import Memory, MemoryDraft, MemoryQuery, MemoryScope, Moment, Triple
from graphctx.nlp.embedders import make_embedder
folder, writer, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
here = MemoryScope(project="apollo", session="monday")
with Memory(folder, embedder=make_embedder(threads=1)) as memory:
    for number in range(count):
        now = Moment(datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number))
        triple = Triple(f"Writer {writer}", "deadline", f"May {number}", now.at)
        draft = MemoryDraft("fact", f"Writer {writer} says {number}. " * 20, triples=(triple,), author=writer)
        print(memory.add([draft], here, now)[0].item.id, flush=True)
        for hit in memory.search(MemoryQuery(f"writer {writer}", here, now)).hits:
            said = hit.item.text.split(".")[0]
            assert hit.item.text == f"{said}. " * 20, "half-written"
"""


def start(folder: Path, writer: str, count: int) -> tuple[subprocess.Popen[bytes], Path]:
    """A process that writes and reads, and the file of the ids that it was answered."""
    answers = folder.parent / f"{writer}.answers"
    with answers.open("wb") as file:
        command = [sys.executable, "-c", WRITER, str(folder), writer, str(count)]
        return subprocess.Popen(command, stdout=file), answers


def answered(answers: Iterable[Path]) -> set[str]:
    """The ids that were answered in whole lines."""
    return {line for path in answers for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")}


def assert_whole(memory: Memory, lines: set[str]) -> None:
    """Every item that was answered is there, and every item there is whole."""
    assert memory.database.integrity() == []
    found = {item.id: item for item in memory.select(HERE, on_day(10_000))}
    assert {line.strip() for line in lines} <= set(found)
    for item in found.values():
        number = item.text.split(" says ")[1].split(".")[0]
        assert item.text == f"Writer {item.author} says {number}. " * 20
    assert memory.statistics.counts(HERE)["n_facts"] == len(found)
    assert len(memory.vectors(list(found))) == len(found)
    for hit in memory.search(MemoryQuery("writer", HERE, on_day(10_000), limit=5)).hits:
        assert hit.item.id in found


def test_processes_that_write_at_once_lose_nothing(open_memory: OpenMemory, tmp_path: Path) -> None:
    started = [start(tmp_path / "memory", str(writer), 15) for writer in range(2)]
    assert [process.wait() for process, _ in started] == [0, 0]
    lines = answered(path for _, path in started)
    assert len(lines) == 30
    memory = open_memory()
    assert_whole(memory, lines)
    for writer in range(2):
        kept = memory.facts.timeline(f"Writer {writer}", "deadline", HERE)
        assert [fact.object for fact in kept] == [f"May {number}" for number in range(15)]


@pytest.mark.slow
@pytest.mark.parametrize(("n_writers", "seconds"), [(3, 6), (8, 60)])
def test_processes_that_write_and_read_at_once_are_killed_and_lose_nothing_that_was_answered(
    open_memory: OpenMemory, tmp_path: Path, n_writers: int, seconds: float
) -> None:
    draw, end = random.Random(20260101), time.monotonic() + seconds
    folder, files, kills = tmp_path / "memory", list[Path](), 0
    running: dict[Path, subprocess.Popen[bytes]] = {}
    try:
        while time.monotonic() < end or kills < 3:
            while len(running) < n_writers:
                process, answers = start(folder, f"{len(files)}", 100_000)
                running[answers] = process
                files.append(answers)
            victim = draw.choice(list(running))
            with pytest.raises(subprocess.TimeoutExpired):  # nobody ends by itself
                running[victim].wait(draw.random())
            if victim.stat().st_size:  # it has begun to write
                process = running.pop(victim)
                process.kill()
                process.wait()
                kills += 1
    finally:
        for process in running.values():
            process.kill()
            process.wait()
    lines = answered(files)
    assert len(lines) >= kills
    assert_whole(open_memory(), lines)


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
            "SELECT type, name FROM sqlite_master WHERE sql LIKE '%writes%' OR name = 'items_counted'"
        ).fetchall():
            connection.execute(f"DROP {kind} {name}")
        connection.execute("PRAGMA user_version = 1")
        connection.commit()
    memory = open_memory()
    assert list(exported_lines(memory, HERE)) == lines
    assert memory.statistics.n_writes("") == 0
    memory.feedback(said.id, True, HERE)
    assert memory.statistics.n_writes("") == 1
    memory.record_use([said.id], on_day(1))
    assert memory.statistics.n_writes("") == 1


def damaged(data: bytes, damage: str) -> bytes:
    """Random bytes over four pages, a bit of every hundredth byte, an end, or no header."""
    draw, broken = random.Random(7), bytearray(data)
    if damage == "header":
        broken[:100] = bytes(100)
    elif damage == "pages":
        middle = len(data) // 4096 // 2  # among the rows
        broken[4096 * middle : 4096 * (middle + 4)] = draw.randbytes(4 * 4096)
    elif damage == "bits":
        for _ in range(60):
            broken[draw.randrange(8 * 4096, len(data))] ^= 1 << draw.randrange(8)
    else:
        del broken[4096 * (2 * len(data) // 3 // 4096) + 1000 :]
    return bytes(broken)


def test_the_owner_alone_reads_a_store_and_its_copies(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory, backup = open_memory(), tmp_path / "backup.db"
    memory.add([MemoryDraft("fact", "Ana lives in Oslo.")], HERE, on_day(0))
    path = tmp_path / "memory" / "memory.db"
    backup.touch(mode=0o644)
    memory.database.backup(backup)
    memory.close()
    path.chmod(0o644)  # as an earlier version made it
    repair(path.parent)
    path.chmod(0o644)
    open_memory()
    files = [backup, *path.parent.glob("memory.db*")]
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in files} == {path.name: 0o600 for path in files}
    assert path.with_name("memory.db.damaged-1") in files


@pytest.mark.parametrize("damage", ["pages", "header", "bits", "truncated"])
def test_a_damaged_file_is_named_kept_and_salvaged(open_memory: OpenMemory, tmp_path: Path, damage: str) -> None:
    memory = open_memory()
    said = [f"Note {number}: " + f"service {number} has a limit. " * 30 for number in range(80)]
    memory.add([MemoryDraft("output", text) for text in said], HERE, on_day(0))
    memory.add([MemoryDraft("fact", "Ana lives in Oslo.")], HERE, on_day(0))
    memory.database.backup(tmp_path / "copy.db")
    memory.close()
    path = tmp_path / "memory" / "memory.db"
    for each in path.parent.iterdir():
        each.unlink()
    data = damaged((tmp_path / "copy.db").read_bytes(), damage)
    path.write_bytes(data)
    with suppress(BackendUnavailable) if damage != "pages" else nullcontext():  # or its schema is damaged too
        assert open_memory().database.integrity()
    if damage == "header":
        with pytest.raises(BackendUnavailable, match="memory repair"):
            open_memory()
    data = path.read_bytes()
    report = repair(tmp_path / "memory")
    assert (path.parent / report.damaged_file).read_bytes() == data
    sound = open_memory()
    assert sound.database.integrity() == []
    items = sound.select(HERE, on_day(1))
    kept = {item.text for item in items if item.verbatim}
    assert kept <= {*said, "Ana lives in Oslo."}
    assert len(items) == report.items
    assert len(kept) == len(items) or damage == "bits"
    if damage != "header":
        assert report.items > 25
        assert report.lost > 0
        assert sound.reindex() >= 0
        hits = sound.search(MemoryQuery("Which service has a limit?", HERE, on_day(1))).hits
        assert hits[0].item.text in kept
    sound.add([MemoryDraft("fact", "Ana lives in Rome.")], HERE, on_day(2))
    assert not [name for name in path.parent.iterdir() if name.name.startswith(".repair")]


def test_a_repair_reads_rows_beyond_the_counter_and_counts_the_facts_of_lost_items(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    with closing(open_memory()) as memory:
        added = memory.add([MemoryDraft("fact", f"Ana lives in Oslo {n}.") for n in range(600)], HERE, on_day(0))
        first = added[0].item.id
    with closing(sqlite3.connect(tmp_path / "memory" / "memory.db")) as connection:
        connection.execute("UPDATE sqlite_sequence SET seq = 10")
        connection.execute("UPDATE items SET tier = 9 WHERE id = ?", (first,))
        of_first = connection.execute("SELECT count(*) FROM facts WHERE source_item = ?", (first,)).fetchone()[0]
        connection.commit()
    report = repair(tmp_path / "memory")
    assert (report.items, report.lost) == (599, 1 + of_first)
    assert of_first == 1
    assert first not in {placed.fact.source_item for placed in open_memory().everything(HERE)[1]}


def test_repairing_a_sound_store_keeps_all_of_it(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory = open_memory()
    memory.add([MemoryDraft("fact", "Ana lives in Oslo.", tags=("who",), author="ana")], HERE, on_day(0))
    turn = memory.add([MemoryDraft("turn", "Ben works at Acme.")], HERE, on_day(1))[0].item
    memory.correct(turn.id, "Ben works at Apex.", HERE, on_day(2))
    lines = list(exported_lines(memory, HERE))
    memory.close()
    report = repair(tmp_path / "memory")
    assert (report.items, report.lost) == (3, 0)
    assert list(exported_lines(open_memory(), HERE)) == lines


def test_a_full_store_prunes_the_least_useful_of_its_principal_and_then_refuses(open_memory: OpenMemory) -> None:
    memory = open_memory(storage={"max_size_mb": 1})
    other = MemoryScope(principal="ben", project="p")
    memory.add([MemoryDraft("fact", "Ben lives in Rome.", usefulness=0.0)], other, on_day(0))
    precious = memory.add([MemoryDraft("core", "The user is Ana.", usefulness=0.0)], HERE, on_day(0))[0].item
    pruned = 0
    for number in range(30):
        draft = MemoryDraft("output", f"Output {number}.", metadata={"log": f"{number}" * 20_000})
        pruned += memory.add([draft], HERE, on_day(1, number))[0].pruned
    assert pruned > 0
    kept = memory.select(HERE, on_day(2))
    assert precious in kept
    assert kept[0].created_iteration == 29
    assert len(memory.select(other, on_day(2))) == 1
    large = [MemoryDraft("output", f"{number} " + "x" * 90_000) for number in range(20)]
    with pytest.raises(MemoryFull, match="max_size_mb"):
        memory.add(large, HERE, on_day(3))
    assert memory.database.integrity() == []
    assert precious in memory.select(HERE, on_day(4))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 32 MiB of its own; it needs the right to mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", str(disk)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a small file system needs root")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_on_a_full_disk_the_least_useful_is_pruned_and_then_nothing_is_stored_or_lost(small_disk: Path) -> None:
    def draft(number: int) -> MemoryDraft:
        return MemoryDraft("output", f"Output {number}.", metadata={"log": f"{number}" * 40_000}, triples=())

    def fill(leave: int) -> None:
        free = shutil.disk_usage(small_disk).free
        with (small_disk / "filler").open("ab") as file, suppress(OSError):
            file.write(bytes(max(0, free - leave)))

    with Memory(small_disk / "memory", embedder=EMBEDDER) as memory:
        memory.add([draft(number) for number in range(50)], HERE, on_day(0))
        fill(RESERVED_BYTES + (1 << 20))
        pruned = [memory.add([draft(number)], HERE, on_day(0, number))[0].pruned for number in range(50, 80)]
        assert sum(pruned) > 0
        before = {item.id for item in memory.select(HERE, on_day(1))}
        assert len(before) == 80 - sum(pruned)
        fill(0)
        with pytest.raises(MemoryFull, match="free disk space"):
            memory.add([draft(80)], HERE, on_day(0, 80))
        assert {item.id for item in memory.select(HERE, on_day(1))} == before
        assert memory.database.integrity() == []
        (small_disk / "filler").unlink()
        assert memory.add([draft(80)], HERE, on_day(0, 80))[0].created


LIMITED = """
import resource, sys
from datetime import UTC, datetime
from pathlib import Path
from graphctx.errors import BackendUnavailable
from graphctx.memory import Memory, MemoryDraft, MemoryScope, Moment
from graphctx.nlp.embedders import make_embedder
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
with Memory(Path(sys.argv[1]), embedder=make_embedder(threads=1)) as memory:
    here, now = MemoryScope(project="apollo", session="monday"), Moment(datetime(2026, 1, 1, tzinfo=UTC))
    try:
        for number in range(100):
            print(memory.add([MemoryDraft("output", f"{number}", metadata={"log": "x" * 90_000})], here, now)[0].item.id)
    except BackendUnavailable as error:
        print(error.message)
"""


def test_a_file_that_may_not_grow_is_a_clear_refusal_and_keeps_what_was_answered(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "memory")]
    *ids, message = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert "limit of file size is reached" in message
    memory = open_memory()
    assert {item.id for item in memory.select(HERE, on_day(1))} == set(ids)
    assert memory.database.integrity() == []
