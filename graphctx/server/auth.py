"""Bearer tokens for HTTP: a list that the operator writes, each token under its owner's name.

The SDK's middleware reads the header, answers 401 with ``WWW-Authenticate`` and binds a protocol session to the
principal who began it. There is no OAuth: a server that needs it runs behind a proxy that has it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from graphctx.errors import InvalidArgument

if TYPE_CHECKING:
    from mcp.server.auth.provider import AccessToken
    from pydantic import SecretStr

MIN_TOKEN_CHARS = 20
"""Twenty random characters of 64 are 120 bits."""

_TOKEN = re.compile(rf"[A-Za-z0-9._~+/-]{{{MIN_TOKEN_CHARS},512}}=*")  # RFC 6750, section 2.1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")


class BearerTokens:
    """Bearer tokens and their owners; a ``TokenVerifier`` of the SDK.

    Args:
        tokens: tokens by the name of their owner, who is the principal of the calls made with them.

    Raises:
        InvalidArgument: a name or a token is invalid, or two owners have the same token. No message shows a token.
    """

    def __init__(self, tokens: Mapping[str, SecretStr]) -> None:
        self._owners: dict[bytes, str] = {}
        for name, secret in tokens.items():
            token = secret.get_secret_value()
            if not _NAME.fullmatch(name):
                raise _refused(
                    name, "a name has 1 to 64 letters, digits or . _ @ - and starts with a letter or a digit"
                )
            if not _TOKEN.fullmatch(token):
                raise _refused(
                    name, f"its token must have {MIN_TOKEN_CHARS} to 512 letters, digits or . _ ~ + / - and no spaces"
                )
            digest = _digest(token)
            if digest in self._owners:
                raise _refused(name, f"{self._owners[digest]!r} has the same token")
            self._owners[digest] = name

    def __len__(self) -> int:
        return len(self._owners)

    def owner(self, token: str) -> str | None:
        """Return the owner of a token, if any, in a time that does not depend on how much of the token is right."""
        asked, found = _digest(token), None
        for digest, name in self._owners.items():
            if hmac.compare_digest(digest, asked):
                found = name
        return found

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the owner as a client id, or nothing; called by the SDK."""
        from mcp.server.auth.provider import AccessToken

        name = self.owner(token)
        return None if name is None else AccessToken(token="", client_id=name, scopes=[])


def read_token_file(path: Path) -> dict[str, SecretStr]:
    """Read a file with a name and a token on each line; empty lines and lines that start with ``#`` are skipped.

    Raises:
        InvalidArgument: the file cannot be read, or a line has another form.
    """
    from pydantic import SecretStr

    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidArgument(
            f"The token file {path} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8 text'}.",
            field="token_file",
            value=str(path),
        ) from None
    tokens: dict[str, SecretStr] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        parts = line.split()
        if len(parts) != 2 or parts[0] in tokens:
            why = "is there twice" if len(parts) == 2 else "a line holds a name and a token"
            raise InvalidArgument(
                f"Line {number} of the token file {path} cannot be used: {why}.", field="token_file", value=str(path)
            )
        tokens[parts[0]] = SecretStr(parts[1])
    if not tokens:
        raise InvalidArgument(
            f"The token file {path} holds no token; a line is `name token`.", field="token_file", value=str(path)
        )
    return tokens


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def _refused(name: str, why: str) -> InvalidArgument:
    return InvalidArgument(f"The bearer token of {name!r} cannot be used: {why}.", field="tokens", value=name)
