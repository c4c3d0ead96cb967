"""What is known of the sentences of a pool."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphctx.knowledge_base import KnowledgeBase
from graphctx.nlp.tokens import WordPieceCounter
from graphctx.retrieve.coverage import text_coverage
from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import parse_question
from graphctx.retrieve.sentences import sentence_pool
from graphctx.text.lexical import terms


@pytest.fixture(scope="module")
def index(handbook_kb: KnowledgeBase) -> SearchIndex:
    return handbook_kb.searcher().index


def test_every_sentence_is_stored_with_the_terms_of_its_text(index: SearchIndex) -> None:
    stored = index.sentence_terms
    assert len(stored) == len(index.walk.sentence_start)
    for row in range(index.walk.n_units):
        rows, _ = index.sentence_rows([row])
        text = index.text_of(int(index.walk.unit_doc[row])).text
        own = [set(terms(text[index.walk.sentence_start[at] : index.walk.sentence_end[at]])) for at in rows]
        asked = [*sorted(set().union(*own)), "unheard"]
        assert stored.contains(asked, rows).tolist() == [[term in held for term in asked] for held in own]


@settings(max_examples=40)
@given(data=st.data())
def test_cover_of_sentences_and_of_their_parts_is_that_of_their_texts(
    index: SearchIndex, golden: list[dict[str, Any]], data: st.DataObject
) -> None:
    text = data.draw(st.sampled_from(golden))["question"] + data.draw(st.sampled_from(["", " zzyzx", " kb.search"]))
    units = data.draw(st.lists(st.integers(0, index.walk.n_units - 1), min_size=1, max_size=12, unique=True))
    longest = data.draw(st.integers(4, 60))
    question = parse_question(text, index)
    tokens = data.draw(st.sampled_from([None, WordPieceCounter()]))
    pool = sentence_pool(index, question, np.array(units), tokens, longest)
    assert pool.lexical.tobytes() == text_coverage(question, pool.texts).tobytes()
