"""Files on an object store: Amazon S3 and what speaks its protocol, Google Cloud Storage, Azure Blob Storage.

Credentials, region and endpoint come from the environment, under the providers' own names (``AWS_ACCESS_KEY_ID``,
``AWS_ENDPOINT_URL``, ``GOOGLE_APPLICATION_CREDENTIALS``, ``AZURE_STORAGE_ACCOUNT_NAME``), or from the machine's role.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from graphctx.errors import BackendUnavailable, InvalidArgument

ORIGIN_NAME = "origin.json"
"""The file of a replica's folder that names the address of what it copies."""

_URL = re.compile(r"(s3|gs|az):/+([^/]+(?:/+[^/]+)*)/*")
_RANGE_BYTES = 16 << 20  # of one request: each has a timeout of its own, and is repeated alone
_CONNECT_SECONDS = 5
_REQUEST_SECONDS = 60
_RETRIES = 3
_RETRY_SECONDS = 20


def object_url(place: str | Path) -> str | None:
    """Return the address of a folder on an object store in its usual form, or ``None`` for a folder of this machine.

    Args:
        place: an address, or the path that was made of it, which has lost a slash.

    Example:
        >>> object_url("s3://bucket/handbook/")
        's3://bucket/handbook'
    """
    found = _URL.fullmatch(str(place))
    return f"{found[1]}://{re.sub('/+', '/', found[2])}" if found else None


def origin_of(folder: Path) -> str | None:
    """Return the address that a folder is the replica of; ``None`` for a knowledge base of its own."""
    try:
        return str(json.loads((folder / ORIGIN_NAME).read_bytes())["url"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


class ObjectStore:
    """A folder on an object store. Thread-safe.

    Usage::

        store = ObjectStore("s3://bucket/handbook")
        store.put("CURRENT", b"...")

    Args:
        url: ``s3://bucket/folder``, ``gs://bucket/folder`` or ``az://container/folder``.

    Raises:
        InvalidArgument: the address is of another form.
        BackendUnavailable: the extra ``object-store`` is not installed, or the environment lacks what the address
            needs. Every method raises it where the store cannot be reached or refuses the request.
    """

    def __init__(self, url: str) -> None:
        address = object_url(url)
        if address is None:
            raise InvalidArgument(
                f"{url!r} is not an address on an object store; use s3://BUCKET/FOLDER, gs://BUCKET/FOLDER or "
                "az://CONTAINER/FOLDER.",
                value=url,
            )
        try:
            import obstore
            from obstore.store import from_url
        except ImportError:
            raise BackendUnavailable(
                f"{address} needs an extra that is not installed. Install it: pip install 'graphctx[object-store]'.",
                extra="object-store",
            ) from None
        self.url = address
        self._api = obstore
        with self._errors():
            self._store = from_url(
                address,
                client_options={
                    "allow_http": True,  # where the endpoint in the environment says so
                    "connect_timeout": f"{_CONNECT_SECONDS}s",
                    "timeout": f"{_REQUEST_SECONDS}s",
                },
                retry_config={"max_retries": _RETRIES, "retry_timeout": timedelta(seconds=_RETRY_SECONDS)},
            )

    def read(self, name: str) -> bytes | None:
        """Return the content of a small object; ``None`` if there is none."""
        with self._errors():
            try:
                return bytes(self._api.get(self._store, name).bytes())
            except FileNotFoundError:
                return None

    def put(self, name: str, content: bytes | Path) -> None:
        """Write an object from bytes or from a file, in parts if it is large. It replaces the one before at once."""
        with self._errors():
            self._api.put(self._store, name, content)

    def fetch(self, name: str, path: Path, size: int) -> str:
        """Write the first ``size`` bytes of an object into a file, and return their hex SHA-256.

        Raises:
            FileNotFoundError: there is no such object.
            OSError: the disk refuses the write.
        """
        digest = hashlib.sha256()
        with path.open("wb") as file:
            for start in range(0, size, _RANGE_BYTES):
                with self._errors():
                    end = min(size, start + _RANGE_BYTES)
                    part = bytes(self._api.get_range(self._store, name, start=start, end=end))
                digest.update(part)
                file.write(part)
        return digest.hexdigest()

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the bytes of every object in a folder and below, by name."""
        with self._errors():
            return dict(self._listed(folder))

    def delete(self, names: Sequence[str]) -> None:
        """Delete objects; those that are absent are ignored."""
        if names:
            with self._errors():
                self._api.delete(self._store, list(names))

    def _listed(self, folder: str) -> Iterator[tuple[str, int]]:
        for page in self._api.list(self._store, prefix=folder):
            yield from ((item["path"], item["size"]) for item in page)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Convert the library's errors, but for that of an absent object."""
        try:
            yield
        except (self._api.exceptions.BaseError, PermissionError) as error:
            reason = str(error).partition("\n")[0].partition(": <")[0]
            raise BackendUnavailable(
                f"{self.url} cannot be used: {reason}. Check the address, the network, and the credentials, the region "
                "and the endpoint in the environment.",
                url=self.url,
                reason=reason,
            ) from error
