"""A whole ``graphctx ingest`` with a language model at the other end of a socket, and with all that goes wrong there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from e2e.house import graphctx, succeeded
from nlp.llm_stub import Reply, Stub, closed_port, sends, stub

from graphctx.ingest.report import IngestPlan, IngestReport
from graphctx.knowledge_base import KnowledgeBase
from graphctx.store.communities import read_phrased
from graphctx.store.snapshot import open_snapshot

__all__ = ["stub"]

THEMES = {
    "ovens.md": "# Copper Oven\n\nThe Copper Oven bakes the rye bread of Hanne Bruun. Hanne Bruun lights the Copper Oven at "
    "four. The Copper Oven was built in Aarfjord for the rye bread.\n",
    "bread.md": "# Rye bread\n\nHanne Bruun sells rye bread on the Aarfjord market. The Copper Oven gives the rye bread its "
    "crust. Hanne Bruun learned of rye bread in Aarfjord.\n",
    "signal.md": "# Signal box\n\nOtto Lindqvist works the Signal box of the Velden Line. The Signal box sets the points of "
    "the Velden Line. Otto Lindqvist painted the Signal box.\n",
    "line.md": "# Velden Line\n\nThe Velden Line runs past the Signal box to the Brakke tunnel. Otto Lindqvist closes the "
    "Brakke tunnel when the Velden Line floods.\n",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with documents and a knowledge base of them, made without a language model."""
    folder = tmp_path_factory.mktemp("phrasing")
    for name, text in THEMES.items():
        (folder / "docs").mkdir(exist_ok=True)
        (folder / "docs" / name).write_text(text, "utf-8")
    with KnowledgeBase.open(folder / "kb", create=True) as base:
        base.ingest(folder / "docs", processes=1)
    return folder


@pytest.fixture
def kb(made: Path, tmp_path: Path) -> Path:
    """A knowledge base of its own for a test; its documents are in ``docs`` beside it."""
    shutil.copytree(made / "docs", tmp_path / "docs")
    shutil.copytree(made / "kb", tmp_path / "kb")
    config = tmp_path / "kb" / "kb.toml"
    config.write_text(config.read_text("utf-8").replace(str(made / "docs"), str(tmp_path / "docs")), "utf-8")
    return tmp_path / "kb"


def by_command(kb: Path, *options: str, **variables: str) -> dict[str, Any]:
    done = graphctx("ingest", kb.parent / "docs", "--kb", kb, "--processes", 1, "--json", *options, **variables)
    report: dict[str, Any] = json.loads(succeeded(done))
    return report


def ingest(kb: Path, **variables: str) -> IngestReport:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        with KnowledgeBase.open(kb) as base:
            return base.ingest(kb.parent / "docs", processes=1)


def plan(kb: Path, prune: bool = False, **variables: str) -> IngestPlan:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        with KnowledgeBase.open(kb) as base:
            return base.plan_ingest(kb.parent / "docs", processes=1, prune=prune)


def endpoint(stub: Stub, **variables: str) -> dict[str, str]:
    """The settings of a language model, as the environment gives them."""
    given = {"BASE_URL": stub.url, "MODEL": "stub", "TIMEOUT_SECONDS": "0.5", "MAX_RETRIES": "0", "CONCURRENCY": "1"}
    return {f"GRAPHCTX_LLM__{name}": value for name, value in (given | variables).items()}


def rows_of(kb: Path) -> tuple[list[dict[str, Any]], Callable[[int], str]]:
    """The communities, and the text of a sentence by its row."""
    with open_snapshot(kb) as snapshot:
        tables = {name: snapshot.table(name).to_pylist() for name in ("communities", "sentences", "units", "documents")}

    def sentence(row: int) -> str:
        found = tables["sentences"][row]
        text = tables["documents"][tables["units"][found["unit_row"]]["doc_row"]]["text"]
        return str(text[found["start_char"] : found["end_char"]])

    return tables["communities"], sentence


def test_phrased_summaries_keep_their_citations_and_are_asked_for_once(kb: Path, stub: Stub) -> None:
    report = ingest(kb, **endpoint(stub))
    rows, sentence = rows_of(kb)
    asked = len(rows)
    assert report.changed
    assert report.phrasing is not None
    assert (report.phrasing.model, report.phrasing.asked, report.phrasing.answered) == ("stub", asked, asked)
    assert (report.phrasing.input_tokens, report.phrasing.output_tokens) == (100 * asked, 10 * asked)
    assert (report.not_phrased, report.notes) == (0, [])
    for row in rows:
        (said,) = read_phrased(row["phrased"])
        assert said.rows == (row["summary_rows"][0],)
        assert said.text == sentence(said.rows[0])
    unchanged = ingest(kb, **endpoint(stub))
    assert (unchanged.changed, unchanged.phrasing) == (False, None)
    (kb.parent / "docs" / "more.md").write_text("Nothing is said here.", "utf-8")
    again = ingest(kb, **endpoint(stub)).phrasing
    assert again is not None
    assert (again.asked, again.from_memo) == (0, asked)
    assert len(stub.requests) == asked


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (None, "cannot be reached"),
        (sends(200, b"<html>\xff not json"), "not a chat completion"),
    ],
    ids=["unreachable", "garbage"],
)
def test_no_fault_of_the_endpoint_fails_an_ingest_and_the_report_says_what_stayed_extractive_and_why(
    kb: Path, stub: Stub, fault: Reply | None, why: str
) -> None:
    variables = endpoint(stub) if fault else endpoint(stub, BASE_URL=f"http://127.0.0.1:{closed_port()}/v1")
    stub.otherwise = fault or stub.otherwise
    report = by_command(kb, **variables)
    rows, _ = rows_of(kb)
    assert [row["phrased"] for row in rows] == [None] * len(rows)
    assert all(row["summary_rows"] for row in rows)
    assert report["not_phrased"] == report["phrasing"]["asked"] == len(rows) >= 2
    assert report["phrasing"]["answered"] == 0
    (note,) = report["notes"]
    assert f"for {len(rows)} of {len(rows)} texts; these remain extractive" in note
    assert why in note


def test_what_failed_is_tried_again_by_the_next_ingest_though_no_document_changed(kb: Path, stub: Stub) -> None:
    stub.script = [sends(500)]
    first = ingest(kb, **endpoint(stub))
    assert first.phrasing is not None
    assert (first.not_phrased, first.phrasing.answered) == (1, first.phrasing.asked - 1)
    second = ingest(kb, **endpoint(stub))
    assert second.phrasing is not None
    assert (second.not_phrased, second.phrasing.asked) == (0, 1)
    assert second.changed
    assert second.content_hash == first.content_hash
    assert all(row["phrased"] for row in rows_of(kb)[0])


def test_a_model_without_an_address_or_an_address_without_a_model_is_refused_and_neither_is_none(
    kb: Path, stub: Stub
) -> None:
    for name in ("BASE_URL", "MODEL"):
        done = graphctx("ingest", kb.parent / "docs", "--kb", kb, **endpoint(stub, **{name: ""}))
        assert done.returncode == 1
        assert f"Setting llm.{name.lower()} is empty although" in done.stderr
    assert ingest(kb, **endpoint(stub, BASE_URL="", MODEL="")).phrasing is None
    assert stub.requests == []


def test_a_person_reads_how_many_summaries_were_phrased_and_what_stayed_extractive(kb: Path, stub: Stub) -> None:
    stub.script = [sends(500)]
    told = succeeded(graphctx("ingest", kb.parent / "docs", "--kb", kb, **endpoint(stub)))
    n = len(rows_of(kb)[0])
    spent = f"{(n - 1) * 100} tokens in, {(n - 1) * 10} out"
    assert f"stub phrased {n - 1} of {n} summaries, 0 more were kept from before: {spent}" in told
    assert f"stub returned nothing usable for 1 of {n} texts; these remain extractive. 1 × server_error" in told


def everything_below(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.parent.name != "cache"
    }


def test_a_dry_run_says_what_would_change_and_changes_nothing(kb: Path, stub: Stub) -> None:
    docs = kb.parent / "docs"
    (docs / "more.md").write_text("# More\n\nThe Copper Oven has a door.", "utf-8")
    (docs / "bread.md").write_text(THEMES["bread.md"] + "\nIt is dark.", "utf-8")
    (docs / "line.md").unlink()
    before = everything_below(kb)
    made = by_command(kb, "--dry-run")
    assert (made["added"], made["replaced"], made["removed"]) == (["more.md"], ["bread.md"], [])
    assert (made["no_longer_found"], made["unchanged"], made["documents"]) == (["line.md"], 2, 5)
    assert (made["builds"], made["phrasing"]) == (True, None)
    assert plan(kb, prune=True).removed == ["line.md"]
    prices = endpoint(stub, INPUT_PRICE="2", OUTPUT_PRICE="4")
    estimate = plan(kb, **prices).phrasing
    assert estimate is not None
    assert stub.requests == []
    assert everything_below(kb) == before
    report = ingest(kb, **prices)
    assert report.phrasing is not None
    assert report.phrasing.asked == estimate.calls == len(stub.requests)
    assert estimate.cost == pytest.approx((estimate.input_tokens * 2 + estimate.output_tokens * 4) / 1e6)
    idle = plan(kb, **prices)
    assert not idle.builds
    assert idle.snapshot_id == report.snapshot_id
    assert (idle.added, idle.replaced, idle.removed, idle.phrasing) == ([], [], [], None)


def test_a_dry_run_for_a_knowledge_base_that_is_not_there_leaves_none(made: Path, tmp_path: Path, stub: Stub) -> None:
    shutil.copytree(made / "docs", tmp_path / "docs")
    told = succeeded(graphctx("ingest", tmp_path / "docs", "--kb", tmp_path / "fresh", "--dry-run", **endpoint(stub)))
    assert "fresh · dry run: would publish · nothing is published yet" in told
    assert "Would be added, 4" in told
    assert f"stub would be asked {len(rows_of(made / 'kb')[0])} times" in told
    assert stub.requests == []
    assert [path.name for path in tmp_path.iterdir()] == ["docs"]
