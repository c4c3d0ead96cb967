"""How well the memory tells questions that it can answer from those of other conversations."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np

from eval.memory.conversations import Conversations, Question
from graphctx.memory import Memory
from graphctx.memory.index import MemoryIndex
from graphctx.memory.scorer import mixed_similarity, similarity_floor
from graphctx.nlp.base import Embedder

SIZES = (3, 10, 30, 100, 300, 1000, 3000)
SAMPLES = 200


def print_relevance(
    memory: Memory, embedder: Embedder, found: Conversations, keys: Mapping[str, str], strangers: Sequence[Question]
) -> None:
    """Print the similarity of the best item of memories of several sizes, for questions with and without an answer.

    A memory is a sample of the turns of one chat. Of it, a question of another conversation is asked, and, when the
    turns that answer it are added, one of the chat.

    Args:
        memory: in which the turns are.
        embedder: of the questions.
        found: the conversations.
        keys: the gold key of each item.
        strangers: questions of other conversations; those of other chats of this one are added.
    """
    index = MemoryIndex(embedder.dimension)
    with memory.database.read() as connection:
        index.refresh(connection)
    draw, settings = random.Random(5), memory.settings.scoring
    slots: dict[str, list[int]] = {}
    by_key: dict[str, list[int]] = {}
    chat_of = {turn.gold: turn.chat for turn in found.turns}
    for slot, item in enumerate(index.ids):
        if item in keys:
            slots.setdefault(chat_of[keys[item]], []).append(slot)
            by_key.setdefault(keys[item], []).append(slot)
    asked = [one for one in found.questions if any(key in by_key for key in one.gold)]
    print("\n| turns | question | below the floor | 1st | 5th | 25th | 50th | 75th | 95th percentile |")
    print("|--:|---|--:|--:|--:|--:|--:|--:|--:|")
    for size in SIZES:
        best: dict[str, list[float]] = {"of the chat": [], "of another": []}
        below = dict.fromkeys(best, 0)
        for _ in range(SAMPLES):
            question = draw.choice(asked)
            own = slots[question.chat]
            if size > len(own):
                continue
            others = [*strangers, *(one for one in found.questions if one.chat != question.chat)]
            gold = [slot for key in question.gold for slot in by_key.get(key, ())]
            asked_of = [("of the chat", question.text)] + [("of another", draw.choice(others).text)] * bool(others)
            for kind, text in asked_of:
                mask = np.zeros(len(index.ids), bool)
                mask[draw.sample(own, size)] = True
                mask[gold] |= kind == "of the chat"
                cosines = index.cosines(embedder.embed([text])[0], np.flatnonzero(mask))
                lexical = index.postings.scores(text, mask, index.column("length"))[mask]
                fit = mixed_similarity(cosines, lexical, settings).max()
                best[kind].append(float(fit))
                below[kind] += fit < similarity_floor(text, int(mask.sum()), settings)
        for kind, values in best.items():
            if values:
                cells = " | ".join(f"{value:.2f}" for value in np.percentile(values, (1, 5, 25, 50, 75, 95)))
                print(f"| {size} | {kind} | {100 * below[kind] / len(values):.0f} % | {cells} |")
