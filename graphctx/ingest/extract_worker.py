"""The process that extracts: batches of documents in on stdin, extractions out on stdout, until stdin ends."""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
from collections.abc import Sequence
from typing import Any, BinaryIO, TypeAlias

from graphctx.model.documents import Document, TextUnit
from graphctx.store.processes import end_with_parent

Item: TypeAlias = tuple[Document, Sequence[TextUnit]]
Batch: TypeAlias = list[tuple[int, Item]]

_LENGTH = struct.Struct("<Q")


def send(pipe: Any, message: object) -> None:
    """Write one message: its length in 8 bytes, then its pickle."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.write(_LENGTH.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def receive(pipe: Any) -> Any:
    """Read one message.

    Raises:
        EOFError: the other side closed the pipe.
    """
    (length,) = _LENGTH.unpack(_read(pipe, _LENGTH.size))
    return pickle.loads(_read(pipe, length))


def _read(pipe: Any, size: int) -> bytes:
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return bytes(data)


def main() -> None:
    """Serve until stdin ends: first the extractor's maker, then batches."""
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides, and ends this process itself
    answers: BinaryIO = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # no print of a library may end up between the answers
    requests = sys.stdin.buffer
    try:
        extractor = receive(requests)()
        while True:
            batch: Batch = receive(requests)
            try:
                send(answers, [(number, extractor.extract(document, units)) for number, (document, units) in batch])
            except Exception as error:  # the parent raises it
                send(answers, error)
    except (EOFError, BrokenPipeError):
        return


if __name__ == "__main__":
    main()
