"""Files that are uploaded: a folder of the knowledge base, which is ingested like any other."""

from __future__ import annotations

import hashlib
import threading
import time
import unicodedata
from pathlib import Path
from urllib.parse import unquote

from graphctx.errors import InvalidArgument
from graphctx.ingest.read import reader_for
from graphctx.settings import load_settings
from graphctx.store.config import is_absent, read_config
from graphctx.store.files import disk_errors

FOLDER = "uploads"
PART_BYTES = 4_000_000
"""Most bytes of one request; a file is sent in several, as a request has 30 seconds to arrive."""
MAX_PATH_CHARS = 1000
MAX_NAME_BYTES = 255
_PARTS = ".parts"
_UNFINISHED_SECONDS = 3600
"""Seconds after its last part when a file counts as given up."""
_MARKS = ("kb.toml", "pyvenv.cfg")
"""Names that make a folder one that no ingest reads."""
_UNSAFE = ("Cc", "Cs")
"""Unicode categories of control characters and of halves of surrogate pairs."""


class Uploads:
    """The uploaded files of a knowledge base. Thread-safe.

    Args:
        kb: the folder of the knowledge base, which need not exist yet.
    """

    def __init__(self, kb: Path) -> None:
        self._kb = kb
        self.folder = kb.absolute() / FOLDER
        self._lock = threading.Lock()
        self._fresh: set[Path] = set()

    def max_bytes(self) -> int:
        """Return the size that no file may exceed."""
        tables = {} if is_absent(self._kb) else read_config(self._kb).settings
        return load_settings(tables).ingest.max_file_mb * 1024 * 1024

    def folders(self) -> list[str]:
        """Return the names of the folders at the top."""
        found = self.folder.iterdir() if self.folder.is_dir() else ()
        return sorted(path.name for path in found if path.is_dir() and not path.name.startswith("."))

    def count(self) -> int:
        """Return the number of files, hidden ones aside."""
        below = (path.relative_to(self.folder) for path in self.folder.rglob("*") if path.is_file())
        return sum(not any(name.startswith(".") for name in path.parts) for path in below)

    def add(self, path: str, offset: int, size: int, data: bytes) -> bool:
        """Store a part of a file; return whether the file is complete, and replaces an earlier one of its path.

        Args:
            path: where the file belongs, below the folder, with ``/``.
            offset: bytes that came before.
            size: bytes of the whole file.
            data: the part.

        Raises:
            InvalidArgument: the path, the size or the offset is not acceptable, or no reader knows the file's type.
            BackendUnavailable: the disk refuses a write.
        """
        target = self._target(path)
        if not 0 < size <= (most := self.max_bytes()):
            reason = "is empty" if size <= 0 else f"has {size:,} bytes, more than the limit of {most:,}"
            raise InvalidArgument(f"{path} {reason}. It was not uploaded.", field="size", value=size)
        partial = self.folder / _PARTS / hashlib.sha256(path.encode()).hexdigest()
        with self._lock, disk_errors(FOLDER):
            partial.parent.mkdir(parents=True, exist_ok=True)
            held = partial.stat().st_size if offset and partial.exists() else 0
            if offset != held or offset + len(data) > size:
                raise InvalidArgument(
                    f"A part of {path} begins at byte {offset:,}, and {held:,} of {size:,} have arrived. Send the file "
                    "again from its beginning.",
                    field="offset",
                    value=offset,
                )
            with partial.open("ab" if offset else "wb") as file:
                file.write(data)
            if offset + len(data) < size:
                return False
            if not target.parent.resolve().is_relative_to(self.folder.resolve()) or target.is_dir():
                raise InvalidArgument(f"{path} cannot be stored: a folder of this name is in its place.", field="path")
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
            except (FileExistsError, NotADirectoryError):
                partial.unlink()
                raise InvalidArgument(
                    f"{path} cannot be stored: one of its folders has the name of an uploaded file.", field="path"
                ) from None
            partial.replace(target)
            self._fresh.add(target)
        return True

    def holds(self, uri: str) -> bool:
        """Return whether there is an uploaded file of a URI."""
        return (self.folder / unquote(uri)).is_file()

    def delete(self, uri: str) -> None:
        """Delete the uploaded file of a URI, if there is one.

        Raises:
            InvalidArgument: it is not the path of an uploaded file.
            BackendUnavailable: the disk refuses it.
        """
        target = self._target(unquote(uri))
        if not target.resolve().is_relative_to(self.folder.resolve()):
            raise InvalidArgument(f"{uri} is not below the uploaded files.", field="uri", value=uri)
        with disk_errors(FOLDER):
            target.unlink(missing_ok=True)

    def take_fresh(self) -> list[Path]:
        """Return the files that were uploaded since the last call; forget unfinished ones that nobody goes on with."""
        with self._lock:
            fresh, self._fresh = sorted(self._fresh), set()
            for partial in (self.folder / _PARTS).glob("*"):
                if partial.stat().st_mtime < time.time() - _UNFINISHED_SECONDS:
                    partial.unlink()
        return [path for path in fresh if path.exists()]

    def _target(self, path: str) -> Path:
        names = path.split("/")
        if len(path) > MAX_PATH_CHARS or not all(map(_is_safe, names)):
            raise InvalidArgument(
                f"{path[:200]!r} is not the path of a file: names are separated by /, and none is empty, hidden, "
                "longer than 255 bytes, or has control characters.",
                field="path",
                value=path[:200],
            )
        if names[-1] in _MARKS:
            raise InvalidArgument(f"{names[-1]} marks a folder that is not ingested; leave it out.", field="path")
        if reader_for(names[-1]) is None:
            raise InvalidArgument(f"{path}: no reader knows files of this type.", field="path", value=path[:200])
        return self.folder.joinpath(*names)


def _is_safe(name: str) -> bool:
    if "\\" in name or name.startswith((".", "~$")) or any(unicodedata.category(one) in _UNSAFE for one in name):
        return False
    return 0 < len(name.encode("utf-8")) <= MAX_NAME_BYTES
