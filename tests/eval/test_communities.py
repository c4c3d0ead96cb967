from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from eval.communities import look, main
from graphctx.store.config import read_config, write_config


def test_the_handbook_keeps_what_its_page_promises(handbook_path: Path) -> None:
    found = look(handbook_path, titles=3, sentences=2)
    assert found.faults == []
    assert len(found.titles) == 3
    assert all(len(lines) == 3 for lines in found.titles)
    assert found.levels[0].modularity > 0.55  # of entities alone: roots are found with the documents
    assert found.coverage["entities"] > 0.65


def test_a_leaf_over_the_maximum_size_is_a_fault(
    handbook_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(handbook_path, tmp_path / "kb")
    config = read_config(tmp_path / "kb")
    write_config(tmp_path / "kb", config.model_copy(update={"settings": {"ingest": {"max_community_size": 10}}}))
    assert main([str(tmp_path / "kb")]) == 1
    assert "over 10" in capsys.readouterr().out


def test_figures_are_printed_for_programs_too(handbook_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(handbook_path), "--json", "--titles", "2"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert len(printed["titles"]) == 2
    assert printed["faults"] == []
