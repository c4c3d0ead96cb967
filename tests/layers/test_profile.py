"""Profiles of embeddings, keys of caches, and the embedder that needs no model."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

from graphctx.errors import InvalidArgument
from graphctx.layers import (
    HashEmbedder,
    Profile,
    ProfiledEmbedder,
    built_in,
    cache_key,
    embedder_for,
    hashed,
)
from graphctx.layers.profile import profile_of
from graphctx.nlp.base import Embedder


def test_a_cache_key_is_the_digest_of_profile_and_content() -> None:
    profile = Profile("onnxruntime", "all-minilm-l6-v2", "", 384, "l2")
    head = b'{"v":1,"backend":"onnxruntime","model":"all-minilm-l6-v2","revision":null,"dim":384}'
    assert cache_key(profile, "héllo") == hashlib.sha256(head + b"\x00" + "héllo".encode()).hexdigest()


def test_metadata_says_the_profile_and_no_time() -> None:
    told = json.loads(built_in().metadata)
    assert told["v"] == 1
    assert set(told["embedding_profile"]) == {"backend", "model", "revision", "dim", "output_norm"}
    assert told["embedding_profile"]["output_norm"] == "l2"
    assert told["cache_key_alg"] == "sha256_profile_json_v1_null_content_utf8"
    assert profile_of(told) == built_in().profile
    assert built_in().metadata == built_in().metadata
    assert not [key for key in told if "time" in key or "date" in key or "created" in key]


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"embedding_profile": 5},
        {"embedding_profile": {}},
        {"embedding_profile": {"backend": "x", "dim": True}},
        {"embedding_profile": {"backend": "hash", "dim": 1 << 21}},
    ],
)
def test_metadata_without_a_profile_has_none(told: dict[str, object]) -> None:
    assert profile_of(told) is None


def test_runtimes_of_one_model_are_one_space_and_other_models_are_not() -> None:
    ours = built_in().profile
    for backend, model in (("candle", "all-minilm-l6-v2"), ("ort", "sentence-transformers/all-MiniLM-L6-v2")):
        assert Profile(backend, model, "main", 384, "none").space == ours.space
    for other in (Profile("candle", "bge-small", "", 384), Profile("openai", "all-minilm-l6-v2", "", 384)):
        assert other.space != ours.space
    assert Profile("candle", "all-minilm-l6-v2", "", 256).space != ours.space


def test_an_embedder_of_the_callers_own_is_taken_where_it_fits() -> None:
    profile = Profile("mine", "counting", "", 8, "l2")
    own = ProfiledEmbedder(HashEmbedder(8), profile)
    assert embedder_for(profile, own) is own
    assert embedder_for(hashed(5).profile, own).profile == hashed(5).profile
    with pytest.raises(InvalidArgument, match="openai x") as caught:
        embedder_for(Profile("openai", "x", "", 8), own)
    assert json.loads(json.dumps(caught.value.details))["active_profile"]["backend"] == "mine"


def test_the_word_embedder_is_an_embedder() -> None:
    embedder = HashEmbedder(7)
    assert isinstance(embedder, Embedder)
    assert (embedder.name, embedder.dimension) == ("hash", 7)
    assert embedder.fingerprint != HashEmbedder(8).fingerprint
    assert embedder.embed([]).shape == (0, 7)
    for wrong in (0, -1, 1 << 21):
        with pytest.raises(ValueError, match="dimension"):
            HashEmbedder(wrong)


def test_the_hash_is_fnv_1a_with_its_top_bit_as_the_sign() -> None:
    # Published test vectors of FNV-1a of 32 bits: "a" is e40c292c, "foobar" is bf9cf968.
    for word, code in (("a", 0xE40C292C), ("foobar", 0xBF9CF968)):
        vector = HashEmbedder(1000).embed([word])[0]
        assert np.flatnonzero(vector).tolist() == [code % 1000]
        assert vector[code % 1000] == -1
