"""Long documents of many entries, which are cut into units: the right document says little, the place in it all.

A few places and people run through each document, so that what is asked for is told by what happened there and not by
the name alone. Most documents share their events with others of their genre, with other outcomes.
"""

from __future__ import annotations

from eval.synthetic.long_phrases import GENRES, Genre
from eval.synthetic.names import Names
from eval.synthetic.writing import Collection, Dice, said

DOCUMENTS = 12
HEROES = 5
"""Places or people of a document."""

ENTRIES = 40
ASKED = 6
"""Questions for each document."""


def make(name: str) -> Collection:
    """Return a set of 12 documents of about 2,000 words, and 90 questions."""
    dice, collection = Dice("long documents"), Collection(name, judge="units")
    names = Names(dice)
    for number in range(DOCUMENTS):
        _write(dice, collection, names, GENRES[number % len(GENRES)], number)
    return collection


def _write(dice: Dice, collection: Collection, names: Names, genre: Genre, number: int) -> None:
    page = collection.page(f"long{number:02}", genre.title.format(name=names.town()))
    heroes = [names.person()[0] if genre is not GENRES[0] else f"{names.surname()} Pass" for _ in range(HEROES)]
    plan = [(hero, event) for hero in heroes for event in dice.some(genre.events, ENTRIES // HEROES)]
    count, asked = genre.first, []
    for hero, (sentence, values, question) in dice.shuffled(plan):
        page.say(genre.entry.format(n=count, p=hero), "\n\n")
        count += dice.between(1, genre.step)
        asides = dice.some(genre.asides, dice.between(3, 5))
        cut = dice.between(1, len(asides) - 1)
        for aside in asides[:cut]:
            page.say(aside)
        value = dice.pick(values)
        fact = said(page, sentence.format(v=value))
        for aside in asides[cut:]:
            page.say(aside)
        asked.append((question.format(p=hero), value, fact))
    for question, value, fact in dice.some(asked, ASKED):
        collection.ask(question, "single", [value], [fact])
    for question in dice.some(genre.never, 1):
        collection.ask(question.format(p=dice.pick(heroes)), "unanswerable")
