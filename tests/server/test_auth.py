from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from graphctx.errors import InvalidArgument
from graphctx.server.auth import BearerTokens, read_token_file
from graphctx.server.config import ServerConfig

ANAS, BENS = "ana-0123456789-abcdefgh", "ben-0123456789-abcdefgh"


def tokens(**given: str) -> BearerTokens:
    return BearerTokens({name: SecretStr(token) for name, token in given.items()})


@pytest.mark.anyio
async def test_a_token_names_its_owner_and_nothing_else_does() -> None:
    known = tokens(ana=ANAS, ben=BENS)
    assert [known.owner(token) for token in (ANAS, BENS)] == ["ana", "ben"]
    for wrong in ("", "ana", ANAS[:-1], ANAS + " ", ANAS.upper(), f"{ANAS}\0", "\ud800"):
        assert known.owner(wrong) is None
        assert await known.verify_token(wrong) is None
    verified = await known.verify_token(ANAS)
    assert verified is not None
    assert (verified.client_id, verified.scopes) == ("ana", [])
    assert ANAS not in repr(verified)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"ana": "short"}, "20 to 512"),
        ({"ana": "spaces are not for headers"}, "no spaces"),
        ({"no name": ANAS}, "a name has"),
        ({"ana": ANAS, "ben": ANAS}, "'ana' has the same token"),
    ],
)
def test_a_token_that_cannot_be_used_is_refused_without_being_shown(given: dict[str, str], why: str) -> None:
    with pytest.raises(InvalidArgument, match=why) as caught:
        tokens(**given)
    assert not any(token in f"{caught.value.message}{caught.value.details}" for token in given.values())


def test_a_file_has_a_name_and_a_token_a_line(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text(f"# who may ask\n\nana {ANAS}\n  ben\t{BENS}  \n")
    assert {name: secret.get_secret_value() for name, secret in read_token_file(path).items()} == {
        "ana": ANAS,
        "ben": BENS,
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"ana {ANAS}\n{BENS}\n", "Line 2"),
        (f"ana {ANAS}\nana {BENS}\n", "twice"),
        ("# nothing\n", "no token"),
        ("ana \ufffd\udc80", "UTF-8"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_without_its_tokens(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "tokens"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InvalidArgument, match=why) as caught:
        read_token_file(path)
    assert "0123456789" not in f"{caught.value.message}{caught.value.details}"


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="cannot be read"):
        read_token_file(tmp_path / "none")


def test_the_servers_settings_can_be_shown_without_their_secrets() -> None:
    config = ServerConfig(tokens={"ana": SecretStr(ANAS)}, cursor_key="0123456789 key")
    assert "0123456789" not in repr(config)
