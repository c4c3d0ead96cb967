from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from graphctx.errors import BackendUnavailable
from graphctx.store.cache import Memo
from tests.conftest import EFFORT


def test_values_are_returned_in_the_order_asked_and_survive_closing(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "memo.sqlite"
    with Memo(path) as memo:
        memo.put_many("vector", {"b": b"2", "a": b"1", "empty": b""})
        memo.put_many("extract", {"a": b"other", "日本 \x1f'\"": b"\x00"})
        memo.put_many("vector", {"b": b"3"})
    with Memo(path) as memo:
        found = memo.get_many("vector", ["b", "absent", "a", "b", "empty"])
        assert list(found.items()) == [("b", b"3"), ("a", b"1"), ("empty", b"")]
        assert memo.get_many("extract", ["日本 \x1f'\""]) == {"日本 \x1f'\"": b"\x00"}
        assert memo.counts() == {"extract": 2, "vector": 3}


def test_pruning_drops_what_is_unused_and_gives_the_space_back(tmp_path: Path) -> None:
    with Memo(tmp_path / "memo.sqlite") as memo:
        memo.put_many("vector", {str(i): bytes(1000) for i in range(2000)})
        memo.put_many("extract", {"kept": b"x"})
        assert memo.prune("vector", ["3", "7", "absent"]) == 1998
        assert memo.get_many("vector", [str(i) for i in range(2000)]) == {"3": bytes(1000), "7": bytes(1000)}
        assert memo.counts() == {"extract": 1, "vector": 2}
    assert (tmp_path / "memo.sqlite").stat().st_size < 100_000


def test_a_second_process_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "memo.sqlite"
    with Memo(path) as memo:
        memo.put_many("kind", {"a": b"1"})
        script = (
            "import sys; from pathlib import Path; from graphctx.store.cache import Memo\n"
            "from graphctx.errors import BackendUnavailable\n"
            "try: Memo(Path(sys.argv[1]))\nexcept BackendUnavailable as error: print(error.message)"
        )
        done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
        assert "Another process" in done.stdout
        assert memo.get_many("kind", ["a"]) == {"a": b"1"}
    assert not list(tmp_path.glob("*.damaged"))


@pytest.mark.parametrize("data", [b"not a database, but text " * 100, b"SQLite format 3\x00" + b"\xff" * 4080])
def test_a_file_that_is_not_a_database_is_moved_aside(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "memo.sqlite"
    path.write_bytes(data)
    with Memo(path) as memo:
        assert memo.get_many("kind", ["a"]) == {}
        memo.put_many("kind", {"a": b"1"})
        assert memo.get_many("kind", ["a"]) == {"a": b"1"}
    assert (tmp_path / "memo.sqlite.damaged").read_bytes() == data


def test_changed_and_lost_bytes_lose_values_but_never_change_one(tmp_path: Path) -> None:
    path = tmp_path / "memo.sqlite"
    items = {f"{i:08d}": bytes([i % 251]) * 300 for i in range(500)}
    with Memo(path) as memo:
        memo.put_many("kind", items)
    sound = path.read_bytes()
    spoilt = [sound[:length] for length in (0, 1, 100, 4096, 5000, len(sound) // 2, len(sound) - 1)]
    draw = random.Random(5)
    for _ in range(max(4, round(40 * EFFORT))):
        changed = bytearray(sound)
        for _ in range(draw.choice([1, 1, 4, 64])):
            changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
        spoilt.append(bytes(changed))
    for data in spoilt:
        path.write_bytes(data)
        with Memo(path) as memo:
            assert all(items[key] == value for key, value in memo.get_many("kind", items).items())
            memo.put_many("kind", items | {"last": b"1"})
            assert memo.get_many("kind", ["last"]) in ({"last": b"1"}, {})
        for left in tmp_path.glob("memo.sqlite*"):
            left.unlink()


@pytest.mark.parametrize("spoil", ["key", "kind"])
def test_a_name_that_is_no_longer_utf_8_counts_as_damage(tmp_path: Path, spoil: str) -> None:
    path = tmp_path / "memo.sqlite"
    with Memo(path) as memo:
        memo.put_many("kind", {"a": b"1", "b": b"2"})
    with sqlite3.connect(path) as db:
        db.execute(f"UPDATE memo SET {spoil} = CAST(x'ff41' AS TEXT) WHERE key = 'b'")
    db.close()
    with Memo(path) as memo:
        memo.prune("kind", [])
        assert memo.counts() == {}
        memo.put_many("kind", {"a": b"1"})
        assert memo.get_many("kind", ["a"]) == {"a": b"1"}


def test_a_kill_in_the_middle_keeps_what_was_stored(tmp_path: Path) -> None:
    path = tmp_path / "memo.sqlite"
    script = (
        "import sys; from pathlib import Path; from graphctx.store.cache import Memo\n"
        "memo = Memo(Path(sys.argv[1])); start = int(sys.argv[2])\n"
        "for i in range(start, start + 10_000):\n"
        "    memo.put_many('kind', {f'{i}.{j}': f'{i}.{j}'.encode() * 20 for j in range(50)}); print(i, flush=True)\n"
    )
    last = -1
    for _ in range(max(2, round(6 * EFFORT))):
        process = subprocess.Popen(
            [sys.executable, "-c", script, str(path), str(last + 1)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        for _ in range(random.Random(last).randrange(5, 60)):
            last = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read().split()
        process.wait()
        process.stdout.close()
        last = int(rest[-1]) if rest else last
        keys = [f"{i}.{j}" for i in range(last + 1) for j in range(50)]
        with Memo(path) as memo:
            assert memo.get_many("kind", keys) == {key: key.encode() * 20 for key in keys}
    assert not list(tmp_path.glob("*.damaged"))


def test_a_folder_that_cannot_be_made_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "cache").write_bytes(b"a file")
    with pytest.raises(BackendUnavailable, match="the cache"):
        Memo(tmp_path / "cache" / "memo.sqlite")


def test_what_nobody_asks_for_any_more_goes_once_it_is_more_than_half(tmp_path: Path) -> None:
    path = tmp_path / "memo.sqlite"
    with Memo(path) as memo:
        memo.put_many("vector", {f"k{n}": b"v" for n in range(10)})
        memo.put_many("extraction", {"old": b"x", "new": b"y"})
    with Memo(path) as memo:
        assert memo.evict_unused() == 0
        memo.get_many("vector", ["k1", "k2", "k3", "k4"])
        memo.get_many("extraction", ["new"])
        assert memo.evict_unused() == 6
        assert memo.counts() == {"extraction": 2, "vector": 4}
