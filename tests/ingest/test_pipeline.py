"""The ingest as a whole: the same documents give the same index, and nothing is done twice."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphctx.ingest.pipeline import Ingest
from graphctx.ingest.report import IngestReport, Progress, StepName
from graphctx.knowledge_base import KnowledgeBase
from graphctx.nlp.base import Embedder, Extractor, Vectors
from graphctx.nlp.embedders import DEFAULT, make_embedder
from graphctx.nlp.spacy_extractor import SpacyExtractor
from graphctx.settings import IngestSettings
from graphctx.store.snapshot import open_snapshot
from tests.conftest import EFFORT

INGEST = """
import sys
from graphctx.ingest import workers
from graphctx.knowledge_base import KnowledgeBase
workers.SIZE_FOR_MORE_WORKERS = 0
with KnowledgeBase.open(sys.argv[1], create=True, project_id="handbook") as kb:
    print(kb.ingest(sys.argv[2:], processes=2).content_hash)
"""


@pytest.mark.slow
def test_a_shuffled_copy_read_by_two_processes_with_another_hash_seed_gives_the_same_content(
    handbook_report: IngestReport, handbook_folder: Path, tmp_path: Path, python: Callable[..., str]
) -> None:
    copy = tmp_path / "copy"
    files = sorted(path for path in handbook_folder.rglob("*") if path.is_file())
    for path in np.random.default_rng(4).permutation(np.array(files, dtype=object)):
        target = copy / path.relative_to(handbook_folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    assert python(INGEST, tmp_path / "kb", copy, PYTHONHASHSEED="77").strip() == handbook_report.content_hash


NAMES = st.sampled_from(("a.md", "b.md", "deep/c.md"))
TEXTS = (
    "# Harbour Gate\n\nMaren Halloran opens the Harbour Gate at noon. The Sieve feeds the Harbour Gate.\n",
    "# Maren Halloran\n\nShe works for the [Harbour Gate](a.md). Maren Halloran built the Sieve in Port Averil.\n",
    "# Sieve\n\nThe Sieve was built by Maren Halloran. Port Averil pays for the Sieve and for the Harbour Gate.\n",
)
ACTIONS = st.one_of(
    st.tuples(st.just("write"), NAMES, st.sampled_from(TEXTS)),
    st.tuples(st.just("rename"), NAMES, NAMES),
    st.tuples(st.just("remove"), NAMES, st.just("")),
)


@settings(max_examples=max(3, int(20 * EFFORT)), deadline=None, derandomize=True, database=None)
@given(actions=st.lists(ACTIONS, min_size=2, max_size=5))
def test_documents_that_are_added_changed_renamed_and_removed_end_in_the_state_of_a_fresh_ingest(
    actions: list[tuple[str, str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("changes")
    docs = place / "docs"
    docs.mkdir()
    (docs / "stays.md").write_text("# Port Averil\n\nMaren Halloran was born in Port Averil.\n", "utf-8")
    with KnowledgeBase.open(place / "kb", create=True, project_id="test") as kb:
        for action, name, other in actions:
            path = docs / name
            path.parent.mkdir(exist_ok=True)
            if action == "write":
                path.write_text(other, "utf-8")
            elif path.exists() and action == "rename":
                (docs / other).parent.mkdir(exist_ok=True)
                path.replace(docs / other)
            else:
                path.unlink(missing_ok=True)
            report = kb.ingest(docs, prune=True, prune_most=True, processes=1)
    with KnowledgeBase.open(place / "fresh", create=True, project_id="test") as fresh:
        assert report.content_hash == fresh.ingest(docs, processes=1).content_hash


class CountingEmbedder:
    def __init__(self, inner: Embedder) -> None:
        self._inner, self.n_texts = inner, 0
        self.name, self.dimension, self.max_tokens = inner.name, inner.dimension, inner.max_tokens
        self.fingerprint = inner.fingerprint

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.n_texts += len(texts)
        return self._inner.embed(texts)


def ingest(
    kb: KnowledgeBase, folder: Path, extractor: Extractor, **settings: object
) -> tuple[IngestReport, int, list[Progress]]:
    """Ingest with the real models; also how many texts were embedded, and the progress."""
    embedder = CountingEmbedder(make_embedder(DEFAULT))
    told: list[Progress] = []
    report = Ingest(
        kb_dir=kb.path,
        embedder=embedder,
        extractor=extractor,
        settings=IngestSettings(processes=1).model_copy(update=settings),
        on_progress=told.append,
    ).run([folder])
    return report, embedder.n_texts, told


def worked_on(told: list[Progress], step: StepName = "extract") -> int:
    """How many documents, or files, were not taken from the memo."""
    steps = [p for p in told if p.step == step and p.total]
    return steps[-1].total - steps[0].done if steps else 0


def test_only_what_changed_is_read_split_extracted_and_embedded_again(
    make_kb: Callable[..., KnowledgeBase], write_files: Callable[..., Path], tmp_path: Path
) -> None:
    files = {
        f"{name}.md": f"# {name.title()} Gate\n\nThe {name} gate opens at noon. It closes at six."
        for name in ("north", "south", "east")
    }
    kb = make_kb(files)
    folder = tmp_path / "kb-docs"
    report, n_texts, told = ingest(kb, folder, SpacyExtractor())
    assert (report.changed, n_texts) == (False, 0)
    assert {progress.step for progress in told} == {"read"}
    write_files({"south.md": files["south.md"] + " Nobody knows why that is."}, "kb-docs")
    report, n_texts, told = ingest(kb, folder, SpacyExtractor())
    assert (report.replaced, report.unchanged) == (1, 2)
    assert [worked_on(told, step) for step in ("read", "split", "extract")] == [1, 1, 1]
    assert 1 <= n_texts <= 3  # the unit, its last sentence, perhaps one name
    write_files({"south.md": files["south.md"]}, "kb-docs")
    report, n_texts, told = ingest(kb, folder, SpacyExtractor())
    assert (report.replaced, worked_on(told), n_texts) == (1, 0, 0)


def test_another_cap_of_units_makes_another_index_of_the_same_documents(
    make_kb: Callable[..., KnowledgeBase], tmp_path: Path
) -> None:
    kb = make_kb({"a.md": "# Gate\n\n" + "The harbour gate opens at noon, as it always has. " * 40})
    before = kb.snapshot_id
    report, _, _ = ingest(kb, tmp_path / "kb-docs", SpacyExtractor(), unit_tokens=64)
    assert (report.unchanged, report.changed) == (1, True)
    assert report.snapshot_id != before
    assert report.units > 4


SWITCH = """
import sys
from graphctx.knowledge_base import KnowledgeBase
with KnowledgeBase.open(sys.argv[1]) as kb:
    report = kb.ingest(sys.argv[2], processes=1)
    print(report.unchanged, report.changed, report.content_hash)
"""


def test_another_graph_engine_makes_another_snapshot_of_the_same_content(
    make_kb: Callable[..., KnowledgeBase], tmp_path: Path, python: Callable[..., str]
) -> None:
    if find_spec("ladybug") is None:
        pytest.skip("needs the extra graphctx[ladybug]")
    kb = make_kb({"a.md": "# Harbour Gate\n\nMaren Halloran opens the Harbour Gate at noon.\n"})
    before = kb.snapshot_id
    text = (kb.path / "kb.toml").read_text("utf-8")
    (kb.path / "kb.toml").write_text(text.replace('"kuzu"', '"ladybug"'), "utf-8")
    unchanged, changed, content = python(SWITCH, kb.path, tmp_path / "kb-docs").split()
    assert (unchanged, changed) == ("1", "True")
    assert kb.snapshot_id != before
    with open_snapshot(kb.path) as snapshot:
        assert snapshot.manifest.engine == "ladybug"
        assert snapshot.manifest.content_hash == content


@pytest.mark.slow
def test_documents_over_their_limit_are_skipped_and_keep_the_version_that_was_read_before(
    make_kb: Callable[..., KnowledgeBase], write_files: Callable[..., Path]
) -> None:
    kb = make_kb({"tide.md": "# Tides\n\nThe tide tables of Gull Point are kept by Ada Moss."})
    endless = "# Tides\n\n" + "-a" * 45_000  # many thousand words for the parser
    folder = write_files(
        {"tide.md": endless, "fresh.md": endless, "boat.md": "# Boat\n\nThe boat is called Kittiwake."}, "kb-docs"
    )
    report, _, _ = ingest(kb, folder, SpacyExtractor(), document_seconds=1.5)
    assert (report.added, report.replaced, report.documents) == (1, 0, 2)
    reasons = {item.uri: item.reason for item in report.skipped}
    assert reasons["fresh.md"].startswith("extracting from it takes more than 1.5 seconds")
    assert reasons["tide.md"].endswith("the version that was read before is kept")
    with open_snapshot(kb.path) as snapshot:
        texts = {row["uri"]: row["text"] for row in snapshot.table("documents").to_pylist()}
    assert "Ada Moss" in texts["tide.md"]
    assert set(texts) == {"boat.md", "tide.md"}


def test_progress_ends_at_its_total(
    make_kb: Callable[..., KnowledgeBase], write_files: Callable[..., Path], tmp_path: Path
) -> None:
    kb = make_kb({"a.md": "# A\n\nHi. The harbour gate opens at noon.\n"})
    write_files({"b.md": "# B\n\nHi. Yes. The gate opens at noon.\n"}, "kb-docs")
    _, _, told = ingest(kb, tmp_path / "kb-docs", SpacyExtractor())
    last = {progress.step: progress for progress in told if progress.total}
    assert set(last) >= {"read", "split", "extract", "embed"}
    assert all(progress.done == progress.total for progress in last.values())
    for step in last:
        done = [p.done for p in told if p.step == step and p.total]
        assert done == sorted(done)


def test_python_searches_for_cycles_again_after_an_ingest_that_fails(tmp_path: Path) -> None:
    (tmp_path / "gate.md").write_text(TEXTS[0], "utf-8")
    seen: list[bool] = []

    def fail(progress: Progress) -> None:
        if progress.total:
            seen.append(gc.isenabled())
            raise KeyboardInterrupt

    with (
        KnowledgeBase.open(tmp_path / "kb", create=True, project_id="gate") as kb,
        pytest.raises(KeyboardInterrupt),
    ):
        kb.ingest(tmp_path / "gate.md", on_progress=fail)
    assert seen == [False]
    assert gc.isenabled()


def test_the_report_counts_what_the_snapshot_holds(handbook_report: IngestReport, handbook_path: Path) -> None:
    with open_snapshot(handbook_path) as snapshot:
        for name in ("documents", "sections", "units", "sentences", "entities", "mentions", "facts", "communities"):
            assert getattr(handbook_report, name) == snapshot.table(name).num_rows > 0
        assert handbook_report.content_hash == snapshot.manifest.content_hash
    assert handbook_report.skipped == []
    assert handbook_report.words > 15_000


@pytest.mark.parametrize("text", ["x", "# Only a heading", "。"])
def test_a_knowledge_base_of_next_to_nothing_can_be_made_and_asked(
    make_kb: Callable[..., KnowledgeBase], text: str
) -> None:
    kb = make_kb({"a.md": text})
    answer = kb.retrieve_evidence("What is x?")
    assert all(kb.document(q.doc_uri).text[q.start_char : q.end_char] == q.quote for q in answer.quotes)
    assert kb.search("x").limit_reason == "none"
