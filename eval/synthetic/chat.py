"""Chat sessions with speakers and times of day. Plans are made, changed and carried out over several sessions; who
speaks is a name in every line and a home of nobody."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from eval.synthetic.chat_phrases import NEVER, SMALL_TALK, THREADS, Thread
from eval.synthetic.writing import Collection, Dice, Fact, Page

START = datetime(2031, 3, 3, 8, 15)
GROUPS = (
    ("Mira", "Otto", "Jun"),
    ("Otto", "Hanne", "Pavel"),
    ("Sunniva", "Mira", "Bram"),
    ("Teo", "Hanne", "Lucia"),
    ("Bram", "Lucia", "Pavel"),
)
SESSIONS_ASIDE = 48
"""Sessions of small talk, in which nothing is asked for."""


@dataclass(frozen=True)
class Talked:
    """What is talked of.

    Attributes:
        plans: the matters: of which kind, who plays which part in them with what, and when they begin.
        facts: the number of a matter and a key of it to the line that says so.
    """

    plans: list[tuple[Thread, dict[str, str], datetime]]
    facts: dict[tuple[int, str], Fact]


def make(name: str) -> Collection:
    """Return a set of about 130 sessions and 90 questions."""
    dice, collection = Dice("chat"), Collection(name)
    talked = talk(dice, collection)
    for number, (thread, slots, _) in enumerate(talked.plans):
        for kind, keys, form, answer in thread.questions:
            found = [talked.facts[number, key] for key in keys]
            collection.ask(form.format(**slots), kind, [answer.format(**slots)], found)
    for number, form in enumerate(NEVER):
        _, slots, _ = talked.plans[(number * 5) % len(talked.plans)]
        collection.ask(form.format(**slots), "unanswerable")
    return collection


def talk(dice: Dice, collection: Collection) -> Talked:
    """Write all sessions."""
    plans: list[tuple[Thread, dict[str, str], datetime]] = []
    roles: list[list[str]] = []
    for number, thread in enumerate(THREADS * 2):
        group = dice.shuffled(GROUPS[number % len(GROUPS)])
        while number >= len(THREADS) and any(x == y for x, y in zip(group, roles[number - len(THREADS)], strict=True)):
            group = dice.shuffled(group)  # the same matter again, with everybody in another part
        roles.append(group)
        slots = {"a": group[0], "b": group[1], "c": group[2]}
        slots |= {key: dice.pick(values) for key, values in thread.values.items()}
        day = START + timedelta(days=dice.between(0, 150), minutes=dice.between(0, 700))
        plans.append((thread, slots, day))
    sessions: list[tuple[datetime, int, int]] = []
    for number, (thread, _, day) in enumerate(plans):
        for part in range(len(thread.sessions)):
            sessions.append((day, number, part))
            day += timedelta(days=dice.between(1, 5), minutes=dice.between(5, 500))
    for number in range(SESSIONS_ASIDE):
        day = START + timedelta(days=dice.between(0, 170), minutes=dice.between(0, 800))
        sessions.append((day, len(plans) + number, 0))
    facts: dict[tuple[int, str], Fact] = {}
    used: set[str] = set()
    for day, number, part in sorted(sessions):
        while f"{day:%Y%m%d_%H%M}" in used:
            day += timedelta(minutes=7)
        used.add(f"{day:%Y%m%d_%H%M}")
        page = collection.page(f"{day:%Y%m%d_%H%M}")
        page.say(f"Time: {day:%Y-%m-%d %H:%M}")
        if number >= len(plans):
            _chatter(dice, page, dice.pick(GROUPS), 3)
        else:
            thread, slots, _ = plans[number]
            _session(dice, page, thread, part, slots, facts, number)
    return Talked(plans, facts)


def _session(
    dice: Dice,
    page: Page,
    thread: Thread,
    part: int,
    slots: dict[str, str],
    facts: dict[tuple[int, str], Fact],
    number: int,
) -> None:
    people = (slots["a"], slots["b"], slots["c"])
    if dice.chance(0.6):
        _chatter(dice, page, people, 1)
    for line in thread.sessions[part]:
        speaker, _, said = line.partition(" ")
        key, mark, words = said.partition("| ")
        text = (words if mark else said).format(**slots)
        start, end = page.say(f"{slots[speaker]}: {text}", "\n")
        if mark:
            facts[number, key] = Fact(page, start, end)
        if dice.chance(0.2):
            _chatter(dice, page, people, 1)
    _chatter(dice, page, people, 1)


def _chatter(dice: Dice, page: Page, people: tuple[str, ...], turns: int) -> None:
    for _ in range(turns):
        first, second = dice.some(people, 2)
        remark, reply = dice.pick(SMALL_TALK)
        page.say(f"{first}: {remark}", "\n")
        page.say(f"{second}: {reply}", "\n")
