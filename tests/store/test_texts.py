from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.errors import BackendUnavailable
from graphctx.store.arrays import save_matrix
from graphctx.store.texts import Texts, write_texts

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(st.lists(TEXT, max_size=12), st.integers(0, 5), st.sampled_from([pa.string(), pa.large_string()]))
def test_texts_are_read_by_row_however_the_column_is_chunked(texts: list[str], cut: int, kind: pa.DataType) -> None:
    whole = pa.array(["before", *texts], kind)
    with tempfile.TemporaryDirectory() as folder:
        write_texts(Path(folder), pa.chunked_array([whole[1 : 1 + cut], whole[1 + cut :]], kind))
        read = Texts(Path(folder))
        assert [read[row] for row in range(len(read))] == texts
        with pytest.raises(IndexError):
            read[len(texts)]


def test_truncated_texts_are_refused(tmp_path: Path) -> None:
    write_texts(tmp_path, pa.chunked_array([["harbour", "gate"]]))
    save_matrix(tmp_path / "zstd.npy", np.zeros(3, np.uint8))
    with pytest.raises(BackendUnavailable, match="truncated"):
        Texts(tmp_path)
