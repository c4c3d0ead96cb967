from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.store.arrays import SMALL_FILE, RangeReader, load_arrays, open_matrix, save_arrays, save_matrix

ARRAYS = st.dictionaries(
    st.text("abcdef_", min_size=1, max_size=5),
    hnp.arrays(
        st.sampled_from([np.int8, np.int32, np.int64, np.uint64, np.float32, np.bool_]),
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
    ),
    max_size=4,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(arrays=ARRAYS)
def test_arrays_come_back_as_they_were_and_their_bytes_follow_from_them(
    tmp_path: Path, arrays: dict[str, np.ndarray]
) -> None:
    save_arrays(tmp_path / "a.npz", arrays)
    found = load_arrays(tmp_path / "a.npz")
    assert list(found) == sorted(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes()
    save_arrays(tmp_path / "b.npz", dict(reversed(arrays.items())))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_a_matrix_is_mapped_and_cannot_be_written(tmp_path: Path) -> None:
    matrix = np.arange(12, dtype=np.float32).reshape(3, 4)
    save_matrix(tmp_path / "m.npy", matrix.T)
    opened = open_matrix(tmp_path / "m.npy")
    assert isinstance(opened, np.memmap)
    assert (opened == matrix.T).all()
    assert opened.flags.c_contiguous
    with pytest.raises(ValueError, match="read-only"):
        opened[0, 0] = 1


def test_objects_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="'words'"):
        save_arrays(tmp_path / "a.npz", {"words": np.array(["a", None], dtype=object)})


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04rubbish", b"\x93NUMPY\x01\x00", b"\x93NUMPY\x07\x00", b"plain"])
def test_a_file_of_another_kind_is_unavailable(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(BackendUnavailable):
        load_arrays(tmp_path / "x")
    with pytest.raises(BackendUnavailable):
        open_matrix(tmp_path / "x")
    with pytest.raises(BackendUnavailable):
        load_arrays(tmp_path / "absent")
    with pytest.raises(BackendUnavailable):
        open_matrix(tmp_path / "absent")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(
    values=hnp.arrays(st.sampled_from([np.uint8, np.int32, np.float32, np.int64]), st.integers(0, 30)),
    bounds=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)).map(sorted), max_size=6),
    small_file=st.sampled_from([0, SMALL_FILE]),
)
def test_stretches_equal_slices(tmp_path: Path, values: np.ndarray, bounds: list[list[int]], small_file: int) -> None:
    save_matrix(tmp_path / "a.npy", values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("graphctx.store.arrays.SMALL_FILE", small_file)
        file = RangeReader(tmp_path / "a.npy")
    inside = [(min(start, len(values)), min(end, len(values))) for start, end in bounds]
    assert len(file) == len(values)
    read = file.read(inside)
    assert read.dtype == values.dtype
    assert read.tobytes() == b"".join(values[start:end].tobytes() for start, end in inside)


def test_a_stretch_of_a_file_that_shrank_or_went_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    n = SMALL_FILE // 4 + 1
    save_matrix(path, np.arange(n, dtype=np.int32))
    file = RangeReader(path)
    with path.open("r+b") as opened:
        opened.truncate(path.stat().st_size - 4)
    assert file.read([(0, 8)]).tolist() == list(range(8))
    with pytest.raises(BackendUnavailable, match=r"a\.npy"):
        file.read([(0, 2), (n - 2, n)])
    path.unlink()
    with pytest.raises(BackendUnavailable, match=r"a\.npy"):
        file.read([(0, 1)])
