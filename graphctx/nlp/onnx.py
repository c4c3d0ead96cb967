"""The embedder that comes with graphctx: all-MiniLM-L6-v2, 8 bits, on the CPU with onnxruntime."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.nlp import weights
from graphctx.nlp.base import Vectors
from graphctx.nlp.tokens import encodable, load_tokenizer

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

NAME = "minilm-int8"
DIMENSION = 384

# The model's max_seq_length is 256, of which [CLS] and [SEP] take two.
SEQUENCE = 256
MAX_TOKENS = SEQUENCE - 2

# Counts changes of this file that change vectors.
_REVISION = 1

# Texts that a thread takes at a time: enough to make the pool's own cost small for texts of a few tokens.
_TEXTS_PER_TASK = 16


class OnnxEmbedder:
    """Embeds with the shipped weights: no download, 0.1 s to load, some 80 passages of 250 tokens a second a core.

    The input of a quantised layer is rounded with a scale that is taken from the whole tensor, so that padding
    and the other texts of a batch would change a text's vector. So each text is run by itself, on one thread,
    and its vector is the same, bit for bit, for any batch, order and number of threads. Many texts are spread
    over threads that share one session, which is not slower than a session for each.

    Loads on first use. Safe to share between threads.

    Args:
        threads: how many texts are embedded at a time; the number of processors by default.
        folder: where the weights and ``SHA256SUMS`` are.

    Raises:
        InvalidArgument: ``threads`` is below 1.
    """

    def __init__(self, *, threads: int | None = None, folder: Path = weights.FOLDER) -> None:
        if threads is not None and threads < 1:
            raise InvalidArgument(f"threads is {threads}; give 1 or more.", threads=threads)
        self._threads = threads or os.cpu_count() or 1
        self._folder = folder
        self._lock = threading.Lock()
        self._loaded: tuple[Tokenizer, InferenceSession] | None = None

    @property
    def name(self) -> str:
        """``minilm-int8``."""
        return NAME

    @property
    def dimension(self) -> int:
        """384."""
        return DIMENSION

    @property
    def max_tokens(self) -> int:
        """254 word pieces, as ``WordPieceCounter`` counts them."""
        return MAX_TOKENS

    @property
    def fingerprint(self) -> str:
        """From the digests of weights and tokenizer and the revision of this code.

        onnxruntime's version is not in it: other kernels may move a vector in its last places, which is no
        reason to embed everything anew.

        Raises:
            BackendUnavailable: the list of digests is absent.
        """
        parts = [weights.expected_sha256(n, self._folder) for n in (weights.MODEL, weights.TOKENIZER)]
        parts.append(f"sequence={SEQUENCE} revision={_REVISION}")
        return f"{NAME}:{hashlib.sha256(' '.join(parts).encode()).hexdigest()[:16]}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; see ``Embedder.embed``.

        Raises:
            BackendUnavailable: the weights are absent or damaged, or onnxruntime cannot be imported.
        """
        vectors = np.empty((len(texts), DIMENSION), dtype=np.float32)
        if not texts:
            return vectors
        tokenizer, session = self._model()
        encodings = tokenizer.encode_batch_fast([encodable(text) for text in texts])

        def run(start: int) -> None:
            for row in range(start, min(start + _TEXTS_PER_TASK, len(texts))):
                vectors[row] = _run(session, encodings[row])

        starts = range(0, len(texts), _TEXTS_PER_TASK)
        if self._threads == 1 or len(starts) == 1:
            for start in starts:
                run(start)
        else:
            with ThreadPoolExecutor(min(self._threads, len(starts))) as pool:
                for _ in pool.map(run, starts):
                    pass
        return vectors

    def _model(self) -> tuple[Tokenizer, InferenceSession]:
        with self._lock:
            if self._loaded is None:
                tokenizer = load_tokenizer(self._folder)
                tokenizer.enable_truncation(SEQUENCE)
                self._loaded = tokenizer, _session(weights.read_verified(weights.MODEL, self._folder))
            return self._loaded


def _session(model: bytes) -> InferenceSession:
    # onnxruntime reads this when it is loaded. Without it, it looks up a telemetry host and keeps a device id and a
    # database in the home directory; `disable_telemetry_events` afterwards stops neither.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    try:
        import onnxruntime
    except ImportError as error:
        raise BackendUnavailable(
            "onnxruntime cannot be imported; install it with: pip install onnxruntime", package="onnxruntime"
        ) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only: stderr is the user's
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _run(session: InferenceSession, encoding: Encoding) -> Vectors:
    ids = np.array(encoding.ids, dtype=np.int64)
    vector: Vectors = session.run(["vector"], {"input_ids": ids})[0]
    return vector
