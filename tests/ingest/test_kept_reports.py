"""The reports that are kept beside the index."""

from __future__ import annotations

from pathlib import Path

from graphctx.ingest.kept_reports import kept_reports
from tests.conftest import MakeKb


def test_the_latest_report_of_each_source_is_kept_until_a_purge(make_kb: MakeKb, tmp_path: Path) -> None:
    kb = make_kb({"a.md": "# A\n\nGulls nest here.", "b.pdf": "no PDF"})
    other = tmp_path / "other"
    other.mkdir()
    (other / "c.md").write_text("# C\n\nTerns nest there.", "utf-8")
    kb.ingest(other, processes=1)
    kept = kept_reports(kb.path)
    assert [report.paths for report in kept] == [[str(other)], [str(tmp_path / "kb-docs")]]
    assert [item.uri for item in kept[1].report.skipped] == ["b.pdf"]
    (tmp_path / "kb-docs" / "b.pdf").unlink()
    kb.ingest(tmp_path / "kb-docs", processes=1)
    assert [report.report.skipped for report in kept_reports(kb.path)] == [[], []]
    kb.purge()
    assert kept_reports(kb.path) == []
