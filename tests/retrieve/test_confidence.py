"""How sure quotes are, and when there are none."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from graphctx.cli.places import DocumentFiles
from graphctx.cli.show import show_evidence
from graphctx.eval.measures import auroc
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.answers import LOW_CONFIDENCE, UNKNOWN_CONFIDENCE, EvidenceAnswer
from graphctx.model.requests import RetrieveInput
from graphctx.retrieve.confidence import FITTED_FOR, FLOOR, WEIGHTS, Confidence, asked_for, names_unknown
from graphctx.retrieve.question import parse_question
from graphctx.server.call_context import CallContext
from graphctx.server.config import ServerConfig
from graphctx.server.scratch import ScratchStore
from graphctx.server.tools.evidence import RETRIEVE_EVIDENCE

Make = Callable[..., KnowledgeBase]

FOREIGN = (
    "Who won the men's 100 metres at the 1988 Olympic Games?",
    "How do I knead sourdough for baguettes?",
    "Which enzyme unwinds the double helix of DNA?",
)
ANSWERED = "How often does a freshly built data logger fail its cold test?"


def best(answer: EvidenceAnswer) -> float:
    return max((quote.confidence for quote in answer.quotes), default=0.0)


def test_questions_that_the_handbook_answers_are_surer_than_questions_that_it_does_not(
    handbook_kb: KnowledgeBase, golden: list[dict[str, Any]]
) -> None:
    sure: dict[bool, list[float]] = {True: [], False: []}
    for item in golden:
        sure[item["answerable"]].append(best(handbook_kb.retrieve_evidence(item["question"])))
    foreign = [best(handbook_kb.retrieve_evidence(question)) for question in FOREIGN]
    print(f"AUROC {auroc(sure[True], sure[False]):.3f}")
    assert auroc(sure[True], sure[False]) >= 0.7
    assert auroc(sure[True], foreign) >= 0.98


def test_no_question_that_the_handbook_answers_stays_without_quotes(
    handbook_kb: KnowledgeBase, golden: list[dict[str, Any]]
) -> None:
    for item in golden:
        if item["answerable"]:
            assert handbook_kb.retrieve_evidence(item["question"]).quotes, item["question"]


@pytest.mark.parametrize("question", FOREIGN)
def test_a_question_that_no_document_bears_on_gets_no_quotes_but_the_nearest_documents(
    handbook_kb: KnowledgeBase, question: str
) -> None:
    answer = handbook_kb.retrieve_evidence(question)
    assert answer.quotes == []
    assert answer.empty_reason == "no_evidence"
    assert answer.nearest
    assert len(answer.nearest) == len(set(answer.nearest)) <= 3
    for uri in answer.nearest:
        assert handbook_kb.document(uri).text
    assert answer == handbook_kb.retrieve_evidence(question)


def test_other_answers_do_not_name_the_nearest_documents(handbook_kb: KnowledgeBase) -> None:
    answer = handbook_kb.retrieve_evidence(ANSWERED)
    assert answer.quotes
    assert "nearest" not in answer.model_dump()
    nowhere = handbook_kb.retrieve_evidence(ANSWERED, filters={"path_prefix": "nowhere/"})
    assert nowhere.empty_reason == "filtered_out"
    assert "nearest" not in nowhere.model_dump()


def test_the_floor_is_left_out_with_an_embedder_that_it_was_not_chosen_for(
    handbook_kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = handbook_kb.searcher().index.embedder
    assert embedder.name == FITTED_FOR
    monkeypatch.setattr(type(embedder), "name", "another")
    answer = handbook_kb.retrieve_evidence(FOREIGN[0])
    assert answer.quotes
    assert best(answer) < FLOOR <= LOW_CONFIDENCE


def test_model_and_person_are_told_what_to_do_where_there_is_no_evidence(handbook_kb: KnowledgeBase) -> None:
    scratch = ScratchStore(1 << 20, 60)
    context = CallContext(handbook_kb.searcher(), len, scratch, "x_aaaaaaaaaaaaaaaa", ServerConfig())
    reply = RETRIEVE_EVIDENCE.run(context, RetrieveInput(question=FOREIGN[0]))
    assert isinstance(reply.answer, EvidenceAnswer)
    assert reply.answer.empty_reason == "no_evidence"
    assert reply.answer.nearest
    for uri in reply.answer.nearest:
        assert uri in reply.text
    assert "kb.search" in reply.text
    assert "kb.global_search" in reply.text
    shown = io.StringIO()
    show_evidence(Console(file=shown, width=200), FOREIGN[0], reply.answer, DocumentFiles(handbook_kb))
    assert reply.answer.nearest[0] in shown.getvalue()
    assert "graphctx search" in shown.getvalue()


def test_names_numbers_and_identifiers_that_no_document_holds_are_noticed(handbook_kb: KnowledgeBase) -> None:
    index = handbook_kb.searcher().index
    for question, unknown in (
        ("Where is FW-17 moored?", False),
        ("Where is FW-9317 moored?", True),
        ("What did Marten Hallorin count?", False),
        ("What did Zbigniew Hallorin count?", True),
        ("Zanzibar is where?", False),  # any first word has a capital
        ("where is it moored?", False),
    ):
        assert names_unknown(index, parse_question(question, index)) is unknown, question
    known = best(handbook_kb.retrieve_evidence("What does the 17 in FW-17 refer to?"))
    assert best(handbook_kb.retrieve_evidence("What does the 93 in FW-9317 refer to?")) < known


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("How do we import a terraform module into the data logger?", ["terraform"]),
        ("Terraform provider of the data logger", ["Terraform"]),
        ("What did Zbigniew Hallorin count?", ["Zbigniew"]),
        ("What is the e-mail of the data logger?", []),
        ("Who aproves a relase?", []),  # corrected
        ("Who bakes the loggerr that fail?", []),  # a misspelling all the same
        ("Who acepts the loggers?", []),
        ("How often does a data logger sway?", []),  # an English word
        ("Wie kalibriere ich den Sensor?", []),
    ],
)
def test_an_answer_names_the_key_words_that_no_document_holds(
    handbook_kb: KnowledgeBase, question: str, unknown: list[str]
) -> None:
    answer = handbook_kb.retrieve_evidence(question)
    assert answer.unknown_words == unknown
    assert answer.answered != "yes" or not unknown or best(answer) >= UNKNOWN_CONFIDENCE
    shown = io.StringIO()
    show_evidence(Console(file=shown, width=200), question, answer, DocumentFiles(handbook_kb))
    assert ("No document holds" in shown.getvalue()) is bool(unknown or answer.read_as)


def test_a_question_with_an_unknown_key_word_has_near_matches_at_most(handbook_kb: KnowledgeBase) -> None:
    known = handbook_kb.retrieve_evidence("Which module does the data logger have?")
    asked = handbook_kb.retrieve_evidence("Which terraform module does the data logger have?")
    assert (known.answered, asked.answered) == ("yes", "near")
    assert asked.quotes


def test_what_is_asked_for_is_read_behind_the_question_word() -> None:
    assert asked_for("At which university did she study?") == asked_for("Which university is it?") == ("universiti",)
    assert asked_for("What is the name of the company that insures the yard?") == ("compani",)
    assert asked_for("Tell me how many knots she makes") == ("knot",)
    assert asked_for("Who was it, and when?") == asked_for("What is it?") == asked_for("what") == ()


def test_a_question_without_a_word_for_what_it_asks_loses_nothing(make_kb: Make) -> None:
    text = "# Harbour\n\nThe harbour of Port Averil has 17 berths. The ferry leaves from berth nine.\n"
    with make_kb({"harbour.md": text}) as kb:
        for question in ("Who leaves from berth nine?", "How many berths has the harbour of Port Averil?"):
            answer = kb.retrieve_evidence(question)
            assert answer.quotes, question
            assert best(answer) >= LOW_CONFIDENCE


@given(st.lists(st.lists(st.floats(-1, 1), min_size=len(WEIGHTS), max_size=len(WEIGHTS)), min_size=1, max_size=6))
def test_confidence_is_a_rounded_share_and_a_longer_run_has_every_strength_of_a_shorter_one(
    rows: list[list[float]],
) -> None:
    confidence = Confidence(np.array(rows))
    for last in range(len(rows)):
        sure = confidence.of_run(0, last)
        assert 0 <= sure <= 1
        assert sure == round(sure, 3)
        assert (confidence.run(0, last) >= confidence.run(last, last)).all()


def test_what_speaks_for_a_quote_raises_its_confidence_and_what_speaks_against_it_lowers_it() -> None:
    against = {"rank", "far", "unknown"}
    for at, name in enumerate(WEIGHTS):
        less, more = np.zeros((2, len(WEIGHTS)))
        more[at] = 0.2
        low, high = (Confidence(row[None]).of_run(0, 0) for row in (less, more))
        assert low > high if name in against else low < high, name
