"""What an ingest does to a knowledge base that holds something already."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.ingest.read.source import Columns, Rule, Source
from graphctx.ingest.report import IngestPlan
from graphctx.knowledge_base import KnowledgeBase

FILES = {
    "docs/index.md": "# Harbour\n\nThe harbour gate opens at noon. See [keys](keys/box.md).\n",
    "docs/keys/box.md": "# Key Box\n\nMaren Halloran keeps the key box.\n",
    "docs/C# guide.md": "# Guide\n\nIt is sharp.\n",
    "second/b.md": "# B\n\nMore of the harbour.\n",
    "second/c.md": "# C\n\nStill more of it.\n",
}
ALL = {"index.md", "keys/box.md", "C%23 guide.md", "b.md", "c.md", "rows.jsonl#a", "rows.jsonl#b", "rows.jsonl#c"}


def row(name: str) -> str:
    return json.dumps({"id": name, "title": name, "text": f"The {name} gate opens."}) + "\n"


@dataclass
class World:
    """A knowledge base of two folders, for one test."""

    root: Path
    kb: KnowledgeBase

    @property
    def snapshot(self) -> Path:
        return self.kb.path / "snapshots" / (self.kb.path / "CURRENT").read_text("ascii").strip()

    def write(self, **files: str) -> None:
        for name, text in files.items():
            (self.root / name).write_text(text, "utf-8")

    def plan(self, *paths: str, prune: bool = False) -> IngestPlan:
        with KnowledgeBase.open(self.kb.path) as kb:
            return kb.plan_ingest([self.root / path for path in paths], processes=1, prune=prune)

    def uris(self) -> set[str]:
        return uris_of(self.kb)


def uris_of(kb: KnowledgeBase) -> set[str]:
    return {found[0] for found in kb.cypher("MATCH (d:Document) RETURN d.uri").rows}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("changes")
    for name, text in (FILES | {"docs/rows.jsonl": "".join(map(row, "abc"))}).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    with KnowledgeBase.open(root / "kb", create=True) as kb:
        kb.ingest([root / "docs", root / "second"], processes=1)
    return root


@pytest.fixture
def world(made: Path, tmp_path: Path) -> Iterator[World]:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    config = tmp_path / "kb" / "kb.toml"
    config.write_text(config.read_text("utf-8").replace(str(made), str(tmp_path)), "utf-8")
    with KnowledgeBase.open(tmp_path / "kb") as kb:
        yield World(tmp_path, kb)


def test_an_ingest_replaces_adds_and_prunes_as_planned(world: World) -> None:
    world.write(**{"docs/keys/box.md": "# Key Box\n\nNobody keeps it.\n", "docs/README.md": "# A\n\nOf the first.\n"})
    world.write(**{"second/README.md": "# B\n\nOf the second.\n"})
    (world.root / "second/c.md").unlink()
    plan = world.plan("docs", "second")
    assert (plan.added, plan.replaced, plan.removed) == (["README.md", "second/README.md"], ["keys/box.md"], [])
    assert (plan.no_longer_found, plan.unchanged, plan.documents) == (["c.md"], 6, 10)
    report = world.kb.ingest([world.root / "docs", world.root / "second"], prune=True, processes=1)
    assert (report.added, report.replaced, report.removed, report.unchanged) == (2, 1, 1, 6)
    assert world.uris() == ALL - {"c.md"} | {"README.md", "second/README.md"}
    assert world.kb.document("keys/box.md").text == "# Key Box\n\nNobody keeps it.\n"
    with pytest.raises(InvalidArgument):
        world.kb.document("c.md")
    assert not world.plan("docs", "second", prune=True).builds


def test_pruning_spares_what_the_paths_do_not_name(world: World) -> None:
    (world.root / "second/c.md").unlink()
    (world.root / "docs/C# guide.md").unlink()
    assert world.plan("second", prune=True).removed == ["c.md"]
    assert world.plan("second/b.md", prune=True).removed == []
    assert world.plan("docs", prune=True).removed == ["C%23 guide.md"]


def test_a_moved_folder_is_the_same_source(world: World) -> None:
    (world.root / "docs").rename(world.root / "moved")
    plan = world.plan("moved")
    assert (plan.unchanged, plan.builds) == (6, False)


def test_rows_of_a_file_come_and_go_with_it(world: World) -> None:
    world.write(**{"docs/rows.jsonl": row("c") + row("d") + row("a")})
    plan = world.plan("docs")
    assert (plan.added, plan.removed, plan.unchanged) == (["rows.jsonl#d"], ["rows.jsonl#b"], 5)
    (world.root / "docs/rows.jsonl").unlink()
    assert world.plan("docs", prune=True).removed == ["rows.jsonl#a", "rows.jsonl#b", "rows.jsonl#c"]


@pytest.mark.parametrize(
    ("references", "removed"),
    [
        (["keys/box.md"], ["keys/box.md"]),
        (["keys/"], ["keys/box.md"]),
        (["{root}/docs/keys"], ["keys/box.md"]),
        (["rows.jsonl#b", "b.md"], ["b.md", "rows.jsonl#b"]),
        (["rows.jsonl"], ["rows.jsonl#a", "rows.jsonl#b", "rows.jsonl#c"]),
    ],
)
def test_documents_are_removed_by_what_names_them(world: World, references: list[str], removed: list[str]) -> None:
    report = world.kb.remove([one.format(root=world.root) for one in references], dry_run=True)
    assert (report.removed, report.kept_out, report.documents) == (removed, removed, 8 - len(removed))


def test_a_removed_document_stays_out_until_its_file_is_named(world: World) -> None:
    assert world.kb.remove(["keys/box.md", "rows.jsonl#b"]).documents == 6
    assert world.uris() == ALL - {"keys/box.md", "rows.jsonl#b"}
    plan = world.plan("docs", "second", prune=True)
    assert (plan.builds, plan.added, plan.removed) == (False, [], [])
    assert "keys/box.md" in plan.notes[0]
    assert world.plan("docs/keys/box.md").added == ["keys/box.md"]
    world.kb.ingest(world.root / "docs/rows.jsonl", processes=1)
    assert world.kb.config.removed == {"keys/box.md": "docs"}
    assert world.uris() == ALL - {"keys/box.md"}


def test_a_removal_concerns_no_file_of_another_folder_with_the_same_path(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.kb.remove("keys/box.md")
    (world.root / "other/keys").mkdir(parents=True)
    world.write(**{"other/keys/box.md": "# Other Box\n\nTovah Lind keeps it.\n"})
    monkeypatch.chdir(world.root / "other")
    with KnowledgeBase.open(world.kb.path) as kb:
        assert kb.plan_ingest(".", processes=1).added == ["other/keys/box.md"]
        report = kb.ingest("keys/box.md", processes=1)
    assert report.added == 1
    assert world.plan("docs", "other").added == []


def test_a_list_of_removed_uris_still_keeps_them_out(world: World) -> None:
    config = world.kb.path / "kb.toml"
    (world.root / "docs/new.md").write_text("# New\n\nIt is new.\n", "utf-8")
    config.write_text('removed = ["new.md"]\n' + config.read_text("utf-8"), "utf-8")
    assert world.plan("docs").added == []
    assert world.plan("docs/new.md").added == ["new.md"]


def test_documents_whose_file_is_gone_are_removed_and_may_come_back(world: World) -> None:
    text = (world.root / "second/c.md").read_text("utf-8")
    (world.root / "second/c.md").unlink()
    report = world.kb.remove(missing=True)
    assert (report.removed, report.kept_out) == (["c.md"], [])
    world.write(**{"second/c.md": text})
    assert world.plan("second").added == ["c.md"]


def test_a_removal_that_names_nothing_known_or_everything_is_refused(world: World) -> None:
    with pytest.raises(InvalidArgument, match=r"Similar: keys/box\.md"):
        world.kb.remove(["b.md", "keys/bix.md"])
    with pytest.raises(InvalidArgument, match="remove every document"):
        world.kb.remove([*ALL])
    with pytest.raises(InvalidArgument, match="one way"):
        world.kb.remove(["b.md"], missing=True)


def test_a_renamed_file_keeps_its_ids(world: World) -> None:
    held = world.kb.retrieve_evidence("Who keeps the key box?").quotes[0]
    document_id = world.kb.document("keys/box.md").id
    for name in ("docs/keys/cabinet.md", "docs/cupboard.md"):
        next((world.root / "docs").rglob("box.md" if "cabinet" in name else "cabinet.md")).rename(world.root / name)
        report = world.kb.ingest(world.root / "docs", processes=1)
        assert (report.renamed, report.added, report.removed, report.documents) == (1, 0, 0, 8)
    for name in (document_id, "keys/box.md", "keys/cabinet.md"):
        assert world.kb.document(name).uri == "cupboard.md"
    assert world.kb.unit(held.section_id).doc_uri == "cupboard.md"
    fresh = KnowledgeBase.open(world.root / "fresh", create=True)
    with fresh:
        made = fresh.ingest([world.root / "docs", world.root / "second"], processes=1)
    assert made.content_hash == report.content_hash


def test_a_former_name_removes_its_document_only_while_no_other_has_that_name(world: World) -> None:
    (world.root / "second/b.md").rename(world.root / "second/moved.md")
    world.kb.ingest(world.root / "second", processes=1)
    assert world.kb.remove("b.md", dry_run=True).removed == ["moved.md"]
    world.write(**{"second/b.md": "# Another B\n\nThe lock opens at nine.\n"})
    world.kb.ingest(world.root / "second", processes=1)
    assert world.kb.remove("b.md", dry_run=True).removed == ["b.md"]


def test_a_plan_takes_the_patterns_of_an_ingest(world: World) -> None:
    world.write(**{"docs/new.txt": "The lock opens at nine.", "docs/draft.txt": "The draft."})
    plan = world.kb.plan_ingest(world.root / "docs", include=["*.txt"], exclude=["draft*"], processes=1)
    assert plan.added == ["new.txt"]


def test_a_bad_line_keeps_no_deleted_row_alive_past_pruning(world: World) -> None:
    world.write(**{"docs/rows.jsonl": row("a") + row("b") + "{broken\n"})
    assert world.plan("docs").no_longer_found == ["rows.jsonl#c"]
    assert world.plan("docs", prune=True).removed == ["rows.jsonl#c"]


def test_a_file_that_cannot_be_read_for_now_keeps_its_version(world: World) -> None:
    (world.root / "docs/keys/box.md").write_bytes(b"")
    plan = world.plan("docs", prune=True)
    assert (plan.removed, plan.no_longer_found, plan.documents) == ([], [], 8)
    assert [item.uri for item in plan.skipped] == ["keys/box.md"]


def test_a_knowledge_base_among_the_documents_is_no_document(world: World) -> None:
    shutil.copytree(world.root / "kb", world.root / "docs/kb")
    assert not world.plan("docs").builds
    with pytest.raises(InvalidArgument, match="is a knowledge base"):
        world.plan("docs/kb")


def test_nothing_to_read_is_an_error_and_publishes_nothing(tmp_path: Path, write_files: Callable[..., Path]) -> None:
    folder = write_files({"broken.pdf": b"no pdf"})
    with KnowledgeBase.open(tmp_path / "kb", create=True) as kb:
        with pytest.raises(InvalidArgument, match=r"broken\.pdf"):
            kb.ingest(folder)
        with pytest.raises(InvalidArgument, match="no such file"):
            kb.ingest(tmp_path / "nowhere")
        assert kb.snapshot_id == ""


def test_a_damaged_snapshot_is_mended_though_the_files_of_its_documents_have_gone(world: World) -> None:
    world.write(**{"second/d.md": "# D\n\nThe most of it.\n"})
    world.kb.ingest(world.root / "second", processes=1)
    shutil.rmtree(world.root / "docs")
    (world.snapshot / "walk.npz").write_bytes(b"x")
    with KnowledgeBase.open(world.kb.path) as kb:
        (note,) = kb.ingest(world.root / "second", processes=1).notes
    assert "walk.npz is damaged" in note
    with KnowledgeBase.open(world.kb.path) as kb:
        assert {found[0] for found in kb.cypher("MATCH (d:Document) RETURN d.uri").rows} == ALL | {"d.md"}
        assert "Maren" in kb.retrieve_evidence("Who keeps the key box?").quotes[0].quote


def test_a_damaged_snapshot_is_mended_by_what_the_ingests_of_its_sources_said(world: World) -> None:
    docs = Source(
        path=str(world.root / "docs"),
        exclude=("keys/",),
        tags=("manual",),
        rules=(Rule(match=("index.md",), tags=("front",)),),
        columns=Columns(text=("title", "text")),
    )
    with KnowledgeBase.open(world.root / "other", create=True) as kb:
        kb.ingest(docs, processes=1)
        before = {uri: (kb.document(uri).text, kb.document(uri).tags) for uri in uris_of(kb)}
        (kb.path / "snapshots" / kb.snapshot_id / "walk.npz").write_bytes(b"x")
    with KnowledgeBase.open(world.root / "other") as kb:
        kb.ingest(world.root / "second", processes=1)
        after = {uri: (kb.document(uri).text, kb.document(uri).tags) for uri in uris_of(kb)}
    assert before["index.md"][1] == ("front", "manual")
    assert {uri: after[uri] for uri in after if not uri.startswith(("b.", "c."))} == before


@pytest.mark.parametrize(
    ("file", "data"), [("../../CURRENT", b"garbage"), ("MANIFEST.json", b"{}"), ("parquet/documents.parquet", b"x")]
)
def test_a_damaged_publication_loses_no_document(world: World, file: str, data: bytes) -> None:
    (world.snapshot / file).write_bytes(data)
    plan = world.plan("second")
    assert plan.notes
    assert plan.documents == 8


def test_a_snapshot_of_a_later_version_is_not_replaced(world: World) -> None:
    manifest = world.snapshot / "MANIFEST.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text("utf-8")), "format_version": 99}), "utf-8")
    with pytest.raises(BackendUnavailable, match="Use the version that wrote it"):
        world.plan("docs")
