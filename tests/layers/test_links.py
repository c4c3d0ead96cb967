"""A layer whose file is a link: to a file of its own it is followed, to another layer's never."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphctx.errors import InvalidArgument
from graphctx.layers import (
    FILES,
    LayerFile,
    LayerStack,
    append,
    compact,
    hashed,
    layer_named,
    promote,
    propose,
    write_context,
    write_layer,
)

from .world import DIM, content, note, stack

Link = Callable[[Path, Path], None]
GOOD: dict[str, Any] = {"content": "evil", "kind": "note", "confidence": 0.5}


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.db")}


@pytest.mark.parametrize("link", [os.symlink, os.link])
@pytest.mark.parametrize("scope", ["local", "delta"])
@pytest.mark.parametrize("other", ["base", "user"])
def test_a_link_to_another_layer_is_never_written_through(tmp_path: Path, link: Link, scope: str, other: str) -> None:
    made = stack(tmp_path, **{other: content(note(1, "canonical"))})
    link(tmp_path / FILES[layer_named(other)], tmp_path / FILES[layer_named(scope)])
    before = files(tmp_path)
    for edit in (0, 1):
        with pytest.raises(InvalidArgument, match=f"same file as .*{other} layer"):
            write_context(made, **GOOD, scope=scope, edit=edit)
    assert files(tmp_path) == before


def test_proposals_promotion_and_compaction_do_not_write_through_one_either(tmp_path: Path) -> None:
    made = stack(tmp_path, base=content(note(1, "canonical")), local=content(note(2, "two")))
    for name in ("AGENTS.delta.db", "AGENTS.user.db"):
        (tmp_path / name).symlink_to("AGENTS.db")
    before = files(tmp_path)
    for act in (
        lambda: propose(made, 1),
        lambda: promote(made, [2], approved_by="human", origin="local"),
        lambda: compact(made),
    ):
        with pytest.raises(InvalidArgument, match="same file as"):
            act()
    assert files(tmp_path) == before


def test_a_link_to_the_base_layer_of_another_folder_is_not_written_through(tmp_path: Path) -> None:
    stack(tmp_path / "there", base=content(note(1, "canonical")))
    made = stack(tmp_path / "here")
    (tmp_path / "here" / "AGENTS.local.db").symlink_to(tmp_path / "there" / "AGENTS.db")
    (tmp_path / "other.db").symlink_to(tmp_path / "there" / "AGENTS.db")
    before = files(tmp_path / "there")
    with pytest.raises(InvalidArgument, match="base layer"):
        write_context(made, **GOOD, scope="local")
    with pytest.raises(InvalidArgument, match="base layer"):
        append(tmp_path / "other.db", lambda _: content(note(2, "two")))
    with pytest.raises(InvalidArgument, match="the base layer"):
        write_layer(tmp_path / "here" / "AGENTS.local.db", content(note(2, "two")), replace=True)
    assert files(tmp_path / "there") == before


def test_the_base_layer_is_known_by_what_the_stack_says_and_not_by_its_name_alone(tmp_path: Path) -> None:
    write_layer(tmp_path / "canon.db", content(note(1, "canonical")))
    (tmp_path / "notes.db").symlink_to("canon.db")
    before = files(tmp_path)
    for local in ("notes.db", "canon.db"):
        made = LayerStack({"base": tmp_path / "canon.db", "local": tmp_path / local}, hashed(DIM))
        with pytest.raises(InvalidArgument, match="same file as"):
            write_context(made, **GOOD, scope="local")
    assert files(tmp_path) == before


def test_a_link_to_a_file_of_its_own_is_followed(tmp_path: Path) -> None:
    write_layer(tmp_path / "shared.db", content(note(1, "one")))
    made = stack(tmp_path / "here", base=content(note(9, "canonical")))
    link = tmp_path / "here" / "AGENTS.local.db"
    link.symlink_to(tmp_path / "shared.db")
    write_context(made, **GOOD, scope="local")
    assert link.is_symlink()
    with LayerFile.open(tmp_path / "shared.db") as layer:
        assert [chunk.content for chunk in layer.chunks()] == ["one", "evil"]
