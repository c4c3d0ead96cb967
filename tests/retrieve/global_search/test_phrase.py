"""A language model's words for points, over a real socket, and everything that goes wrong there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.answers import GlobalAnswer
from tests.nlp import llm_stub
from tests.nlp.llm_stub import Stub, says, sends, stub

__all__ = ["stub"]

QUESTION = "Which causes of trouble come up again and again?"
SECRET = "sk-very-secret"

Open = Callable[..., KnowledgeBase]


@pytest.fixture
def open_with(handbook_path: Path, stub: Stub, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """The handbook with the stub as its language model."""
    opened = []

    def make(url: str = "", call_timeout: str = "20", **values: str) -> KnowledgeBase:
        chosen = {"base_url": url or stub.url, "model": "stub", "max_retries": "0", "api_key": SECRET, **values}
        for name, value in chosen.items():
            monkeypatch.setenv(f"GRAPHCTX_LLM__{name.upper()}", value)
        monkeypatch.setenv("GRAPHCTX_SERVER__CALL_TIMEOUT_SECONDS", call_timeout)
        opened.append(KnowledgeBase.open(handbook_path))
        return opened[-1]

    yield make
    for kb in opened:
        kb.close()


def bare(answer: GlobalAnswer) -> list[str]:
    return [point.quote for point in answer.points]


def test_a_phrased_answer_cites_points_and_keeps_them(open_with: Open, stub: Stub) -> None:
    stub.otherwise = says("One thing recurs [1][3].\nAnother thing too [2].\nNobody said this.\nNor this [900].")
    kb = open_with()
    answer = kb.global_search(QUESTION)
    assert [(one.text, one.points) for one in answer.phrased] == [
        ("One thing recurs.", [1, 3]),
        ("Another thing too.", [2]),
    ]
    assert (answer.extractive, answer.note) == (False, "")
    assert bare(answer) == bare(kb.global_search(QUESTION, phrase=False))
    assert len(stub.requests) == 1
    assert " ".join(bare(answer)[0].split()) in stub.requests[0].user


def test_nobody_is_asked_who_is_not_wanted(open_with: Open, stub: Stub) -> None:
    kb = open_with()
    answer = kb.global_search(QUESTION, phrase=False)
    assert (answer.extractive, answer.note, answer.phrased) == (True, "", [])
    # no points, nothing to phrase
    kb.global_search("Which baroque violinists recorded polyphonic sonatas, and with which harpsichordists?")
    assert stub.requests == []


def test_more_points_than_one_prompt_holds_are_phrased_community_by_community_first(
    open_with: Open, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphctx.nlp.llm.prompts.MAX_GIVEN_TOKENS", 400)
    kb = open_with()
    answer = kb.global_search(QUESTION)
    assert len(stub.requests) == 1 + len({point.community_id for point in answer.points})
    assert answer.phrased
    (one,) = answer.phrased  # the stub repeats the first sentence that it is given
    first = answer.points[one.points[0] - 1].quote
    assert one.text.rstrip(".") in " ".join(first.split())


def test_a_citation_names_a_point_of_the_page_that_it_is_on(open_with: Open, stub: Stub) -> None:
    stub.otherwise = says("Near the top [1].\nFar down [20].\nBoth [2][20].")
    kb = open_with()
    whole = kb.global_search(QUESTION)
    assert len(whole.phrased) == 3
    kb = open_with()
    kb.settings = kb.settings.model_copy(update={"server": kb.settings.server.model_copy(update={"max_tokens": 1500})})
    cut = kb.global_search(QUESTION)
    assert 2 <= len(cut.points) < 20
    assert [(one.text, one.points) for one in cut.phrased] == [("Near the top.", [1])]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (says("All of it is bad."), "cites nothing"),
        (says(""), "cites nothing"),
        (says("NONE"), "nothing in the points"),
        (sends(500), ""),
        (sends(401, b'{"error": {"message": "bad key sk-very-secret"}}'), "api_key"),
        (sends(200, b"<html>"), ""),
        (llm_stub.reset, ""),
        (llm_stub.huge, ""),
    ],
)
def test_whatever_goes_wrong_the_points_are_reported_and_a_note_says_why(
    open_with: Open, stub: Stub, reply: llm_stub.Reply, said: str
) -> None:
    stub.otherwise = reply
    kb = open_with()
    answer = kb.global_search(QUESTION)
    assert answer.points
    assert (answer.extractive, answer.phrased) == (True, [])
    assert 0 < len(answer.note) <= 200
    assert said in answer.note
    assert SECRET not in answer.model_dump_json()
    assert stub.url not in answer.model_dump_json()


def test_a_client_that_cannot_be_made_is_a_note(open_with: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://[::1")
    answer = open_with().global_search(QUESTION)
    assert answer.points
    assert answer.note


def test_a_fault_of_ours_is_a_note_and_says_nothing_of_what_it_held(
    open_with: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(settings: object) -> None:
        raise ValueError(SECRET)

    monkeypatch.setattr("graphctx.nlp.llm.client.make_chat_model", broken)
    answer = open_with().global_search(QUESTION)
    assert answer.points
    assert "ValueError" in answer.note
    assert SECRET not in answer.model_dump_json()


def test_groups_of_points_that_could_not_be_phrased_are_counted(
    open_with: Open, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphctx.nlp.llm.prompts.MAX_GIVEN_TOKENS", 400)
    stub.script = [sends(500)]
    stub.otherwise = says("It happens [1].")
    answer = open_with(concurrency="1").global_search(QUESTION)
    groups = len({point.community_id for point in answer.points})
    assert answer.phrased
    assert not answer.extractive
    assert answer.note.startswith(f"1 of {groups} groups of points could not be phrased: The endpoint failed with 500")


def test_a_model_that_never_answers_takes_half_of_a_calls_time(open_with: Open, stub: Stub) -> None:
    stub.otherwise = llm_stub.hang
    answer = open_with(call_timeout="1").global_search(QUESTION)
    assert answer.points
    assert "No answer within 0.5 s" in answer.note
