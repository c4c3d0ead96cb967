"""Bad input: a clear message, a non-zero exit where the job failed, and the published snapshot untouched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pypdf import PdfWriter

from .house import answer_of, error_of, graphctx, published


def write_bad_files(folder: Path) -> None:
    """One of each: not UTF-8, empty, encrypted, not what its suffix says, links that lead nowhere good."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "latin.md").write_bytes(b"# Caf\xe9\n\nThe caf\xe9 \xff\xfe opens at noon.\n\x81\x8d\n")
    (folder / "nothing.pdf").write_bytes(b"")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing follows")
    (folder / "broken.docx").write_bytes(b"PK\x03\x04 and then nothing")
    locked = PdfWriter()
    locked.add_blank_page(200, 200)
    locked.encrypt("secret", algorithm="RC4-128")
    locked.write(folder / "locked.pdf")
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    (folder / "self.md").symlink_to(folder / "self.md")
    (folder / "outside.md").symlink_to(folder.parent.parent / "secret.md")


def test_bad_files_among_good_ones_are_skipped_and_reported(own_kb: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# Secret\n\nThis is outside of the given folder.\n")
    documents = tmp_path / "in" / "documents"
    write_bad_files(documents)
    (documents / "boat.md").write_text("# The boat\n\nThe boat of Gull Point is called Kittiwake.\n")
    report = answer_of("ingest", documents, "--kb", own_kb)
    reasons = {item["uri"]: item["reason"] for item in report["skipped"]}
    assert {"nothing.pdf", "broken.pdf", "broken.docx", "locked.pdf", "loop", "self.md", "outside.md"} <= set(reasons)
    assert "0 bytes" in reasons["nothing.pdf"]
    assert "encrypted" in reasons["locked.pdf"] or "password" in reasons["locked.pdf"]
    assert "outside" in reasons["outside.md"]
    assert all(reasons.values())
    assert answer_of("ask", "What is the boat called?", "--kb", own_kb)["quotes"]
    assert str(tmp_path) not in json.dumps(report["skipped"])
    found = answer_of("search", "secret outside of the given folder", "--kb", own_kb)["results"]
    assert "outside.md" not in {result["doc_uri"] for result in found}


def test_a_folder_of_nothing_but_bad_files_fails_and_leaves_the_snapshot(own_kb: Path, tmp_path: Path) -> None:
    documents = tmp_path / "in" / "documents"
    write_bad_files(documents)
    (documents / "latin.md").unlink()
    before = published(own_kb)
    error = error_of("ingest", documents, "--kb", own_kb)
    assert error["code"] == "INVALID_ARGUMENT"
    assert published(own_kb) == before


@pytest.mark.parametrize("pattern", ["texts/*", "walk.npz", "parquet/units*", "vectors/*"])
def test_a_damaged_file_is_an_error_and_never_a_crash(own_kb: Path, pattern: str) -> None:
    victim = next((own_kb / "snapshots" / (own_kb / "CURRENT").read_text().strip()).glob(pattern))
    data = bytearray(victim.read_bytes())
    data[len(data) // 2] ^= 0xFF
    victim.write_bytes(data)
    error = error_of("ask", "Who lit the lamp?", "--kb", own_kb)
    assert error["code"] == "BACKEND_UNAVAILABLE"
    assert victim.name in error["message"]
    status = graphctx("status", "--kb", own_kb, "--json")
    assert status.returncode == 1
    assert victim.name in json.loads(status.stdout)["fault"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", "   "),
        ("ask", "Who?", "--max-quotes", 99),
        ("ask", "Who?", "--mode", "magic"),
        ("search", "Who?", "--updated-after", "yesterday"),
        ("snapshots", "rollback", "../../etc"),
        ("cypher", "MATCH (n"),
        ("cypher", "RETURN $x", "--param", "x"),
        ("mcp-config", "no-such-client"),
        ("serve", "--transport", "smoke"),
        ("serve", "--tool-names", "loud"),
        ("serve", "--transport", "http", "--host", "0.0.0.0"),
        ("ingest",),
        ("ingest", ".", "--engine", "spark"),
        ("ingest", ".", "--scheduler", "tcp://127.0.0.1:8786"),
        ("ingest", ".", "--graph-engine", "magic"),
    ],
    ids=lambda arguments: " ".join(map(str, arguments)).replace("/", "-"),
)
def test_a_bad_argument_is_an_error_with_a_hint(
    lighthouse_kb: Path, tmp_path: Path, arguments: tuple[object, ...]
) -> None:
    kb = tmp_path / "kb" if arguments[0] == "ingest" else lighthouse_kb
    done = graphctx(*arguments, "--kb", kb, cwd=tmp_path)
    assert done.returncode == 1, done.stdout
    assert done.stderr.startswith("error: INVALID_ARGUMENT ")
    assert "hint: " in done.stderr
    assert "Traceback" not in done.stderr


def test_where_there_is_no_knowledge_base_the_message_says_where_it_looked(tmp_path: Path) -> None:
    done = graphctx("ask", "Who?", cwd=tmp_path)
    assert done.returncode == 1
    assert "graphctx ingest" in done.stderr
    assert ".graphctx" in done.stderr
    assert not list(tmp_path.iterdir())
