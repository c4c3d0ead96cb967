"""What a server opens, and when it opens it again."""

from __future__ import annotations

from pathlib import Path

from graphctx.knowledge_base import KnowledgeBase
from graphctx.server.config import ServerConfig
from graphctx.server.warmup import Warmup, open_kb


def test_a_memory_that_is_served_alone_is_joined_by_documents_once_they_are_published(tmp_path: Path) -> None:
    config = ServerConfig(memory=tmp_path / "memory", toolsets=("memory",))
    warmup = Warmup(lambda: open_kb(str(tmp_path / "kb"), None, config))
    assert warmup.get().searcher().published is None
    (tmp_path / "gulls.md").write_text("# Gulls\n\nGulls are fed at noon.", "utf-8")
    with KnowledgeBase.open(tmp_path / "kb", create=True) as kb:
        assert warmup.get().searcher().published is None  # made, and nothing in it
        report = kb.ingest(tmp_path / "gulls.md", processes=1)
    assert warmup.get().searcher().snapshot_id == report.snapshot_id
    assert warmup.get().memory is not None
