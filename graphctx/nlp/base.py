"""The protocols of models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from graphctx.model.documents import Document, TextUnit
from graphctx.model.knowledge import Extraction

Vectors = npt.NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors.

    The vector of a text depends on that text alone, never on the other texts of the call, their order or the
    number of threads, so that a vector can be memoised by the hash of its text.
    """

    def __hash__(self) -> int:
        """Vectors are remembered by their embedder."""

    @property
    def name(self) -> str:
        """The model's public name."""

    @property
    def dimension(self) -> int:
        """The length of a vector."""

    @property
    def max_tokens(self) -> int:
        """Tokens of a text beyond this number are not seen by the model."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same text could get another vector: model, weights, pooling, code."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts.

        Args:
            texts: any number of strings, empty ones included.

        Returns:
            float32 ``[len(texts), dimension]``, each row of L2 norm 1, in the order of ``texts``.
        """


@runtime_checkable
class Extractor(Protocol):
    """Finds mentions and facts in the units of one document."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same document could get another extraction."""

    def load(self) -> None:
        """Load the model, as the first use does otherwise."""

    def extract(self, document: Document, units: Sequence[TextUnit]) -> Extraction:
        """Extract from the units of one document.

        The result depends on the document alone. Mentions and facts are sorted by position.
        """
