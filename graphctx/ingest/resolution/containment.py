"""Rung three: a name inside a longer one of the same type."""

from __future__ import annotations

from collections import defaultdict

from graphctx.ingest.resolution.names import DocumentNames, Name, NameTable
from graphctx.ingest.resolution.union_find import UnionFind
from graphctx.nlp.propers import INSTITUTIONS

CODE_KINDS = frozenset(
    "function method macro command subcommand keyword operator operation module file directory folder attribute "
    "parameter argument variable constant flag option field endpoint header statement expression directive "
    "annotation decorator property interface object type script utility program".split()
)
"""Nouns that say what sort of thing an identifier before them is: "the `drop` method" is `drop`."""

THING_KINDS = frozenset(
    "service system application app platform product library framework toolkit tool package crate trait struct enum "
    "class language database protocol format plugin extension driver daemon software".split()
)
"""Nouns that say what sort of thing any name before them is: "the Harbour Relay service" is Harbour Relay. "Team",
"city", "project" or "server" are not among them: the Harbour Relay team is not Harbour Relay."""

LEGAL_FORMS = frozenset("inc corp corporation ltd limited llc plc gmbh ag co company incorporated sa nv".split())
"""Endings of a company's name that its short form leaves out."""


_TITLES = frozenset(
    "king queen prince princess emperor empress duke duchess pope bishop saint st lord lady sir dame count baron "
    "president senator general captain colonel professor doctor father mother brother sister uncle aunt miss".split()
)
"""First words that many people share."""


RIVAL_TIMES = 3
"""So much better known another person must be to cast doubt on a short form."""

MAX_GUESSES = 2
"""How often a tagger may take a first name for something else; more often, it is something else."""

_DIRECTIONS = frozenset("north south east west new old upper lower great little fort mount".split())


def merge_kind_nouns(table: NameTable, same: UnionFind) -> None:
    """Merge "X service" into "X", and "Acme Inc" into "Acme".

    "X service" is X only where the text writes X as a name in it: "the `new` method" is, "the new method" is not.
    """
    for at, base in sorted(table.opened):
        head, _, last = table.names[at].text.rpartition(" ")
        short = table.names[base]
        kinds = CODE_KINDS | THING_KINDS if short.code else THING_KINDS
        if head == short.text and last in kinds and not short.labels.keys() & {"person", "location", "group"}:
            same.union(at, base)
    for at, name in enumerate(table.names):
        head, _, last = name.text.rpartition(" ")
        base = table.index.get(head, -1)
        if last not in LEGAL_FORMS or base < 0 or name.label != "organization":
            continue
        if table.names[base].label in ("organization", "term") and table.names[base].is_named:
            same.union(at, base)


def merge_people(table: NameTable, same: UnionFind) -> None:
    """Merge a first or last name into the one full name of its document that has it.

    Where every document that settles the question settles it alike, and the corpus knows no other person of that
    name, it holds for the documents that do not settle it too.
    """
    bearers = _bearers(table)
    settled: dict[int, set[int]] = defaultdict(set)
    for number, document in enumerate(table.documents):
        people = [at for at in document.labels if _is_person(table.names[at], document, at)]
        full = _by_part(table, [at for at in people if " " in table.names[at].text])
        known = {at for at in people if table.names[at].label == "person"}
        for at in document.labels:
            name = table.names[at].text
            if at not in people and not _may_be_first_name(table.names[at], full.get(name, set()) & known):
                continue
            if " " in name:
                found = {one for one in full.get(name.split()[-1], ()) if _is_shortened(name, table.names[one].text)}
            else:
                found = full.get(name, set())
            if len(found) == 1:
                into = next(iter(found))
                if _has_rival(table, into, bearers.get(name.split()[-1], set())):
                    continue
                same.union_in(number, at, into)
                settled[at].add(into)
    for at in sorted(settled):
        known = bearers.get(table.names[at].text, set())
        if len(settled[at]) == 1 and known == settled[at] and _is_always_person(table.names[at]):
            same.union(at, next(iter(known)))


def _has_rival(table: NameTable, one: int, bearers: set[int]) -> bool:
    """Whether the corpus speaks far more often of another person of that name: then the short form may mean them."""
    return any(table.names[other].mentions > RIVAL_TIMES * table.names[one].mentions for other in bearers - {one})


def _may_be_first_name(name: Name, full: set[int]) -> bool:
    """Whether a word that the tagger takes for something else is a first name all the same.

    Taggers guess at rare first names. Where a document has a person of that name and the corpus hardly speaks of a
    town or a company of that name, the person is meant.
    """
    others = sum(count for label, count in name.labels.items() if label != "person")
    return len(full) == 1 and not name.code and not name.acronym and name.is_named and others <= MAX_GUESSES


def _is_always_person(name: Name) -> bool:
    return name.label == "person" and 10 * name.named >= 9 * name.mentions


def _bearers(table: NameTable) -> dict[str, set[int]]:
    """First and last names to the full names of the corpus's people."""
    full = [at for at, name in enumerate(table.names) if " " in name.text and name.labels.get("person")]
    return _by_part(table, full)


def _by_part(table: NameTable, full: list[int]) -> dict[str, set[int]]:
    parts: dict[str, set[int]] = defaultdict(set)
    for at in full:
        words = table.names[at].text.split()
        if "of" in words or words[-1] in INSTITUTIONS or words[0] in _DIRECTIONS or table.names[at].label != "person":
            continue  # "Ferdinand of Brunswick" has no last name, "Batesville Airport" is no person
        for word in {words[0], words[-1]}:
            if len(word) > 1 and word not in _TITLES:
                parts[word].add(at)
    return parts


def _is_person(name: Name, document: DocumentNames, at: int) -> bool:
    """Whether a document speaks of it as a person at least as often as of anything else."""
    if name.code or name.acronym or any(char.isdigit() for char in name.text):
        return False
    labels = document.labels[at]
    others = max((count for label, count in labels.items() if label not in ("person", "term")), default=0)
    return labels["person"] > 0 and labels["person"] >= others


def _is_shortened(short: str, long: str) -> bool:
    """Whether a name leaves out or shortens middle names: ``john booth``, ``john w booth``, ``john wilkes booth``."""
    few, many = short.split(), long.split()
    if len(few) >= len(many) or few[0] != many[0] or few[-1] != many[-1]:
        return False
    middle = iter(many[1:-1])
    return all(any(full.startswith(part) for full in middle) for part in few[1:-1])
