from __future__ import annotations

from pathlib import Path

import pytest

from graphctx.cli.places import place_of, uri_prefix
from graphctx.knowledge_base import KnowledgeBase
from graphctx.store.config import SourceEntry


@pytest.fixture
def sources(tmp_path: Path) -> list[SourceEntry]:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text(f"# {name}\n\nThe first line.\nThe second line.\n")
    return [
        SourceEntry(name="one", path=str(tmp_path / "one")),
        SourceEntry(name="two", path=str(tmp_path / "two"), prefix="two"),
    ]


def test_a_span_is_placed_in_its_file_at_its_line(sources: list[SourceEntry], tmp_path: Path) -> None:
    place = place_of(sources, "a.md", 3, "first line.\nThe second")
    assert (place.path, place.line) == (tmp_path / "one" / "a.md", 3)


def test_the_prefix_of_a_source_is_no_part_of_the_path(sources: list[SourceEntry], tmp_path: Path) -> None:
    assert place_of(sources, "two/a.md", 1, "# two").path == tmp_path / "two" / "a.md"


def test_a_line_that_the_file_does_not_show_is_not_claimed(sources: list[SourceEntry]) -> None:
    assert place_of(sources, "a.md", 1, "The second line.").line is None
    assert place_of(sources, "a.md", 99, "The second line.").line is None


def test_a_row_is_placed_in_the_file_that_holds_it(sources: list[SourceEntry], tmp_path: Path) -> None:
    (tmp_path / "one" / "rows.jsonl").write_text('{"id": "7", "title": "t", "text": "x"}\n')
    assert place_of(sources, "rows.jsonl#7", 1, "x y").path == tmp_path / "one" / "rows.jsonl"


def test_a_path_as_it_is_printed_is_the_prefix_of_its_documents(
    lighthouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = lighthouse.parent
    monkeypatch.chdir(folder)
    with KnowledgeBase.open(lighthouse) as base:
        for path, prefix in {
            "docs/in": "in",
            "./more/../docs/in/": "in/",
            "docs/in/b#.md": "in/b%23.md",
            "docs/in/b#.md:3": "in/b%23.md",
            str(folder / "docs" / "in"): "in",
            "more/lamp.md:1": "more/lamp.md",
            "in/": "in/",
            "nowhere/": "nowhere/",
            "docs/nothing": "docs/nothing",
            "~nobody-of-this-name/docs": "~nobody-of-this-name/docs",
        }.items():
            assert uri_prefix(base, path) == prefix
        assert uri_prefix(base, None) is None


def test_a_file_that_has_gone_has_no_place(sources: list[SourceEntry]) -> None:
    assert place_of(sources, "gone.md", 1, "x").path is None
