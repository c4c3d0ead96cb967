"""Embedders by name, as settings and command line give them."""

from __future__ import annotations

import threading
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from graphctx.errors import InvalidArgument
from graphctx.nlp.base import Embedder

DEFAULT = "minilm-int8"
"""Shipped inside the package: no download, no torch."""

MAX_RECENT = 32
RECENT_VECTORS: WeakKeyDictionary[Embedder, dict[str, npt.NDArray[np.float32]]] = WeakKeyDictionary()
"""Vectors of the texts that `text_vector` embedded last, as long as their embedder is in use."""

_lock = threading.Lock()

CHOICES = (DEFAULT, "st:<folder or model name>")


def make_embedder(name: str = DEFAULT, *, threads: int | None = None) -> Embedder:
    """Make an embedder. It loads its model on first use.

    Args:
        name: ``minilm-int8``, or ``st:`` and a folder or a model's name on the Hugging Face hub.
        threads: processors to use; all by default.

    Raises:
        InvalidArgument: no embedder has this name, or ``threads`` is below 1.
    """
    if name == DEFAULT:
        from graphctx.nlp.onnx import OnnxEmbedder

        return OnnxEmbedder(threads=threads)
    if name.startswith("st:") and name != "st:":
        from graphctx.nlp.sentence_transformer import SentenceTransformerEmbedder

        return SentenceTransformerEmbedder(name.removeprefix("st:"), threads=threads)
    raise InvalidArgument(
        f"There is no embedder {name!r}; choose one of: {', '.join(CHOICES)}.", name=name, choices=list(CHOICES)
    )


def text_vector(embedder: Embedder, text: str) -> npt.NDArray[np.float32]:
    """Return the vector of a text, read-only: a question is embedded once for all who compare it."""
    with _lock:
        recent = RECENT_VECTORS.setdefault(embedder, {})
        vector = recent.get(text)
    if vector is None:
        vector = embedder.embed([text])[0]
        vector.setflags(write=False)
        with _lock:
            if len(recent) >= MAX_RECENT:
                del recent[next(iter(recent))]
            recent[text] = vector
    return vector
