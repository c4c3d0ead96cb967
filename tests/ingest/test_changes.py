"""What an ingest does to a knowledge base that holds something already."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from graphctx.errors import InvalidArgument
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


def test_a_copy_of_the_folder_elsewhere_gives_the_same_content_hash(make_kb: Make, tmp_path: Path) -> None:
    make_kb(FILES, "one")
    shutil.copytree(tmp_path / "one-docs", tmp_path / "deep" / "er" / "other name")
    first = KnowledgeBase.open(tmp_path / "one").ingest(tmp_path / "one-docs")
    with KnowledgeBase.open(tmp_path / "two", create=True, project_id="test") as kb:
        second = kb.ingest(tmp_path / "deep" / "er" / "other name")
        assert second.content_hash == first.content_hash
        assert uris(kb) == ["index.md", "keys/box.md"]


def test_unchanged_documents_keep_the_snapshot(make_kb: Make, tmp_path: Path) -> None:
    kb = make_kb(FILES)
    before = kb.snapshot_id
    report = kb.ingest(tmp_path / "kb-docs")
    assert (report.unchanged, report.added, report.replaced, report.removed, report.changed) == (2, 0, 0, 0, False)
    assert report.snapshot_id == kb.snapshot_id == before
    assert "extract" not in report.seconds
    assert "embed" not in report.seconds


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
    assert uris(kb) == ["b.md", "index.md", "keys/box.md"]


def test_ingesting_single_files_prunes_nothing_else(make_kb: Make, tmp_path: Path) -> None:
    kb = make_kb(FILES)
    report = kb.ingest([tmp_path / "kb-docs" / "keys" / "box.md"], prune=True)
    assert (report.unchanged, report.removed, report.no_longer_found) == (1, 0, [])
    assert uris(kb) == ["index.md", "keys/box.md"]


def test_a_clashing_folder_gets_its_name_in_front(make_kb: Make, write_files: Write) -> None:
    kb = make_kb(FILES)
    second = write_files({"index.md": "# Other\n\nAnother index.\n", "new.md": "# New\n\nSomething.\n"}, "second")
    kb.ingest(second)
    assert uris(kb) == ["index.md", "keys/box.md", "second/index.md", "second/new.md"]
    again = kb.ingest(second)
    assert (again.unchanged, again.changed) == (2, False)


def test_a_moved_folder_is_the_same_source(make_kb: Make, tmp_path: Path) -> None:
    kb = make_kb(FILES)
    (tmp_path / "kb-docs").rename(tmp_path / "moved")
    report = kb.ingest(tmp_path / "moved")
    assert (report.unchanged, report.changed) == (2, False)
    assert [source.path for source in kb.config.sources] == [str(tmp_path / "moved")]


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


def test_a_file_that_cannot_be_read_any_more_keeps_its_last_good_version(
    make_kb: Make, write_files: Write, tmp_path: Path
) -> None:
    kb = make_kb({**FILES, "rows.jsonl": '{"id": "a", "title": "A", "text": "The A gate."}\n'})
    write_files(
        {"keys/box.md": b"\x00\x01\x02\xff\xfe binary \x00\x00\x00" * 50, "rows.jsonl": "no json at all\n"}, "kb-docs"
    )
    report = kb.ingest(tmp_path / "kb-docs", prune=True)
    assert {item.uri.partition("#")[0] for item in report.skipped} >= {"rows.jsonl"}
    assert "rows.jsonl#a" in uris(kb)
    assert kb.document("rows.jsonl#a").text


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


def test_a_failed_ingest_leaves_the_published_snapshot_alone(make_kb: Make, tmp_path: Path) -> None:
    kb = make_kb(FILES)
    before = kb.snapshot_id
    with pytest.raises(InvalidArgument):
        kb.ingest([tmp_path / "nowhere"])
    assert kb.snapshot_id == before
    assert kb.search("harbour gate").results
