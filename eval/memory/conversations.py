"""Conversations with questions: BEAM, LiHua-World, and generated chats whose facts change."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

_BATCH = re.compile(r"batch (?P<batch>\d+) (?P<date>\w+-\d+-\d{4})?")
_DAY = re.compile(r"(\d{4})(\d{2})(\d{2})_(\d{2})(\d{2})?")
_MAX_CHARS = 100_000
_LINE = re.compile(r"(\w+): (.*\S)")


@dataclass(frozen=True, slots=True)
class Turn:
    """What was said, when and by whom. ``gold`` is the key by which questions name it."""

    gold: str
    chat: str
    session: str
    speaker: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """A question to one chat, with the keys of the turns that answer it, and answers."""

    id: str
    chat: str
    text: str
    type: str
    gold: frozenset[str]
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversations:
    """Chats and their questions."""

    name: str
    turns: list[Turn]
    questions: list[Question]


@dataclass(frozen=True, slots=True)
class Period:
    """A value of an attribute of an entity, since when, and until when."""

    entity: str
    attribute: str
    value: str
    since: datetime
    until: datetime | None
    statement: str


def read_beam(folder: Path) -> Conversations:
    """Return the chats of BEAM: a session for each batch, a turn each minute."""
    turns, at, session = [], datetime.min, ""
    for row in _rows(folder / "corpus.jsonl"):
        chat = row["id"].split(":")[0]
        found = _BATCH.search(row["title"])
        if found and found["date"]:
            at, session = datetime.strptime(found["date"], "%B-%d-%Y").replace(tzinfo=UTC, hour=9), found["batch"]
        at += timedelta(minutes=1)
        speaker, text = row["text"].split(": ", 1)
        for start in range(0, len(text), _MAX_CHARS):  # one runs on for more than an item may have
            part = text[start : start + _MAX_CHARS]
            turns.append(Turn(row["id"], chat, f"{chat} {session}", speaker, part, at))
    return Conversations("beam_dev", turns, [_question(row, row["scope"]) for row in _rows(folder / "questions.jsonl")])


def read_lihua(folder: Path, *, by_line: bool) -> Conversations:
    """Return the conversations of LiHua-World, each as one long turn, or a turn for each line that somebody says."""
    turns = []
    for row in sorted(_rows(folder / "corpus.jsonl"), key=lambda row: str(row["id"])):
        day = _DAY.match(row["id"])
        at = (
            datetime(*(int(part or 0) for part in day.groups()), tzinfo=UTC)
            if day
            else datetime(2026, 1, 1, tzinfo=UTC)
        )
        lines = [("", row["text"])]
        if by_line:
            lines = [found.groups() for line in row["text"].split("\n")[1:] if (found := _LINE.match(line))]
        for number, (speaker, text) in enumerate(lines):
            turns.append(Turn(row["id"], "lihua", row["id"], speaker, text, at + timedelta(seconds=number)))
    name = "lihua_lines" if by_line else "lihua_world"
    return Conversations(name, turns, [_question(row, "lihua") for row in _rows(folder / "questions.jsonl")])


def changing_facts(n_statements: int = 500, seed: int = 7) -> list[Period]:
    """Return statements and corrections about many entities, in the order of time."""
    draw = random.Random(seed)
    found: list[Period] = []
    pairs = [(entity, attribute) for attribute in _STATEMENTS for entity in _entities(attribute)]
    draw.shuffle(pairs)
    for entity, attribute in pairs:
        values = draw.sample(_VALUES[attribute], min(draw.randint(2, 6), len(_VALUES[attribute])))
        times = sorted(draw.sample(range(700), len(values)))
        for number, value in enumerate(values):
            first, later = _STATEMENTS[attribute]
            forms = later if number else first
            said = forms[draw.randrange(len(forms))].format(e=entity, v=value, old=values[number - 1])
            since = _START + timedelta(days=times[number], minutes=draw.randrange(600))
            until = None
            if number + 1 < len(values):
                until = _START + timedelta(days=times[number + 1])
            found.append(Period(entity, attribute, value, since, until, said))
        if len(found) >= n_statements:
            break
    return sorted(found, key=lambda period: period.since)


def generate_chats(seed: int = 11) -> Conversations:
    """Return one chat in which the values of `changing_facts` are said by a user, each amid other matters."""
    draw = random.Random(seed)
    periods = changing_facts(240, seed)
    turns: list[Turn] = []
    keys: dict[tuple[str, str], list[str]] = {}

    def say(speaker: str, text: str, at: datetime) -> str:
        turns.append(Turn(f"g{len(turns)}", "generated", f"{at:%Y-%m-%d}", speaker, text, at))
        return turns[-1].gold

    for period in periods:
        at = period.since
        topic = draw.choice(_TOPICS)
        say("user", draw.choice(_ASKED).format(e=period.entity, t=topic), at)
        say("assistant", draw.choice(_ADVICE).format(e=period.entity, t=topic), at + timedelta(minutes=1))
        said = say("user", f"{draw.choice(_OPENINGS)}{period.statement}", at + timedelta(minutes=2))
        say("assistant", draw.choice(_REPLIES).format(e=period.entity, t=topic), at + timedelta(minutes=3))
        keys.setdefault((period.entity, period.attribute), []).append(said)
    questions = []
    by_pair: dict[tuple[str, str], list[Period]] = {}
    for period in periods:
        by_pair.setdefault((period.entity, period.attribute), []).append(period)
    for (entity, attribute), values in by_pair.items():
        said, about = keys[entity, attribute], _QUESTIONS[attribute].format(e=entity)
        last, first = values[-1], values[0]

        def ask(kind: str, text: str, gold: list[str], answer: str) -> None:
            questions.append(Question(f"q{len(questions)}", "generated", text, kind, frozenset(gold), (answer,)))

        ask("knowledge_update", f"{about} now?", said[-1:], last.value)
        ask("temporal", f"{about} on {first.since + timedelta(hours=12):%B %d, %Y}?", said[:1], first.value)
        ask("history", f"{about}, and how has that changed over time?", said, " ".join(one.value for one in values))
    return Conversations("generated", turns, questions)


def _question(row: dict[str, object], chat: str) -> Question:
    answers = tuple(str(each) for each in row["answers"] if str(each).strip())  # type: ignore[attr-defined]
    gold = frozenset(str(each) for each in row["gold_ids"])  # type: ignore[attr-defined]
    return Question(str(row["id"]), chat, str(row["question"]), str(row["type"]), gold, answers)


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _entities(attribute: str) -> list[str]:
    return _PEOPLE if attribute in ("home", "employer", "phone number") else _PROJECTS


_START = datetime(2023, 1, 2, 8, tzinfo=UTC)
_FIRST = "Ana Bela Carlos Dunja Emil Farah Goran Hiro Ines Jakob Katya Lionel Mona Nils Olga Pedro Quinn Rosa".split()
_LAST = "Abel Brandt Costa Dietrich Eklund Ferrer Gomez Hansen Ivanov Jensen Keller Larsen Moreau Novak Ortiz".split()
_PEOPLE = [f"{first} {_LAST[number % len(_LAST)]}" for number, first in enumerate(_FIRST)]
_PROJECTS = (
    "Apollo Borealis Cascade Driftwood Everest Falcon Glacier Horizon Icarus Juniper Kestrel Lighthouse Meridian "
    "Nimbus Orchid Pinnacle Quasar Redwood Saturn Tundra"
).split()
_CITIES = "Oslo Lisbon Turin Ghent Graz Porto Bergen Lyon Malmo Zagreb Bilbao Gdansk Bremen Tartu".split()
_FIRMS = "Northwind,Acme,Globex,Initech,Umbra Labs,Vandelay,Hooli,Stark Foods,Wayne Optics,Tyrell".split(",")
_VALUES = {
    "deadline": [f"{month} {day}" for month in ("March", "May", "July", "October") for day in (2, 9, 17, 28)],
    "budget": [f"{number},000 euros" for number in (12, 18, 25, 34, 47, 52, 68, 75, 90)],
    "lead": _PEOPLE,
    "status": ["on hold", "in review", "in testing", "delayed", "on track", "in production"],
    "home": _CITIES,
    "employer": _FIRMS,
    "phone number": [f"555-0{number}" for number in range(112, 199, 7)],
}
_STATEMENTS: dict[str, tuple[list[str], list[str]]] = {
    "deadline": (
        ["The deadline of {e} is {v}.", "{e}'s deadline is {v}."],
        [
            "The deadline of {e} moved to {v}.",
            "Correction: the deadline for {e} is {v}, not {old}.",
            "{e}'s deadline was pushed back from {old} to {v}.",
            "We have changed {e}'s deadline to {v}.",
        ],
    ),
    "budget": (
        ["The budget for {e} is {v}.", "{e} has a budget of {v}."],
        ["{e}'s budget was raised to {v}.", "The budget of {e} is now {v}.", "They cut the budget of {e} to {v}."],
    ),
    "lead": (
        ["{v} is the lead of {e}.", "The lead of {e} is {v}."],
        ["{v} is now the lead of {e}.", "{e}'s new lead is {v}.", "{v} took over from {old} as the lead of {e}."],
    ),
    "status": (
        ["The status of {e} is {v}.", "{e}'s status is {v}."],
        ["The status of {e} changed from {old} to {v}.", "{e}'s status is now {v}."],
    ),
    "home": (
        ["{e} lives in {v}.", "{e} lives in {v} with two cats."],
        ["{e} moved to {v}.", "{e} now lives in {v}.", "{e} has moved from {old} to {v}."],
    ),
    "employer": (
        ["{e} works at {v}.", "{e} works for {v} as an engineer."],
        ["{e} now works for {v}.", "{e} left {old} and joined {v}.", "{e} joined {v} last week."],
    ),
    "phone number": (
        ["{e}'s phone number is {v}.", "The phone number of {e} is {v}."],
        ["{e}'s new phone number is {v}.", "{e}'s phone number changed to {v}."],
    ),
}
PREDICATES = {"home": "lives in", "employer": "works at"}
"""Predicates by which the facts are asked, where they are not the attribute's name."""

_QUESTIONS = {
    "deadline": "What is the deadline of {e}",
    "budget": "What is the budget of {e}",
    "lead": "Who is the lead of {e}",
    "status": "What is the status of {e}",
    "home": "Where does {e} live",
    "employer": "Where does {e} work",
    "phone number": "What is the phone number of {e}",
}
_TOPICS = ["the weekly report", "a travel plan", "the test suite", "an invoice", "the onboarding notes", "a slide deck"]
_ASKED = [
    "Can you help me with {t}? It concerns {e}.",
    "I am writing {t} for {e}; how should I begin?",
    "Before we go on, what makes {t} easy to read for {e}?",
]
_ADVICE = [
    "Certainly! Begin {t} with its purpose, then say what {e} needs, and close with the next steps. Keep every "
    "paragraph to one idea, and name the person who decides. A deadline, a budget and a status line at the top help "
    "readers who only skim. If figures change, say since when, and what they were before.",
    "Of course. For {e} I would keep {t} to a page. List what is done, what is open and who leads each part, with a "
    "phone number for questions. Where people work or live matters only if they have to travel. Shall I begin?",
]
_OPENINGS = ["", "By the way, ", "Just so you know: ", "Update: ", "Remember this. "]
_REPLIES = [
    "Thanks, I have noted that. Shall we return to {t}?",
    "Got it. I will keep this about {e} in mind while we finish {t}.",
    "Understood. That may change what {t} should say about {e}; I would mention it in the first paragraph.",
]
