"""The weights that come with graphctx: all-MiniLM-L6-v2 as int8 ONNX, and its tokenizer.

``tools/make_minilm_onnx.py`` makes the files and ``SHA256SUMS``; NOTICE says where they come from.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from graphctx.errors import BackendUnavailable

FOLDER = Path(__file__).parent
MODEL = "minilm-l6-v2-int8.onnx"
TOKENIZER = "tokenizer.json"
_SUMS = "SHA256SUMS"
_REMEDY = "Install graphctx again: pip install --force-reinstall --no-deps graphctx"


def expected_sha256(name: str, folder: Path = FOLDER) -> str:
    """The hex digest that a file of the folder must have.

    Raises:
        BackendUnavailable: the list of digests is absent, or has no line for the file.
    """
    try:
        lines = (folder / _SUMS).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise BackendUnavailable(
            f"The list of digests {_SUMS} of the embedding model cannot be read. {_REMEDY}", file=_SUMS
        ) from error
    for line in lines:
        digest, _, listed = line.partition("  ")
        if listed == name:
            return digest
    raise BackendUnavailable(f"{_SUMS} of the embedding model does not list {name}. {_REMEDY}", file=_SUMS)


def read_verified(name: str, folder: Path = FOLDER) -> bytes:
    """Read a file and check its sha256, about 12 ms for the 23 MB of the model.

    Raises:
        BackendUnavailable: the file is absent, or is not what ``SHA256SUMS`` says.
    """
    expected = expected_sha256(name, folder)
    try:
        content = (folder / name).read_bytes()
    except OSError as error:
        raise BackendUnavailable(f"The embedding model's file {name} cannot be read. {_REMEDY}", file=name) from error
    actual = hashlib.sha256(content).hexdigest()
    if actual != expected:
        raise BackendUnavailable(
            f"The embedding model's file {name} is damaged: its sha256 is {actual[:12]}…, "
            f"not {expected[:12]}…. {_REMEDY}",
            file=name,
            expected=expected,
            actual=actual,
        )
    return content
