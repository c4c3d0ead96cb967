"""``graphctx layers export``, ``import``, ``key``, ``sign`` and ``verify``."""

from __future__ import annotations

import json
import shutil
import stat
from pathlib import Path

import pytest

from graphctx.layers import write_context
from tests.layers.world import content, note, stack

from .runner import layers, layers_typed


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two layers; a chunk was edited, and holds line breaks of all sorts."""
    text = "one\ntwo\u2028three\r\n\x85four \U0001f6a2"
    made = stack(
        tmp_path,
        base=content(note(1, text, sources=(7, "a b:1"))),
        delta=content(note(2, "first", author="mcp", confidence=0.1)),
    )
    write_context(made, content="second", kind="note", confidence=0.2, scope="delta", edit=2)
    return tmp_path


@pytest.mark.parametrize("format_", ["json", "ndjson"])
def test_an_export_comes_back_byte_for_byte(
    repository: Path, format_: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    done = layers(repository, "export", "--format", format_, "--out", "all.txt", "--json")
    assert done.json == {
        "path": "all.txt",
        "bytes": (repository / "all.txt").stat().st_size,
        "layers": {"AGENTS.db": 1, "AGENTS.delta.db": 2},
    }
    told = layers(repository, "import", "all.txt", "--dir", str(other), "--json")
    assert told.code == 0
    for name in ("AGENTS.db", "AGENTS.delta.db"):
        assert (other / name).read_bytes() == (repository / name).read_bytes()


def test_standard_output_and_standard_input_do_as_well(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    printed = layers_typed(repository, "export", "delta", "--format", "ndjson").out
    assert layers_typed(other, "import", "-", stdin=printed.encode()).code == 0
    assert (other / "AGENTS.delta.db").read_bytes() == (repository / "AGENTS.delta.db").read_bytes()
    pretty = json.dumps(layers(repository, "export", "delta").json, indent=2)
    assert layers(other, "import", "-", "--force", stdin=pretty.encode()).code == 0
    assert (other / "AGENTS.delta.db").read_bytes() == (repository / "AGENTS.delta.db").read_bytes()


def test_an_import_replaces_on_request_only_and_all_or_nothing(repository: Path) -> None:
    layers(repository, "export", "--out", "all.json")
    (repository / "AGENTS.db").unlink()
    before = (repository / "AGENTS.delta.db").read_bytes()
    error = layers(repository, "import", "all.json", "--json").error
    assert "AGENTS.delta.db: there already" in error["message"]
    assert not (repository / "AGENTS.db").exists()
    assert layers(repository, "import", "all.json", "--force").code == 0
    assert (repository / "AGENTS.delta.db").read_bytes() == before
    assert (repository / "AGENTS.db").exists()


@pytest.mark.parametrize("path", ["../AGENTS.db", "/tmp/AGENTS.db", "a\\b.db", ".db", "..", "AGENTS.db\0", "notes.md"])
def test_an_export_cannot_lead_out_of_the_folder(repository: Path, path: str) -> None:
    (repository / "in").mkdir()
    bundle = json.loads(layers(repository, "export", "delta").out)
    bundle["layers"][0]["path"] = path
    (repository / "bad.json").write_text(json.dumps(bundle), "utf-8")
    error = layers(repository, "import", "bad.json", "--dir", "in", "--json").error
    assert "file's name ending in .db" in error["message"]
    assert list((repository / "in").iterdir()) == []


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "byte 0 is not UTF-8"),
        (b'{"format":"agentsdb.export.v1","layers":[]}', "holds no layer"),
        (b'{"type":"header","format":"agentsdb.export.ndjson.v1"}\n{"type":"chunk"', "line 2"),
        (b"AGDB" + bytes(36), "is a layer file already"),
    ],
)
def test_what_is_no_export_is_refused_with_a_reason(tmp_path: Path, data: bytes, said: str) -> None:
    (tmp_path / "x.json").write_bytes(data)
    error = layers(tmp_path, "import", "x.json", "--json").error
    assert error["code"] == "INVALID_ARGUMENT"
    assert said in error["message"]
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["export", "--format", "yaml"], "use json or ndjson"),
        (["export", "--format", "ndjson", "--json"], "--out"),
        (["export", "--out", "AGENTS.db"], "never replaced"),
        (["export", "--out", "no/x.json"], "no folder no"),
        (["export", "base", "copy/AGENTS.db"], "could not tell them apart"),
        (["import", "nowhere.json"], "cannot be read"),
        (["sign", "--key", "nowhere.pem"], "cannot be read"),
        (["sign", "--key", "key", "--signature", "x.sig"], "there are 2 layers"),
        (["sign", "--key", "key.pub"], "not an Ed25519 private key"),
        (["verify", "--key", "key"], "There is no signature"),
        (["verify", "base", "--key", "key", "--signature", "key"], "not an Ed25519 public key"),
        (["key", "key"], "there already"),
        (["key", "no/key"], "no folder no"),
    ],
)
def test_a_slip_is_answered_with_what_to_do(repository: Path, arguments: list[str], said: str) -> None:
    (repository / "copy").mkdir()
    shutil.copyfile(repository / "AGENTS.db", repository / "copy" / "AGENTS.db")
    layers(repository, "key", "key")
    assert said in layers(repository, *arguments, "--json").error["message"]


def test_a_signature_holds_for_the_file_and_the_key_that_made_it(repository: Path) -> None:
    made = layers(repository, "key", "team.pem", "--json").json
    assert made == {"private": "team.pem", "public": "team.pem.pub"}
    assert stat.S_IMODE((repository / "team.pem").stat().st_mode) == 0o600
    signed = layers(repository, "sign", "--key", "team.pem", "--json").json
    assert [Path(file["signature"]).name for file in signed["files"]] == ["AGENTS.db.sig", "AGENTS.delta.db.sig"]
    good = layers(repository, "verify", "--key", "team.pem.pub", "--json")
    assert (good.code, good.json["verified"]) == (0, True)
    stack_before = (repository / "AGENTS.delta.db").read_bytes()
    (repository / "AGENTS.delta.db").write_bytes(stack_before[:-1] + bytes([stack_before[-1] ^ 1]))
    bad = layers(repository, "verify", "--key", "team.pem.pub")
    assert bad.code == 1
    assert "✓ AGENTS.db" in bad.out
    assert "✗ AGENTS.delta.db" in bad.out
    layers(repository, "key", "other.pem")
    assert layers(repository, "verify", "base", "--key", "other.pem.pub").code == 1
    assert "present; graphctx layers verify checks it" in layers(repository, "inspect", "base").out
