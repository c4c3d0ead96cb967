"""Whatever has been done to a folder, the index is that of a fresh ingest of what is left."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from graphctx.knowledge_base import KnowledgeBase

TEXTS = [
    f"# {name}\n\nThe {name.lower()} of Marrow Bay was built by {who}. {who} keeps it.\n"
    for name, who in zip(("Gate", "Lamp", "Mast", "Pier", "Pump"), ("Ada", "Bo", "Cy", "Di", "Ed"), strict=True)
]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_history_of_changes_ends_in_the_state_of_a_fresh_ingest(seed: int, tmp_path: Path) -> None:
    draw, folder = random.Random(seed), tmp_path / "docs"
    folder.mkdir()
    for number, text in enumerate(TEXTS[:3]):
        (folder / f"{number}.md").write_text(text)
    with KnowledgeBase.open(tmp_path / "kb", create=True, project_id="p") as kb:
        report = kb.ingest(folder, processes=1)
        for step in range(6):
            for _ in range(draw.randint(1, 2)):
                change(draw, folder, f"{step}-{draw.randint(0, 99)}.md")
            report = kb.ingest(folder, prune=True, prune_most=True, processes=1)
        (folder / "gone.md").write_text(TEXTS[0].replace("Gate", "Quay"))
        kb.ingest(folder, processes=1)
        kb.remove("gone.md")
        (folder / "gone.md").unlink()
        report = kb.ingest(folder, processes=1)
    with KnowledgeBase.open(tmp_path / "fresh", create=True, project_id="p") as kb:
        assert kb.ingest(folder, processes=1).content_hash == report.content_hash


def change(draw: random.Random, folder: Path, name: str) -> None:
    """Add, edit, rename or remove a file; one is always left."""
    files = sorted(folder.glob("*.md"))
    kind = draw.choice(("add", "edit", "rename", "remove"))
    if kind == "add" or len(files) < 2:
        (folder / name).write_text(draw.choice(TEXTS))
    elif kind == "edit":
        file = draw.choice(files)
        file.write_text(file.read_text() + f"\nIt was painted {draw.choice(('red', 'green'))}.\n")
    elif kind == "rename":
        draw.choice(files).rename(folder / name)
    else:
        draw.choice(files).unlink()
