from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from graphctx.errors import BackendUnavailable
from graphctx.nlp import weights
from graphctx.nlp.base import Embedder
from graphctx.nlp.onnx import OnnxEmbedder
from graphctx.nlp.tokens import WordPieceCounter

from .embedder_conformance import TEXTS, EmbedderConformance

EMBEDDER = OnnxEmbedder(threads=2)


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return EMBEDDER


@pytest.fixture(scope="module")
def twin() -> Embedder:
    return OnnxEmbedder(threads=1)


class TestOnnxEmbedder(EmbedderConformance):
    pass


def test_vectors_are_bit_identical_for_any_batch_order_and_number_of_threads() -> None:
    rng = random.Random(11)
    words = " ".join(TEXTS).split()
    texts = [" ".join(rng.choices(words, k=rng.choice([0, 1, 3, 20, 90]))) for _ in range(90)]
    expected = OnnxEmbedder(threads=1).embed(texts)
    for threads in (2, 3, 8):
        embedder = OnnxEmbedder(threads=threads)
        order = rng.sample(range(len(texts)), len(texts))
        parts, start = [], 0
        while start < len(order):
            size = rng.randint(1, 50)
            parts.append(embedder.embed([texts[i] for i in order[start : start + size]]))
            start += size
        assert np.array_equal(np.concatenate(parts), expected[order])


def test_the_limit_is_counted_as_the_counter_counts() -> None:
    text = " ".join(TEXTS)
    cut = text[: WordPieceCounter().clip(text, EMBEDDER.max_tokens)]
    assert len(cut) < len(text)
    assert np.array_equal(*EMBEDDER.embed([text, cut]))


def test_vectors_do_not_depend_on_the_process() -> None:
    code = (
        "import sys; from graphctx.nlp.onnx import OnnxEmbedder; "
        "sys.stdout.buffer.write(OnnxEmbedder().embed(sys.argv[1:]).tobytes())"
    )
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code, *TEXTS],
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[2])},
        )
        assert done.stdout == EMBEDDER.embed(TEXTS).tobytes()
        assert done.stderr == b""


@pytest.fixture
def copied_weights(tmp_path: Path) -> Path:
    for name in (weights.MODEL, weights.TOKENIZER, "SHA256SUMS"):
        shutil.copy(weights.FOLDER / name, tmp_path / name)
    return tmp_path


@pytest.mark.parametrize("name", [weights.MODEL, weights.TOKENIZER])
def test_one_flipped_bit_in_a_file_is_noticed(copied_weights: Path, name: str) -> None:
    content = bytearray((copied_weights / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copied_weights / name).write_bytes(content)
    with pytest.raises(BackendUnavailable, match=f"{name} is damaged.*force-reinstall") as caught:
        OnnxEmbedder(folder=copied_weights).embed(["x"])
    assert caught.value.details["file"] == name
    assert str(copied_weights) not in caught.value.message


@pytest.mark.parametrize("name", [weights.MODEL, weights.TOKENIZER, "SHA256SUMS"])
def test_an_absent_file_is_named(copied_weights: Path, name: str) -> None:
    (copied_weights / name).unlink()
    with pytest.raises(BackendUnavailable, match=f"{name}.*cannot be read"):
        OnnxEmbedder(folder=copied_weights).embed(["x"])


def test_a_list_of_digests_without_the_model_is_refused(copied_weights: Path) -> None:
    (copied_weights / "SHA256SUMS").write_bytes(b"\xff\n")
    with pytest.raises(BackendUnavailable, match="does not list"):
        OnnxEmbedder(folder=copied_weights).embed(["x"])


def test_other_weights_have_another_fingerprint(copied_weights: Path) -> None:
    sums = (copied_weights / "SHA256SUMS").read_text()
    (copied_weights / "SHA256SUMS").write_text(sums.replace(sums[:8], "00000000"))
    assert OnnxEmbedder(folder=copied_weights).fingerprint != EMBEDDER.fingerprint
