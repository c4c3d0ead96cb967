"""Pages of an invented encyclopedia, with questions of one to four hops, comparisons and descriptions.

The pages of one world are written once and make two sets: with titles and without.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from eval.synthetic.biography_phrases import ASK, CHAINS, DESCRIBE, FILLER, LEAD, NEVER, TELL, VIA
from eval.synthetic.names import Names
from eval.synthetic.writing import Collection, Dice, Fact, Page, said, spoken

TRADES = ("painter", "bridge engineer", "botanist", "composer", "surveyor", "clockmaker", "poet", "chemist")
GOODS = (
    "lace",
    "cut glass",
    "smoked eel",
    "clay pipes",
    "church bells",
    "salt",
    "felt hats",
    "mustard",
    "rope",
    "pears",
)
WARES = (
    "lamps",
    "printing presses",
    "looms",
    "pianos",
    "barometers",
    "bicycles",
    "paper",
    "steam pumps",
    "dyes",
    "books",
)
TOPICS = (
    "the great flood",
    "a blind lighthouse keeper",
    "the grammar of birdsong",
    "a stolen bell",
    "bee-keeping",
    "the winter road",
    "two rival bakers",
    "the making of maps",
    "a town without clocks",
    "tides",
)
FEASTS = ("February", "April", "May", "June", "August", "October", "November")
COLOURS = ("green", "grey", "crimson", "navy blue", "ochre", "violet")
MEDALS = ("Halmar", "Silver Oar", "Ostrander", "Evenlode", "Kestrel", "Quill and Compass")
SCHOOLS = ("Saint Brannoc's", "Cloister", "Navigation", "Weavers'", "Hilltop", "Northgate", "Orphans'", "Mariners'")


@dataclass(slots=True)
class Thing:
    """Something with a page: what it is, what is known of it, and where that is said."""

    kind: str
    name: str
    page: Page
    woman: bool = False
    known: dict[str, str] = field(default_factory=dict)
    links: dict[str, Thing] = field(default_factory=dict)
    facts: dict[str, Fact] = field(default_factory=dict)

    @property
    def called(self) -> str:
        """The name, with what tells it from a namesake."""
        return f"the {self.known['trade']} {self.name}" if "(" in self.page.title else self.name


class World:
    """All things of one seed."""

    def __init__(self, dice: Dice, collection: Collection) -> None:
        self.dice, self.collection, self.names = dice, collection, Names(dice)
        self.things: dict[str, list[Thing]] = {}

    def make(self, kind: str, name: str, woman: bool = False, title: str = "") -> Thing:
        number = sum(map(len, self.things.values()))
        thing = Thing(kind, name, self.collection.page(f"w{number:03}", title or name), woman)
        self.things.setdefault(kind, []).append(thing)
        return thing

    def any(self, kind: str) -> Thing:
        return self.dice.pick(self.things[kind])


def make(name: str, *, titled: bool) -> Collection:
    """Return a set of about 170 pages and 100 questions.

    Args:
        name: of the set.
        titled: whether the pages have titles.
    """
    collection = Collection(name)
    world = World(Dice("biographies"), collection)
    _invent(world)
    for kind in world.things:
        for thing in world.things[kind]:
            _write(world, thing)
    _ask(world)
    if not titled:
        for page in collection.pages:
            page.title = ""
    return collection


def _invent(world: World) -> None:
    dice, names = world.dice, world.names
    for _ in range(10):
        river = world.make("river", f"{names.river()}")
        river.known = {"length": str(dice.between(38, 470)), "lake": f"Lake {names.surname()}"}
    for _ in range(24):
        town = world.make("town", names.town())
        town.known = {
            "goods": dice.pick(GOODS),
            "people": spoken(dice.between(11, 990) * 100 + 37),
            "feast": dice.pick(FEASTS),
        }
        town.links = {"river": world.any("river")}
    for school_name in SCHOOLS:
        school = world.make("school", f"{school_name} School")
        school.known = {"founded": str(dice.between(1680, 1830)), "colour": dice.pick(COLOURS)}
    for _ in range(16):
        surname = names.surname()
        firm = world.make("firm", f"{surname} {dice.pick(('and Sons', 'Works', 'Brothers', 'and Company'))}")
        firm.known = {"founded": str(dice.between(1790, 1880)), "wares": dice.pick(WARES)}
    _invent_people(world)
    for medal in MEDALS:
        prize = world.make("prize", f"{medal} Prize")
        prize.known = {"sum": spoken(dice.between(2, 40) * 250)}
        prize.links = {"donor": world.any("firm")}
    for number, topic in enumerate(dice.shuffled(TOPICS) + dice.shuffled(TOPICS)):
        work = world.make("work", _work_title(names, dice, number))
        work.known = {"topic": topic, "pages": str(dice.between(84, 780)), "printed": str(dice.between(1870, 1939))}
        work.links = {"author": world.any("person"), "publisher": world.any("firm")}
    for school in world.things["school"]:
        school.links = {"town": world.any("town"), "head": world.any("person")}
    for firm in world.things["firm"]:
        firm.links = {"seat": world.any("town"), "founder": world.any("person")}
    for prize, person in zip(world.things["prize"] * 3, dice.some(world.things["person"], 18), strict=True):
        person.links["prize"] = prize
        person.known["honoured"] = str(dice.between(1905, 1949))


def _work_title(names: Names, dice: Dice, number: int) -> str:
    forms = ("The {a} of {t}", "{t} Letters", "Our {a} in {t}", "Beyond {t}", "The {t} {a}")
    nouns = ("Ferry", "Almanac", "Orchard", "Ledger", "Winter", "Staircase", "Garden", "Quarrel")
    return forms[number % len(forms)].format(a=dice.pick(nouns), t=names.town())


def _invent_people(world: World) -> None:
    dice, names = world.dice, world.names
    for number in range(72):
        people = world.things.get("person", [])
        surname = people[-1].name.split()[-1] if number % 4 == 1 else ""  # a relative, or only a namesake
        if number % 9 == 8:  # the same name again, told apart by the trade
            twin = people[-3]
            name, woman = twin.name, twin.woman
            trade = dice.pick([trade for trade in TRADES if trade != twin.known["trade"]])
            twin.page.title = f"{name} ({twin.known['trade']})"
            title = f"{name} ({trade})"
        else:
            name, woman = names.person(surname)
            trade, title = dice.pick(TRADES), ""
        person = world.make("person", name, woman, title)
        born = dice.between(1841, 1909)
        person.known = {"trade": trade, "born": str(born)}
        if dice.chance(0.7):
            person.known["died"] = str(born + dice.between(41, 92))
        person.links = {"birthplace": world.any("town"), "school": world.any("school"), "employer": world.any("firm")}
    people = dice.shuffled(world.things["person"])
    women, men = [p for p in people if p.woman], [p for p in people if not p.woman]
    for wife, husband in list(zip(women, men, strict=False))[:20]:
        wife.links["spouse"], husband.links["spouse"] = husband, wife


def _write(world: World, thing: Thing) -> None:
    """Write a page: a lead, then its facts in random order, with something beside the point now and then."""
    dice = world.dice
    she = {"he": "she", "his": "her", "him": "her"} if thing.woman else {"he": "he", "his": "his", "him": "him"}
    slots = {"name": thing.name, "last": thing.name.split()[-1], **thing.known, **she}
    slots |= {key: other.called for key, other in thing.links.items()}
    form = dice.pick(LEAD[thing.kind])
    lead = said(thing.page, form.format(**slots))
    for key in (*thing.known, *thing.links):
        if "{" + key + "}" in form:
            thing.facts[key] = lead
    rest = [key for key in TELL[thing.kind] if key in slots and key not in thing.facts]
    for key in dice.shuffled(rest):
        sentence = dice.pick(TELL[thing.kind][key]).format(**slots)
        thing.facts[key] = said(thing.page, sentence[0].upper() + sentence[1:])
        if dice.chance(0.45):
            thing.page.say(dice.pick(FILLER[thing.kind]).format(**slots))


def _ask(world: World) -> None:
    for hops, count in ((1, 16), (2, 24), (3, 16), (4, 10)):
        chains = [chain for chain in CHAINS if len(chain.split()) == hops + 1]
        asked = 0
        while asked < count:
            asked += _ask_chain(world, chains[asked % len(chains)].split(), hops)
    _compare(world)
    _describe(world)
    for kind, attribute in NEVER:
        thing = world.any(kind)
        world.collection.ask(attribute.format(name=thing.called), "unanswerable")
    living = [person for person in world.things["person"] if "died" not in person.known]
    for person in world.dice.some(living, 5):
        world.collection.ask(f"When did {person.called} die?", "unanswerable")


def _ask_chain(world: World, chain: list[str], hops: int) -> bool:
    """Ask along ``kind link … attribute`` from a random thing; whether there was such a chain."""
    kind, *links, last = chain
    thing = world.any(kind)
    asked, facts, seen = thing.called, [], [thing]
    for link in links:
        if link not in thing.links:
            return False
        facts.append(thing.facts[link])
        asked = world.dice.pick(VIA[thing.kind, link]).format(x=asked)
        thing = thing.links[link]
        if thing in seen:
            return False
        seen.append(thing)
    if last not in thing.facts:
        return False
    answer = thing.known[last] if last in thing.known else thing.links[last].name
    text = world.dice.pick(ASK[thing.kind, last]).format(x=asked)
    before = len(world.collection.questions)
    world.collection.ask(text, f"{hops}hop", [answer], [*facts, thing.facts[last]])
    return len(world.collection.questions) > before


def _compare(world: World) -> None:
    dice = world.dice
    for _ in range(6):
        a, b = dice.some(world.things["person"], 2)
        if a.known["born"] != b.known["born"]:
            older = min(a, b, key=lambda person: int(person.known["born"]))
            text = dice.pick(("Who was older, {a} or {b}?", "Of {a} and {b}, which one came first into the world?"))
            facts = [a.facts["born"], b.facts["born"]]
            world.collection.ask(text.format(a=a.called, b=b.called), "comparison", [older.name], facts)
    for _ in range(4):
        a, b = dice.some(world.things["river"], 2)
        longer = max(a, b, key=lambda river: int(river.known["length"]))
        facts = [a.facts["length"], b.facts["length"]]
        text = f"Which stream covers the greater distance, the {a.name} or the {b.name}?"
        world.collection.ask(text, "comparison", [longer.name], facts)
    for _ in range(4):
        a, b = dice.some(world.things["firm"], 2)
        same = "yes" if a.links["seat"] is b.links["seat"] else "no"
        text = f"Do {a.name} and {b.name} have their head offices in one and the same town?"
        world.collection.ask(text, "comparison", [same], [a.facts["seat"], b.facts["seat"]])


def _describe(world: World) -> None:
    """Questions that name nobody: whoever fits a description, and then something about them."""
    for person in world.dice.some([p for p in world.things["person"] if "prize" in p.links], 12):
        fits = [
            p
            for p in world.things["person"]
            if (p.known["trade"], p.links.get("prize")) == (person.known["trade"], person.links["prize"])
        ]
        if len(fits) == 1:
            text = world.dice.pick(DESCRIBE).format(trade=person.known["trade"], prize=person.links["prize"].name)
            facts = [person.facts["prize"], person.facts["birthplace"]]
            world.collection.ask(text, "description", [person.links["birthplace"].name], facts)
