from __future__ import annotations

from pathlib import Path

from graphctx.ingest.read import SourceFile
from graphctx.ingest.sources import locate, paths_of
from graphctx.store.config import SourceEntry


def files(root: Path, *rels: str) -> list[SourceFile]:
    return [SourceFile(rel, root, root / rel) for rel in rels]


def test_uris_are_relative_to_the_folder_that_is_ingested(tmp_path: Path) -> None:
    located, sources = locate(files(tmp_path / "docs", "b.md", "a/c.md"), [], {})
    assert [item.uri for item in located] == ["a/c.md", "b.md"]
    assert sources == (SourceEntry(name="docs", path=str(tmp_path / "docs"), prefix=""),)


def test_only_a_clash_puts_the_folder_in_front(tmp_path: Path) -> None:
    both = [
        *files(tmp_path / "one", "a.md", "b.md"),
        *files(tmp_path / "two", "a.md"),
        *files(tmp_path / "zoo", "z.md"),
    ]
    located, sources = locate(both, [], {})
    assert [item.uri for item in located] == ["a.md", "b.md", "two/a.md", "z.md"]
    assert [source.prefix for source in sources] == ["", "two", ""]


def test_a_known_folder_keeps_its_name_and_prefix(tmp_path: Path) -> None:
    known = [SourceEntry(name="two", path=str(tmp_path / "two"), prefix="two")]
    located, sources = locate(files(tmp_path / "two", "new.md"), known, {"a.md": "one"})
    assert [item.uri for item in located] == ["two/new.md"]
    assert list(sources) == known


def test_folders_of_one_name_are_told_apart(tmp_path: Path) -> None:
    both = [*files(tmp_path / "x" / "docs", "a.md"), *files(tmp_path / "y" / "docs", "a.md")]
    located, sources = locate(both, [], {})
    assert [item.uri for item in located] == ["a.md", "docs-2/a.md"]
    assert [source.name for source in sources] == ["docs", "docs-2"]


def test_a_moved_folder_is_the_same_source(tmp_path: Path) -> None:
    known = [SourceEntry(name="docs", path=str(tmp_path / "gone"), prefix="")]
    located, sources = locate(files(tmp_path / "moved", "a.md"), known, {"a.md": "docs"})
    assert [(item.uri, item.source) for item in located] == [("a.md", "docs")]
    assert sources == (SourceEntry(name="docs", path=str(tmp_path / "moved"), prefix=""),)


def test_a_moved_folder_with_a_prefix_is_the_same_source_too(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    known = [
        SourceEntry(name="one", path=str(tmp_path / "one"), prefix=""),
        SourceEntry(name="two", path=str(tmp_path / "gone"), prefix="two"),
    ]
    owners = {"a.md": "one", "two/a.md": "two", "two/b.md": "two"}
    located, sources = locate(files(tmp_path / "moved", "a.md", "b.md"), known, owners)
    assert [(item.uri, item.source) for item in located] == [("two/a.md", "two"), ("two/b.md", "two")]
    assert [source.path for source in sources] == [str(tmp_path / "one"), str(tmp_path / "moved")]


def test_a_folder_that_shares_but_a_file_name_with_a_lost_one_is_another_source(tmp_path: Path) -> None:
    known = [SourceEntry(name="docs", path=str(tmp_path / "gone"), prefix="")]
    owners = {"README.md": "docs", "a.md": "docs", "b.md": "docs"}
    located, sources = locate(files(tmp_path / "other", "README.md", "x.md"), known, owners)
    assert [(item.uri, item.source) for item in located] == [("other/README.md", "other"), ("other/x.md", "other")]
    assert len(sources) == 2


def test_a_file_below_a_known_folder_keeps_its_uri(tmp_path: Path) -> None:
    known = [SourceEntry(name="docs", path=str(tmp_path / "docs"), prefix="p")]
    located, sources = locate(files(tmp_path / "docs" / "sub", "a.md"), known, {"p/sub/a.md": "docs"})
    assert [(item.uri, item.source) for item in located] == [("p/sub/a.md", "docs")]
    assert list(sources) == known


def test_a_prefix_never_takes_the_place_of_a_folder_that_is_there(tmp_path: Path) -> None:
    known = [SourceEntry(name="one", path=str(tmp_path), prefix="")]
    owners = {"a.md": "one", "two/a.md": "one"}
    located, _ = locate(files(tmp_path.parent / "two", "a.md"), known, owners)
    assert [item.uri for item in located] == ["two-2/a.md"]


def test_of_two_copies_of_a_moved_folder_only_one_takes_its_place(tmp_path: Path) -> None:
    known = [SourceEntry(name="docs", path=str(tmp_path / "gone"), prefix="")]
    both = [*files(tmp_path / "x", "a.md"), *files(tmp_path / "y", "a.md")]
    located, _ = locate(both, known, {"a.md": "docs"})
    assert [(item.uri, item.source) for item in located] == [("a.md", "docs"), ("y/a.md", "y")]


def test_a_folder_of_the_sources_own_name_takes_no_uri_of_another_file(tmp_path: Path) -> None:
    root = tmp_path / "a"
    (root / "a").mkdir(parents=True)
    for name in ("x.md", "a/x.md"):
        (root / name).write_text(name)
    for owners in ({}, {"a/x.md": "a"}, {"x.md": "a", "a/x.md": "a"}):
        located, _ = locate(files(root, "a/x.md", "x.md"), [SourceEntry(name="a", path=str(root))], owners)
        assert {item.uri: item.file.rel for item in located} == {"x.md": "x.md", "a/x.md": "a/x.md"}


def test_a_deleted_file_is_missing_though_another_file_has_the_end_of_its_uri(tmp_path: Path) -> None:
    source = SourceEntry(name="a", path=str(tmp_path))
    assert paths_of("a/x.md", source, {"x.md": "a", "a/x.md": "a"}) == [tmp_path / "a" / "x.md"]
    assert paths_of("a/x.md", source, {"x.md": "b", "a/x.md": "a"}) == [tmp_path / "a" / "x.md", tmp_path / "x.md"]
