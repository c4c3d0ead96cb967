from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from graphctx.store.cursor_key import KEY_NAME, cursor_key


def test_a_key_is_made_once_and_read_by_its_owner_alone(tmp_path: Path) -> None:
    key = cursor_key(tmp_path)
    assert len(key) == 32
    assert cursor_key(tmp_path) == key
    assert [path.name for path in tmp_path.iterdir()] == [KEY_NAME]
    if os.name == "posix":
        assert stat.S_IMODE((tmp_path / KEY_NAME).stat().st_mode) == 0o600


def test_whoever_makes_it_at_the_same_time_gets_the_same_one(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: cursor_key(tmp_path), range(8)))) == 1


def test_a_truncated_key_is_made_again(tmp_path: Path) -> None:
    (tmp_path / KEY_NAME).write_bytes(b"short")
    assert len(cursor_key(tmp_path)) == 32
    assert cursor_key(tmp_path) == cursor_key(tmp_path)


def test_where_nothing_can_be_kept_the_key_is_random_and_a_warning_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert len(cursor_key(tmp_path / "absent")) == 32
    assert "[server] cursor_key" in caplog.text
