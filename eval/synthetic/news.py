"""Dated news without titles. Stories run over several reports, the same towns, firms and people turn up in many of
them, and no report is about a name the way an encyclopedia's page is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from eval.synthetic.names import Names
from eval.synthetic.news_phrases import BYLINES, COMMON, NEVER, STORIES, Report, Story
from eval.synthetic.writing import Collection, Dice, Fact, said, spoken

FIRST_DAY = date(2031, 1, 6)
ARCS = 42


@dataclass(frozen=True)
class Told:
    """What the reports tell.

    Attributes:
        arcs: the stories: of which kind, who and where, and when they begin.
        facts: the number of a story and a key of it to the sentence that says so, and the value in it.
    """

    arcs: list[tuple[Story, dict[str, str], date]]
    facts: dict[tuple[int, str], tuple[Fact, str]]


def make(name: str) -> Collection:
    """Return a set of about 150 reports and 100 questions."""
    dice, collection = Dice("news"), Collection(name)
    told = tell(dice, collection)
    _ask(dice, collection, told.arcs, told.facts)
    return collection


def tell(dice: Dice, collection: Collection) -> Told:
    """Write all reports."""
    names = Names(dice)
    towns = [names.town() for _ in range(12)]
    firms = [f"{names.surname()} {word}" for word in ("Shipping", "Steel", "Foods") * 3]
    people = [names.person()[0] for _ in range(14)]
    arcs = []
    for number in range(ARCS):
        turn, kind = divmod(number, len(STORIES))
        story = STORIES[kind]
        town = towns[(turn + 2 * kind) % len(towns)]  # a kind of story happens once in a town, and once to a firm
        slots = {
            "town": town,
            "other": dice.pick([other for other in towns if other != town]),
            "firm": firms[(turn + 4 * kind) % len(firms)],
            "rival": dice.pick(firms),
            "who": dice.pick(people),
            "whom": dice.pick(people),
        }
        while slots["rival"] == slots["firm"]:
            slots["rival"] = dice.pick(firms)
        while slots["whom"] == slots["who"]:
            slots["whom"] = dice.pick(people)
        start = FIRST_DAY + timedelta(days=dice.between(0, 300))
        arcs.append((story, slots, start))
    reports = []
    for number, (story, slots, start) in enumerate(arcs):
        day = start
        for report in story.reports:
            reports.append((day, number, report, slots))
            day += timedelta(days=dice.between(2, 16))
    facts: dict[tuple[int, str], tuple[Fact, str]] = {}
    for at, (day, number, report, slots) in enumerate(sorted(reports, key=lambda item: item[:2])):
        _write(dice, collection, at, day, report, slots, facts, number)
    return Told(arcs, facts)


def _write(
    dice: Dice,
    collection: Collection,
    at: int,
    day: date,
    report: Report,
    slots: dict[str, str],
    facts: dict[tuple[int, str], tuple[Fact, str]],
    arc: int,
) -> None:
    page = collection.page(f"n{at:03}", updated_at=day.isoformat())
    dated = slots | {"day": f"{day:%A}", "date": f"{day.day} {day:%B}"}
    page.say(dice.pick(BYLINES).format(**dated))
    asides = list(COMMON)
    for key, forms in report.told.items():
        low, high, step = report.numbers.get(key, (0, 0, 1))
        value = spoken(dice.between(low, high) * step) if high else dice.pick(report.words.get(key, ("",)))
        sentence = dice.pick(forms).format(**dated, value=value)
        facts[arc, key] = (said(page, sentence[0].upper() + sentence[1:]), value)
        for aside in dice.some(asides, dice.between(1, 2)):
            asides.remove(aside)
            page.say(aside.format(**dated))
    for aside in dice.some(asides, 2):
        page.say(aside.format(**dated))


def _ask(
    dice: Dice,
    collection: Collection,
    arcs: list[tuple[Story, dict[str, str], date]],
    facts: dict[tuple[int, str], tuple[Fact, str]],
) -> None:
    asked: set[tuple[str, str]] = set()
    for number, (story, slots, start) in enumerate(arcs):
        told = slots | {"month": f"{start:%B}"}
        for kind, keys, forms in dice.some(story.questions, 2):
            found = [facts[number, key] for key in keys]
            text = dice.pick(forms).format(**told)
            if (kind, text) not in asked:
                asked.add((kind, text))
                collection.ask(text, kind, [found[-1][1]] if found[-1][1] else [], [fact for fact, _ in found])
    for number, form in enumerate(NEVER):
        _, slots, _ = arcs[(number * 7) % len(arcs)]
        collection.ask(form.format(**slots), "unanswerable")
