"""The key that signs cursors, stored in the knowledge base, so that all its servers accept each other's cursors."""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
from pathlib import Path

log = logging.getLogger(__name__)

KEY_NAME = "cursor.key"
KEY_BYTES = 32


def cursor_key(kb_dir: Path) -> bytes:
    """Return the knowledge base's key; create it, readable by its owner alone, if there is none.

    Processes that create it at the same time agree on one. Where the folder holds no key and cannot be written, the key
    is random, and its cursors last as long as this process.
    """
    path = kb_dir / KEY_NAME
    with contextlib.suppress(OSError):
        key = path.read_bytes()
        if len(key) == KEY_BYTES:
            return key
        path.unlink()  # truncated by a crash or by hand
    try:
        return _create(path)
    except OSError as error:
        log.warning(
            "%s cannot be written (%s): cursors will be invalid after a restart. Set [server] cursor_key.",
            KEY_NAME,
            error.strerror,
        )
        return secrets.token_bytes(KEY_BYTES)


def _create(path: Path) -> bytes:
    """Create the key atomically unless another process was first; return the stored one."""
    temporary = path.with_name(f".{KEY_NAME}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(temporary)
    finally:
        temporary.unlink()
    return path.read_bytes()
