"""Signatures: of this file, by this key, to the last bit."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.layers import make_key, sign, verify, write_layer

from .world import content, note


@pytest.fixture
def signed(tmp_path: Path) -> Path:
    make_key(tmp_path / "key.pem", tmp_path / "key.pub")
    write_layer(tmp_path / "AGENTS.db", content(note(1, "canonical")))
    assert sign(tmp_path / "AGENTS.db", tmp_path / "key.pem") == tmp_path / "AGENTS.db.sig"
    return tmp_path


def test_a_signature_is_64_bytes_beside_the_file_and_verifies(signed: Path) -> None:
    assert len((signed / "AGENTS.db.sig").read_bytes()) == 64
    assert verify(signed / "AGENTS.db", signed / "key.pub")


def test_any_other_byte_in_file_or_signature_does_not_verify(signed: Path) -> None:
    layer, signature = signed / "AGENTS.db", signed / "AGENTS.db.sig"
    for path in (layer, signature):
        good = path.read_bytes()
        for place in (0, len(good) // 2, len(good) - 1):
            bad = bytearray(good)
            bad[place] ^= 1
            path.write_bytes(bad)
            assert not verify(layer, signed / "key.pub")
        path.write_bytes(good[:-1])
        assert not verify(layer, signed / "key.pub")
        path.write_bytes(good)
    assert verify(layer, signed / "key.pub")


def test_the_private_key_is_its_owners_and_no_key_is_replaced(signed: Path) -> None:
    assert stat.S_IMODE((signed / "key.pem").stat().st_mode) == 0o600
    with pytest.raises(InvalidArgument, match="keys are not replaced"):
        make_key(signed / "key.pem", signed / "new.pub")


def test_what_is_no_key_is_refused(signed: Path) -> None:
    (signed / "no.pem").write_text("hello")
    for path in ("no.pem", "key.pub"):
        with pytest.raises(InvalidArgument, match=path):
            sign(signed / "AGENTS.db", signed / path)
    for path in ("no.pem", "key.pem"):
        with pytest.raises(InvalidArgument, match=path):
            verify(signed / "AGENTS.db", signed / path)
    with pytest.raises(BackendUnavailable, match=r"none\.pem cannot be read"):
        sign(signed / "AGENTS.db", signed / "none.pem")


def test_a_missing_signature_is_reported(signed: Path) -> None:
    (signed / "AGENTS.db.sig").unlink()
    with pytest.raises(BackendUnavailable, match=r"AGENTS\.db\.sig cannot be read"):
        verify(signed / "AGENTS.db", signed / "key.pub")
