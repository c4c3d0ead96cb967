"""A shortened text keeps its budget, is made of spans of its source, and keeps what is asked for."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.context import ContextOptimizer, optimize_context
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.context import OptimizedContext
from graphctx.nlp.tokens import AnswerCounter

COUNTER = AnswerCounter()
CODE = "```sh\ngraphctx ingest docs\ngraphctx serve\n```"
TABLE = "| name | port |\n|---|---|\n| web | 80 |\n| mail | 25 |"
PROSE = "The gate opens at six. Nobody is admitted before that. The keeper has the only key. He lives by the river."
PARTS = st.sampled_from(
    [
        CODE,
        TABLE,
        PROSE,
        "# A heading",
        "- one item\n- another item\n- a third",
        "",
        "\r\n",
        "…",
        "日本語の文。次の文。",
        "\ud800",
    ]
)
MARKDOWN = st.lists(st.one_of(PARTS, st.text(max_size=60)), max_size=12).map("\n\n".join)


def shorten(text: str, target: int, query: str = "") -> OptimizedContext:
    return optimize_context(text, target, COUNTER, query)


@given(text=MARKDOWN, target=st.integers(1, 80), query=st.sampled_from(["", "When does the gate open?"]))
def test_any_text_fits_and_every_kept_span_is_where_the_map_says(text: str, target: int, query: str) -> None:
    found = shorten(text, target, query)
    assert found.tokens == COUNTER.count(found.text) <= target
    rebuilt = found.text
    for span in found.kept:
        length = span.end_char - span.start_char
        assert length > 0
        assert found.text[span.at : span.at + length] == text[span.start_char : span.end_char]
        rebuilt = rebuilt[: span.at] + "\n" * length + rebuilt[span.at + length :]
    assert not rebuilt.replace("…", "").strip()
    ends = [span.end_char for span in found.kept]
    assert all(end <= after.start_char for end, after in zip(ends, found.kept[1:], strict=False))
    assert shorten(text, target, query) == found


def test_one_optimizer_shortens_to_several_targets_as_several_would(handbook_kb: KnowledgeBase) -> None:
    text, query = "\n\n".join([PROSE, CODE, TABLE, PROSE.replace("gate", "door")]), "When does the gate open?"
    embedder = handbook_kb.searcher().published.embedder
    optimizer = ContextOptimizer(text, COUNTER, query, embedder)
    for target in (60, 25, 5, 40):
        assert optimizer.fit(target) == optimize_context(text, target, COUNTER, query, embedder)


def test_a_text_that_fits_is_left_alone() -> None:
    assert shorten(PROSE, 1000).text == PROSE


def test_what_the_question_asks_for_is_kept() -> None:
    text = f"{PROSE}\n\nThe mill grinds corn. The miller sells flour.\n\n{CODE}"
    assert "The keeper has the only key." in shorten(text, 12, "Who has the key?").text
    assert "graphctx serve" in shorten(text, 20, "How does one ingest docs with graphctx?").text


def test_without_a_question_the_texts_own_subject_decides() -> None:
    about = "Charts are signed with a key. A signed chart is verified with the key of its author."
    text = f"{about} Lunch is at noon.\n\nCharts without a key are not verified. It rained on Monday."
    kept = shorten(text, 18).text
    assert "Charts are signed with a key." in kept or "A signed chart is verified" in kept
    assert "Lunch" not in kept
    assert "rained" not in kept


def test_repeated_sentences_go_first_and_those_with_other_numbers_stay() -> None:
    once = "The northern gate of the old town opens at 6."
    other = "The northern gate of the old town opens at 7."
    text = f"{once}\n\n{once}\n\n{other}\n\nThe river is wide and slow and deep."
    found = shorten(text, COUNTER.count(text) - 4)
    assert found.repeated == 1
    assert found.text.count(once) == 1
    assert other in found.text


@pytest.mark.parametrize(("kind", "block"), [("code", CODE), ("table", TABLE)])
def test_blocks_are_kept_whole_or_counted_as_cut(kind: str, block: str) -> None:
    text = f"{PROSE}\n\n{block}\n\n{PROSE.replace('gate', 'door')}"
    for target in range(10, COUNTER.count(text), 5):
        found = shorten(text, target, "web port graphctx serve")
        assert (block in found.text) is (kind not in found.cut)


def test_a_block_is_kept_with_the_sentence_that_introduces_it() -> None:
    text = f"{PROSE}\n\nStart the keeper's service like this:\n\n```sh\nsystemctl enable --now warden\n```\n\n{TABLE}\n\n{PROSE}"
    kept = shorten(text, 32, "How is the service started?").text
    assert "like this:" in kept
    assert "systemctl" in kept


@pytest.mark.slow
def test_many_sections_of_one_title_are_read_in_linear_time() -> None:
    def seconds(sections: int) -> float:
        said = (f"Rope {n} holds anchor {n}{'' if n % 6 else ', say the notes'}." for n in range(sections))
        text = "".join(f"## Notes\n\n{sentence}\n\n" for sentence in said)
        before = time.process_time()
        shorten(text, 200, "Which rope holds the bell?")
        return time.process_time() - before

    seconds(100)
    assert seconds(20_000) < 32 * seconds(2_500)  # 8 times where it is linear, 64 times where it is quadratic


def test_a_sentence_keeps_the_heading_above_it() -> None:
    text = f"# Opening hours\n\n{PROSE}\n\n# The mill\n\nThe mill grinds corn for the whole valley and the town."
    assert shorten(text, 18, "What does the mill grind?").text.startswith("# The mill")
