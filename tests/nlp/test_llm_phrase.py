from __future__ import annotations

from graphctx.nlp.llm.citations import Cited
from graphctx.nlp.llm.phrase import Phrased, PhraserLlm

from . import llm_stub
from .llm_stub import Exchange, Stub, says, sends, stub

__all__ = ["stub"]

QUESTION = "Who leads what?"
GROUPS = [["Ana leads Kestrel.", "Kestrel is quick."], ["Ben leads Merlin."], [], ["Heron failed."]]


def phraser(stub: Stub, **settings: object) -> PhraserLlm:
    return PhraserLlm(stub.model(**settings), stub.settings(**settings))


def test_points_of_each_group_cite_sentences_of_that_group(stub: Stub) -> None:
    def reply(exchange: Exchange) -> None:
        says("NONE")(exchange) if "Heron" in exchange.asked.user else llm_stub.first_sentence(exchange)

    stub.otherwise = reply
    made, report = phraser(stub).points(QUESTION, GROUPS, max_points=2, within_seconds=20)
    assert made == [
        Phrased((Cited("Ana leads Kestrel.", (0,)),)),
        Phrased((Cited("Ben leads Merlin.", (0,)),)),
        Phrased(()),
        Phrased(()),
    ]
    assert (report.asked, report.answered) == (3, 3)
    assert len(stub.requests) == 3
    assert all(asked.user.endswith(f"Question: {QUESTION}") for asked in stub.requests)


def test_a_group_without_a_usable_answer_says_so_and_the_others_go_on(stub: Stub) -> None:
    stub.script = [says("Ana leads, I guess."), llm_stub.first_sentence, sends(500)]
    made, report = phraser(stub, concurrency=1).points(QUESTION, GROUPS, max_points=2, within_seconds=20)
    assert [bool(phrased.failure) for phrased in made] == [True, False, False, True]
    assert made[1].sentences
    assert report.failed == 2


def test_without_points_nobody_is_asked(stub: Stub) -> None:
    made, report = phraser(stub).answer(QUESTION, [], max_sentences=5, within_seconds=20)
    assert made == Phrased(())
    assert report.asked == 0
    assert stub.requests == []
