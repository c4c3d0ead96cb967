"""Baselines: what counts as worse, and what is refused."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from eval_made import suite

from graphctx.errors import InvalidArgument
from graphctx.eval.baseline import check, not_asked, write
from graphctx.eval.records import SuiteRun

GOOD = {"R@5": [1.0] * 40, "answer": [1.0, None] * 20, "exact": [1.0] * 40, "tokens": [900.0] * 40}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "baselines" / "made.json"


@pytest.fixture
def good(path: Path) -> SuiteRun:
    run = suite(hybrid_local=GOOD)
    write(path, [run])
    return run


def worse(by: int, *, measure: str = "R@5", value: float = 0.0) -> SuiteRun:
    """The good run with the last questions worse."""
    values = dict(GOOD)
    values[measure] = [*values[measure][: 40 - by], *[value] * by]
    return suite(hybrid_local=values)


def test_five_questions_lost_are_a_regression_and_four_may_be_chance(path: Path, good: SuiteRun) -> None:
    assert check(path, [good]) == []
    assert check(path, [worse(4)]) == []
    (one,) = check(path, [worse(5)])
    assert (one.kind, one.measure, one.n, one.before, one.now) == ("fell", "R@5", 40, 1.0, 0.875)
    assert one.p_value == 1 / 32
    assert one.questions == ("q035", "q036", "q037", "q038", "q039")
    assert str(one) == (
        "made, hybrid_local: R@5 fell from 100.0% to 87.5% over 40 questions (p = 0.031); "
        "worse on q035, q036, q037, q038, q039."
    )


def test_a_sure_fall_of_less_than_a_point_passes(path: Path, good: SuiteRun) -> None:
    assert check(path, [worse(40, value=0.9905)]) == []
    assert [one.measure for one in check(path, [worse(40, value=0.985)])] == ["R@5"]


def of_both_kinds(**values: list[float]) -> SuiteRun:
    """A run whose first half of questions has an answer."""
    run = suite(hybrid_local=values)
    made = [
        dataclasses.replace(one, golden=dataclasses.replace(one.golden, answerable=at < 20))
        for at, one in enumerate(run.outcomes["hybrid_local"])
    ]
    return dataclasses.replace(run, outcomes={"hybrid_local": made})


@pytest.mark.parametrize(
    ("now", "says"),
    [
        ({"confidence": [0.5] * 20 + [0.2] * 20}, "confidence of answerable questions fell from 90.0% to 50.0%"),
        ({"confidence": [0.9] * 20 + [0.6] * 20}, "confidence of unanswerable questions rose from 20.0% to 60.0%"),
        ({"empty": [1.0] * 6 + [0.0] * 14 + [1.0] * 20}, "empty of answerable questions rose from 0.0% to 30.0%"),
        ({"empty": [0.0] * 26 + [1.0] * 14}, "empty of unanswerable questions fell from 100.0% to 70.0%"),
    ],
)
def test_each_kind_of_question_is_held_to_its_own_abstention(
    path: Path, now: dict[str, list[float]], says: str
) -> None:
    before = {"confidence": [0.9] * 20 + [0.2] * 20, "empty": [0.0] * 20 + [1.0] * 20}
    write(path, [of_both_kinds(**before)])
    assert check(path, [of_both_kinds(**before)]) == []
    (one,) = check(path, [of_both_kinds(**{**before, **now})])
    assert says in str(one)
    write(path, [of_both_kinds(**{**before, **now})])
    assert check(path, [of_both_kinds(**before)]) == []  # better is not a regression


def test_one_quote_that_does_not_slice_back_is_a_regression(path: Path, good: SuiteRun) -> None:
    (one,) = check(path, [worse(1, measure="exact", value=5 / 6)])
    assert (one.kind, one.questions) == ("inexact", ("q039",))
    assert "do not slice back" in str(one)


def test_questions_and_measures_that_are_missing_are_a_regression(path: Path, good: SuiteRun) -> None:
    run = dataclasses.replace(good, outcomes={"hybrid_local": good.outcomes["hybrid_local"][:-2]})
    (one,) = check(path, [run])
    assert (one.kind, one.questions) == ("missing", ("q038", "q039"))
    assert str(one) == "made, hybrid_local: 2 questions of the baseline were not asked (q038, q039)."
    assert check(path, [run], partly=True) == []
    assert not_asked(path, [run]) == 2
    values = {name: values for name, values in GOOD.items() if name != "answer"}
    (one,) = check(path, [suite(hybrid_local=values)])
    assert (one.kind, one.measure, one.n) == ("missing", "answer", 20)
    assert str(one).startswith("made, hybrid_local: answer was not measured for 20 questions")


def test_a_baseline_is_the_same_whatever_the_order_of_suites_variants_and_questions(tmp_path: Path) -> None:
    a, b = suite("a", one=GOOD, two=GOOD), suite("b", one={"R@5": [1.0, 0.3333333, 0.0]})
    turned = {name: list(reversed(outcomes)) for name, outcomes in reversed(a.outcomes.items())}
    write(tmp_path / "1.json", [a, b])
    write(tmp_path / "2.json", [b, dataclasses.replace(a, outcomes=turned)])
    text = (tmp_path / "1.json").read_text("utf-8")
    assert (tmp_path / "2.json").read_text("utf-8") == text
    assert json.loads(text)["suites"]["b"]["questions"]["q001"]["one"] == [0.3333]
    assert len(text.splitlines()) == 1 + 2 * 2 + 40 + 3 + 1  # one line for each question


def test_other_suites_and_variants_are_refused_by_name(path: Path, good: SuiteRun) -> None:
    with pytest.raises(InvalidArgument, match=r"does not hold suite 'other'; it holds: made\."):
        check(path, [dataclasses.replace(good, suite="other")])
    with pytest.raises(InvalidArgument, match="for hybrid_local, and it was run for bm25"):
        check(path, [suite(bm25=GOOD)])
    with pytest.raises(InvalidArgument, match="'made' was run twice"):
        write(path, [good, good])


def test_a_question_whose_gold_has_changed_is_refused(path: Path, good: SuiteRun) -> None:
    first = good.outcomes["hybrid_local"][0]
    changed = dataclasses.replace(first, golden=dataclasses.replace(first.golden, answers=("another",)))
    run = dataclasses.replace(good, outcomes={"hybrid_local": [changed, *good.outcomes["hybrid_local"][1:]]})
    with pytest.raises(InvalidArgument, match=r"Question 'q000' .* Write the baseline again"):
        check(path, [run])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "cannot be read: No such file"),
        ("[1, 2", "not a baseline of graphctx eval"),
        ("[]", "not a baseline of graphctx eval"),
        ('{"format": 1}', "not a baseline of graphctx eval"),
        ('{"format": 2, "suites": {}}', "has format 2, and this graphctx reads format 1"),
    ],
)
def test_what_is_no_baseline_of_this_format_is_refused(path: Path, content: str | None, says: str) -> None:
    if content is not None:
        path.parent.mkdir()
        path.write_text(content, "utf-8")
    with pytest.raises(InvalidArgument, match=says):
        check(path, [suite(hybrid_local=GOOD)])
