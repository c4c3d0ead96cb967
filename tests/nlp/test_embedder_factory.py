from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.nlp.embedders import make_embedder


def test_the_default_is_the_shipped_model() -> None:
    embedder = make_embedder()
    assert embedder.name == "minilm-int8"
    assert make_embedder(embedder.name).fingerprint == embedder.fingerprint


@pytest.mark.parametrize("name", ["", "st:", "minilm", "MINILM-INT8"])
def test_an_unknown_name_lists_the_choices(name: str) -> None:
    with pytest.raises(InvalidArgument, match="minilm-int8, st:") as caught:
        make_embedder(name)
    assert caught.value.details["choices"] == ["minilm-int8", "st:<folder or model name>"]


@pytest.mark.parametrize("name", ["minilm-int8", "st:some/model"])
def test_fewer_than_one_thread_is_refused(name: str) -> None:
    with pytest.raises(InvalidArgument, match="threads is 0"):
        make_embedder(name, threads=0)


@pytest.mark.skipif(find_spec("sentence_transformers") is not None, reason="sentence-transformers is installed")
def test_without_the_extra_the_message_says_how_to_install_it() -> None:
    with pytest.raises(BackendUnavailable, match=r"pip install 'graphctx\[st\]'"):
        make_embedder("st:some/model").embed(["x"])


def test_making_embedders_and_counters_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from graphctx.nlp.embedders import make_embedder\n"
        "from graphctx.nlp.tokens import WordPieceCounter\n"
        "make_embedder(); make_embedder('st:x'); assert WordPieceCounter().count('one two') == 2\n"
        "print([m for m in ('onnxruntime', 'torch', 'sentence_transformers', 'spacy') if m in sys.modules])"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout.strip() == "[]"
