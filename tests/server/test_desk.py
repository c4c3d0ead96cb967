from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphctx.errors import BudgetExceeded
from graphctx.model.arguments import parse_arguments
from graphctx.model.budgets import CountTokens, Limits, weigh
from graphctx.nlp.tokens import AnswerCounter
from graphctx.server.config import ServerConfig
from graphctx.server.desk import Desk
from graphctx.server.scratch import ScratchStore
from graphctx.server.tools import TOOLS

from .library import Library, count_tokens

LIBRARY = Library(
    {
        f"notes/{number:02}.md": (
            f"Note {number}",
            "notes",
            f"# Part é{number}\n\nThe lamp number {number} burns at night ☕. " + "It is lit by the keeper. " * number,
        )
        for number in range(40)
    }
)
WORD_PIECES = AnswerCounter()
BY_NAME = {tool.name: tool for tool in TOOLS}
SECTIONS = sorted(LIBRARY.units)

asked_less = {"max_tokens": st.integers(150, 20_000), "max_bytes": st.integers(800, 100_000)}
calls = st.one_of(
    st.tuples(
        st.just("kb.search"),
        st.fixed_dictionaries(
            {"query": st.just("lamp keeper night"), "top_k": st.integers(1, 50), "page_size": st.integers(1, 50)},
            optional=asked_less,
        ),
    ),
    st.tuples(
        st.just("kb.retrieve_evidence"),
        st.fixed_dictionaries(
            {
                "question": st.just("Who lights the lamp?"),
                "top_k": st.integers(1, 50),
                "max_quotes": st.integers(1, 20),
            },
            optional=asked_less,
        ),
    ),
    st.tuples(
        st.just("kb.extract_evidence"),
        st.fixed_dictionaries(
            {
                "question": st.just("Who lights the lamp?"),
                "passage_ids": st.lists(st.sampled_from(SECTIONS), min_size=1, max_size=20, unique=True),
                "max_quotes": st.integers(1, 20),
            },
            optional=asked_less,
        ),
    ),
    st.tuples(
        st.just("kb.read_excerpt"),
        st.fixed_dictionaries({"passage_id": st.sampled_from(SECTIONS), "max_tokens": st.integers(1, 800)}),
    ),
    st.tuples(
        st.just("kb.expand_excerpt"),
        st.fixed_dictionaries(
            {
                "passage_id": st.sampled_from(SECTIONS),
                "before_tokens": st.integers(0, 800),
                "after_tokens": st.integers(0, 800),
            }
        ),
    ),
)


def spans(answer: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Every span of an answer with the text that it claims."""
    if "excerpt" in answer:
        return [(answer["excerpt"], answer)]
    items = answer.get("results") or answer.get("quotes") or []
    return [(item.get("preview") or item["quote"], item) for item in items]


@pytest.mark.parametrize("count", [count_tokens, WORD_PIECES.count], ids=["words", "word-pieces"])
@given(call=calls, max_tokens=st.integers(150, 8000), max_bytes=st.integers(800, 30_000))
@settings(deadline=None)
def test_every_response_keeps_its_budget_and_every_span_slices_back(
    count: CountTokens, call: tuple[str, dict[str, Any]], max_tokens: int, max_bytes: int
) -> None:
    tool = BY_NAME[call[0]]
    config = ServerConfig(limits=Limits(max_tokens, max_bytes))
    desk = Desk(LIBRARY, count, ScratchStore(1 << 20, 60), "x_aaaaaaaaaaaaaaaa", config)
    if not call[0].endswith("_excerpt"):  # there they are the excerpt's
        max_tokens = min(max_tokens, call[1].get("max_tokens", max_tokens))
        max_bytes = min(max_bytes, call[1].get("max_bytes", max_bytes))
    try:
        reply = tool.run(desk, parse_arguments(tool.input, call[1]))
    except BudgetExceeded:
        assert max_tokens < 1500 or max_bytes < 3000  # a single item and its frame weigh less than that
        return
    answer = reply.answer.model_dump(mode="json")
    sent = reply.text + reply.answer.model_dump_json()
    assert len(sent.encode()) <= answer["budget"]["bytes"] <= max_bytes
    weighed = weigh([reply.text, reply.answer.model_dump_json()], count).tokens
    assert weighed <= answer["budget"]["tokens"] <= max_tokens
    for text, span in spans(answer):
        assert LIBRARY.text_of(span["doc_uri"])[span["start_char"] : span["end_char"]] == text
    if answer["truncated"]:
        assert answer["limit_reason"] in ("token_cap", "byte_cap")
        shortened = len(spans(answer)) == 1  # the only item, and none is left for a next page
        assert answer.get("next_cursor") or shortened or call[0].endswith("_excerpt")
