"""How a layer's vectors were made: the embedding profile, and keys of caches (RFC sections 8.4.8 and 9.1)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from graphctx.layers.format import MAX_DIM
from graphctx.version import __version__

MINILM = "all-minilm-l6-v2"
"""The model that comes with graphctx, under the name that layers of other implementations give it."""

HASH = "hash"
"""The backend of vectors that count words; see `HashEmbedder`."""

CACHE_KEY = "sha256_profile_json_v1_null_content_utf8"
"""The name of what `cache_key` computes, in the metadata."""

# Runtimes that run a model's published weights. In the development files the vectors that candle made of
# all-MiniLM-L6-v2 have a cosine of at least 0.995 with those of the 8-bit weights shipped here, over all chunks.
_RUNTIMES = frozenset({"onnxruntime", "ort", "candle", "fastembed", "sentence-transformers"})


@dataclass(frozen=True, slots=True)
class Profile:
    """What makes two vectors comparable.

    Attributes:
        backend: what computed them, such as ``onnxruntime`` or ``hash``.
        model: the model's name; empty if there is none.
        revision: the model's revision; empty if nobody said.
        dim: numbers of a vector.
        output_norm: ``l2`` for vectors of length 1, ``none`` for vectors as they came.
    """

    backend: str
    model: str
    revision: str
    dim: int
    output_norm: str = "none"

    @property
    def space(self) -> tuple[str, str, int]:
        """Vectors of equal spaces can be compared by cosine.

        Runtimes of the same published weights are one, an owner before the model's name (``owner/model``) and
        the revision do not count, and neither does the norm, which cosine does not see.
        """
        backend = self.backend.casefold()
        return ("weights" if backend in _RUNTIMES else backend, self.model.rpartition("/")[2].casefold(), self.dim)

    def __str__(self) -> str:
        return f"{self.backend} {self.model}".strip() + f" ({self.dim} dimensions)"

    def as_json(self) -> dict[str, Any]:
        """The ``embedding_profile`` of the metadata."""
        fields = asdict(self)
        return fields | {"model": self.model or None, "revision": self.revision or None}


def profile_of(metadata: Mapping[str, Any]) -> Profile | None:
    """The profile in a layer's metadata, or ``None`` where it says none that can be read."""
    fields = metadata.get("embedding_profile")
    if not isinstance(fields, dict):
        return None
    backend, dim = fields.get("backend"), fields.get("dim")
    if not isinstance(backend, str) or not isinstance(dim, int) or isinstance(dim, bool) or not 1 <= dim <= MAX_DIM:
        return None
    words = [fields.get(key) for key in ("model", "revision", "output_norm")]
    model, revision, norm = (word if isinstance(word, str) else "" for word in words)
    return Profile(backend, model, revision, dim, norm or "none")


def metadata_for(profile: Profile, embedder: Mapping[str, Any] | None = None) -> bytes:
    """The metadata of a layer that graphctx makes, without times, so that equal layers are equal files.

    Args:
        profile: of the layer's vectors.
        embedder: how they were computed, for audits.
    """
    fields: dict[str, Any] = {"v": 1, "embedding_profile": profile.as_json(), "cache_key_alg": CACHE_KEY}
    if embedder:
        fields["embedder_metadata"] = dict(embedder)
    fields |= {"tool_name": "graphctx", "tool_version": __version__}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


def cache_key(profile: Profile, content: str) -> str:
    """The hex key under which a content's vector may be cached (RFC section 9.1).

    The norm is not part of the key, as in the RFC.
    """
    fields = {"v": 1, "backend": profile.backend, "model": profile.model or None, "revision": profile.revision or None}
    text = json.dumps(fields | {"dim": profile.dim}, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode() + b"\x00" + content.encode()).hexdigest()
