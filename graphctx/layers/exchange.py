"""Layers as JSON and as NDJSON, in the form that other implementations read, and back without a bit changed.

A bundle is ``{"format": "agentsdb.export.v1", "tool", "layers"}``. A layer has ``path``, ``layer``, ``schema``
(``dim``, ``element_type``, ``quant_scale``), ``layer_metadata_json`` and ``chunks``. NDJSON has a ``header`` line, a
``layer`` line for each layer and a ``chunk`` line for each chunk, so that neither side holds a whole layer as text.

Numbers of f32 vectors are written exactly, as the double that each is. What such a list cannot say (i8, or numbers
that are not finite) is in ``embedding_base64``, the row's bytes, which counts where both are given.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from graphctx.errors import InvalidArgument
from graphctx.layers import format as f
from graphctx.layers.checks import parsed_metadata
from graphctx.layers.chunk import Chunk, Source, checked, utf8
from graphctx.layers.names import layer_of_file
from graphctx.layers.reader import LayerFile
from graphctx.layers.tables import LayerContent, quantised
from graphctx.version import __version__

JSON_FORMAT = "agentsdb.export.v1"
NDJSON_FORMAT = "agentsdb.export.ndjson.v1"

_ELEMENTS = {"f32": f.F32, "i8": f.I8}


def to_bundle(layers: Iterable[LayerFile]) -> dict[str, Any]:
    """Return layers as one JSON object: every record, revisions included, in the order of the file."""
    made = [
        {**_layer_json(layer), "chunks": [chunk_json(layer, record) for record in range(len(layer))]}
        for layer in layers
    ]
    return {"format": JSON_FORMAT, "tool": _tool(), "layers": made}


def to_ndjson(layers: Iterable[LayerFile]) -> Iterator[str]:
    """Yield layers as lines of JSON, each without its line break."""
    yield _line({"type": "header", "format": NDJSON_FORMAT, "tool": _tool()})
    for layer in layers:
        yield _line({"type": "layer", **_layer_json(layer)})
        for record in range(len(layer)):
            yield _line({"type": "chunk", "layer_path": layer.name, "chunk": chunk_json(layer, record)})


def chunk_json(layer: LayerFile, record: int, *, vectors: bool = True) -> dict[str, Any]:
    """Return a record as JSON.

    Args:
        layer: its file.
        record: its number.
        vectors: whether to include its vector.
    """
    chunk = layer.chunk(record)
    value: dict[str, Any] = {
        "id": chunk.id,
        "kind": chunk.kind,
        "content": chunk.content,
        "author": chunk.author,
        "confidence": chunk.confidence,
        "created_at_unix_ms": chunk.created_at_unix_ms,
        "sources": [_source_json(source) for source in chunk.sources],
        "content_sha256": hashlib.sha256(chunk.content.encode()).hexdigest(),
    }
    if vectors:
        vector = layer.vector(record)
        finite = bool(np.isfinite(vector).all())
        value["embedding"] = vector.tolist() if finite else None
        if layer.layout.element == f.I8 or not finite:
            row = np.ascontiguousarray(layer.matrix[layer.rows[record]])
            value["embedding_base64"] = base64.b64encode(row.tobytes()).decode()
    return value


def from_json(text: str) -> dict[str, LayerContent]:
    """Return the layers of a JSON bundle by their paths, which may be any: take the last part to write files.

    Raises:
        InvalidArgument: this is not a bundle; the message names the layer, the chunk and the field.
    """
    bundle = _object(_parsed(text, "the bundle"), "the bundle")
    if bundle.get("format") != JSON_FORMAT:
        raise _wrong("the bundle", "format", bundle.get("format"), JSON_FORMAT)
    made: dict[str, LayerContent] = {}
    for value in _list(bundle, "layers", "the bundle"):
        layer = _Import(_object(value, "a layer"), made)
        for chunk in _list(layer.fields, "chunks", layer.name):
            layer.add(chunk)
        made[layer.name] = layer.content()
    return made


def from_ndjson(lines: Iterable[str]) -> dict[str, LayerContent]:
    """Return the layers of NDJSON by their paths, which may be any: take the last part to write files.

    Raises:
        InvalidArgument: a line is not what it should be; the message says which.
    """
    made: dict[str, _Import] = {}
    header = False
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"line {number}"
        value = _object(_parsed(line, where), where)
        kind = value.get("type")
        if not header:
            if kind != "header" or value.get("format") != NDJSON_FORMAT:
                raise _wrong(where, "format", value.get("format"), NDJSON_FORMAT)
            header = True
        elif kind == "layer":
            layer = _Import(value, made)
            made[layer.name] = layer
        elif kind == "chunk" and isinstance(path := value.get("layer_path"), str) and path in made:
            made[path].add(value.get("chunk"))
        else:
            raise _wrong(where, "type", kind, "layer, or chunk with the layer_path of a layer before it")
    return {name: layer.content() for name, layer in made.items()}


class _Import:
    """A layer as it is read."""

    def __init__(self, value: dict[str, Any], others: Container[str]) -> None:
        self.fields = value
        path = value.get("path")
        if not isinstance(path, str) or not path:
            raise _wrong("a layer", "path", path, "the name of a file")
        utf8(path, "path")
        if path in others:
            raise _wrong("a layer", "path", path, "another than that of a layer before it")
        self.name = path
        schema = _object(value.get("schema"), f"{path}: schema")
        dim, element = schema.get("dim"), schema.get("element_type")
        if not _is_whole(dim) or not 1 <= dim <= f.MAX_DIM:
            raise _wrong(path, "schema.dim", dim, f"1 to {f.MAX_DIM}")
        if not isinstance(element, str) or element not in _ELEMENTS:
            raise _wrong(path, "schema.element_type", element, "f32 or i8")
        self._dim: int = dim
        self._element = _ELEMENTS[element]
        self._scale = _scale(path, schema.get("quant_scale", 1.0), self._element)
        self._metadata = _metadata(path, value.get("layer_metadata_json"))
        self._minor = value.get("version_minor", 0)
        if not _is_whole(self._minor) or not 0 <= self._minor < 1 << 16:
            raise _wrong(path, "version_minor", self._minor, "0 to 65535")
        self._chunks: list[Chunk] = []
        self._rows: list[npt.NDArray[Any]] = []

    def add(self, value: Any) -> None:
        """Add a chunk."""
        where = f"{self.name}: chunk {len(self._chunks) + 1}"
        fields = _object(value, where)
        content, kind, author = (fields.get(key) for key in ("content", "kind", "author"))
        if not isinstance(content, str) or not isinstance(kind, str) or not isinstance(author, str):
            raise _wrong(where, "content, kind and author", [content, kind, author], "texts")
        sources = tuple(_source(source, where) for source in _list(fields, "sources", where))
        numbers = [fields.get(key) for key in ("id", "confidence", "created_at_unix_ms")]
        chunk = checked(Chunk(numbers[0], content, kind, author, numbers[1], numbers[2], sources))  # type: ignore[arg-type]
        digest = fields.get("content_sha256")
        if digest is not None and digest != hashlib.sha256(content.encode()).hexdigest():
            raise _wrong(where, "content_sha256", digest, "the SHA-256 of content")
        self._chunks.append(chunk)
        self._rows.append(self._row(fields, where))

    def content(self) -> LayerContent:
        """The layer's content."""
        dtype = f.ELEMENTS[self._element]
        matrix = np.array(self._rows, dtype).reshape(len(self._rows), self._dim)
        return LayerContent(tuple(self._chunks), matrix, self._scale, self._metadata, self._minor)

    def _row(self, fields: dict[str, Any], where: str) -> npt.NDArray[Any]:
        dtype, wanted = f.ELEMENTS[self._element], f"{self._dim} numbers"
        if (packed := fields.get("embedding_base64")) is not None:
            try:
                data = base64.b64decode(packed, validate=True)
            except (binascii.Error, TypeError, ValueError):
                raise _wrong(where, "embedding_base64", "", "base64") from None
            if len(data) != self._dim * dtype.itemsize:
                raise _wrong(where, "embedding_base64", len(data), f"{self._dim * dtype.itemsize} bytes")
            return np.frombuffer(data, dtype)
        numbers = fields.get("embedding")
        if not isinstance(numbers, list) or len(numbers) != self._dim:
            raise _wrong(where, "embedding", len(numbers) if isinstance(numbers, list) else numbers, wanted)
        if not all(map(_is_number, numbers)):
            raise _wrong(where, "embedding", "something else", wanted)
        try:
            with np.errstate(over="ignore"):
                row = np.array(numbers, np.float64).astype(np.float32)
        except OverflowError:
            row = np.array([np.inf], np.float32)
        if not np.isfinite(row).all():
            raise _wrong(where, "embedding", "a number too large", f"{wanted} of 32 bits")
        if self._element == f.I8:
            return quantised(row, self._scale)
        return row


def _layer_json(layer: LayerFile) -> dict[str, Any]:
    blob = layer.layout.metadata_blob
    return {
        "path": layer.name,
        "layer": layer_of_file(layer.name),
        "schema": {"dim": layer.dim, "element_type": layer.element_type, "quant_scale": layer.scale},
        "layer_metadata_json": blob.decode() if blob else None,
        "version_minor": layer.layout.minor,
    }


def _source_json(source: Source) -> dict[str, Any]:
    if isinstance(source, int):
        return {"type": "chunk_id", "id": source}
    return {"type": "source_string", "value": source}


def _source(source: Any, where: str) -> Source:
    fields = _object(source, f"{where}: a source")
    value = fields.get({"chunk_id": "id", "source_string": "value"}.get(str(fields.get("type")), ""))
    if (fields.get("type") == "chunk_id") == _is_whole(value) and (_is_whole(value) or isinstance(value, str)):
        return value
    raise _wrong(where, "sources", source, "chunk_id with id, or source_string with value")


def _scale(path: str, value: Any, element: int) -> float:
    """What an i8 is multiplied by, as 32 bits hold it; other implementations write ``null`` for f32."""
    if value is None:
        value = 1.0
    wanted = "1" if element == f.F32 else "a number of 32 bits other than 0"
    try:
        with np.errstate(all="ignore"):
            scale = float(np.float32(value)) if _is_number(value) else 0.0
    except OverflowError:
        scale = 0.0
    if scale == 0.0 or not math.isfinite(scale) or (element == f.F32 and scale != 1.0):
        raise _wrong(path, "schema.quant_scale", value, wanted)
    return scale


def _metadata(path: str, value: Any) -> bytes:
    """A layer's metadata as the file holds them."""
    if value is None:
        return b""
    if not isinstance(value, str):
        raise _wrong(path, "layer_metadata_json", value, "a JSON object as text, or null")
    blob = utf8(value, "layer_metadata_json")
    if blob:
        try:
            parsed_metadata(blob)
        except ValueError:
            raise _wrong(path, "layer_metadata_json", value, "a JSON object as text, or null") from None
    return blob


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _tool() -> dict[str, str]:
    return {"name": "graphctx", "version": __version__}


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _parsed(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"{where} is not JSON: {error}. Export the layer again.", where=where) from None


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidArgument(f"{where} is not a JSON object. Export the layer again.", where=where)
    return value


def _list(fields: dict[str, Any], key: str, where: str) -> Sequence[Any]:
    value = fields.get(key)
    if not isinstance(value, list):
        raise _wrong(where, key, value, "a list")
    return value


def _wrong(where: str, field: str, value: Any, wanted: str) -> InvalidArgument:
    try:
        shown = str(value)[:80]
    except RecursionError:  # lists in lists
        shown = f"a {type(value).__name__}"
    return InvalidArgument(
        f"{where}: {field} is {shown!r} and should be {wanted}.", where=where, field=field, wanted=wanted
    )
