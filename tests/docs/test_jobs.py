from __future__ import annotations

from pathlib import Path

import pytest

from graphctx.cli.ingest import read_job

JOBS = sorted((Path(__file__).parents[2] / "pipelines").glob("*.toml"))


@pytest.mark.parametrize("file", JOBS, ids=lambda file: file.stem)
def test_every_job_that_we_ship_can_be_read_and_its_paths_exist(file: Path) -> None:
    job = read_job(file)
    assert all(Path(path).exists() for path in job.paths)
