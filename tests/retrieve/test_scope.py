"""Scope: what is outside is as good as not there, in every path of a question and in every figure of its answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.errors import InvalidArgument, TimedOut
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.interrupt import stoppable
from graphctx.model.requests import ExtractEvidenceInput, Filters, RetrieveInput, Scope, SearchInput
from graphctx.model.scope import within
from graphctx.retrieve import index as index_module
from graphctx.retrieve import ranking as ranking_module
from graphctx.retrieve.arrays import SparseScores
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import parse_question
from graphctx.retrieve.scope import moment
from graphctx.retrieve.searcher import Searcher
from graphctx.retrieve.stages.graph import GraphExpansion
from tests.conftest import MakeKb
from tests.retrieve.carving import carve
from tests.retrieve.test_ranking import QUESTION, VALLEYS

ASKED = [
    QUESTION,
    "When does the fish market open?",
    "What can be heard from the road to Brenholt?",
    "Who wrestles at the summer fair of Marlund?",
    "Who is Zorbas?",
]

PILE = {
    f"pile/{day:02}.txt": f"It was said on day {day} that a waterfall of Marlund can be heard from Brenholt, and that "
    "the Oskar River has a fish market.\nThen it was said that horses drop into a pool near Tavia, and that Senna has "
    "trams.\n"
    for day in range(60)
}
"""Twelve times as many documents with the same words and names, none of which they define. No question asks for a place:
labels of entities are decided for the whole corpus."""


def answers(searcher: Searcher, question: str, scope: Scope, filters: Filters) -> list[Any]:
    """Everything that retrieval says, with every score, before pages and budgets."""
    evidence = searcher.evidence(
        RetrieveInput(question=question, scope=scope, filters=filters, max_quotes=20, top_k=10)
    )
    options = {"max_per_doc": 3, "include_scores": True, "include_debug": True}
    request = SearchInput(query=question, scope=scope, filters=filters, top_k=50, options=options)
    found = searcher.search(request)
    by_words = searcher.evidence(
        RetrieveInput(question=question, scope=scope, filters=filters, options={"rerank": False})
    )
    return [
        [item.model_dump() for item in (*evidence.items, *found.items, *by_words.items)],
        (evidence.stages, evidence.empty_reason, list(evidence.nearest), evidence.candidates),
    ]


@pytest.fixture(scope="module")
def index(handbook_kb: KnowledgeBase) -> SearchIndex:
    return handbook_kb.searcher().index


@pytest.fixture
def fresh(index: SearchIndex) -> SearchIndex:
    """The handbook's index, with no scope made yet."""
    return SearchIndex(index.snapshot, index.embedder)


SCOPES = [
    (Scope(repositories=["systems"]), Filters()),
    (Scope(repositories=["people", "teams"]), Filters()),
    (Scope(repositories=["incidents", "procedures", "policies", "people"]), Filters(path_prefix="p")),
    (Scope(), Filters(path_prefix="stations/")),
]


@pytest.mark.parametrize(("scope", "filters"), SCOPES)
def test_answers_within_a_scope_are_those_of_a_knowledge_base_of_nothing_else(
    handbook_kb: KnowledgeBase, golden: list[dict[str, Any]], tmp_path: Path, scope: Scope, filters: Filters
) -> None:
    searcher = handbook_kb.searcher()
    documents = searcher.index.document_filter.visible(scope, filters)
    assert 0 < documents.sum() < len(documents)
    quoted = 0
    with carve(searcher.index.snapshot, documents, tmp_path / "kb") as alone:
        for item in golden[::2]:
            within_scope = answers(searcher, item["question"], scope, filters)
            assert within_scope == answers(alone.searcher(), item["question"], Scope(), Filters())
            quoted += len(within_scope[0])
    assert quoted > 100


def test_a_pile_of_other_documents_beside_changes_nothing_within_a_scope(make_kb: MakeKb) -> None:
    valley = {f"valley/{name}": text for name, text in VALLEYS.items()}
    alone, crowded = make_kb(valley, "alone"), make_kb({**valley, **PILE}, "crowded")
    scope = Scope(repositories=["valley"])
    changed = 0
    for question in ASKED:
        expected = answers(alone.searcher(), question, scope, Filters())
        assert answers(crowded.searcher(), question, scope, Filters()) == expected
        changed += answers(crowded.searcher(), question, Scope(), Filters()) != expected
    assert changed == len(ASKED)


@pytest.fixture(scope="module")
def masks(index: SearchIndex) -> Callable[[int], np.ndarray]:
    n = index.documents.num_rows

    def draw(seed: int) -> np.ndarray:
        rng = np.random.default_rng(seed)
        mask: np.ndarray = rng.random(n) < rng.choice([0.1, 0.5, 0.9])
        mask[rng.integers(n)] = True
        return mask

    return draw


@given(seed=st.integers(0, 10_000), asked=st.integers(0, 62))
def test_the_walk_neither_reaches_nor_passes_through_nor_counts_what_is_outside(
    index: SearchIndex, golden: list[dict[str, Any]], masks: Callable[[int], np.ndarray], seed: int, asked: int
) -> None:
    part = index.part(masks(seed))
    seen = part.visible_rows
    question = parse_question(golden[asked]["question"], part)
    seeds = SparseScores(seen, np.ones(len(seen), dtype=np.float32))
    expanded = GraphExpansion()(part, question, seeds, seen)
    inside = np.unique(index.walk.pair_entity[np.isin(index.walk.pair_unit, seen)])
    for edges in expanded.edges.values():
        assert np.isin(edges.target, seen).all()
        assert np.isin(edges.source, seen).all()
        assert np.isin(edges.entity, inside).all()
        carried_in = np.searchsorted(index.walk.unit_sentence, edges.sentence, side="right") - 1
        assert (carried_in == edges.source).all()
    assert np.isin(question.entities, inside).all()
    walk = part.walk
    assert walk.n_counted == len(seen)
    assert np.isin(walk.pair_unit, seen).all()
    assert np.isin(walk.definition_unit, seen).all()
    assert np.isin(walk.name_entity, inside).all()
    for entity in inside[:: max(1, len(inside) // 20)]:
        units = walk.pair_unit[walk.entity_pair[walk.entity_ptr[entity] : walk.entity_ptr[entity + 1]]]
        mine = index.walk.entity_pair[index.walk.entity_ptr[entity] : index.walk.entity_ptr[entity + 1]]
        assert units.tolist() == [row for row in index.walk.pair_unit[mine].tolist() if row in set(seen.tolist())]


TAGS = st.lists(st.sampled_from(["safety", "data", "team", "procedure", "none-has-it"]), max_size=2)
FOLDERS = st.lists(st.sampled_from(["people", "people/", "peop", "systems", "nowhere"]), max_size=2)


@given(
    TAGS, FOLDERS, TAGS, st.sampled_from([None, "p", "people/", "zz"]), st.sampled_from([None, "2024-01-31", "2999"])
)
def test_the_documents_that_are_left_are_those_that_every_rule_leaves(
    index: SearchIndex, tags: list[str], folders: list[str], tag: list[str], prefix: str | None, after: str | None
) -> None:
    after = "2999-01-01" if after == "2999" else after
    scope = Scope(doc_tags=tags, repositories=folders)
    filters = Filters(doc_tag=tag, path_prefix=prefix, updated_after=after)
    left = index.document_filter.visible(scope, filters)
    for row, document in enumerate(index.documents.to_pylist()):
        stated = document["updated_at"] or document["mtime"]
        assert left[row] == (
            within(tags, folders)(document["tags"], document["uri"])
            and within(tag)(document["tags"], document["uri"])
            and document["uri"].startswith(prefix or "")
            and (after is None or (stated is not None and moment(stated) > moment(after)))
        )
    part = index.within(scope, filters)
    assert (part.empty_reason(Scope(), Filters()) is None) == left.any()
    assert part.visible_rows.tolist() == np.flatnonzero(left[index.walk.unit_doc]).tolist()
    assert (part is index) == left.all()


NOWHERE, ELSEWHERE = {"path_prefix": "nowhere/"}, {"doc_tag": ["none-has-it"]}


@pytest.mark.parametrize(
    ("scope", "filters", "reason", "by"),
    [
        ({"repositories": ["nowhere"]}, {}, "nothing_in_scope", ["scope.repositories"]),
        ({"doc_tags": ["none-has-it"]}, NOWHERE, "nothing_in_scope", ["scope.doc_tags"]),
        (
            {"doc_tags": ["none-has-it"], "repositories": ["nowhere"]},
            {},
            "nothing_in_scope",
            ["scope.doc_tags", "scope.repositories"],
        ),
        ({}, NOWHERE, "filtered_out", ["filters.path_prefix"]),
        ({"repositories": ["people"]}, {"path_prefix": "systems/"}, "filtered_out", ["filters.path_prefix"]),
        (
            {},
            {**NOWHERE, **ELSEWHERE, "updated_after": "1990-01-01"},
            "filtered_out",
            ["filters.doc_tag", "filters.path_prefix"],
        ),
        ({}, {"updated_after": "2999-01-01"}, "filtered_out", ["filters.updated_after"]),
        ({}, {"path_prefix": "people/", "doc_tag": ["boats"]}, None, []),
    ],
)
def test_an_answer_from_no_documents_names_the_arguments_that_leave_none(
    handbook_kb: KnowledgeBase, scope: dict[str, Any], filters: dict[str, Any], reason: str | None, by: list[str]
) -> None:
    if reason is None:  # each leaves some, both together none
        uris = handbook_kb.searcher().index.documents["uri"].to_pylist()
        tags = handbook_kb.searcher().index.documents["tags"].to_pylist()
        others = {tag for uri, own in zip(uris, tags, strict=True) if not uri.startswith("people/") for tag in own}
        inside = {tag for uri, own in zip(uris, tags, strict=True) if uri.startswith("people/") for tag in own}
        filters = {"path_prefix": "people/", "doc_tag": [min(others - inside)]}
        reason, by = "filtered_out", ["filters.doc_tag", "filters.path_prefix"]
    for answer in (
        handbook_kb.search("gate", scope=scope, filters=filters),
        handbook_kb.retrieve_evidence("gate", scope=scope, filters=filters),
    ):
        assert (answer.empty_reason, answer.filtered_by) == (reason, by)


def test_an_answer_without_documents_says_so_whatever_the_scope(make_kb: MakeKb, tmp_path: Path) -> None:
    kb = make_kb({"a.md": "# A\n\nA gate.\n"})
    index = kb.searcher().index
    with carve(index.snapshot, np.zeros(1, dtype=bool), tmp_path / "none") as empty:
        assert empty.searcher().index.empty_reason(Scope(repositories=["x"]), Filters()) is not None
        answer = empty.search("gate", scope={"repositories": ["x"]})
        assert (answer.empty_reason, answer.filtered_by) == ("empty_knowledge_base", [])


def test_a_scope_is_narrowed_once_and_the_last_ones_are_kept(
    fresh: SearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_module, "_KEPT_SCOPES", 2)
    people, systems, teams = (Scope(repositories=[name]) for name in ("people", "systems", "teams"))
    everything = Filters(path_prefix="")
    assert fresh.within(Scope(), Filters()) is fresh
    assert fresh.within(Scope(project_id="handbook", environment="dev"), everything) is fresh
    first = fresh.within(people, Filters())
    assert fresh.within(people.model_copy(update={"project_id": "handbook"}), Filters()) is first
    fresh.within(systems, Filters())
    assert fresh.within(people, Filters()) is first
    fresh.within(teams, Filters())
    assert fresh.within(people, Filters()) is first
    assert fresh.within(teams, Filters()) is not first
    narrower = first.within(Scope(), Filters(path_prefix="people/ingrid"))
    assert narrower.visible_rows.tolist() == [
        row
        for row in first.visible_rows
        if fresh.text_of(int(fresh.walk.unit_doc[row])).uri.startswith("people/ingrid")
    ]
    assert not len(first.within(systems, Filters()).visible_rows)


def test_what_the_settings_keep_out_is_kept_out_of_every_way_in_but_the_owners(
    handbook_path: Path, handbook_kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, golden: list[dict[str, Any]]
) -> None:
    outside = handbook_kb.search("telemetry", filters={"path_prefix": "systems/"}).results[0]
    monkeypatch.setenv("GRAPHCTX_SERVER__REPOSITORIES", '["people"]')
    with KnowledgeBase.open(handbook_path) as kb:
        for read in (kb.document, kb.unit, kb.searcher().unit, kb.searcher().index.document):
            for name in (outside.doc_uri, outside.doc_id, outside.section_id):
                with pytest.raises(InvalidArgument, match="There is no"):
                    read(name)
        inside = kb.search("telemetry").results[0]
        assert kb.document(inside.doc_uri).text[inside.start_char : inside.end_char] == inside.preview
        for item in golden[::6]:
            unasked = answers(kb.searcher(), item["question"], Scope(), Filters())
            assert unasked == answers(
                handbook_kb.searcher(), item["question"], Scope(repositories=["people"]), Filters()
            )
        empty = kb.searcher().index.empty_reason(Scope(repositories=["systems"]), Filters())
        assert empty is not None
        assert (empty.reason, empty.filtered_by) == ("nothing_in_scope", ("scope.repositories",))
        assert (
            kb.cypher("MATCH (d:Document) RETURN count(d)").rows
            == handbook_kb.cypher("MATCH (d:Document) RETURN count(d)").rows
        )
    monkeypatch.setenv("GRAPHCTX_SERVER__REPOSITORIES", '["nowhere"]')
    with KnowledgeBase.open(handbook_path) as kb:
        answer = kb.search("telemetry")
        assert (answer.empty_reason, answer.filtered_by) == ("nothing_in_scope", ["scope.repositories"])
        assert answers(kb.searcher(), "telemetry", Scope(), Filters())[0] == []


@pytest.mark.parametrize("call", ["search", "evidence", "extract"])
def test_a_call_that_was_given_up_ends_before_the_next_stage(
    index: SearchIndex, handbook_kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    searcher = Searcher(
        SearchIndex(index.snapshot, index.embedder),
        handbook_kb.searcher().boundary,
        handbook_kb.tokens,
        handbook_kb.settings.retrieve,
    )
    unit = handbook_kb.search("Who approves a purchase?").results[0].section_id
    calls = {
        "search": lambda: searcher.search(SearchInput(query="Who approves a purchase?")),
        "evidence": lambda: searcher.evidence(RetrieveInput(question="Who approves a purchase?")),
        "extract": lambda: searcher.extract(
            ExtractEvidenceInput(question="Who approves a purchase?", passage_ids=[unit]), [unit]
        ),
    }
    stopped = threading.Event()
    with stoppable(stopped):
        assert calls[call]().items
        stopped.set()
        for stage in ("hybrid_scores", "defining_units"):
            monkeypatch.setattr(ranking_module, stage, lambda *_args: pytest.fail("it went on"))
        with pytest.raises(TimedOut):
            calls[call]()


def test_threads_with_different_scopes_do_not_mix(
    fresh: SearchIndex, golden: list[dict[str, Any]], handbook_kb: KnowledgeBase
) -> None:
    known = handbook_kb.searcher()
    searcher = Searcher(fresh, known.boundary, handbook_kb.tokens, handbook_kb.settings.retrieve)
    jobs = [(item["question"], *SCOPES[at % len(SCOPES)]) for at, item in enumerate(golden[:24])]
    alone = [answers(known, *job) for job in jobs]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda job: answers(searcher, *job), jobs)) == alone
