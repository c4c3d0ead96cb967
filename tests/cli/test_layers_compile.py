"""``graphctx layers compile``: documents, or a knowledge base, as a base layer."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import numpy as np
import pytest

from graphctx.knowledge_base import KnowledgeBase
from graphctx.layers import Chunk, LayerFile, built_in
from tests.layers.world import content, note, stack

from .conftest import HARBOUR
from .runner import layers

FAST = ("--embedder", "hash")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with documents."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "harbour.md").write_text(HARBOUR, "utf-8")
    (tmp_path / "docs" / "notes.txt").write_text("Tides are told by the hour.\n", "utf-8")
    (tmp_path / "AGENTS.md").write_text("# Rules\n\nAsk before you sail — always.\n", "utf-8")
    return tmp_path


def chunks(path: Path) -> list[Chunk]:
    with LayerFile.open(path) as layer:
        return list(layer.chunks())


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_sections_become_chunks_that_say_where_they_stand(repository: Path) -> None:
    done = layers(repository, "compile", "docs", "AGENTS.md", "--json")
    assert done.code == 0
    assert "embed" in done.err
    told = done.json
    assert (told["chunks"], told["files"], told["changed"]) == (4, 2, True)
    assert told["sha256"] == digest(repository / "AGENTS.db")
    made = chunks(repository / "AGENTS.db")
    assert [(c.content, c.sources) for c in made] == [
        ("# Rules\n\nAsk before you sail — always.", ("AGENTS.md:1",)),
        ("# Harbour\n\nThe lights are lit at dusk.", ("docs/harbour.md:4",)),
        ("## Fees\n\nShips pay by length, and boats pay nothing.", ("docs/harbour.md:8",)),
        ("### Gulls\n\nGulls are not fed.", ("docs/harbour.md:14",)),
    ]
    assert {(c.kind, c.author, c.confidence, c.created_at_unix_ms) for c in made} == {("canonical", "human", 1.0, 0)}
    with LayerFile.open(repository / "AGENTS.db") as layer:
        assert layer.profile == built_in().profile
        ours = built_in().embed([c.content for c in made])
        assert np.array_equal(np.stack([layer.vector(r) for r in range(4)]), ours)
    hit = layers(repository, "search", "who feeds the gulls", "-k", "1", "--json").json["chunks"][0]
    assert hit["sources"] == ["docs/harbour.md:14"]


def test_the_same_documents_give_the_same_bytes_anywhere(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("elsewhere")
    for name in ("AGENTS.md", "docs"):  # written in another order
        source = repository / name
        (shutil.copytree if source.is_dir() else shutil.copyfile)(source, other / name)
    layers(repository, "compile", "docs", "AGENTS.md", *FAST)
    layers(other, "compile", str(other / "AGENTS.md"), str(other), "docs", *FAST)
    assert digest(repository / "AGENTS.db") == digest(other / "AGENTS.db")


def test_an_id_stays_with_its_text_when_other_text_changes(repository: Path) -> None:
    layers(repository, "compile", "docs", *FAST)
    before = {c.content: c.id for c in chunks(repository / "AGENTS.db")}
    path = repository / "docs" / "harbour.md"
    path.write_text(path.read_text("utf-8").replace("# Harbour\n", "# Harbour\n\nA line more.\n"), "utf-8")
    layers(repository, "compile", "docs", *FAST, "--force")
    after = {c.content: c.id for c in chunks(repository / "AGENTS.db")}
    same = before.keys() & after.keys()
    assert len(same) == 2
    assert all(before[text] == after[text] for text in same)


@pytest.mark.parametrize("split", ["sections", "units"])
def test_front_matter_is_no_part_of_what_is_said(tmp_path: Path, split: str) -> None:
    (tmp_path / "a.md").write_text("---\ntags: [sea]\n---\n\nTides are told.\n\n# Later\n\nMore.\n", "utf-8")
    layers(tmp_path, "compile", "a.md", "--split", split, *FAST)
    assert [(c.content, c.sources) for c in chunks(tmp_path / "AGENTS.db")] == [
        ("Tides are told.", ("a.md:5",)),
        ("# Later\n\nMore.", ("a.md:7",)),
    ]


def test_a_long_section_is_cut_into_units_on_request(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Long\n\n" + "\n\n".join(f"Ship {n} pays by length." for n in range(200)), "utf-8")
    layers(tmp_path, "compile", "a.md", "--split", "units", *FAST)
    units = chunks(tmp_path / "AGENTS.db")
    assert len(units) > 3
    assert [c.content.startswith("# Long") for c in units] == [True] + [False] * (len(units) - 1)
    assert layers(tmp_path, "compile", "a.md", *FAST, "--force", "--json").json["chunks"] == 1


def test_texts_that_are_alike_have_ids_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nsame\n\n# A\n\nsame\n", "utf-8")
    shutil.copyfile(tmp_path / "a.md", tmp_path / "b.md")
    layers(tmp_path, "compile", ".", *FAST)
    assert len({c.id for c in chunks(tmp_path / "AGENTS.db")}) == 4


def test_a_base_layer_is_replaced_whole_and_on_request_only(repository: Path) -> None:
    assert layers(repository, "compile", "docs", *FAST).code == 0
    before = digest(repository / "AGENTS.db")
    again = layers(repository, "compile", "docs", *FAST, "--json")
    assert (again.code, again.json["changed"]) == (0, False)
    error = layers(repository, "compile", "docs", "AGENTS.md", *FAST, "--json").error
    assert "--force" in error["message"]
    assert digest(repository / "AGENTS.db") == before
    (repository / "AGENTS.db.sig").write_bytes(bytes(64))
    forced = layers(repository, "compile", "docs", "AGENTS.md", *FAST, "--force")
    assert forced.code == 0
    assert "sign again" in forced.err
    assert len(chunks(repository / "AGENTS.db")) == 4
    assert "sign again" not in layers(repository, "compile", "docs", "AGENTS.md", *FAST).err


def test_a_damaged_base_layer_is_not_taken_for_an_equal_one(repository: Path) -> None:
    (repository / "AGENTS.db").write_bytes(b"AGDB" + bytes(100))
    error = layers(repository, "compile", "docs", *FAST, "--json").error
    assert error["code"] == "INVALID_ARGUMENT"
    assert layers(repository, "compile", "docs", *FAST, "--force").code == 0
    assert layers(repository, "validate").code == 0


@pytest.mark.parametrize(
    ("given", "epoch", "wanted"),
    [
        ("2026-01-31", None, 1769817600000),
        ("2026-01-31T01:00:00+01:00", "5", 1769817600000),
        ("1234", None, 1234),
        (None, "1234", 1234000),
    ],
)
def test_times_are_given_and_never_the_clocks(
    repository: Path, given: str | None, epoch: str | None, wanted: int
) -> None:
    more = ["--created-at", given] if given else []
    done = layers(repository, "compile", "docs", *FAST, *more, env={"SOURCE_DATE_EPOCH": epoch} if epoch else None)
    assert done.code == 0
    assert {c.created_at_unix_ms for c in chunks(repository / "AGENTS.db")} == {wanted}


def test_other_kinds_cuts_and_files_can_be_had(repository: Path) -> None:
    arguments = ["docs", "--include", "*.txt", "--include", "docs/har*", "--kind", "doc", "--split", "files", "--i8"]
    assert layers(repository, "compile", *arguments, *FAST, "--out", "other.db").code == 0
    made = chunks(repository / "other.db")
    assert [(c.kind, c.sources) for c in made] == [("doc", ("docs/harbour.md:1",)), ("doc", ("docs/notes.txt:1",))]
    assert made[0].content == HARBOUR.strip()
    with LayerFile.open(repository / "other.db") as layer:
        assert layer.element_type == "i8"
    hit = layers(repository, "search", "tides", "--layer", "other.db", "--json").json["chunks"][0]
    assert hit["sources"] == ["docs/notes.txt:1"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Give documents or --kb"),
        (["docs", "--kb", "kb"], "only one of them"),
        (["nowhere"], "no such file or folder"),
        (["docs", "--out", "AGENTS.user.db"], "grows by promotion"),
        (["docs", "--out", "docs"], "is a folder"),
        (["docs", "--out", "no/where.db"], "There is no folder no"),
        (["docs", "--include", "*.rst"], "matches *.rst"),
        (["docs", "--kind", "tombstone"], "kept for tools"),
        (["docs", "--kind", " "], "empty"),
        (["docs", "--split", "pages"], "sections, units or files"),
        (["docs", "--embedder", "gpt"], "minilm or hash"),
        (["docs", "--created-at", "yesterday"], "ISO 8601"),
        (["docs", "--created-at", "1969-01-01"], "from 1970 on"),
        (["docs", "--tag", "x"], "--tag has an effect on a knowledge base only"),
        (["--kb", "kb", "--split", "units"], "--split has an effect on documents only"),
        (["--kb", "kb"], "There is no knowledge base here"),
        (["..", "--dir", "docs"], "lies outside"),
        (["empty.md"], "no text"),
    ],
)
def test_a_slip_writes_nothing_and_is_answered_with_what_to_do(
    repository: Path, arguments: list[str], said: str
) -> None:
    (repository / "empty.md").write_text("\n\n", "utf-8")
    before = {path: path.stat().st_mtime_ns for path in repository.rglob("*")}
    done = layers(repository, "compile", *arguments, "--json")
    assert said in done.error["message"]
    assert {path: path.stat().st_mtime_ns for path in repository.rglob("*")} == before


def test_a_base_layer_that_parts_the_layers_is_reported(repository: Path) -> None:
    stack(repository, delta=content(note(1, "text")))
    done = layers(repository, "compile", "docs", *FAST)
    assert done.code == 0
    assert "cannot be searched together now" in done.err
    assert "cannot be searched" not in layers(repository, "compile", "docs", *FAST).err  # nothing was written


def test_a_knowledge_base_gives_its_units_with_its_vectors(lighthouse: Path, tmp_path: Path) -> None:
    arguments = ("compile", "--kb", lighthouse, "--path-prefix", "harbour")
    assert layers(tmp_path, *arguments).code == 0
    made = chunks(tmp_path / "AGENTS.db")
    assert {(c.content, *c.sources) for c in made} == {
        ("# Harbour\n\nThe lights are lit at dusk.", "harbour #1.md:4"),
        ("## Fees\n\nShips pay by length, and boats pay nothing.", "harbour #1.md:8"),
        ("### Gulls\n\nGulls are not fed.", "harbour #1.md:14"),
    }
    assert all(c.content in HARBOUR for c in made)
    with KnowledgeBase.open(lighthouse) as base, LayerFile.open(tmp_path / "AGENTS.db") as layer:
        assert np.array_equal(layer.matrix[layer.rows], base.layer(path_prefix="harbour").matrix)
    assert not layers(tmp_path, *arguments, "--json").json["changed"]
    hit = layers(tmp_path, "search", "are gulls fed", "-k", "1", "--json").json["chunks"][0]
    assert hit["sources"] == ["harbour #1.md:14"]


@pytest.mark.parametrize("by", ["tag", "boundary"])
def test_a_part_of_a_knowledge_base_is_chosen_by_a_tag_or_by_its_boundary(
    lighthouse: Path, tmp_path: Path, by: str
) -> None:
    options = ("--tag", "sea") if by == "tag" else ()
    env = {} if by == "tag" else {"GRAPHCTX_SERVER__DOC_TAGS": '["sea"]'}
    assert layers(tmp_path, "compile", "--kb", lighthouse, *options, env=env).code == 0
    assert [c.sources for c in chunks(tmp_path / "AGENTS.db")] == [("in/b#.md:4",)]
    error = layers(tmp_path, "compile", "--kb", lighthouse, "--tag", "none", "--out", "x.db", "--json", env=env).error
    assert "no text" in error["message"]


def test_every_file_that_is_passed_over_is_reported_with_the_reason(repository: Path) -> None:
    (repository / "docs" / "map.png").write_bytes(b"\x89PNG")
    (repository / "docs" / "AGENTS.db").write_bytes(b"AGDB")
    (repository / "docs" / "bad.md").write_bytes(b"caf\x00\x01 " * 10)
    done = layers(repository, "compile", "docs", *FAST, "--json")
    unfit = "its name matches none of *.md, *.markdown, *.mdx; --include adds other files"
    [bad] = [item for item in done.json["skipped"] if item["uri"] == "docs/bad.md"]
    assert [item for item in done.json["skipped"] if item != bad] == [
        {"uri": "docs/AGENTS.db", "reason": "a database or a layer; layers are made of documents"},
        {"uri": "docs/notes.txt", "reason": unfit},
        {"uri": "map.png", "reason": "unsupported type .png"},
    ]
    shown = layers(repository, "compile", "docs", *FAST).err
    assert "Skipped, 4:\n  docs/AGENTS.db: a database or a layer; layers are made of documents\n" in shown
    assert f"  docs/bad.md: {bad['reason']}\n  docs/notes.txt: {unfit}\n" in shown
    assert "docs/notes.txt" not in layers(repository, "compile", "docs", *FAST, "--include", "*.*", "--force").err
