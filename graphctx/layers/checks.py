"""The tables of a layer file as arrays, each only after it was checked (RFC section 8.4), and what is wrong with them.

`examine` reads untrusted bytes. Before anything is allocated or mapped as an array, its claimed size is compared with
the bytes that are there; every check is linear in the file's size; no offset is followed before it was checked. Tables
that depend on a broken one are not read.
"""

from __future__ import annotations

import codecs
import itertools
import json
import struct
from collections import Counter
from dataclasses import dataclass, field
from mmap import mmap
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from graphctx.errors import InvalidArgument
from graphctx.layers import format as f

Data = bytes | mmap
"""A whole file: in memory, or mapped."""

PER_RULE = 16
"""Findings kept of one rule; a damaged table would give one for each of its rows."""

_WINDOW = 1 << 20  # bytes of text decoded at a time


@dataclass(frozen=True, slots=True)
class FileFinding:
    """A rule of the format that a file breaks.

    Attributes:
        rule: such as ``strings.utf8``; docs/agents-db-conformance.md lists them.
        offset: the byte of the offending value.
        message: what is wrong, for a person.
        value: the value, for a machine.
        severity: an ``error`` makes the file unusable; a ``warning`` does not.
    """

    rule: str
    offset: int
    message: str
    value: Any = None
    severity: Literal["error", "warning"] = "error"

    def refusal(self, name: str) -> InvalidArgument:
        """Return the error of opening a file that has this finding."""
        return InvalidArgument(
            f"{name} is not a valid layer file: at byte {self.offset}, {self.message} ({self.rule}). "
            f"Restore it from version control or a backup; `graphctx layers validate {name}` lists every fault.",
            file=name,
            offset=self.offset,
            rule=self.rule,
            value=self.value,
        )


@dataclass(slots=True)
class FileSection:
    """Where a section is: its first byte and the byte after its last."""

    start: int
    end: int


@dataclass(slots=True)
class Layout:
    """The tables of one file. All arrays are views of the file's bytes."""

    minor: int = 0
    sections: dict[int, FileSection] = field(default_factory=dict)
    unknown_sections: int = 0
    entries: npt.NDArray[Any] = field(default_factory=lambda: np.empty(0, f.STRING_ENTRY))
    blob_start: int = 0
    blob_length: int = 0
    records: npt.NDArray[Any] = field(default_factory=lambda: np.empty(0, f.CHUNK_RECORD))
    relations: npt.NDArray[Any] = field(default_factory=lambda: np.empty(0, f.RELATION))
    dim: int = 0
    element: int = f.F32
    scale: float = 1.0
    matrix: npt.NDArray[Any] = field(default_factory=lambda: np.empty((0, 1), np.float32))
    metadata_blob: bytes = b""


def examine(data: Data) -> tuple[Layout, list[FileFinding]]:
    """Check a whole file.

    Returns:
        The tables that could be read, and everything that is wrong, in the order of the tables.
    """
    checks = _Checks(data)
    if checks.header():
        done = [checks.strings(), checks.matrix(), checks.relations(), checks.metadata()]
        if all(done):
            checks.chunks()
    return checks.layout, checks.findings


class _Checks:
    """The rules of each table, over the bytes of one file."""

    def __init__(self, data: Data) -> None:
        self.layout = Layout()
        self.findings: list[FileFinding] = []
        self._data = data
        self._counts: Counter[str] = Counter()

    def header(self) -> bool:
        """Check the header and the list of sections; whether the tables can be read."""
        size = len(self._data)
        if size < f.HEADER.size:
            return self._error("header.length", 0, f"the file has {size} bytes, a header has {f.HEADER.size}", size)
        magic, major, minor, length, count, table, flags = f.HEADER.unpack_from(self._data)
        if magic != f.MAGIC:
            return self._error("header.magic", 0, f"the file starts with 0x{magic:08x} and not with AGDB", magic)
        if major != f.VERSION_MAJOR:
            return self._error("header.version", 4, f"the format's version is {major} and only 1 is known", major)
        if length != size:
            text = f"the header says {length} bytes and the file has {size}"
            return self._error("header.file_length", 8, text, length)
        if flags != 0:
            self._error("header.flags", 32, f"the reserved flags are 0x{flags:x} and must be 0", flags)
        self.layout.minor = minor
        if table < f.HEADER.size or table > size or count > (size - table) // f.SECTION_ENTRY.size:
            text = f"{count} sections listed at {table} are not inside the file"
            return self._error("sections.range", 16, text, {"count": count})
        self._sections(table, table + count * f.SECTION_ENTRY.size)
        return not self._errors

    def _sections(self, table: int, end: int) -> None:
        taken = [(0, f.HEADER.size, 0), (table, end, table)]
        for at in range(table, end, f.SECTION_ENTRY.size):
            kind, reserved, start, length = f.SECTION_ENTRY.unpack_from(self._data, at)
            if reserved != 0:
                self._error("sections.reserved", at + 4, f"a reserved field is {reserved} and must be 0", reserved)
            if start > len(self._data) or length > len(self._data) - start:
                text = f"a section of {length} bytes at {start} is not inside the file"
                self._error("sections.range", at + 8, text, {"offset": start, "length": length})
                continue
            if length:
                taken.append((start, start + length, at))
            if kind not in f.SECTION_NAMES:
                self.layout.unknown_sections += 1
                self._warn("sections.kind", at, f"a section is of the unknown kind {kind} and is ignored", kind)
            elif kind in self.layout.sections:
                self._error("sections.twice", at, f"a second {f.SECTION_NAMES[kind]} section is listed", kind)
            else:
                self.layout.sections[kind] = FileSection(start, start + length)
        taken.sort()
        for (_, last, _), (start, _, at) in itertools.pairwise(taken):
            if start < last:
                self._error("sections.overlap", at, f"the part at {start} begins before the one before it ends", start)
        for kind in f.REQUIRED:
            if kind not in self.layout.sections:
                self._error("sections.required", table, f"there is no {f.SECTION_NAMES[kind]} section", kind)

    def strings(self) -> bool:
        """Check the string dictionary: each entry is inside the text, apart from the others, and is UTF-8."""
        section, layout = self.layout.sections[f.STRINGS], self.layout
        header = self._fields("strings", section, f.STRINGS_HEADER)
        if header is None:
            return False
        at, (count, start, blob, length) = section.start, header
        entries = self._table("strings", section, f.STRINGS_HEADER.size, f.STRING_ENTRY, start, count)
        if entries is None:
            return False
        if blob < at + f.STRINGS_HEADER.size or blob > section.end or length > section.end - blob:
            text = f"{length} bytes of text at {blob} are not inside their section"
            return self._error("strings.bytes", at + 16, text, blob)
        if count and length and start < blob + length and blob < start + count * f.STRING_ENTRY.itemsize:
            text = f"the entries at {start} overlap the text at {blob}"
            return self._error("strings.overlap", at + 8, text, start)
        layout.entries, layout.blob_start, layout.blob_length = entries, blob, length
        offsets, lengths = entries["offset"], entries["length"]
        outside = (offsets > length) | (lengths > length - np.minimum(offsets, length))
        for i in _first(outside):
            place = start + i * f.STRING_ENTRY.itemsize
            self._error("strings.entry", place, f"string {i + 1} is not inside the text", int(offsets[i]))
        return not outside.any() and self._strings_apart(start) and self._strings_utf8()

    def _strings_apart(self, start: int) -> bool:
        entries = self.layout.entries
        used = np.flatnonzero(entries["length"])
        offsets = entries["offset"][used]
        # Writers lay strings one after another; only other orders need sorting.
        in_order = bool((offsets[1:] >= offsets[:-1]).all())
        order = np.arange(len(offsets)) if in_order else np.argsort(offsets, kind="stable")
        offsets, ends = offsets[order], (offsets + entries["length"][used])[order]
        shared = offsets[1:] < ends[:-1]
        for i in _first(shared):
            entry = int(used[order[i + 1]])
            place = start + entry * f.STRING_ENTRY.itemsize
            self._error("strings.overlap", place, f"string {entry + 1} overlaps another", entry + 1)
        return not shared.any()

    def _strings_utf8(self) -> bool:
        if self._is_all_utf8():
            return True
        view, good = memoryview(self._data), True
        for i, (offset, length) in enumerate(self.layout.entries.tolist()):
            first = self.layout.blob_start + offset
            try:
                codecs.utf_8_decode(view[first : first + length], "strict", True)
            except UnicodeDecodeError as error:
                text = f"string {i + 1} is not UTF-8: {error.reason}"
                good = self._error("strings.utf8", first + error.start, text, i + 1)
        return good

    def _is_all_utf8(self) -> bool:
        """Whether the text as a whole is UTF-8 and no entry cuts a character: all that most files need."""
        layout, view = self.layout, memoryview(self._data)
        at, end = layout.blob_start, layout.blob_start + layout.blob_length
        try:
            while at < end:
                window = view[at : min(at + _WINDOW, end)]
                at += codecs.utf_8_decode(window, "strict", at + len(window) == end)[1]
        except UnicodeDecodeError:
            return False
        if not layout.blob_length:
            return True
        blob = np.frombuffer(self._data, np.uint8, layout.blob_length, layout.blob_start)
        offsets = layout.entries["offset"]
        edges = np.concatenate([offsets, offsets + layout.entries["length"]])
        inside = edges[edges < layout.blob_length].astype(np.int64)
        return not bool(((blob[inside] & 0xC0) == 0x80).any())

    def matrix(self) -> bool:
        """Check the embedding matrix."""
        section, layout = self.layout.sections[f.MATRIX], self.layout
        header = self._fields("embeddings", section, f.MATRIX_HEADER)
        if header is None:
            return False
        at, (rows, dim, element, start, length, scale, reserved) = section.start, header
        if element not in f.ELEMENTS:
            return self._error("embeddings.element_type", at + 12, f"elements of the unknown type {element}", element)
        if not 1 <= dim <= f.MAX_DIM:
            text = f"vectors of {dim} numbers; 1 to {f.MAX_DIM} are possible"
            return self._error("embeddings.dim", at + 8, text, dim)
        dtype = f.ELEMENTS[element]
        if length != rows * dim * dtype.itemsize:
            text = f"{length} bytes for {rows} rows of {dim} {f.ELEMENT_NAMES[element]}"
            return self._error("embeddings.length", at + 24, text, length)
        if element == f.F32 and scale != 1.0:
            text = f"the scale of f32 vectors is {scale} and must be 1"
            self._error("embeddings.scale", at + 32, text, repr(scale))
        if element == f.I8 and (scale == 0.0 or not np.isfinite(scale)):
            self._error("embeddings.scale", at + 32, f"the scale of i8 vectors is {scale}", repr(scale))
        if reserved != 0.0:
            text = f"a reserved field is {reserved} and must be 0"
            self._error("embeddings.reserved", at + 36, text, repr(reserved))
        data = self._table("embeddings", section, f.MATRIX_HEADER.size, dtype, start, rows * dim)
        if data is None:
            return False
        layout.dim, layout.element, layout.scale = dim, element, scale
        layout.matrix = data.reshape(rows, dim)
        return True

    def relations(self) -> bool:
        """Check the relationships, if there are any."""
        section = self.layout.sections.get(f.RELATIONS)
        if section is None:
            return True
        header = self._fields("relationships", section, f.RELATIONS_HEADER)
        if header is None:
            return False
        count, start = header
        rows = self._table("relationships", section, f.RELATIONS_HEADER.size, f.RELATION, start, count)
        if rows is None:
            return False
        kinds, values = rows["kind"], rows["value"]
        unknown = (kinds != f.SOURCE_CHUNK) & (kinds != f.SOURCE_STRING)
        for i in _first(unknown):
            place, text = start + i * f.RELATION.itemsize, f"relation {i} is of the unknown kind {kinds[i]}"
            self._error("relationships.kind", place, text, int(kinds[i]))
        astray = (values == 0) | ((kinds == f.SOURCE_STRING) & (values > len(self.layout.entries)))
        for i in _first(astray):
            place, text = start + i * f.RELATION.itemsize + 4, f"relation {i} refers to {values[i]}, which is not there"
            self._error("relationships.value", place, text, int(values[i]))
        self.layout.relations = rows
        return not (unknown.any() or astray.any())

    def metadata(self) -> bool:
        """Check the metadata, if there is any."""
        section = self.layout.sections.get(f.METADATA)
        if section is None:
            return True
        header = self._fields("metadata", section, f.METADATA_HEADER)
        if header is None:
            return False
        at, (version, kind, start, length) = section.start, header
        if version != f.METADATA_VERSION:
            text = f"the metadata's version is {version} and only 1 is known"
            return self._error("metadata.version", at, text, version)
        if kind != f.METADATA_JSON:
            text = f"the metadata's format is {kind} and only 1, JSON, is known"
            return self._error("metadata.format", at + 4, text, kind)
        if start != at + f.METADATA_HEADER.size:
            return self._error("metadata.offset", at + 8, f"the metadata should be at {start}", start)
        if length != section.end - start:
            return self._error("metadata.length", at + 16, f"the metadata should have {length} bytes", length)
        blob = bytes(memoryview(self._data)[start : start + length])
        try:
            parsed = parsed_metadata(blob)
        except ValueError as error:
            return self._error("metadata.json", start, f"the metadata is not a JSON object: {error}")
        self.layout.metadata_blob = blob
        profile = parsed.get("embedding_profile")
        if isinstance(profile, dict) and profile.get("dim") != self.layout.dim:
            text = f"the profile has {profile.get('dim')} dimensions, the matrix {self.layout.dim}"
            self._warn("metadata.dim", start, text)
        return True

    def chunks(self) -> None:
        """Check the chunk table against the other tables."""
        section, layout = self.layout.sections[f.CHUNKS], self.layout
        header = self._fields("chunks", section, f.CHUNKS_HEADER)
        if header is None:
            return
        count, start = header
        rows = self._table("chunks", section, f.CHUNKS_HEADER.size, f.CHUNK_RECORD, start, count)
        if rows is None:
            return
        layout.records = rows
        strings, vectors, relations = len(layout.entries), len(layout.matrix), len(layout.relations)

        def rule(name: str, column: str, broken: npt.NDArray[Any], text: str) -> None:
            assert f.CHUNK_RECORD.fields is not None
            shift = f.CHUNK_RECORD.fields[column][1]
            for i in _first(broken):
                place, value = start + i * f.CHUNK_RECORD.itemsize + shift, rows[column][i].item()
                self._error(f"chunks.{name}", place, f"chunk record {i}: {column} {value} {text}", value)

        rule("id", "id", rows["id"] == 0, "means unset")
        for column in ("kind_str_id", "content_str_id", "author_str_id"):
            rule("string", column, (rows[column] == 0) | (rows[column] > strings), f"is not in 1..{strings}")
        if not self._counts["chunks.string"]:
            rule("author", "author_str_id", ~np.isin(rows["author_str_id"], self._authors()), "is not human or mcp")
        with np.errstate(invalid="ignore"):  # a signalling NaN is compared like any other
            unsure = ~((rows["confidence"] >= 0) & (rows["confidence"] <= 1))
        rule("confidence", "confidence", unsure, "is not in 0..1")
        astray = (rows["embedding_row"] == 0) | (rows["embedding_row"] > vectors)
        rule("embedding_row", "embedding_row", astray, f"is not in 1..{vectors}")
        for column in ("reserved0", "reserved1"):
            rule("reserved", column, rows[column] != 0, "must be 0")
        starts, counts = rows["rel_start"], rows["rel_count"]
        if f.RELATIONS in layout.sections:
            rule("relations", "rel_start", starts > relations, f"is not in 0..{relations}")
            past = counts > relations - np.minimum(starts, relations)
            rule("relations", "rel_count", past, "goes past the relationships")
            if int(counts.sum(dtype=np.float64)) > relations:
                self._error("chunks.relations", start, f"chunks claim more relations than the {relations} of the file")
        else:
            rule("no_relations", "rel_start", starts != 0, "must be 0 without relationships")
            rule("no_relations", "rel_count", counts != 0, "must be 0 without relationships")
        _, firsts = np.unique(rows["id"], return_index=True)
        repeated = np.ones(len(rows), bool)
        repeated[firsts] = False
        for i in _first(repeated):
            place, number = start + i * f.CHUNK_RECORD.itemsize, int(rows["id"][i])
            self._warn("chunks.revision", place, f"chunk record {i} is a revision of chunk {number}", number)

    def _authors(self) -> list[int]:
        """Ids of the strings that a chunk's author may be, among those that are some chunk's author."""
        view, good = memoryview(self._data), []
        words = [author.encode() for author in f.AUTHORS]
        for number in np.unique(self.layout.records["author_str_id"]).tolist():
            offset, length = self.layout.entries[number - 1].tolist()
            first = self.layout.blob_start + offset
            if length <= max(map(len, words)) and bytes(view[first : first + length]) in words:
                good.append(number)
        return good

    def _fields(self, part: str, section: FileSection, header: struct.Struct) -> tuple[Any, ...] | None:
        """The fields of a section's header, or ``None`` with a finding if the section is too short for it."""
        length = section.end - section.start
        if length < header.size:
            self._error(f"{part}.header", section.start, "the section is too short for its header", length)
            return None
        return header.unpack_from(self._data, section.start)

    def _table(
        self, part: str, section: FileSection, header: int, dtype: np.dtype[Any], start: int, count: int
    ) -> npt.NDArray[Any] | None:
        """The table at an offset, without a copy, or ``None`` with a finding if it is not inside its section.

        Args:
            part: the first half of the rule's name.
            section: where the table has to be.
            header: bytes of the section's header, which the table must not cover.
            dtype: of a row.
            start: the offset in the section's header.
            count: the number of rows in the section's header.
        """
        room = section.end - start
        if start < section.start + header or room < 0 or count > room // dtype.itemsize:
            text = (
                f"{count} records of {dtype.itemsize} bytes at {start} are not inside their section, which ends at "
                f"{section.end}"
            )
            self._error(f"{part}.range", section.start, text, {"count": count, "offset": start})
            return None
        return np.frombuffer(self._data, dtype, count, start) if count else np.empty(0, dtype)

    @property
    def _errors(self) -> list[FileFinding]:
        return [finding for finding in self.findings if finding.severity == "error"]

    def _error(self, rule: str, offset: int, message: str, value: Any = None) -> Literal[False]:
        """Note a broken rule."""
        self._add(FileFinding(rule, offset, message, value))
        return False

    def _warn(self, rule: str, offset: int, message: str, value: Any = None) -> None:
        """Note something odd that does no harm."""
        self._add(FileFinding(rule, offset, message, value, "warning"))

    def _add(self, finding: FileFinding) -> None:
        self._counts[finding.rule] += 1
        if self._counts[finding.rule] <= PER_RULE:
            self.findings.append(finding)


def parsed_metadata(blob: bytes) -> dict[str, Any]:
    """Return the JSON object of a layer's metadata.

    Raises:
        ValueError: it is not UTF-8, not JSON, or not an object.
    """
    try:
        parsed = json.loads(blob.decode("utf-8"), parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError(str(error)) from None
    if not isinstance(parsed, dict):
        raise ValueError(f"it is a {type(parsed).__name__}")
    return parsed


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")


def _first(broken: npt.NDArray[Any]) -> list[int]:
    """Rows that break a rule, the first few: the rest would say the same."""
    return [int(i) for i in np.flatnonzero(broken)[: PER_RULE + 1]] if broken.any() else []
