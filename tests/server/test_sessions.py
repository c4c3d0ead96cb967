from __future__ import annotations

import pytest

from graphctx.errors import InvalidArgument
from graphctx.model.requests import DescribeInput, ExtractEvidenceInput, ReadExcerptInput, SearchInput
from graphctx.server.sessions import ANONYMOUS, Caller, Sessions, ignored_session

from .conftest import Clock

PASSAGE = "p_" + "a" * 16
ANA, BEN, NOBODY = Caller("ana", ""), Caller("ben", ""), Caller(ANONYMOUS, "")
CONNECTED = Caller(ANONYMOUS, "x_" + "c" * 16)


@pytest.fixture
def sessions(clock: Clock) -> Sessions:
    return Sessions(ttl=60, max_handles=5, clock=clock)


def search(session_id: str | None = None) -> SearchInput:
    return SearchInput(query="x", session_id=session_id)


def read(passage_id: str = PASSAGE, session_id: str | None = None) -> ReadExcerptInput:
    return ReadExcerptInput(passage_id=passage_id, session_id=session_id)


def test_a_connection_with_a_session_stays_with_it_and_ignores_others(sessions: Sessions) -> None:
    assert sessions.resolve(CONNECTED, search()) == CONNECTED.session_id
    for other in (sessions.new_handle(ANONYMOUS), "x_nothing", "local"):
        for request in (search(other), read(session_id=other)):
            assert sessions.resolve(CONNECTED, request) == CONNECTED.session_id
            assert other in str(ignored_session(request, CONNECTED.session_id))
    for request in (search(), search(CONNECTED.session_id)):
        assert ignored_session(request, CONNECTED.session_id) is None


@pytest.mark.parametrize("caller", [ANA, NOBODY], ids=["ana", "anonymous"])
def test_a_call_without_a_session_gets_a_fresh_handle_that_a_later_one_uses(sessions: Sessions, caller: Caller) -> None:
    first, second = sessions.resolve(caller, search()), sessions.resolve(caller, search())
    assert first != second
    for request in (search(first), read(session_id=first), read("u_abc", first)):
        assert sessions.resolve(caller, request) == first


def test_a_handle_of_somebody_else_looks_like_none_at_all(sessions: Sessions) -> None:
    foreign, nobodys = sessions.resolve(ANA, search()), "x_" + "z" * 16
    for caller in (BEN, NOBODY):
        said = []
        for session_id in (foreign, nobodys):
            with pytest.raises(InvalidArgument) as caught:
                sessions.resolve(caller, read(session_id=session_id))
            said.append(caught.value.message.replace(session_id, ""))
        assert said[0] == said[1]
        assert "kb.search" in said[0]
    assert sessions.resolve(ANA, read(session_id=foreign)) == foreign


def test_a_stale_handle_stands_in_the_way_only_of_calls_that_name_a_passage(sessions: Sessions, clock: Clock) -> None:
    stale = sessions.resolve(ANA, search())
    clock.seconds = 60
    fresh = sessions.resolve(ANA, search(stale))
    assert fresh not in (stale, "")
    assert sessions.resolve(ANA, read("u_" + "a" * 16, stale)) != stale
    for request in (
        read(session_id=stale),
        ExtractEvidenceInput(question="x", passage_ids=["u_1", PASSAGE], session_id=stale),
        DescribeInput(node_ids=["Ines Halvorsen", PASSAGE], session_id=stale),
    ):
        with pytest.raises(InvalidArgument) as caught:
            sessions.resolve(ANA, request)
        assert caught.value.details["repeat"] == ["kb.search", "kb.retrieve_evidence"]


def test_a_question_that_looks_like_a_passage_is_no_passage(sessions: Sessions) -> None:
    assert sessions.resolve(ANA, SearchInput(query=PASSAGE, session_id="x_unknown"))


def test_a_passage_without_any_handle_is_told_to_bring_one(sessions: Sessions) -> None:
    with pytest.raises(InvalidArgument, match="Pass the section_id instead"):
        sessions.resolve(ANA, read())


def test_a_handle_lives_for_a_while_after_its_last_use(sessions: Sessions, clock: Clock) -> None:
    handle = sessions.resolve(ANA, search())
    clock.seconds = 59
    assert sessions.holds(ANA, handle)
    clock.seconds = 118
    assert sessions.holds(ANA, handle)
    clock.seconds = 178
    assert not sessions.holds(ANA, handle)
    assert len(sessions) == 0


def test_whoever_takes_the_most_handles_loses_the_oldest_of_their_own(sessions: Sessions) -> None:
    bens = sessions.resolve(BEN, search())
    anas = [sessions.resolve(ANA, search()) for _ in range(20)]
    assert len(sessions) == 5
    assert sessions.holds(BEN, bens)
    assert [sessions.holds(ANA, handle) for handle in anas] == [False] * 16 + [True] * 4
