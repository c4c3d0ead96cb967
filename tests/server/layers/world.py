"""What the tests of the layer tools share."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from graphctx.layer_source.source import LayerSource
from graphctx.layers import LayerStack, hashed
from graphctx.nlp.tokens import WordPieceCounter
from tests.layers.world import DIM

COUNTER = WordPieceCounter()
QUESTION = "Who is the duty officer for the ledger?"
OFFICER = "The duty officer for the ledger is Tove Lund since April."
LONG = "# Tides\n\n" + "".join(f"Station {n} reports the tide of basin {n} each hour.\n\n" for n in range(400))
EFFORT = float(os.environ.get("GRAPHCTX_TEST_EFFORT", "1.0"))
TOKEN = "ana-0123456789-abcdefgh"


def source(folder: Path) -> LayerSource:
    return LayerSource(LayerStack(folder, hashed(DIM)), COUNTER)


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.db")}
