"""Entities measured against gold entities: by hand-counted cases, and on a small knowledge base made for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.errors import InvalidArgument
from graphctx.eval.entities import EntityRun, FoundMention, cluster_scores, entity_of, run_entity_suite, span_scores
from graphctx.eval.entities_gold import GoldDocument, GoldMention, gold_documents, read_gold
from graphctx.eval.run import Measured, Where
from graphctx.eval.suites import load_suite
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
    found = {
        "d": [FoundMention(0, 7, 1), FoundMention(0, 7, 2), FoundMention(20, 25, 2)]
    }  # one span of two mentions counts once
    exact, overlap = span_scores(gold((0, 7), (18, 30), (34, 43)), found)
    assert (exact.precision, exact.recall) == (1 / 2, 1 / 3)
    assert (overlap.precision, overlap.recall) == (1.0, 2 / 3)
    assert overlap.f1 == pytest.approx(0.8)
    for others in ({"d": [FoundMention(7, 9, 1)]}, {}):  # touching spans do not overlap
        exact, overlap = span_scores(gold((0, 7)), others)
        assert (exact.f1, overlap.f1) == (0.0, 0.0)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), max_size=12), st.data())
def test_overlap_is_what_comparing_every_pair_gives(sizes: list[tuple[int, int]], data: st.DataObject) -> None:
    wanted = [(start, start + length) for start, length in sizes]
    other = data.draw(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), max_size=12))
    given_ = [(start, start + length) for start, length in other]
    _, overlap = span_scores(gold(*wanted), {"d": [FoundMention(a, b, 0) for a, b in given_]})
    assert overlap.gold_hit == sum(any(a < d and c < b for c, d in given_) for a, b in set(wanted))
    assert overlap.found_right == sum(any(a < d and c < b for c, d in wanted) for a, b in set(given_))


def test_the_mention_that_fits_best_says_which_entity_it_is() -> None:
    mention = GoldMention(10, 20, "k", "x")
    assert entity_of(mention, [FoundMention(0, 30, 1), FoundMention(10, 19, 2), FoundMention(19, 40, 3)]) == 2
    assert entity_of(mention, [FoundMention(10, 20, 5), FoundMention(10, 20, 4)]) == 4
    assert entity_of(mention, [FoundMention(20, 30, 1)]) == -1


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
    entities = [{"name": "Bench", "id": "Keel", "mentions": ["Bench"]}, {"name": "Keel", "mentions": ["Keel"]}]
    marks = gold_documents([{"doc": "a.md", "entities": entities}], lambda uri: "Bench, Keel")[0].mentions
    assert {m.entity for m in marks} == {"keel"}


@pytest.mark.parametrize(
    ("rows", "said"),
    [([], "is empty"), (["x"], "not a JSON object"), ([{"text": "x"}], "needs `entities`")],
)
def test_a_file_of_another_form_is_refused(tmp_path: Path, rows: list[object], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        read_gold(write(tmp_path / "gold.jsonl", *rows))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"relations": [{"head": 0, "tail": 9}]}, "names no entity"),
        ({"entities": [{"name": "x", "mentions": [[0, 99]]}], "relations": []}, "lies outside"),
        ({"entities": [{"mentions": [[0, 1]]}]}, r"Row 1 .*KeyError: 'name'"),
        ({"entities": [{"name": "x", "mentions": ["x"]}]}, "Row 1 .*ValueError"),
        ({"entities": ["x"]}, "Row 1 .*AttributeError"),
    ],
)
def test_marks_that_do_not_fit_their_text_are_refused(changes: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        gold_documents([row(**changes)], lambda uri: TEXT)


def measured(path: Path, work: Path, **options: Path) -> EntityRun:
    found = Measured()
    found.add(load_suite(path, **options), (), Where(None, work / "none", work))
    return found.entities[0]


def test_a_suite_with_texts_is_ingested_and_measured(tmp_path: Path) -> None:
    (tmp_path / "harbour").mkdir()
    path, work = write(tmp_path / "harbour" / "gold.jsonl", row()).parent, tmp_path / "work"
    run = measured(path, work)
    assert (run.suite, run.documents, run.overlap.gold, run.overlap.recall) == ("harbour", 1, 3, 1.0)
    assert (run.pairs.pairs, run.pairs.joined, run.pairs.by_fact) == (1, 1, 1)
    assert run.clusters.purity == 1.0
    assert run.types["Peop"] == (1, 1)
    assert json.loads(json.dumps(run.as_dict()))["overlap"]["recall"] == 1.0
    assert ("pair recall", 100.0, "1 of 1") in run.rows()


def test_a_suite_that_names_documents_reads_them_from_a_knowledge_base(
    handbook_kb: KnowledgeBase, golden_folder: Path, tmp_path: Path
) -> None:
    run = run_entity_suite(golden_folder / "handbook_entities.jsonl", handbook_kb)
    assert (run.documents, run.suite) == (12, "handbook_entities")
    assert run.overlap.recall > 0.9
    assert run.clusters.purity > 0.98
    marked = {"doc": "cat.md", "entities": [{"name": "Ada", "mentions": ["Ada"]}]}
    with pytest.raises(InvalidArgument, match=r"has no document 'cat\.md'"):
        run_entity_suite(write(tmp_path / "other.jsonl", marked), handbook_kb)
