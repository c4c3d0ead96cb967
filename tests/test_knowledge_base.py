"""The façade: one knowledge base, to fill and to ask."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from graphctx import KnowledgeBase
from graphctx.errors import BackendUnavailable, InvalidArgument, ScopeViolation
from graphctx.model.answers import EvidenceAnswer, SearchAnswer
from graphctx.model.requests import Filters, Scope, SearchInput
from graphctx.store import snapshot

Make = Callable[..., KnowledgeBase]
GATE = {"a.md": "# Harbour Gate\n\nMaren Halloran opens the Harbour Gate at noon.\n"}


def test_there_is_none_until_one_is_made(tmp_path: Path) -> None:
    with pytest.raises(BackendUnavailable, match="no knowledge base here"):
        KnowledgeBase.open(tmp_path / "kb")
    assert not (tmp_path / "kb").exists()
    KnowledgeBase.open(tmp_path / "kb", create=True).close()
    assert KnowledgeBase.open(tmp_path / "kb").project_id == "kb"


def test_the_project_is_named_after_the_folder_that_holds_it(tmp_path: Path) -> None:
    assert KnowledgeBase.open(tmp_path / "harbour" / ".graphctx", create=True).project_id == "harbour"
    assert (
        KnowledgeBase.open(tmp_path / "harbour" / ".graphctx", create=True, project_id="harbour").project_id
        == "harbour"
    )


def test_another_project_engine_or_embedder_than_its_own_is_refused(make_kb: Make) -> None:
    kb = make_kb(GATE)
    with pytest.raises(ScopeViolation, match="'test'"):
        KnowledgeBase.open(kb.path, project_id="other")
    with pytest.raises(InvalidArgument, match="engine"):
        KnowledgeBase.open(kb.path, engine="ladybug")
    with pytest.raises(InvalidArgument, match="embedder"):
        KnowledgeBase.open(kb.path, embedder="st:any/model")
    KnowledgeBase.open(kb.path, project_id="test", engine="kuzu", embedder="minilm-int8").close()


@pytest.mark.parametrize(
    "wrong", [{"engine": "sqlite"}, {"embedder": "word2vec"}, {"project_id": ""}, {"project_id": "x" * 201}]
)
def test_a_wrong_choice_makes_nothing(tmp_path: Path, wrong: dict[str, str]) -> None:
    with pytest.raises(InvalidArgument):
        KnowledgeBase.open(tmp_path / "kb", create=True, **wrong)
    assert not (tmp_path / "kb" / "kb.toml").exists()


def test_a_folder_with_a_long_name_gives_a_project_that_a_scope_can_name(tmp_path: Path) -> None:
    with KnowledgeBase.open(tmp_path / ("k" * 230), create=True) as kb:
        assert kb.search("x", scope={"project_id": kb.project_id}).empty_reason == "no_snapshot"


def test_a_file_is_no_knowledge_base(tmp_path: Path) -> None:
    (tmp_path / "kb").write_text("x")
    with pytest.raises(InvalidArgument, match="is a file"):
        KnowledgeBase.open(tmp_path / "kb", create=True)


def test_answers_carry_scope_budget_and_snapshot(make_kb: Make) -> None:
    kb = make_kb(GATE)
    found, answer = kb.search("Who opens the gate?"), kb.retrieve_evidence("Who opens the gate?")
    assert isinstance(found, SearchAnswer)
    assert isinstance(answer, EvidenceAnswer)
    assert found.snapshot_id == answer.diagnostics.snapshot_id == kb.snapshot_id
    for one in (found, answer):
        assert one.scope == Scope(project_id="test", environment="dev")
        assert 0 < one.budget.tokens <= one.budget.max_tokens
        assert len(one.model_dump_json().encode()) <= one.budget.max_bytes
        assert type(one).model_validate_json(one.model_dump_json()) == one
    assert answer.quotes[0].quote == "Maren Halloran opens the Harbour Gate at noon."


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda kb: kb.search(""), "query"),
        (lambda kb: kb.search(" \n"), "query"),
        (lambda kb: kb.search("x", top_k=0), "top_k"),
        (lambda kb: kb.search("x", max_snippet_chars=5), "max_snippet_chars"),
        (lambda kb: kb.search("x", mode="magic"), "mode"),
        (lambda kb: kb.search("x", layers=5), "layers"),
        (lambda kb: kb.search("x", filters={"path": "a"}), "filters"),
        (lambda kb: kb.search("x", filters={"updated_after": "soon"}), "updated_after"),
        (lambda kb: kb.retrieve_evidence("x", max_quotes=21), "max_quotes"),
        (lambda kb: kb.retrieve_evidence("x", max_quote_tokens=7), "max_quote_tokens"),
    ],
)
def test_a_value_out_of_range_is_named_in_the_error(
    handbook_kb: KnowledgeBase, call: Callable[[KnowledgeBase], Any], field: str
) -> None:
    with pytest.raises(InvalidArgument, match=field) as caught:
        call(handbook_kb)
    assert field in caught.value.details["field"]


def test_the_budget_of_a_response_holds_and_says_what_was_cut(
    handbook_path: Path, golden: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHCTX_SERVER__MAX_TOKENS", "900")
    with KnowledgeBase.open(handbook_path) as kb:
        for item in golden[:10]:
            answer = kb.retrieve_evidence(item["question"], max_quotes=20, max_quote_tokens=200, top_k=20)
            assert answer.budget.tokens <= 900
            assert (answer.limit_reason, answer.truncated, answer.partial) == ("token_cap", True, True)
            assert answer.quotes
            found = kb.search(item["question"], top_k=50)
            assert found.budget.tokens <= 900
            assert (found.limit_reason, found.truncated) == ("token_cap", True)
    # The least that the settings allow still has room for the start of a quote.
    monkeypatch.setenv("GRAPHCTX_SERVER__MAX_TOKENS", "256")
    with KnowledgeBase.open(handbook_path) as kb:
        least = kb.retrieve_evidence(golden[0]["question"], max_quote_tokens=200, include_context_tokens=100)
        assert least.budget.tokens <= 256
        assert (least.limit_reason, least.truncated, len(least.quotes)) == ("token_cap", True, 1)
        (quote,) = least.quotes
        assert kb.document(quote.doc_uri).text[quote.start_char : quote.end_char] == quote.quote


def test_a_snapshot_that_another_process_publishes_is_seen_by_the_next_call(
    make_kb: Make, write_files: Callable[..., Path], tmp_path: Path
) -> None:
    writer = make_kb(GATE)
    with (
        KnowledgeBase.open(writer.path) as reader,
        KnowledgeBase.open(writer.path, snapshot_id=writer.snapshot_id) as pinned,
    ):
        before = reader.search("gate").snapshot_id
        write_files({"b.md": "# Sieve\n\nThe Sieve flags bad readings.\n"}, "kb-docs")
        after = writer.ingest(tmp_path / "kb-docs").snapshot_id
        assert before != after
        assert reader.search("What does the Sieve do?").results[0].doc_uri == "b.md"
        assert reader.snapshot_id == after
        assert pinned.search("What does the Sieve do?").snapshot_id == before
        assert {result.doc_uri for result in pinned.search("Sieve", top_k=10).results} == {"a.md"}


SIEVE = {"b.md": "# Sieve\n\nThe Sieve flags bad readings.\n"}


def test_a_searcher_stays_with_its_snapshot(make_kb: Make, write_files: Callable[..., Path], tmp_path: Path) -> None:
    kb = make_kb(GATE)
    searcher = kb.searcher()
    before = searcher.snapshot_id
    unit = searcher.search(SearchInput(query="gate")).items[0].section_id
    write_files(SIEVE, "kb-docs")
    write_files({"a.md": "# Harbour Gate\n\nNobody opens it now.\n"}, "kb-docs")
    after = kb.ingest(tmp_path / "kb-docs").snapshot_id
    assert kb.searcher().snapshot_id == after != before
    assert searcher.snapshot_id == searcher.search(SearchInput(query="Sieve")).snapshot_id == before
    assert searcher.unit(unit).text.endswith("Maren Halloran opens the Harbour Gate at noon.")
    with pytest.raises(InvalidArgument):
        kb.unit(unit)


def test_calls_do_not_wait_while_a_new_snapshot_is_opened(
    make_kb: Make, write_files: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = make_kb(GATE)
    opening, go_on = threading.Event(), threading.Event()

    def open_when_told(*arguments: Any) -> snapshot.Snapshot:
        opening.set()
        assert go_on.wait(60)
        return real(*arguments)

    real = snapshot.open_snapshot
    with KnowledgeBase.open(writer.path) as reader, ThreadPoolExecutor(1) as pool:
        before = reader.search("gate").snapshot_id
        write_files(SIEVE, "kb-docs")
        after = writer.ingest(tmp_path / "kb-docs").snapshot_id
        monkeypatch.setattr(snapshot, "open_snapshot", open_when_told)
        late = pool.submit(reader.search, "gate")
        try:
            assert opening.wait(60)
            assert reader.search("gate").snapshot_id == before
        finally:
            go_on.set()
        assert late.result().snapshot_id == reader.search("gate").snapshot_id == after


def test_a_snapshot_that_goes_while_it_is_opened_gives_way_to_its_successor(
    make_kb: Make, write_files: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = make_kb(GATE)
    before = writer.snapshot_id
    write_files(SIEVE, "kb-docs")
    after = writer.ingest(tmp_path / "kb-docs").snapshot_id
    writer.close()
    shutil.rmtree(writer.path / "snapshots" / before)
    answers = iter([before])  # what CURRENT said just before
    real = snapshot.current_id
    monkeypatch.setattr(snapshot, "current_id", lambda kb_dir: next(answers, None) or real(kb_dir))
    with KnowledgeBase.open(writer.path) as reader:
        assert reader.search("Sieve").snapshot_id == after


def test_threads_get_the_answers_that_one_alone_gets(handbook_path: Path, golden: list[dict[str, Any]]) -> None:
    questions = [item["question"] for item in golden[:16]]
    with KnowledgeBase.open(handbook_path) as kb:
        alone = [kb.retrieve_evidence(question).model_dump_json() for question in questions]
    with KnowledgeBase.open(handbook_path) as kb:
        gate = threading.Barrier(4)

        def ask(question: str) -> str:
            if question in questions[:4]:
                gate.wait(30)
            return kb.retrieve_evidence(question).model_dump_json()

        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(ask, questions)) == alone


def test_a_closed_knowledge_base_opens_again_when_it_is_asked(make_kb: Make) -> None:
    kb = make_kb(GATE)
    before = kb.search("gate").model_dump_json()
    kb.close()
    assert kb.search("gate").model_dump_json() == before


def test_an_unknown_document_or_passage_is_an_error_that_helps(make_kb: Make) -> None:
    kb = make_kb(GATE)
    with pytest.raises(InvalidArgument, match=r"nope\.md"):
        kb.document("nope.md")
    with pytest.raises(InvalidArgument, match="Search again"):
        kb.unit("u_nothing")
    assert kb.document(kb.document("a.md").id) == kb.document("a.md")


def test_nothing_but_a_search_works_before_the_first_ingest(tmp_path: Path) -> None:
    with KnowledgeBase.open(tmp_path / "kb", create=True) as kb:
        assert kb.search("x").results == []
        assert kb.retrieve_evidence("x").quotes == []
        for call in (lambda: kb.document("a"), lambda: kb.unit("u"), lambda: kb.cypher("MATCH (n) RETURN n")):
            with pytest.raises(BackendUnavailable, match="graphctx ingest"):
                call()
        kb.warm()


def test_the_graph_answers_cypher_and_cannot_be_changed(make_kb: Make) -> None:
    kb = make_kb(GATE)
    assert kb.cypher("MATCH (d:Document) WHERE d.uri = $uri RETURN d.title", {"uri": "a.md"}).rows == [
        ("Harbour Gate",)
    ]
    with pytest.raises(InvalidArgument):
        kb.cypher("MATCH (d:Document) DELETE d")


def test_filters_may_be_given_as_a_model_or_a_mapping(handbook_kb: KnowledgeBase) -> None:
    by_model = handbook_kb.search("Who?", top_k=9, filters=Filters(path_prefix="people/"))
    by_mapping = handbook_kb.search("Who?", top_k=9, filters={"path_prefix": "people/"})
    assert by_model == by_mapping
    assert by_model.results
