from __future__ import annotations

import os
from pathlib import Path

import pytest

from graphctx.cli.places import DocumentFiles, uri_prefix
from graphctx.knowledge_base import KnowledgeBase

from .runner import run

PUMPS = {
    "one/a/x.md": "# alpha\n\nThe alpha pump was built by Mara Lind.\nIt stands in Oslo.\n",
    "one/a/a/x.md": "# gamma\n\nThe gamma pump was built by Ulf Dahl.\n",
    "one/a/rows.jsonl": '{"id": "7", "title": "t", "text": "The row of the pump."}\n',
    "two/a/y.md": "# beta\n\nThe beta pump was built by Jon Berg.\n",
    "three/x.md": "# delta\n\nThe delta pump was built by Ole Dunn.\n",
}
"""Files with the folder that is ingested as their first part; that of ``one`` is ``one/a``."""


@pytest.fixture(scope="module")
def pumps(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    """A knowledge base whose URIs and sources have names in common: URIs of ``two`` begin with the name of ``one/a``."""
    folder = tmp_path_factory.mktemp("pumps")
    for name, text in PUMPS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    kb = KnowledgeBase.open(folder / "kb", create=True)
    kb.ingest([folder / "one" / "a"], processes=1)
    kb.ingest([folder / "two", folder / "three"], processes=1)
    (folder / "two" / "x.md").write_text("# epsilon\n", "utf-8")  # a path that the URI a/x.md could mean
    return kb


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("x.md", "one/a/x.md"),
        ("a/x.md", "one/a/a/x.md"),
        ("a/y.md", "two/a/y.md"),
        ("three/x.md", "three/x.md"),
        ("rows.jsonl#7", "one/a/rows.jsonl"),
    ],
)
def test_a_document_is_located_in_the_file_that_it_was_read_from(pumps: KnowledgeBase, uri: str, name: str) -> None:
    line, text = 3, PUMPS[name].rstrip().rpartition("\n")[2]
    place = DocumentFiles(pumps).locate(uri, line, text)
    assert place.path == pumps.path.parent / name


def test_a_line_that_the_file_does_not_show_is_not_claimed(pumps: KnowledgeBase) -> None:
    files = DocumentFiles(pumps)
    assert files.locate("x.md", 3, "built by Mara Lind.\nIt stands").line == 3
    assert files.locate("x.md", 1, "The alpha pump").line is None
    assert files.locate("x.md", 99, "The alpha pump").line is None


def test_a_document_without_a_file_has_no_place(pumps: KnowledgeBase) -> None:
    assert DocumentFiles(pumps).locate("gone.md", 1, "x").path is None


def test_an_answer_says_that_files_changed_since_the_ingest(pumps: KnowledgeBase) -> None:
    file = pumps.path.parent / "two" / "a" / "y.md"
    question = ("ask", "Who built the beta pump?", "--kb", pumps.path)
    os.utime(file, (1, 1))  # written again with the same text
    assert not run(*question).err
    file.write_text("# beta\n\nMore.\n\nThe beta pump was built by Jon Berg.\n", "utf-8")
    os.utime(file, (1, 1))
    done = run(*question)
    assert done.err == "1 file changed since the ingest; run graphctx ingest again.\n"
    assert f"{file} · " in done.out


def test_the_prefix_of_a_path_is_that_of_its_own_source(pumps: KnowledgeBase) -> None:
    folder = pumps.path.parent
    assert uri_prefix(pumps, str(folder / "two" / "a")) == "a"
    assert uri_prefix(pumps, str(folder / "one" / "a")) == str(folder / "one" / "a")


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
