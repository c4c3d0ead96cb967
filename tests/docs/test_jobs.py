"""The job files that we ship: they are valid, and run on small folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphctx.cli.job import IngestJob, read_job
from graphctx.errors import InvalidArgument
from graphctx.ingest.read.source import Source
from graphctx.knowledge_base import KnowledgeBase

PIPELINES = Path(__file__).parents[2] / "pipelines"
SMALL = {
    "README.md": "---\nstatus: draft\nowner: Ana\n---\n\n# Gate\n\nThe tide gate shuts at noon.\n",
    "decisions/one.md": "# One\n\nThe gate is painted red.\n",
    "graphctx/server/app.py": 'def gate():\n    """Shut the tide gate."""\n',
    "tests/test_app.py": "def test_gate():\n    pass\n",
    "CHANGELOG.md": "# Changes\n\n- The gate shuts.\n",
}
EXPECTED = {
    "handbook": {"README.md": "", "decisions/one.md": ""},
    "documentation-site": {"README.md": "docs draft owner:Ana", "decisions/one.md": "decision docs"},
    "code-repository": {"README.md": "docs", "graphctx/server/app.py": "code component:server"},
    "wiki-dump": {"pages.jsonl#17": "gates harbour wiki", "glossary.csv#spring tide": "glossary"},
    "pdf-archive": {"2023/harbour-report.pdf": "year:2023"},
    "chat-exports": {"messages.jsonl#m-1": "chat", "gate.eml": "mail", "standup.vtt": "call"},
    "mixture": {"README.md": "handbook", "pages.jsonl#18": "harbour signals wiki", "gate.eml": "chat"},
}
LEFT_OUT = {"code-repository": ("tests/test_app.py", "CHANGELOG.md"), "mixture": ("messages.jsonl#m-1",)}


def test_every_job_is_expected_here() -> None:
    assert {file.stem for file in PIPELINES.glob("*.toml")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_job_runs_on_a_small_folder(name: str, tmp_path: Path) -> None:
    for path, text in SMALL.items():
        (tmp_path / "small" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "small" / path).write_text(text)
    job = read_job(PIPELINES / f"{name}.toml")
    assert all(Path(source.path).exists() for source in job.all_sources)
    with KnowledgeBase.open(tmp_path / "kb", create=True, project_id=job.project_id) as kb:
        report = kb.ingest([small(source, tmp_path / "small") for source in job.all_sources], processes=1)
        assert report.skipped == []
        for uri, tags in EXPECTED[name].items():
            assert " ".join(kb.document(uri).tags) == tags
        for uri in LEFT_OUT.get(name, ()):
            with pytest.raises(InvalidArgument):
                kb.document(uri)


def small(source: Source, folder: Path) -> Source:
    """A source of the small folder in place of one outside of the samples."""
    within = Path(source.path).is_relative_to(PIPELINES / "samples")
    return source if within else source.model_copy(update={"path": str(folder)})


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('kb = "x"', "paths or"),
        ('paths = ["https://example.org/start"]', "is a web page; list it in the urls"),
        ('paths = ["docs"]\ncolour = "red"', "colour"),
        ('[[sources]]\npath = "docs"\nurls = ["https://example.org"]', "either a path"),
        ('[[sources]]\npath = "docs"\ninclude = ["!"]', "not a pattern"),
        ('[[sources]]\npath = "docs"\nrules = [{ tag = ["x"] }]', "tag"),
        ('paths = ["docs"]\n[ingest]\nunit_tokens = 1', "unit_tokens"),
    ],
)
def test_a_wrong_job_is_refused_with_the_place_of_its_fault(tmp_path: Path, text: str, fault: str) -> None:
    file = tmp_path / "job.toml"
    file.write_text(text)
    with pytest.raises(InvalidArgument, match=fault):
        read_job(file)


def test_paths_of_a_job_are_relative_to_its_file(tmp_path: Path) -> None:
    file = tmp_path / "job.toml"
    file.write_text('paths = ["docs"]\nkb = "kb"\n[[sources]]\nurl_file = "pages.txt"')
    job = read_job(file)
    assert isinstance(job, IngestJob)
    assert (job.kb, job.all_sources[0].path) == (str(tmp_path / "kb"), str(tmp_path / "docs"))
    assert job.all_sources[1].url_file == str(tmp_path / "pages.txt")
