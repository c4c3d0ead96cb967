from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.nlp import weights
from graphctx.nlp.base import Embedder
from graphctx.nlp.onnx import OnnxEmbedder
from graphctx.nlp.tokens import WordPieceCounter

from .embedder_conformance import ODD_TEXTS, TEXTS, EmbedderConformance

EFFORT = float(os.environ.get("GRAPHCTX_TEST_EFFORT", "1.0"))
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


def test_threads_may_share_one_embedder_from_its_first_use_on() -> None:
    embedder = OnnxEmbedder(threads=2)
    expected = EMBEDDER.embed(TEXTS)
    with ThreadPoolExecutor(6) as pool:
        for vectors in pool.map(lambda _: embedder.embed(TEXTS), range(12)):
            assert np.array_equal(vectors, expected)


@settings(max_examples=int(60 * EFFORT), deadline=None)
@given(st.lists(st.text(st.characters(), max_size=60), min_size=1, max_size=5))
def test_any_strings_get_unit_vectors_of_their_own(texts: list[str]) -> None:
    vectors = EMBEDDER.embed(texts)
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() < 1e-5
    assert np.array_equal(vectors[0], EMBEDDER.embed(texts[:1])[0])


def test_the_limit_is_counted_as_the_counter_counts() -> None:
    text = " ".join(TEXTS)
    cut = text[: WordPieceCounter().clip(text, EMBEDDER.max_tokens)]
    assert len(cut) < len(text)
    assert np.array_equal(*EMBEDDER.embed([text, cut]))


def test_a_line_of_a_megabyte_is_embedded() -> None:
    line = "ledger " * 150_000
    first = " ".join(["ledger"] * EMBEDDER.max_tokens)
    assert np.array_equal(*EMBEDDER.embed([line, first]))


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


def test_weights_may_lie_elsewhere(copied_weights: Path) -> None:
    elsewhere = OnnxEmbedder(folder=copied_weights)
    assert np.array_equal(elsewhere.embed(TEXTS[:2]), EMBEDDER.embed(TEXTS[:2]))
    assert elsewhere.fingerprint == EMBEDDER.fingerprint


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


def test_fewer_than_one_thread_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="threads is 0"):
        OnnxEmbedder(threads=0)


def test_texts_without_content_are_all_the_same() -> None:
    empty, blank, control = EMBEDDER.embed(["", " \n", "\x00"])
    assert np.array_equal(empty, blank)
    assert np.array_equal(empty, control)
    assert not np.array_equal(empty, EMBEDDER.embed([ODD_TEXTS[3]])[0])
