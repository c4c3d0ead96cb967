"""A language model's words for the points, each sentence citing those that it rests on. A failure leaves the points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from graphctx.errors import GraphctxError, TimedOut
from graphctx.model.answers import PhrasedSentence, Point
from graphctx.settings import LlmSettings

MAX_SENTENCES = 8
"""Sentences of an answer, as many as a summary may have."""

MAX_GROUP_SENTENCES = 4
"""Sentences that the points of a community become if all points are too many for one prompt."""

MAX_NOTE_CHARS = 200


@dataclass(frozen=True, slots=True)
class PhraserConfig:
    """The language model that phrases, and the seconds that it may take in all."""

    settings: LlmSettings
    within_seconds: float


def phrase(
    phraser: PhraserConfig | None, question: str, points: Sequence[Point]
) -> tuple[tuple[PhrasedSentence, ...], str]:
    """Return a language model's words for points.

    Returns:
        Sentences that cite points by their place, from 1, and a note that says why there are none or what they leave
        out.

    Raises:
        TimedOut: the call was given up.
    """
    if phraser is None or not points:
        return (), ""
    try:
        return _phrased(phraser, question, [point.quote for point in points], [p.community_id for p in points])
    except TimedOut:
        raise
    except GraphctxError as error:
        return (), _short(error.message)
    except Exception as error:  # the points stand whatever happens here; the message may hold a secret
        return (), f"The language model could not be asked: {type(error).__name__}."


def _phrased(
    config: PhraserConfig, question: str, quotes: Sequence[str], groups: Sequence[str]
) -> tuple[tuple[PhrasedSentence, ...], str]:
    from graphctx.nlp.llm.client import make_chat_model
    from graphctx.nlp.llm.phrase import PhraserLlm
    from graphctx.nlp.llm.prompts import MAX_GIVEN_TOKENS
    from graphctx.nlp.tokens import AnswerCounter

    counter = AnswerCounter()
    phraser = PhraserLlm(make_chat_model(config.settings), config.settings, counter)
    texts = list(quotes)
    sources: list[tuple[int, ...]] = [(number,) for number in range(1, len(quotes) + 1)]
    within, left_out = config.within_seconds, ""
    if sum(counter.count_many(texts)) > MAX_GIVEN_TOKENS:  # too many for one prompt: each community first
        within /= 2
        order = sorted(range(len(groups)), key=lambda at: (groups.index(groups[at]), at))
        grouped = [list(ats) for _, ats in groupby(order, key=lambda at: groups[at])]
        mapped, _ = phraser.points(
            question,
            [[texts[at] for at in ats] for ats in grouped],
            max_points=MAX_GROUP_SENTENCES,
            within_seconds=within,
        )
        found = [
            (cited.text, tuple(ats[one] + 1 for one in cited.cites))
            for ats, made in zip(grouped, mapped, strict=True)
            for cited in made.sentences
        ]
        if not found:
            return (), _short(next((made.failure for made in mapped if made.failure), _NOTHING))
        texts, sources = [text for text, _ in found], [cites for _, cites in found]
        failures = [made.failure for made in mapped if made.failure]
        if failures:
            left_out = f"{len(failures)} of {len(grouped)} groups of points could not be phrased: {failures[0]}"
    made, _ = phraser.answer(question, texts, max_sentences=MAX_SENTENCES, within_seconds=within)
    if not made.sentences:
        return (), _short(made.failure or _NOTHING)
    return tuple(
        PhrasedSentence(text=one.text, points=sorted({number for at in one.cites for number in sources[at]}))
        for one in made.sentences
    ), _short(left_out)


_NOTHING = "The model found nothing in the points that bears on the question."


def _short(why: str) -> str:
    return why if len(why) <= MAX_NOTE_CHARS else why[: MAX_NOTE_CHARS - 1].rstrip() + "…"
