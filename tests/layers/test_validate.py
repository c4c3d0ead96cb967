"""Each rule of the format, broken alone: the finding names the rule, the byte and the value."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from graphctx.errors import InvalidArgument
from graphctx.layers import LayerContent, LayerFile, to_bytes, validate
from graphctx.layers import format as f
from graphctx.layers.checks import PER_RULE

from .world import content, entry_of, note, patched, section

DATA = to_bytes(content(note(1, "déjà vu", sources=(2, "a:1")), note(2, "two", author="mcp"), dim=3))
I8 = to_bytes(LayerContent((note(1, "x"),), np.array([[1, -2]], np.int8), 0.5))
BARE = to_bytes(LayerContent((note(1, "x"),), np.ones((1, 2), np.float32)))

HEADER = 0
STRINGS, CHUNKS, MATRIX = section(DATA, f.STRINGS), section(DATA, f.CHUNKS), section(DATA, f.MATRIX)
RELATIONS, METADATA = section(DATA, f.RELATIONS), section(DATA, f.METADATA)
RECORD = CHUNKS + f.CHUNKS_HEADER.size
ENTRY = STRINGS + f.STRINGS_HEADER.size
RELATION = RELATIONS + f.RELATIONS_HEADER.size
FAR = f.MAX_U64


def at(place: int, form: str, *values: object) -> Callable[[], bytes]:
    return lambda: patched(DATA, place, form, *values)


def without(kind: int) -> bytes:
    """A file in which a section is listed as one of an unknown kind."""
    return patched(DATA, entry_of(DATA, kind), "I", 99)


BROKEN: dict[str, tuple[str, Callable[[], bytes]]] = {
    "an empty file": ("header.length", lambda: b""),
    "a file shorter than a header": ("header.length", lambda: DATA[:39]),
    "other magic bytes": ("header.magic", at(HEADER, "I", 0x42444742)),
    "bytes in the other order": ("header.magic", lambda: DATA[3::-1] + DATA[4:]),
    "a later major version": ("header.version", at(4, "H", 2)),
    "a length that is not the file's": ("header.file_length", at(8, "Q", len(DATA) + 1)),
    "a truncated file": ("header.file_length", lambda: DATA[:-1]),
    "a longer file": ("header.file_length", lambda: DATA + b"\0"),
    "flags": ("header.flags", at(32, "Q", 1)),
    "a section table past the end": ("sections.range", at(24, "Q", len(DATA) - 8)),
    "a section table inside the header": ("sections.range", at(24, "Q", 8)),
    "more sections than bytes": ("sections.range", at(16, "Q", FAR)),
    "a reserved field of a section": ("sections.reserved", at(40 + 4, "I", 7)),
    "a section past the end": ("sections.range", at(40 + 8, "Q", len(DATA))),
    "a section whose end wraps around": ("sections.range", at(40 + 16, "Q", FAR)),
    "no strings": ("sections.required", lambda: without(f.STRINGS)),
    "no chunks": ("sections.required", lambda: without(f.CHUNKS)),
    "no matrix": ("sections.required", lambda: without(f.MATRIX)),
    "two chunk tables": ("sections.twice", lambda: patched(DATA, entry_of(DATA, f.RELATIONS), "I", f.CHUNKS)),
    "two relationship tables": ("sections.twice", lambda: patched(DATA, entry_of(DATA, f.METADATA), "I", f.RELATIONS)),
    "overlapping sections": ("sections.overlap", lambda: patched(DATA, entry_of(DATA, f.CHUNKS) + 8, "Q", STRINGS)),
    "a section over the header": ("sections.overlap", lambda: patched(DATA, entry_of(DATA, f.CHUNKS) + 8, "Q", 0)),
    "a strings section without room": ("strings.header", lambda: patched(DATA, entry_of(DATA, 1) + 16, "Q", 31)),
    "more strings than bytes": ("strings.range", at(STRINGS, "Q", FAR)),
    "entries before their section": ("strings.range", at(STRINGS + 8, "Q", 0)),
    "text past its section": ("strings.bytes", at(STRINGS + 24, "Q", 1 << 40)),
    "text over the entries": ("strings.overlap", at(STRINGS + 16, "Q", ENTRY)),
    "a string past the text": ("strings.entry", at(ENTRY, "Q", 1 << 20)),
    "a string whose end wraps around": ("strings.entry", at(ENTRY + 8, "Q", FAR)),
    "strings that overlap": ("strings.overlap", at(ENTRY + 16, "Q", 0)),
    "bytes that are no UTF-8": ("strings.utf8", lambda: DATA.replace("déjà".encode(), b"d\xff\xffj\xc3\xa0")),
    "a chunk section without room": ("chunks.header", lambda: patched(DATA, entry_of(DATA, 2) + 16, "Q", 15)),
    "more chunks than bytes": ("chunks.range", at(CHUNKS, "Q", 1 << 60)),
    "records elsewhere": ("chunks.range", at(CHUNKS + 8, "Q", 40)),
    "a chunk without an id": ("chunks.id", at(RECORD, "I", 0)),
    "a kind that is unset": ("chunks.string", at(RECORD + 4, "I", 0)),
    "a content that is unset": ("chunks.string", at(RECORD + 8, "I", 0)),
    "a content past the strings": ("chunks.string", at(RECORD + 8, "I", 99)),
    "an author past the strings": ("chunks.string", at(RECORD + 12, "I", 99)),
    "an author who is neither": ("chunks.author", at(RECORD + 12, "I", 1)),
    "confidence above 1": ("chunks.confidence", at(RECORD + 16, "f", 1.5)),
    "confidence below 0": ("chunks.confidence", at(RECORD + 16, "f", -0.5)),
    "confidence that is no number": ("chunks.confidence", at(RECORD + 16, "f", float("nan"))),
    "no row": ("chunks.embedding_row", at(RECORD + 28, "I", 0)),
    "a row past the matrix": ("chunks.embedding_row", at(RECORD + 28, "I", 3)),
    "the first reserved field": ("chunks.reserved", at(RECORD + 32, "I", 1)),
    "the second reserved field": ("chunks.reserved", at(RECORD + 48, "I", 1)),
    "relations past their end": ("chunks.relations", at(RECORD + 36, "Q", 2)),
    "relations that wrap around": ("chunks.relations", at(RECORD + 36, "Q", FAR)),
    "relations claimed twice": ("chunks.relations", at(RECORD + f.CHUNK_RECORD.itemsize + 36, "QI", 0, 2)),
    "a start without relationships": (
        "chunks.no_relations",
        lambda: patched(BARE, section(BARE, f.CHUNKS) + f.CHUNKS_HEADER.size + 36, "Q", 1),
    ),
    "a count without relationships": (
        "chunks.no_relations",
        lambda: patched(BARE, section(BARE, f.CHUNKS) + f.CHUNKS_HEADER.size + 44, "I", 1),
    ),
    "a matrix section without room": ("embeddings.header", lambda: patched(DATA, entry_of(DATA, 3) + 16, "Q", 39)),
    "an unknown element type": ("embeddings.element_type", at(MATRIX + 12, "I", 3)),
    "vectors without numbers": ("embeddings.dim", at(MATRIX + 8, "I", 0)),
    "vectors of absurd length": ("embeddings.dim", at(MATRIX, "QI", 0, f.MAX_DIM + 1)),
    "a length that does not fit the rows": ("embeddings.length", at(MATRIX + 24, "Q", 4)),
    "rows past the end": ("embeddings.range", at(MATRIX, "QIIQQ", 1 << 40, 3, 1, MATRIX + 40, (1 << 40) * 12)),
    "data elsewhere": ("embeddings.range", at(MATRIX + 16, "Q", 40)),
    "a scale of f32": ("embeddings.scale", at(MATRIX + 32, "f", 2.0)),
    "a scale of 0 of i8": ("embeddings.scale", lambda: patched(I8, section(I8, f.MATRIX) + 32, "f", 0.0)),
    "the matrix's reserved field": ("embeddings.reserved", at(MATRIX + 36, "f", 1.0)),
    "a relations section without room": (
        "relationships.header",
        lambda: patched(DATA, entry_of(DATA, 4) + 16, "Q", 15),
    ),
    "more relations than bytes": ("relationships.range", at(RELATIONS, "Q", 1 << 61)),
    "an unknown kind of relation": ("relationships.kind", at(RELATION, "I", 3)),
    "a source chunk that is unset": ("relationships.value", at(RELATION + 4, "I", 0)),
    "a source string past the strings": ("relationships.value", at(RELATION + 12, "I", 99)),
    "a metadata section without room": ("metadata.header", lambda: patched(DATA, entry_of(DATA, 5) + 16, "Q", 23)),
    "an unknown version of metadata": ("metadata.version", at(METADATA, "I", 2)),
    "metadata that is not JSON by its header": ("metadata.format", at(METADATA + 4, "I", 2)),
    "metadata elsewhere": ("metadata.offset", at(METADATA + 8, "Q", METADATA)),
    "metadata of another length": ("metadata.length", at(METADATA + 16, "Q", 1)),
    "metadata that is no JSON": ("metadata.json", at(METADATA + 24, "B", 0x5B)),
    "metadata that is no UTF-8": ("metadata.json", at(METADATA + 26, "B", 0xFF)),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_rule_is_named_with_its_place(case: str, tmp_path: Path) -> None:
    rule, make = BROKEN[case]
    path = tmp_path / "AGENTS.user.db"
    path.write_bytes(make())
    found = [finding for finding in validate(path) if finding.severity == "error"]
    assert rule in {finding.rule for finding in found}
    assert all(0 <= finding.offset <= max(len(path.read_bytes()), 1) for finding in found)
    with pytest.raises(InvalidArgument) as caught:
        LayerFile.open(path)
    details = caught.value.details
    assert (details["file"], details["rule"], details["offset"]) == ("AGENTS.user.db", found[0].rule, found[0].offset)
    assert found[0].rule in caught.value.message
    assert f"byte {found[0].offset}" in caught.value.message
    assert str(tmp_path) not in caught.value.message
    json.dumps(details)


def test_every_field_is_little_endian_and_packed() -> None:
    assert DATA[:4] == b"AGDB"
    assert (f.HEADER.size, f.SECTION_ENTRY.size, f.STRINGS_HEADER.size, f.STRING_ENTRY.itemsize) == (40, 24, 32, 16)
    assert (f.CHUNKS_HEADER.size, f.CHUNK_RECORD.itemsize, f.MATRIX_HEADER.size) == (16, 52, 40)
    assert (f.RELATIONS_HEADER.size, f.RELATION.itemsize, f.METADATA_HEADER.size) == (16, 8, 24)
    assert int.from_bytes(DATA[8:16], "little") == len(DATA)


def test_a_later_minor_version_and_a_section_of_a_later_kind_are_read() -> None:
    later = patched(DATA, 6, "H", 9)
    assert LayerFile.parse(later, "a.db").layout.minor == 9
    added = to_bytes(LayerContent((note(1, "x"),), np.ones((1, 2), np.float32), metadata=b"{}"))
    unknown = patched(added, entry_of(added, f.METADATA), "I", 77)
    layer = LayerFile.parse(unknown, "a.db")
    assert layer.chunk(0).content == "x"
    assert layer.layout.unknown_sections == 1


def test_a_repeated_id_is_a_revision_and_no_error(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(to_bytes(content(note(5, "old"), note(5, "new"))))
    assert [(finding.rule, finding.severity) for finding in validate(path)] == [("chunks.revision", "warning")]
    assert LayerFile.open(path).chunk(LayerFile.open(path).record_of(5)).content == "new"


def test_a_profile_of_another_length_than_the_vectors_is_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    told = b'{"embedding_profile":{"backend":"hash","dim":9}}'
    path.write_bytes(to_bytes(LayerContent((note(1, "x"),), np.ones((1, 2), np.float32), metadata=told)))
    assert [(finding.rule, finding.severity) for finding in validate(path)] == [("metadata.dim", "warning")]


def test_a_wholly_damaged_table_gives_a_few_findings_of_each_rule(tmp_path: Path) -> None:
    data = bytearray(to_bytes(content(*(note(i, f"chunk {i}") for i in range(1, 200)), dim=2)))
    start = section(bytes(data), f.CHUNKS) + f.CHUNKS_HEADER.size
    data[start : start + 199 * f.CHUNK_RECORD.itemsize] = b"\xff" * (199 * f.CHUNK_RECORD.itemsize)
    path = tmp_path / "a.db"
    path.write_bytes(data)
    rules = [finding.rule for finding in validate(path)]
    assert 0 < len(rules) <= 10 * PER_RULE
    assert max(rules.count(rule) for rule in rules) <= PER_RULE


def test_deeply_nested_metadata_is_an_error_and_no_crash() -> None:
    deep = b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    data = to_bytes(LayerContent((), np.empty((0, 2), np.float32), metadata=deep))
    with pytest.raises(InvalidArgument, match=r"metadata\.json"):
        LayerFile.parse(data, "a.db")


def test_the_matrix_is_a_view_of_the_mapped_file_even_where_it_is_not_aligned(tmp_path: Path) -> None:
    for extra in range(4):
        path = tmp_path / f"{extra}.db"
        path.write_bytes(to_bytes(content(note(1, "x" * (5 + extra)), note(2, "two"))))
        with LayerFile.open(path) as layer:
            start = section(path.read_bytes(), f.MATRIX) + f.MATRIX_HEADER.size
            raw = np.frombuffer(layer.data, np.uint8)
            shift = layer.matrix.__array_interface__["data"][0] - raw.__array_interface__["data"][0]
            assert shift == start
            assert not layer.matrix.flags.writeable


def test_a_replaced_file_stays_readable_where_it_is_open(tmp_path: Path) -> None:
    from graphctx.layers import write_layer

    path = tmp_path / "AGENTS.local.db"
    write_layer(path, content(note(1, "old")))
    with LayerFile.open(path) as layer:
        write_layer(path, content(note(1, "new")), replace=True)
        assert layer.chunk(0).content == "old"
    assert LayerFile.open(path).chunk(0).content == "new"
