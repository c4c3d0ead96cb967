from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphctx.ingest.communities.points import CandidateSentences, choose
from graphctx.ingest.embed import quantise


def candidates(names: list[list[float]], form: list[float] | None = None) -> CandidateSentences:
    count, width = len(names), len(names[0])
    return CandidateSentences(
        rows=np.arange(count, dtype=np.int64),
        form=np.array(form or [1.0] * count),
        names=np.array(names),
        weight=np.full(width, 1 / width),
        facts=np.zeros(count),
    )


def apart(count: int) -> np.ndarray:
    return np.eye(max(count, 2), dtype=np.float32)[:count]


def test_the_second_sentence_covers_what_the_first_does_not() -> None:
    found = choose(candidates([[1, 1, 0], [1, 1, 0], [0, 0, 1]]), quantise(apart(3)), ["a", "b", "c"])
    assert found == [0, 2, 1]


def test_what_is_said_again_in_the_same_or_nearly_the_same_words_is_left_out() -> None:
    vectors = apart(4)
    vectors[1] = vectors[0] * 0.99 + vectors[1] * 0.02
    vectors[1] /= np.linalg.norm(vectors[1])
    found = choose(candidates([[1, 0]] * 4), quantise(vectors), ["one", "two", "A gate.", "a  GATE."])
    assert len(found) == 2
    assert len({0, 1} & set(found)) == 1
    assert len({2, 3} & set(found)) == 1


def test_a_sentence_that_does_not_stand_alone_comes_last() -> None:
    assert choose(candidates([[1, 0]] * 3, [0.3, 1.0, 0.9]), quantise(apart(3)), ["a", "b", "c"]) == [1, 2, 0]


@given(st.integers(1, 60), st.integers(1, 12), st.integers(0, 10**6), st.integers(1, 50))
def test_each_is_chosen_once_and_no_more_than_asked(count: int, width: int, seed: int, limit: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(count, 24)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    given_names = (rng.random((count, width)) < 0.3).astype(float).tolist()
    texts = [str(number % 40) for number in range(count)]
    made = quantise(vectors)
    found = choose(candidates(given_names), made, texts, limit)
    assert len(found) == len(set(found)) <= limit
    assert len({texts[row] for row in found}) == len(found)
    assert found[: limit // 2] == choose(candidates(given_names), made, texts, limit // 2)
    assert choose(candidates(given_names), made, texts, limit) == found


def test_without_candidates_nothing_is_chosen() -> None:
    empty = CandidateSentences(np.empty(0, np.int64), np.empty(0), np.empty((0, 0)), np.empty(0), np.empty(0))
    assert choose(empty, quantise(np.zeros((0, 4), np.float32)), []) == []
