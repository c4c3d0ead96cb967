"""Any sentence-transformers model as an embedder: from a folder, or by its name on the Hugging Face hub."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.nlp.base import Vectors
from graphctx.nlp.tokens import encodable

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

PREFIX = "st:"

# Counts changes of this file that change vectors.
_REVISION = 1

# What sentence-transformers itself takes by default.
_BATCH_SIZE = 32

# Stands for "no limit" where neither the model nor its tokenizer names one.
_NO_LIMIT = 1_000_000


class SentenceTransformerEmbedder:
    """Embeds with ``sentence-transformers``, the extra ``graphctx[st]``, on a GPU if there is one.

    The vector of a text does not depend on the other texts but for the last bits of its floats: their padding
    is masked, yet batches of other shapes are summed in another order. On a processor in float32, components
    differ by less than 1e-5.

    Imports torch (several seconds) and loads the model on first use. Safe to share between threads, which take
    turns.

    Args:
        model: a folder with a saved model, or a model's name on the hub. A model in the local cache of the hub
            is used without asking the network.
        threads: torch's threads on a processor, **for the whole process**; torch's own choice by default.
        batch_size: texts that go through the model at a time.

    Raises:
        InvalidArgument: the name is empty, or a number is below 1.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        threads: int | None = None,
        batch_size: int = _BATCH_SIZE,
    ) -> None:
        self._source = str(model)
        if not self._source:
            raise InvalidArgument("The model's name is empty; give a folder or a name, as in st:intfloat/e5-small.")
        for option, value in (("threads", threads), ("batch_size", batch_size)):
            if value is not None and value < 1:
                raise InvalidArgument(f"{option} is {value}; give 1 or more.", **{option: value})
        self._threads = threads
        self._batch_size = batch_size
        self._lock = threading.RLock()
        self._loaded: SentenceTransformer | None = None
        self._fingerprint: str | None = None

    @property
    def name(self) -> str:
        """``st:`` and the model's folder or name."""
        return PREFIX + self._source

    @property
    def dimension(self) -> int:
        """The length of a vector. Loads the model."""
        return int(self.embed([""]).shape[1])

    @property
    def max_tokens(self) -> int:
        """Tokens of the model's own vocabulary, without those it puts around a text. Loads the model."""
        model = self._model()
        limit = model.get_max_seq_length() or model.tokenizer.model_max_length
        return min(int(limit) - int(model.tokenizer.num_special_tokens_to_add()), _NO_LIMIT)

    @property
    def fingerprint(self) -> str:
        """From the modules, every weight, the vocabulary and the length limit. Loads the model.

        It is about the content, so that a model keeps it wherever it lies. About 0.1 s per 100 MB of weights.
        """
        with self._lock:
            if self._fingerprint is None:
                self._fingerprint = f"st:{_digest(self._model())[:16]}"
            return self._fingerprint

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; see ``Embedder.embed``.

        Raises:
            BackendUnavailable: sentence-transformers is not installed, or the model cannot be loaded.
        """
        with self._lock:
            model = self._model()
            vectors = model.encode(
                [encodable(text) for text in texts] or [""],
                batch_size=self._batch_size,
                show_progress_bar=False,
                convert_to_numpy=True,
                normalize_embeddings=True,
            )
        return np.ascontiguousarray(vectors[: len(texts)], dtype=np.float32)

    def _model(self) -> SentenceTransformer:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load(self._source)
                if self._threads is not None:
                    import torch

                    torch.set_num_threads(self._threads)
            return self._loaded


def _load(source: str) -> SentenceTransformer:
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"  # read when it is imported; HF_HUB_OFFLINE stays the user's choice
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise BackendUnavailable(
            f"The embedder {PREFIX}{source} needs sentence-transformers: pip install 'graphctx[st]'",
            package="sentence-transformers",
        ) from error
    try:
        try:
            return SentenceTransformer(source, local_files_only=True)
        except Exception:  # the hub's client has many kinds of "not in the cache"
            if Path(source).exists():
                raise
            return SentenceTransformer(source)
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise BackendUnavailable(
            f"The embedding model {source!r} cannot be loaded: {reason} Give a folder with a saved "
            "sentence-transformers model, or fetch the model once with the network on.",
            model=source,
        ) from error


def _digest(model: SentenceTransformer) -> str:
    import torch

    digest = hashlib.sha256(f"revision={_REVISION} length={model.get_max_seq_length()}".encode())
    for module in model:
        digest.update(f"{type(module).__name__} {getattr(module, 'get_config_dict', dict)()}".encode())
    vocabulary = sorted((index, token) for token, index in model.tokenizer.get_vocab().items())
    digest.update(repr(vocabulary).encode("utf-8", "surrogatepass"))
    for key, tensor in sorted(model.state_dict().items()):
        digest.update(f"{key} {tuple(tensor.shape)} {tensor.dtype}".encode())
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        digest.update(flat.view(torch.uint8).numpy())
    return digest.hexdigest()
