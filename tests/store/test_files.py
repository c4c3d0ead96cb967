"""Reasons that reach a client name no directory of this machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.errors import GraphctxError
from graphctx.store.bm25 import Bm25
from graphctx.store.config import read_config
from graphctx.store.files import reason_of, write_atomic
from graphctx.store.graph import graph_engine
from graphctx.store.manifest import MANIFEST_NAME, read_manifest
from graphctx.store.tables import TableReader, write_tables

from .world import DIMENSION, world

PART = st.text("abcXYZ09._-", min_size=2, max_size=8)


@given(folders=st.lists(PART, min_size=2, max_size=5), root=st.sampled_from(["/", "", "file:///", "C:\\"]))
def test_of_a_path_only_its_last_part_stays(folders: list[str], root: str) -> None:
    mark = "\\" if root.startswith("C") else "/"
    text = f"Not found: {root}{mark.join([*folders, 'units.lance'])}, LanceError(IO)"
    assert reason_of(ValueError(text)) == "Not found: units.lance, LanceError(IO)"
    assert reason_of(ValueError("cannot open /data/graph.kuzu")) == "cannot open graph.kuzu"


def test_folders_with_spaces_are_left_out_where_they_are_known() -> None:
    error = RuntimeError("cannot open file /home/ines/my kb/graph.kuzu: no 1/2 and/or either")
    assert reason_of(error, Path("/home/ines/my kb")) == "cannot open file graph.kuzu: no 1/2 and/or either"


def toml_is_a_folder(folder: Path) -> None:
    (folder / "kb.toml").mkdir()
    read_config(folder)


def manifest_is_a_folder(folder: Path) -> None:
    (folder / "sn_aaaaaaaaaaaaaaaa" / MANIFEST_NAME).mkdir(parents=True)
    read_manifest(folder / "sn_aaaaaaaaaaaaaaaa")


def no_words(folder: Path) -> None:
    Bm25.open(folder / "bm25")


def no_tables(folder: Path) -> None:
    TableReader(folder / "none", {"units": 1}).count("units")


def damaged_tables(folder: Path) -> None:
    versions = write_tables(folder / "t", world(), {})
    for path in (folder / "t" / "units.lance" / "data").iterdir():
        path.write_bytes(b"rubbish")
    TableReader(folder / "t", versions).search_vector("units", np.ones(DIMENSION, np.float32), 1)


def damaged_graph(folder: Path) -> None:
    (folder / "graph.db").write_bytes(b"rubbish" * 1000)
    graph_engine()(folder / "graph.db").counts()


@pytest.mark.parametrize(
    "fail", [toml_is_a_folder, manifest_is_a_folder, no_words, no_tables, damaged_tables, damaged_graph]
)
def test_no_failure_names_a_directory(tmp_path: Path, fail: Callable[[Path], None]) -> None:
    folder = tmp_path / "a home" / "kb"
    folder.mkdir(parents=True)
    with pytest.raises(GraphctxError) as caught:
        fail(folder)
    text = str(caught.value.envelope())
    for part in (tmp_path.name, tmp_path.parent.name, "a home", "[Errno"):
        assert part not in text


def test_a_failed_atomic_write_keeps_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"old")
    with pytest.raises(TypeError):
        write_atomic(tmp_path / "x", "no bytes")  # type: ignore[arg-type]
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("x", b"old")]
