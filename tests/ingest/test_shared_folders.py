"""Several folders in one knowledge base: nothing replaces, repeats or hides what belongs to another."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from graphctx import KnowledgeBase
from graphctx.errors import BackendUnavailable, InvalidArgument


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def published(kb: Path) -> Path:
    return kb / "snapshots" / (kb / "CURRENT").read_text(encoding="ascii").strip()


def uris(kb: KnowledgeBase) -> list[str]:
    return sorted(row[0] for row in kb.cypher("MATCH (d:Document) RETURN d.uri").rows)


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeBase:
    return KnowledgeBase.open(tmp_path / "kb", create=True)


def test_a_file_that_comes_to_clash_later_replaces_no_other_folders_document(kb: KnowledgeBase, tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    write(a / "one.md", "# One\nThe first folder has one page.")
    write(b / "two.md", "# Two\nThe second folder has another page.")
    kb.ingest([a])
    kb.ingest([b])
    write(a / "README.md", "# A\nThis is the readme of the first folder.")
    write(b / "README.md", "# B\nThis is the readme of the second folder.")
    kb.ingest([a])
    report = kb.ingest([b])
    assert (report.added, report.replaced) == (1, 0)
    assert uris(kb) == ["README.md", "b/README.md", "one.md", "two.md"]
    assert kb.ingest([b]).unchanged == 2
    assert kb.ingest([b], prune=True).removed == 0


def test_a_folder_around_a_known_one_repeats_no_document(kb: KnowledgeBase, tmp_path: Path) -> None:
    write(tmp_path / "all" / "inner" / "page.md", "# Page\nAn inner page about lighthouses.")
    kb.ingest([tmp_path / "all" / "inner"])
    write(tmp_path / "all" / "outer.md", "# Outer\nAn outer page about harbours.")
    report = kb.ingest([tmp_path / "all"])
    assert (report.added, report.unchanged) == (1, 1)
    assert uris(kb) == ["outer.md", "page.md"]


def test_names_with_a_number_sign_stay_apart(kb: KnowledgeBase, tmp_path: Path) -> None:
    write(tmp_path / "a" / "C#.md", "# C sharp\nNotes on a language.")
    write(tmp_path / "b" / "C#.md", "# C sharp major\nNotes on a key.")
    kb.ingest([tmp_path / "a"])
    assert kb.ingest([tmp_path / "b"]).replaced == 0
    assert uris(kb) == ["C%23.md", "b/C%23.md"]


def test_pruning_spares_a_file_that_cannot_be_read_for_now(kb: KnowledgeBase, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    write(docs / "a.md", "# A\nA page that stays.")
    page = write(docs / "b.md", "# B\nA page that is emptied.")
    kb.ingest([docs])
    page.write_bytes(b"")
    report = kb.ingest([docs], prune=True)
    assert (report.removed, report.no_longer_found) == (0, [])
    page.unlink()
    assert kb.ingest([docs], prune=True).removed == 1
    assert uris(kb) == ["a.md"]


def test_a_bad_line_keeps_no_deleted_row_alive_past_pruning(kb: KnowledgeBase, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    good = '{{"id": "{0}", "title": "{0}", "text": "Row {0} tells of the sea."}}\n'
    write(rows, good.format("one") + good.format("two"))
    kb.ingest([rows])
    write(rows, good.format("one") + "{broken\n")
    assert kb.ingest([rows]).no_longer_found == ["rows.jsonl#two"]
    assert kb.ingest([rows], prune=True).removed == 1
    assert uris(kb) == ["rows.jsonl#one"]


def test_a_knowledge_base_among_the_documents_is_no_document(tmp_path: Path) -> None:
    write(tmp_path / "docs" / "a.md", "# A\nA page.")
    kb = KnowledgeBase.open(tmp_path / "docs" / "kb", create=True)
    kb.ingest([tmp_path / "docs"])
    assert not kb.ingest([tmp_path / "docs"]).changed
    assert uris(kb) == ["a.md"]
    with pytest.raises(InvalidArgument, match="is a knowledge base"):
        kb.ingest([tmp_path / "docs" / "kb"])


@pytest.mark.parametrize(
    "damage",
    [
        lambda kb: (kb / "CURRENT").write_text("garbage"),
        lambda kb: (published(kb) / "parquet" / "documents.parquet").write_bytes(b"x"),
        lambda kb: (published(kb) / "MANIFEST.json").write_bytes(b"{}"),
    ],
)
def test_a_damaged_snapshot_is_mended_by_the_next_ingest(
    kb: KnowledgeBase, tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    write(tmp_path / "a" / "one.md", "# One\nThe keeper of the first light is Ada.")
    write(tmp_path / "b" / "two.md", "# Two\nThe keeper of the second light is Ben.")
    kb.ingest([tmp_path / "a"])
    kb.ingest([tmp_path / "b"])
    kb.close()
    damage(kb.path)
    report = KnowledgeBase.open(kb.path).ingest([tmp_path / "b"])
    assert report.notes
    mended = KnowledgeBase.open(kb.path)
    assert uris(mended) == ["one.md", "two.md"]
    assert "Ada" in mended.retrieve_evidence("Who keeps the first light?").quotes[0].quote


def test_documents_whose_folder_has_gone_outlive_a_damaged_snapshot(kb: KnowledgeBase, tmp_path: Path) -> None:
    write(tmp_path / "a" / "one.md", "# One\nThe keeper of the first light is Ada.")
    write(tmp_path / "b" / "two.md", "# Two\nThe keeper of the second light is Ben.")
    kb.ingest([tmp_path / "a"])
    shutil.rmtree(tmp_path / "a")
    kb.ingest([tmp_path / "b"])
    kb.close()
    (published(kb.path) / "walk.npz").write_bytes(b"x")
    mended = KnowledgeBase.open(kb.path)
    (note,) = mended.ingest([tmp_path / "b"]).notes
    assert "walk.npz is damaged" in note
    assert uris(mended) == ["one.md", "two.md"]


def test_a_snapshot_of_a_later_version_is_not_replaced(kb: KnowledgeBase, tmp_path: Path) -> None:
    write(tmp_path / "a" / "one.md", "# One\nThe keeper of the first light is Ada.")
    kb.ingest([tmp_path / "a"])
    kb.close()
    current = (kb.path / "CURRENT").read_bytes()
    manifest = published(kb.path) / "MANIFEST.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text("utf-8")), "format_version": 99}), "utf-8")
    with pytest.raises(BackendUnavailable, match="Use the version that wrote it"):
        KnowledgeBase.open(kb.path).ingest([tmp_path / "a"])
    assert (kb.path / "CURRENT").read_bytes() == current
