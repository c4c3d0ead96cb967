"""Entities measured against gold entities: by hand-counted cases, and on a small knowledge base made for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.errors import InvalidArgument
from graphctx.eval.entities import run_entity_suite
from graphctx.eval.entities_gold import GoldDocument, GoldMention, gold_documents, read_gold
from graphctx.eval.entities_measures import Found, cluster_scores, entity_of, span_scores
from graphctx.knowledge_base import KnowledgeBase

TEXT = "Ada Poe leads the Harbour Team in Dunmarrow."


def row(**changes: object) -> dict[str, object]:
    entities = [
        {"id": 0, "name": "Ada Poe", "type": "Peop", "mentions": [[0, 7]]},
        {"id": 1, "name": "Harbour Team", "type": "Org", "mentions": [[18, 30]]},
        {"id": 2, "name": "Dunmarrow", "type": "Loc", "mentions": [[34, 43]]},
    ]
    whole = {"id": "r1", "title": "", "text": TEXT, "entities": entities, "relations": [{"head": 0, "tail": 1}]}
    return {**whole, **changes}


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), "utf-8")
    return path


def gold(*spans: tuple[int, int]) -> list[GoldDocument]:
    return [GoldDocument("d", tuple(GoldMention(a, b, f"{a}", "x") for a, b in spans), ())]


def test_spans_are_counted_exactly_and_by_overlap() -> None:
    exact, overlap = span_scores(gold((0, 7), (18, 30), (34, 43)), {"d": [Found(0, 7, 1), Found(20, 25, 2)]})
    assert (exact.precision, exact.recall) == (1 / 2, 1 / 3)
    assert (overlap.precision, overlap.recall) == (1.0, 2 / 3)
    assert overlap.f1 == pytest.approx(0.8)


def test_touching_spans_do_not_overlap() -> None:
    _, overlap = span_scores(gold((0, 7)), {"d": [Found(7, 9, 1)]})
    assert (overlap.found_right, overlap.gold_hit) == (0, 0)


def test_one_span_of_two_mentions_counts_once() -> None:
    exact, _ = span_scores(gold((0, 7)), {"d": [Found(0, 7, 1), Found(0, 7, 2)]})
    assert (exact.found, exact.precision) == (1, 1.0)


def test_nothing_found_scores_nothing() -> None:
    exact, overlap = span_scores(gold((0, 7)), {})
    assert (exact.f1, overlap.f1) == (0.0, 0.0)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), max_size=12), st.data())
def test_overlap_is_what_comparing_every_pair_gives(sizes: list[tuple[int, int]], data: st.DataObject) -> None:
    wanted = [(start, start + length) for start, length in sizes]
    other = data.draw(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), max_size=12))
    given_ = [(start, start + length) for start, length in other]
    _, overlap = span_scores(gold(*wanted), {"d": [Found(a, b, 0) for a, b in given_]})
    assert overlap.gold_hit == sum(any(a < d and c < b for c, d in given_) for a, b in set(wanted))
    assert overlap.found_right == sum(any(a < d and c < b for c, d in wanted) for a, b in set(given_))


def test_the_mention_that_fits_best_says_which_entity_it_is() -> None:
    mention = GoldMention(10, 20, "k", "x")
    assert entity_of(mention, [Found(0, 30, 1), Found(10, 19, 2), Found(19, 40, 3)]) == 2
    assert entity_of(mention, [Found(10, 20, 5), Found(10, 20, 4)]) == 4
    assert entity_of(mention, [Found(20, 30, 1)]) == -1


def test_clusters_are_compared_as_the_formulas_say() -> None:
    scores = cluster_scores([("A", "x")] * 3 + [("A", "y")] + [("B", "x")] * 2)
    assert scores.purity == 5 / 6  # 3 of A, 2 of B
    assert scores.completeness == 4 / 6  # 3 of x in A, 1 of y in A
    assert scores.b_cubed_precision == pytest.approx((9 / 4 + 1 / 4 + 4 / 2) / 6)
    assert scores.b_cubed_recall == pytest.approx((9 / 5 + 4 / 5 + 1) / 6)


@given(st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from("xyz")), min_size=1))
def test_all_in_one_is_complete_and_all_apart_is_pure(pairs: list[tuple[str, str]]) -> None:
    assert cluster_scores([("A", key) for _, key in pairs]).completeness == 1.0
    assert cluster_scores([(f"{n}", key) for n, (_, key) in enumerate(pairs)]).purity == 1.0
    perfect = cluster_scores([(key, key) for _, key in pairs])
    assert (perfect.purity, perfect.completeness) == (1.0, 1.0)
    assert perfect.b_cubed_precision == pytest.approx(1.0)


def test_a_string_is_found_as_a_whole_word_and_the_longest_first() -> None:
    entities = [{"name": "Keel", "mentions": ["Keel", "the Keel"]}, {"name": "Keel 4.2", "mentions": ["Keel 4.2"]}]
    text = "The Keel runs. Keel 4.2 came. Keels do not.\nThe\nKeel 4.2 left."
    marks = gold_documents([{"doc": "a.md", "entities": entities}], lambda uri: text)[0].mentions
    found = [(text[m.start : m.end], m.entity) for m in marks]
    assert found == [("Keel", "keel"), ("Keel 4.2", "keel 4.2"), ("Keel 4.2", "keel 4.2")]


def test_entities_of_one_id_are_one() -> None:
    entities = [
        {"name": "Bench", "id": "Workshop", "mentions": ["Bench"]},
        {"name": "Workshop", "mentions": ["Workshop"]},
    ]
    marks = gold_documents([{"doc": "a.md", "entities": entities}], lambda uri: "Bench, Workshop")[0].mentions
    assert {m.entity for m in marks} == {"workshop"}


@pytest.mark.parametrize(
    ("rows", "said"),
    [([], "is empty"), (["x"], "needs `entities`"), ([{"text": "x"}], "needs `entities`")],
)
def test_a_file_of_another_form_is_refused(tmp_path: Path, rows: list[object], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        read_gold(write(tmp_path / "gold.jsonl", *rows))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"none\.jsonl cannot be read"):
        read_gold(tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"relations": [{"head": 0, "tail": 9}]}, "names no entity"),
        ({"entities": [{"name": "x", "mentions": [[0, 99]]}], "relations": []}, "lies outside"),
    ],
)
def test_marks_that_do_not_fit_their_text_are_refused(changes: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        gold_documents([row(**changes)], lambda uri: TEXT)


def kept_in(work: Path) -> Path:
    """The one knowledge base that is kept there."""
    (place,) = (path.parent for path in work.glob("*/kb.toml"))
    return place


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A suite in a folder, and where its knowledge base is kept."""
    folder = tmp_path_factory.mktemp("harbour")
    write(folder / "gold.jsonl", row())
    return folder, folder / "work"


def test_a_suite_with_texts_is_ingested_and_measured(suite: tuple[Path, Path]) -> None:
    run = run_entity_suite(suite[0], work=suite[1])
    assert (run.documents, run.overlap.gold, run.overlap.recall) == (1, 3, 1.0)
    assert (run.pairs.pairs, run.pairs.joined, run.pairs.by_fact) == (1, 1, 1)
    assert run.clusters.purity == 1.0
    assert run.types["Peop"] == (1, 1)
    assert json.loads(json.dumps(run.as_dict()))["overlap"]["recall"] == 1.0
    assert ("pair recall", 100.0, "1 of 1") in run.rows()
    again = run_entity_suite(suite[0], work=suite[1])
    assert again == run


def test_a_suite_that_names_documents_reads_them_from_a_knowledge_base(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "ada.md").write_text("---\ntitle: Ada Poe\n---\n\n# Ada Poe\n\nAda Poe leads the Harbour Team.\n", "utf-8")
    entities = [{"name": "Ada Poe", "mentions": ["Ada Poe"]}, {"name": "Harbour Team", "mentions": ["Harbour Team"]}]
    marked = {"doc": "ada.md", "entities": entities, "pairs": [["Ada Poe", "Harbour Team"]]}
    path = write(tmp_path / "marks.jsonl", marked)
    with pytest.raises(InvalidArgument, match="which knowledge base"):
        run_entity_suite(path, work=tmp_path)
    run = run_entity_suite(path, work=tmp_path / "work", corpus=docs)
    assert run.overlap.gold == 2  # not the title, which is no text
    assert run.overlap.recall == 1.0
    assert run.pairs.recall == 1.0
    with KnowledgeBase.open(kept_in(tmp_path / "work")) as kb:
        assert run_entity_suite(path, kb=kb) == run
        other = write(tmp_path / "other.jsonl", {**marked, "doc": "bob.md"})
        with pytest.raises(InvalidArgument, match=r"has no document 'bob\.md'"):
            run_entity_suite(other, kb=kb)


def test_a_document_without_text_has_no_mention_to_be_found(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "ada.md").write_text("---\ntitle: Ada Poe\n---\n\nAda Poe leads the Harbour Team.\n", "utf-8")
    (docs / "bob.md").write_text("---\ntitle: Bob Poe\n---\n", "utf-8")
    marks = [{"doc": f"{name}.md", "entities": [{"name": "Poe", "mentions": ["Poe"]}]} for name in ("ada", "bob")]
    run = run_entity_suite(write(tmp_path / "marks.jsonl", *marks), work=tmp_path / "work", corpus=docs)
    assert (run.documents, run.overlap.gold) == (2, 1)


def test_two_suites_of_one_name_do_not_share_a_knowledge_base(tmp_path: Path) -> None:
    work = tmp_path / "work"
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    first = write(tmp_path / "a" / "marks.jsonl", row())
    second = write(tmp_path / "b" / "marks.jsonl", row(text="Kit Rowe sails."[:15], entities=[], relations=[]))
    run = run_entity_suite(first, work=work)
    run_entity_suite(second, work=work)
    assert run_entity_suite(first, work=work) == run


def test_a_document_that_left_the_suite_leaves_its_knowledge_base(tmp_path: Path) -> None:
    alone = run_entity_suite(write(tmp_path / "marks.jsonl", row()), work=tmp_path / "alone")
    more = {**row(id="r2", text="Kit Rowe sails to Saltby.", entities=[{"name": "Kit Rowe", "mentions": [[0, 8]]}])}
    more["relations"] = []
    run_entity_suite(write(tmp_path / "marks.jsonl", row(), more), work=tmp_path / "work")
    again = run_entity_suite(write(tmp_path / "marks.jsonl", row()), work=tmp_path / "work")
    assert again.n_entities == alone.n_entities
