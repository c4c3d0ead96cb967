"""What an ingest does to a knowledge base that holds something already."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.knowledge_base import KnowledgeBase

Make = Callable[..., KnowledgeBase]
Write = Callable[..., Path]

FILES = {
    "index.md": "# Harbour\n\nThe harbour gate opens at noon. See [keys](keys/box.md).\n",
    "keys/box.md": "# Key Box\n\nMaren Halloran keeps the key box.\n",
}


def uris(kb: KnowledgeBase) -> list[str]:
    with_rows = kb.cypher("MATCH (d:Document) RETURN d.uri ORDER BY d.uri").rows
    return [row[0] for row in with_rows]


def test_a_changed_file_is_replaced_and_the_others_are_counted_as_unchanged(
    make_kb: Make, write_files: Write, tmp_path: Path
) -> None:
    kb = make_kb(FILES)
    write_files({"keys/box.md": "# Key Box\n\nNobody keeps it.\n", "third.md": "# Third\n\nIt is new.\n"}, "kb-docs")
    report = kb.ingest(tmp_path / "kb-docs")
    assert (report.unchanged, report.added, report.replaced, report.documents) == (1, 1, 1, 3)
    assert kb.document("keys/box.md").text == "# Key Box\n\nNobody keeps it.\n"
    assert kb.document("index.md").text == FILES["index.md"]


def test_a_missing_file_stays_until_it_is_pruned(make_kb: Make, tmp_path: Path) -> None:
    kb = make_kb(FILES)
    (tmp_path / "kb-docs" / "keys" / "box.md").unlink()
    report = kb.ingest(tmp_path / "kb-docs")
    assert report.no_longer_found == ["keys/box.md"]
    assert (report.removed, report.changed, report.documents) == (0, False, 2)
    report = kb.ingest(tmp_path / "kb-docs", prune=True)
    assert (report.removed, report.changed, report.documents, report.no_longer_found) == (1, True, 1, [])
    assert uris(kb) == ["index.md"]
    with pytest.raises(InvalidArgument):
        kb.document("keys/box.md")


def test_pruning_one_folder_leaves_the_documents_of_another_alone(
    make_kb: Make, write_files: Write, tmp_path: Path
) -> None:
    kb = make_kb(FILES)
    kb.ingest(write_files({"b.md": "# B\n\nMore.\n", "c.md": "# C\n\nStill more.\n"}, "second"))
    (tmp_path / "second" / "c.md").unlink()
    report = kb.ingest(tmp_path / "second", prune=True)
    assert report.removed == 1
    kb.ingest([tmp_path / "second" / "b.md"], prune=True)
    assert uris(kb) == ["b.md", "index.md", "keys/box.md"]


def test_rows_of_a_table_of_documents_come_and_go(make_kb: Make, write_files: Write, tmp_path: Path) -> None:
    def rows(*names: str) -> str:
        return "".join(
            json.dumps({"id": name, "title": name, "text": f"The {name} gate opens."}) + "\n" for name in names
        )

    kb = make_kb({"rows.jsonl": rows("a", "b", "c"), "x.md": "# X\n\nIt stays.\n"})
    assert uris(kb) == ["rows.jsonl#a", "rows.jsonl#b", "rows.jsonl#c", "x.md"]
    write_files({"rows.jsonl": rows("c", "d", "a")}, "kb-docs")
    report = kb.ingest(tmp_path / "kb-docs")
    assert (report.added, report.removed, report.unchanged) == (1, 1, 3)
    assert uris(kb) == ["rows.jsonl#a", "rows.jsonl#c", "rows.jsonl#d", "x.md"]
    (tmp_path / "kb-docs" / "rows.jsonl").unlink()
    report = kb.ingest(tmp_path / "kb-docs", prune=True, prune_most=True)
    assert report.removed == 3
    assert uris(kb) == ["x.md"]


def test_a_hash_in_a_file_name_is_no_row(make_kb: Make, tmp_path: Path) -> None:
    kb = make_kb({"C# guide.md": "# Guide\n\nIt is sharp.\n", "C.md": "# C\n\nIt is old.\n"})
    names = uris(kb)
    assert len(names) == 2
    report = kb.ingest(tmp_path / "kb-docs")
    assert (report.unchanged, report.changed) == (2, False)
    (tmp_path / "kb-docs").rename(tmp_path / "moved")
    assert kb.ingest(tmp_path / "moved").unchanged == 2
    (tmp_path / "moved" / "C# guide.md").unlink()
    assert kb.ingest(tmp_path / "moved", prune=True).removed == 1


def test_nothing_to_read_is_an_error_and_publishes_nothing(tmp_path: Path, write_files: Write) -> None:
    folder = write_files({"broken.pdf": b"no pdf"})
    with KnowledgeBase.open(tmp_path / "kb", create=True) as kb:
        with pytest.raises(InvalidArgument, match=r"broken\.pdf"):
            kb.ingest(folder)
        with pytest.raises(InvalidArgument, match="no such file"):
            kb.ingest(tmp_path / "nowhere")
        assert kb.snapshot_id == ""


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def published(kb: Path) -> Path:
    return kb / "snapshots" / (kb / "CURRENT").read_text(encoding="ascii").strip()


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
