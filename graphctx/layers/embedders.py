"""Embedders for the profiles that layers carry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from graphctx.errors import InvalidArgument
from graphctx.layers.hashing import HashEmbedder
from graphctx.layers.profile import HASH, MINILM, Profile, metadata_for
from graphctx.nlp.base import Embedder, Vectors


@dataclass(frozen=True, slots=True)
class ProfiledEmbedder:
    """An embedder and the profile of its vectors in layers.

    Attributes:
        embedder: what embeds.
        profile: of its vectors.
        audit: ``embedder_metadata`` for layers made with it.
    """

    embedder: Embedder
    profile: Profile
    audit: tuple[tuple[str, str], ...] = ()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts, ``[len(texts), dim]``."""
        return np.ascontiguousarray(self.embedder.embed(texts), dtype=np.float32)

    @property
    def metadata(self) -> bytes:
        """The metadata of a layer made with it."""
        return metadata_for(self.profile, dict(self.audit))


@lru_cache(maxsize=1)
def built_in() -> ProfiledEmbedder:
    """The model that comes with graphctx, all-MiniLM-L6-v2: the default of layers made here. Loaded on first use."""
    from graphctx.nlp.embedders import make_embedder

    return profiled(make_embedder())


def profiled(embedder: Embedder) -> ProfiledEmbedder:
    """The model that comes with graphctx, under its profile.

    Args:
        embedder: it, such as a knowledge base has loaded already.
    """
    from graphctx.nlp import weights

    # Our weights are 8 bits wide: the fingerprint of file, pooling and code is the revision that tells them apart.
    profile = Profile("onnxruntime", MINILM, embedder.fingerprint, embedder.dimension, "l2")
    audit = (
        ("runtime", "onnxruntime"),
        ("model_sha256", weights.expected_sha256(weights.MODEL)),
        ("quantization", "int8"),
    )
    return ProfiledEmbedder(embedder, profile, audit)


def hashed(dimension: int) -> ProfiledEmbedder:
    """The embedder that counts words."""
    embedder = HashEmbedder(dimension)
    return ProfiledEmbedder(embedder, embedder.profile)


def embedder_for(profile: Profile, offered: ProfiledEmbedder | None = None) -> ProfiledEmbedder:
    """An embedder whose vectors can be compared with a layer's.

    Args:
        profile: the layer's.
        offered: the caller's own embedder, taken if it fits; else one of those that come with graphctx.

    Raises:
        InvalidArgument: none fits; the message names both profiles.
    """
    if offered is not None and offered.profile.space == profile.space:
        return offered
    if profile.backend.casefold() == HASH:
        return hashed(profile.dim)
    if offered is None and built_in().profile.space == profile.space:
        return built_in()
    active = offered.profile if offered is not None else built_in().profile
    raise InvalidArgument(
        f"The layer's vectors were made by {profile} and queries are embedded by {active}: they cannot be "
        "compared. Give the query as a vector of the layer's model, or embed the layer anew.",
        layer_profile=profile.as_json(),
        active_profile=active.as_json(),
    )
