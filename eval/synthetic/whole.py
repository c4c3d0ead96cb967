"""Questions about the whole of the news and of the chats, with the points that a good answer makes.

What happened is known to the generator, so the gold is everything that fits a question, wherever it stands, and nobody
has to look for it. A question of one kind of event runs across all places and people; one of a place or a person runs
across all kinds of events.
"""

from __future__ import annotations

from collections import Counter

from eval.synthetic import chat, news
from eval.synthetic.writing import Collection, Dice, Fact

MOST = 14
"""Points of a question: two for each of the seven stories of a kind."""

OF_STORIES: tuple[tuple[int, str, tuple[str, ...]], ...] = (
    (0, "What did the labour disputes of the year turn on, and with what pay did they end?", ("demand", "end")),
    (1, "How much harm did bad weather do across the country, and what did it cost?", ("damage", "cost")),
    (2, "Which companies tried to swallow others, and what became of those attempts?", ("offer", "outcome")),
    (3, "Who had to face the courts, on what grounds, and how did each case finish?", ("charge", "sentence")),
    (4, "What got in the way of new river crossings, and how well were they received?", ("delay", "opening")),
    (5, "Which promises were made to voters, and who was chosen in the end?", ("promise", "result")),
)
"""The number of a kind of story, a question, and the keys of its points."""

OF_MATTERS: tuple[tuple[str, str, tuple[tuple[int, str], ...]], ...] = (
    (
        "theme",
        "What broke or went missing at home and on the road, and how was it settled?",
        ((2, "leak"), (2, "bill"), (7, "lost"), (7, "found")),
    ),
    ("theme", "Whose health gave cause for concern, people and animals alike?", ((11, "hurt"), (6, "cat"), (6, "vet"))),
    (
        "change",
        "What did the friends plan to do together in their free time, and what came of it?",
        ((0, "plan"), (0, "change"), (4, "isle"), (4, "ferry"), (4, "nights")),
    ),
    (
        "theme",
        "What was there to celebrate or to listen to?",
        ((1, "hush"), (1, "cake"), (9, "hall"), (9, "full")),
    ),
    (
        "change",
        "Who moved or found other work, and on what terms?",
        ((3, "call"), (3, "offer"), (10, "flat"), (10, "rent")),
    ),
    (
        "theme",
        "Which sums of money were named, and for what?",
        ((1, "paid"), (2, "bill"), (3, "offer"), (10, "rent")),
    ),
    ("theme", "What sport do they do, and how did it go?", ((0, "plan"), (0, "change"), (11, "run"), (11, "time"))),
    ("theme", "What was said about cooking and baking?", ((5, "recipe"), (5, "secret"), (1, "cake"))),
    ("theme", "Which things changed hands, with or without leave?", ((8, "lend"), (8, "oops"), (7, "lost"))),
)
"""A type, a question, and the number of a kind of matter with a key for each point; each matter happens twice."""

_PEOPLE = 2
_PLACES = 4
_FIRMS = 2


def make_news(name: str) -> Collection:
    """Return the news, with questions about each kind of story, some towns and some firms."""
    dice, collection = Dice("news"), Collection(name)
    told = news.tell(dice, collection)
    kinds = list(dict.fromkeys(id(story) for story, _, _ in told.arcs))
    facts = told.facts

    def points(arc: int, keys: tuple[str, ...]) -> list[tuple[str, Fact]]:
        _, slots, _ = told.arcs[arc]
        return [(f"{slots['town']}, {slots['firm']}: {key}, {facts[arc, key][1]}", facts[arc, key][0]) for key in keys]

    for kind, text, keys in OF_STORIES:
        arcs = [at for at, (story, _, _) in enumerate(told.arcs) if id(story) == kinds[kind]]
        collection.ask_whole(text, "theme", [one for at in arcs for one in points(at, keys)][:MOST])
    for slot, form, count in (
        ("town", "What has happened in {} over the year?", _PLACES),
        ("firm", "What was in the news about {}?", _FIRMS),
    ):
        for place, _ in Counter(slots[slot] for _, slots, _ in told.arcs).most_common(count):
            found = []
            for at, (story, slots, _) in enumerate(told.arcs):
                # Of a firm only what is told of it by name, not what happens in a town where it has a plant.
                about = slots[slot] == place
                keys = tuple(key for report in story.reports for key in report.told)
                found += [
                    (text, fact)
                    for text, fact in (points(at, keys) if about else ())
                    if slot == "town" or place in fact.page.text[fact.start : fact.end]
                ]
            collection.ask_whole(form.format(place), slot, found[:MOST])
    return collection


def make_chat(name: str) -> Collection:
    """Return the chats, with questions about kinds of matters, and about some of the people."""
    dice, collection = Dice("chat"), Collection(name)
    talked = chat.talk(dice, collection)
    kinds = list(dict.fromkeys(id(thread) for thread, _, _ in talked.plans))

    def point(plan: int, key: str) -> tuple[str, Fact]:
        fact = talked.facts[plan, key]
        return fact.page.text[fact.start : fact.end], fact

    for kind, text, wanted in OF_MATTERS:
        found = [
            point(plan, key)
            for matter, key in wanted
            for plan, (thread, _, _) in enumerate(talked.plans)
            if id(thread) == kinds[matter]
        ]
        collection.ask_whole(text, kind, found)
    said = [(point(plan, key)[0].partition(":")[0], plan, key) for plan, key in talked.facts]
    for person, _ in Counter(speaker for speaker, _, _ in said).most_common(_PEOPLE):
        told = [point(plan, key) for speaker, plan, key in said if speaker == person]
        collection.ask_whole(f"What was going on in the life of {person}?", "people", told[:MOST])
    return collection
