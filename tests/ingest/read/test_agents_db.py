"""Layer files as documents."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.errors import InvalidArgument
from graphctx.ingest.read import readers
from graphctx.ingest.read.base import ReadFile
from graphctx.knowledge_base import KnowledgeBase
from graphctx.layers import Chunk, LayerContent, compact, content_of, to_bytes, write_context
from tests.layers.world import COUNTS, REAL, content, contents, needs_real, note, stack

from .test_readers import check


def read(layer: LayerContent, uri: str = "notes/AGENTS.db") -> ReadFile:
    return readers()[".db"].read(to_bytes(layer), uri)


def test_a_chunk_is_a_document_that_says_who_said_it_and_where_it_comes_from() -> None:
    chunk = Chunk(
        7,
        "# Harbour\n\nThe lights are lit at dusk.\n\n## Fees\n\nShips pay.",
        "invariant",
        "mcp",
        0.75,
        1_765_799_252_375,
        ("docs/harbour.md:12", 3),
    )
    [document] = read(content(chunk)).documents
    check(document)
    assert (document.uri, document.title, document.titled) == ("notes/AGENTS.db#7", "Harbour", True)
    assert document.text == chunk.content
    assert [heading.title for heading in document.headings] == ["Harbour", "Fees"]
    assert document.updated_at == "2025-12-15T11:47:32Z"
    assert set(document.tags) == {
        "kind:invariant",
        "author:mcp",
        "layer:base",
        "confidence:0.75",
        "source:docs/harbour.md:12",
        "source:#3",
    }


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("## Second level\n\ntext", "Second level"),
        ("\n\n---\n**The lights** are lit.\nMore.", "The lights are lit."),
        ("x" * 300, "x" * 119 + "…"),
        ("---\ntitle: Of the harbour\n---\n# Lights", "Of the harbour"),
    ],
)
def test_a_title_comes_from_the_first_heading_or_line(text: str, title: str) -> None:
    [document] = read(content(note(1, text))).documents
    assert document.title == title


def test_only_what_is_in_effect_is_read(tmp_path: Path) -> None:
    made = stack(
        tmp_path,
        delta=content(
            note(1, "old"),
            note(2, "taken back"),
            note(3, "retract chunk id 2", kind="tombstone", sources=(2,)),
            note(4, "{}", kind="options"),
            note(5, "{}", kind="meta.proposal_event", sources=(1,)),
            note(6, " \n"),
        ),
    )
    write_context(made, content="new", kind="note", confidence=1, scope="delta", edit=1)
    reading = readers()[".db"].read((tmp_path / "AGENTS.delta.db").read_bytes(), "AGENTS.delta.db")
    assert [(d.uri, d.text) for d in reading.documents] == [("AGENTS.delta.db#1", "new")]
    assert "layer:delta" in reading.documents[0].tags
    assert [s.reason for s in reading.skipped] == ["chunk 6: it holds no text"]


def test_a_file_of_any_other_name_is_of_no_layer() -> None:
    [document] = read(content(note(1, "text")), "old.db").documents
    assert not [tag for tag in document.tags if tag.startswith("layer:")]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"SQLite format 3\x00" + bytes(200), "is not a layer of AGENTS.db"),
        (b"AGDB" + bytes(10), "header.length"),
        (to_bytes(content()), "holds no chunks"),
        (to_bytes(content(note(1, "x")))[:-1], "header.file_length"),
    ],
)
def test_what_is_no_layer_is_refused_with_a_reason(data: bytes, said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        readers()[".db"].read(data, "a.db")


@given(contents())
def test_any_layer_is_read_or_refused(layer: LayerContent) -> None:
    try:
        reading = read(layer)
    except InvalidArgument:
        return
    for document in reading.documents:
        check(document)
        assert all(0 < len(tag) <= 200 for tag in document.tags)
    assert len({d.uri for d in reading.documents}) == len(reading.documents) <= len(layer.chunks)


@given(st.data())
def test_a_damaged_layer_is_read_or_refused(data: st.DataObject) -> None:
    whole = bytearray(to_bytes(content(note(1, "# One\n\ntext", sources=(2, "a:1")), note(2, "two"))))
    whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        reading = readers()[".db"].read(bytes(whole), "AGENTS.db")
    except InvalidArgument:
        return
    for document in reading.documents:
        check(document)


def test_a_layer_is_ingested_beside_documents_and_answers_with_its_provenance(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    made = stack(
        folder,
        base=content(
            note(1, "# Gull Point\n\nGull Point keeps the lamp lit from dusk to dawn.", kind="rule"),
            note(
                2, "# Herring Quay\n\nHerring Quay is closed to visitors in January.", kind="fact", sources=("q.md:4",)
            ),
        ),
        user=content(note(2, "Ropewalk registers every anchor of the Coop.", author="mcp")),
    )
    (folder / "readme.md").write_text("# Readme\n\nAnna Vale wrote this page about nothing much.\n", "utf-8")
    (folder / "other.db").write_bytes(b"SQLite format 3\x00" + bytes(200))
    with KnowledgeBase.open(tmp_path / "kb", create=True, project_id="gulls") as base:
        report = base.ingest(folder, processes=1)
        assert report.documents == 4
        assert [item.uri for item in report.skipped] == ["other.db"]
        quote = base.retrieve_evidence("When is Herring Quay closed to visitors?").quotes[0]
        assert quote.doc_uri == "AGENTS.db#2"
        whole = base.document(quote.doc_uri)
        assert whole.text[quote.start_char : quote.end_char] == quote.quote
        assert {"kind:fact", "author:human", "source:q.md:4"} <= set(whole.tags)
        of_agents = base.search("anchor", filters={"doc_tag": ["author:mcp"]}).results
        assert [result.doc_uri for result in of_agents] == ["AGENTS.user.db#2"]

        compact(made)  # what it archives is no document
        write_context(made, content="Tides are told.", kind="note", confidence=1, scope="delta")
        report = base.ingest(folder, processes=1, prune=True)
        uris = {row[0] for row in base.cypher("MATCH (d:Document) RETURN d.uri").rows}
        assert uris == {"AGENTS.db#1", "AGENTS.db#2", "AGENTS.db#3", "AGENTS.delta.db#4", "readme.md"}
        assert report.removed == 1


@needs_real
@pytest.mark.parametrize(
    ("name", "documents"), [("AGENTS.db", 8), ("AGENTS.delta.db", 6), ("AGENTS.user.db", 4)]
)  # fmt: skip
def test_files_of_another_implementation_are_read(name: str, documents: int) -> None:
    reading = readers()[".db"].read((REAL / name).read_bytes(), name)
    assert len(reading.documents) == documents < COUNTS[name] + 1
    for document in reading.documents:
        check(document)
    assert not reading.skipped


@needs_real
def test_an_edited_copy_of_another_implementations_file_gives_the_edited_text(tmp_path: Path) -> None:
    from graphctx.layers import LayerFile, LayerStack

    shutil.copyfile(REAL / "AGENTS.delta.db", tmp_path / "AGENTS.delta.db")
    write_context(LayerStack(tmp_path), content="edited", kind="note", confidence=1, scope="delta", edit=30)
    with LayerFile.open(tmp_path / "AGENTS.delta.db") as layer:
        texts = {d.uri: d.text for d in read(content_of(layer), "AGENTS.delta.db").documents}
    assert texts["AGENTS.delta.db#30"] == "edited"
    assert len(texts) == 6
