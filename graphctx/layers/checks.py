"""The rules of the string dictionary, the relationships, the metadata and the chunk table."""

from __future__ import annotations

import codecs
import json
from typing import Any

import numpy as np
import numpy.typing as npt

from graphctx.layers import format as f
from graphctx.layers.findings import PER_RULE
from graphctx.layers.layout import Data, Layout, Reader

_WINDOW = 1 << 20  # bytes of text decoded at a time


def strings_of(reader: Reader, layout: Layout) -> bool:
    """Check the string dictionary: each entry is inside the blob, apart from the others, and is UTF-8."""
    section = layout.sections[f.STRINGS]
    found, at = reader.found, section.start
    if section.end - at < f.STRINGS_HEADER.size:
        found.error("strings.header", at, "the section is too short for its header", section.end - at)
        return False
    count, start, blob, length = f.STRINGS_HEADER.unpack_from(reader.data, at)
    entries = reader.table("strings", section, f.STRINGS_HEADER.size, f.STRING_ENTRY, start, count)
    if entries is None:
        return False
    if blob < at + f.STRINGS_HEADER.size or blob > section.end or length > section.end - blob:
        found.error("strings.bytes", at + 16, f"{length} bytes of text at {blob} do not lie in their section", blob)
        return False
    if count and length and start < blob + length and blob < start + count * f.STRING_ENTRY.itemsize:
        found.error("strings.overlap", at + 8, f"the entries at {start} overlap the text at {blob}", start)
        return False
    layout.entries, layout.blob_start, layout.blob_length = entries, blob, length
    offsets, lengths = entries["offset"], entries["length"]
    outside = (offsets > length) | (lengths > length - np.minimum(offsets, length))
    for i in _first(outside):
        place = start + i * f.STRING_ENTRY.itemsize
        found.error("strings.entry", place, f"string {i + 1} does not lie in the text", int(offsets[i]))
    if outside.any():
        return False
    return _apart(reader, layout, start) and _utf8(reader, layout, start)


def _apart(reader: Reader, layout: Layout, start: int) -> bool:
    used = np.flatnonzero(layout.entries["length"])
    offsets = layout.entries["offset"][used]
    # Writers lay strings one after another; only other orders need sorting.
    in_order = bool((offsets[1:] >= offsets[:-1]).all())
    order = np.arange(len(offsets)) if in_order else np.argsort(offsets, kind="stable")
    offsets, ends = offsets[order], (offsets + layout.entries["length"][used])[order]
    shared = offsets[1:] < ends[:-1]
    for i in _first(shared):
        entry = int(used[order[i + 1]])
        place = start + entry * f.STRING_ENTRY.itemsize
        reader.found.error("strings.overlap", place, f"string {entry + 1} overlaps another", entry + 1)
    return not shared.any()


def _utf8(reader: Reader, layout: Layout, start: int) -> bool:
    if _all_utf8(reader.data, layout):
        return True
    view = memoryview(reader.data)
    good = True
    for i, (offset, length) in enumerate(layout.entries.tolist()):
        first = layout.blob_start + offset
        try:
            codecs.utf_8_decode(view[first : first + length], "strict", True)
        except UnicodeDecodeError as error:
            good = False
            reader.found.error(
                "strings.utf8", first + error.start, f"string {i + 1} is not UTF-8: {error.reason}", i + 1
            )
    return good


def _all_utf8(data: Data, layout: Layout) -> bool:
    """Whether the text as a whole is UTF-8 and no entry cuts a character: all that most files need."""
    at, end = layout.blob_start, layout.blob_start + layout.blob_length
    view = memoryview(data)
    try:
        while at < end:
            window = view[at : min(at + _WINDOW, end)]
            _, taken = codecs.utf_8_decode(window, "strict", at + len(window) == end)
            at += taken
    except UnicodeDecodeError:
        return False
    if not layout.blob_length:
        return True
    blob = np.frombuffer(data, np.uint8, layout.blob_length, layout.blob_start)
    offsets = layout.entries["offset"]
    edges = np.concatenate([offsets, offsets + layout.entries["length"]])
    inside = edges[edges < layout.blob_length].astype(np.int64)
    return not bool(((blob[inside] & 0xC0) == 0x80).any())


def relations_of(reader: Reader, layout: Layout) -> bool:
    """Check the relationships, if there are any."""
    section = layout.sections.get(f.RELATIONS)
    if section is None:
        return True
    found, at = reader.found, section.start
    if section.end - at < f.RELATIONS_HEADER.size:
        found.error("relationships.header", at, "the section is too short for its header", section.end - at)
        return False
    count, start = f.RELATIONS_HEADER.unpack_from(reader.data, at)
    rows = reader.table("relationships", section, f.RELATIONS_HEADER.size, f.RELATION, start, count)
    if rows is None:
        return False
    kinds, values = rows["kind"], rows["value"]
    unknown = (kinds != f.SOURCE_CHUNK) & (kinds != f.SOURCE_STRING)
    for i in _first(unknown):
        place = start + i * f.RELATION.itemsize
        found.error("relationships.kind", place, f"relation {i} is of the unknown kind {kinds[i]}", int(kinds[i]))
    astray = (values == 0) | ((kinds == f.SOURCE_STRING) & (values > len(layout.entries)))
    for i in _first(astray):
        place = start + i * f.RELATION.itemsize + 4
        found.error(
            "relationships.value", place, f"relation {i} leads to {values[i]}, which is not there", int(values[i])
        )
    layout.relations = rows
    return not (unknown.any() or astray.any())


def metadata_of(reader: Reader, layout: Layout) -> bool:
    """Check the metadata, if there is any."""
    section = layout.sections.get(f.METADATA)
    if section is None:
        return True
    found, at = reader.found, section.start
    if section.end - at < f.METADATA_HEADER.size:
        found.error("metadata.header", at, "the section is too short for its header", section.end - at)
        return False
    version, kind, start, length = f.METADATA_HEADER.unpack_from(reader.data, at)
    if version != f.METADATA_VERSION:
        found.error("metadata.version", at, f"the metadata's version is {version} and only 1 is known", version)
    if kind != f.METADATA_JSON:
        found.error("metadata.format", at + 4, f"the metadata's format is {kind} and only 1, JSON, is known", kind)
    if start != at + f.METADATA_HEADER.size:
        found.error("metadata.offset", at + 8, f"the metadata is said to be at {start}", start)
        return False
    if length != section.end - start:
        found.error("metadata.length", at + 16, f"the metadata is said to have {length} bytes", length)
        return False
    blob = bytes(memoryview(reader.data)[start : start + length])
    try:
        parsed = parsed_metadata(blob)
    except ValueError as error:
        found.error("metadata.json", start, f"the metadata is no JSON object: {error}")
        return False
    layout.metadata_blob = blob
    profile = parsed.get("embedding_profile")
    if isinstance(profile, dict) and profile.get("dim") != layout.dim:
        found.warn(
            "metadata.dim", start, f"the profile is of {profile.get('dim')} dimensions, the matrix of {layout.dim}"
        )
    return True


def parsed_metadata(blob: bytes) -> dict[str, Any]:
    """The JSON object of a layer's metadata.

    Raises:
        ValueError: it is no UTF-8, no JSON, or no object.
    """
    try:
        parsed = json.loads(blob.decode("utf-8"), parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError(str(error)) from None
    if not isinstance(parsed, dict):
        raise ValueError(f"it is a {type(parsed).__name__}")
    return parsed


def chunks_of(reader: Reader, layout: Layout) -> bool:
    """Check the chunk table against the other tables."""
    section = layout.sections[f.CHUNKS]
    found, at = reader.found, section.start
    if section.end - at < f.CHUNKS_HEADER.size:
        found.error("chunks.header", at, "the section is too short for its header", section.end - at)
        return False
    count, start = f.CHUNKS_HEADER.unpack_from(reader.data, at)
    rows = reader.table("chunks", section, f.CHUNKS_HEADER.size, f.CHUNK_RECORD, start, count)
    if rows is None:
        return False
    layout.records, layout.records_start = rows, start
    strings, vectors, relations = len(layout.entries), len(layout.matrix), len(layout.relations)

    def rule(name: str, column: str, broken: npt.NDArray[Any], text: str) -> None:
        assert f.CHUNK_RECORD.fields is not None
        shift = f.CHUNK_RECORD.fields[column][1]
        for i in _first(broken):
            value = rows[column][i].item()
            found.error(
                name, start + i * f.CHUNK_RECORD.itemsize + shift, f"chunk record {i}: {column} {value} {text}", value
            )

    rule("chunks.id", "id", rows["id"] == 0, "means unset")
    for column in ("kind_str_id", "content_str_id", "author_str_id"):
        rule("chunks.string", column, (rows[column] == 0) | (rows[column] > strings), f"is not in 1..{strings}")
    if not found.count("chunks.string"):
        rule(
            "chunks.author",
            "author_str_id",
            ~np.isin(rows["author_str_id"], _authors(reader, layout)),
            "is not human or mcp",
        )
    with np.errstate(invalid="ignore"):  # a signalling NaN is compared like any other
        rule(
            "chunks.confidence",
            "confidence",
            ~((rows["confidence"] >= 0) & (rows["confidence"] <= 1)),
            "is not in 0..1",
        )
    rule(
        "chunks.embedding_row",
        "embedding_row",
        (rows["embedding_row"] == 0) | (rows["embedding_row"] > vectors),
        f"is not in 1..{vectors}",
    )
    for column in ("reserved0", "reserved1"):
        rule("chunks.reserved", column, rows[column] != 0, "must be 0")
    starts, counts = rows["rel_start"], rows["rel_count"]
    if f.RELATIONS in layout.sections:
        rule("chunks.relations", "rel_start", starts > relations, f"is not in 0..{relations}")
        rule(
            "chunks.relations",
            "rel_count",
            counts > relations - np.minimum(starts, relations),
            "leads past the relationships",
        )
        if int(counts.sum(dtype=np.float64)) > relations:
            found.error("chunks.relations", start, f"chunks claim more relations than the {relations} that there are")
    else:
        rule("chunks.no_relations", "rel_start", starts != 0, "must be 0 without relationships")
        rule("chunks.no_relations", "rel_count", counts != 0, "must be 0 without relationships")
    _revisions(reader, layout)
    return not found.errors


def _authors(reader: Reader, layout: Layout) -> list[int]:
    """Ids of the strings that a chunk's author may be, among those that are some chunk's author."""
    view, good = memoryview(reader.data), []
    words = [author.encode() for author in f.AUTHORS]
    for number in np.unique(layout.records["author_str_id"]).tolist():
        offset, length = layout.entries[number - 1].tolist()
        first = layout.blob_start + offset
        if length <= max(map(len, words)) and bytes(view[first : first + length]) in words:
            good.append(number)
    return good


def _revisions(reader: Reader, layout: Layout) -> None:
    ids = layout.records["id"]
    _, firsts = np.unique(ids, return_index=True)
    if len(firsts) == len(ids):
        return
    repeated = np.ones(len(ids), bool)
    repeated[firsts] = False
    for i in _first(repeated):
        place = layout.records_start + i * f.CHUNK_RECORD.itemsize
        reader.found.warn("chunks.revision", place, f"chunk record {i} is a revision of chunk {ids[i]}", int(ids[i]))


def _first(broken: npt.NDArray[Any]) -> list[int]:
    """Rows that break a rule, the first few: the rest would say the same."""
    return [int(i) for i in np.flatnonzero(broken)[: PER_RULE + 1]] if broken.any() else []


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")
