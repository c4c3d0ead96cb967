"""Samples of names, aliases, facts and titles for a strict reader, and what the reader said.

A row of a sample, and of a file of verdicts, is a JSON object: ``site``; ``kind``, one of `KINDS`; ``item``, what is
judged; ``seen``, what helps to judge it, which files of verdicts leave out; ``verdict``, ``right`` or ``wrong``, or
empty where nobody has judged it; and ``reason``, which a wrong one must have.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from graphctx.errors import InvalidArgument
from graphctx.store.snapshot import Snapshot

Row = dict[str, str]

KINDS = ("name", "label", "alias", "fact", "document", "community")
VERDICTS = ("right", "wrong", "")
SEED = 20_240_229
_SURFACES = 6
_SEEN_CHARS = 240


def sample(site: str, snapshot: Snapshot, what: str, n: int) -> list[Row]:
    """Return what a reader is to judge; the same for the same snapshot.

    Args:
        site: its name.
        snapshot: of its knowledge base.
        what: ``names``, the entities with the most neighbours and their labels; ``aliases`` and ``facts``, drawn at
            random; or ``titles``, of documents drawn at random and of the largest communities from the top level down.
        n: how many of each.

    Raises:
        InvalidArgument: there are no such samples.
    """
    if what not in SAMPLES:
        raise InvalidArgument(f"There are no samples of {what!r}: ask for one of {', '.join(SAMPLES)}.")
    rows = SAMPLES[what](snapshot, n)
    return [{"site": site, "kind": kind, "item": item, "seen": seen, **_UNREAD} for kind, item, seen in rows]


_UNREAD = {"verdict": "", "reason": ""}


def _names(snapshot: Snapshot, n: int) -> Iterator[tuple[str, str, str]]:
    neighbours: Counter[int] = Counter()
    for column in snapshot.table("related", ["source_row", "target_row"]).columns:
        neighbours.update(column.to_pylist())
    entities = snapshot.table("entities", ["name", "label", "n_mentions"]).to_pylist()
    chosen = sorted(range(len(entities)), key=lambda row: (-neighbours[row], -entities[row]["n_mentions"], row))[:n]
    surfaces: dict[int, Counter[str]] = {row: Counter() for row in chosen}
    texts = snapshot.table("documents", ["text"])["text"].to_pylist()
    doc_of = snapshot.table("units", ["doc_row"])["doc_row"].to_pylist()
    mentions = snapshot.table("mentions", ["entity_row", "unit_row", "start_char", "end_char"])
    for row, unit, start, end in zip(*(column.to_pylist() for column in mentions.columns), strict=True):
        if row in surfaces:
            surfaces[row][" ".join(texts[doc_of[unit]][start:end].split())] += 1
    for row in chosen:
        name, label = entities[row]["name"], entities[row]["label"]
        forms = sorted(surfaces[row].items(), key=lambda form: (-form[1], form[0]))[:_SURFACES]
        seen = f"{neighbours[row]} neighbours, {entities[row]['n_mentions']} mentions: " + ", ".join(
            f"{form} {count}" for form, count in forms
        )
        yield "name", f"{name} = {', '.join(sorted(form for form, _ in forms))}", seen
        if label:
            yield "label", f"{name}: {label}", seen


def _aliases(snapshot: Snapshot, n: int) -> Iterator[tuple[str, str, str]]:
    names = snapshot.table("entities", ["name"])["name"].to_pylist()
    shown = {(row["source_row"], row["target_row"]): row for row in reversed(snapshot.table("aliases").to_pylist())}
    pairs = sorted(shown)
    for at in sorted(_drawn(len(pairs), n)):
        source, target = pairs[at]
        item = f"{names[source]} = {names[target]} ({shown[pairs[at]]['reason']})"
        yield "alias", item, _sentence(snapshot, shown[pairs[at]]["sentence_row"])


def _sentence(snapshot: Snapshot, row: int) -> str:
    """Return the URI of a sentence's document and the sentence."""
    one = snapshot.table("sentences", ["unit_row", "start_char", "end_char"]).slice(row, 1).to_pylist()[0]
    unit = snapshot.table("units", ["doc_row", "doc_uri"]).slice(one["unit_row"], 1).to_pylist()[0]
    text = snapshot.table("documents", ["text"])["text"][unit["doc_row"]].as_py()
    return f"{unit['doc_uri']}: {' '.join(text[one['start_char'] : one['end_char']].split())}"


def _facts(snapshot: Snapshot, n: int) -> Iterator[tuple[str, str, str]]:
    facts = snapshot.table("facts", ["subject", "predicate", "object", "sentence_row"]).to_pylist()
    for at in sorted(_drawn(len(facts), n)):
        fact = facts[at]
        item = f"{fact['subject']} → {fact['predicate']} → {fact['object']}"
        yield "fact", item, _sentence(snapshot, fact["sentence_row"])


def _titles(snapshot: Snapshot, n: int) -> Iterator[tuple[str, str, str]]:
    documents = snapshot.table("documents", ["uri", "title", "text"])
    for at in sorted(_drawn(documents.num_rows, n)):
        one = {name: documents[name][at].as_py() for name in documents.column_names}
        yield "document", f"{one['title']} ({one['uri']})", " ".join(one["text"][: 2 * _SEEN_CHARS].split())
    communities = snapshot.table("communities", ["id", "level", "title", "n_entities", "summary"]).to_pylist()
    for one in sorted(communities, key=lambda one: (one["level"], -one["n_entities"], one["id"]))[:n]:
        summary = " ".join(one["summary"].partition("\n")[2].split())[: 2 * _SEEN_CHARS]
        yield "community", one["title"], f"level {one['level']}, {one['n_entities']} names: {summary}"


SAMPLES = {"names": _names, "aliases": _aliases, "facts": _facts, "titles": _titles}


def _drawn(size: int, n: int) -> list[int]:
    return random.Random(SEED).sample(range(size), min(n, size))


def read_verdicts(folder: Path) -> list[Row]:
    """Read every file of verdicts of a folder.

    Raises:
        InvalidArgument: a row is not one, or is wrong without a reason.
    """
    rows = []
    for path in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            row: Any = json.loads(line)
            fault = _fault(row)
            if fault:
                raise InvalidArgument(f"{path.name}:{number}: {fault}")
            rows.append(row)
    return rows


def _fault(row: Any) -> str:
    if not isinstance(row, dict) or {*row} - {"seen"} != {"site", "kind", "item", "verdict", "reason"}:
        return "the fields must be site, kind, item, verdict and reason; seen may be left out."
    if row["kind"] not in KINDS:
        return f"unknown kind {row['kind']!r}; kinds are {', '.join(KINDS)}."
    if row["verdict"] not in VERDICTS:
        return f"unknown verdict {row['verdict']!r}; write right or wrong."
    return "a wrong one needs a reason." if row["verdict"] == "wrong" and not row["reason"] else ""


def with_verdicts(rows: Sequence[Row], verdicts: Iterable[Row]) -> list[Row]:
    """Return the same rows with the verdicts of the same items, so that only what is new has to be read."""
    said = {_key(one): {name: one[name] for name in _UNREAD} for one in verdicts if one["verdict"]}
    return [row | said.get(_key(row), _UNREAD) for row in rows]


def _key(row: Row) -> tuple[str, str, str]:
    return row["site"], row["kind"], row["item"]


def verdict_table(rows: Iterable[Row]) -> list[tuple[str, ...]]:
    """Return a row for each site and one for all: of each kind how many of those that were judged are right."""
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for row in rows:
        for site in (row["site"], "all"):
            counts[site, row["kind"]][row["verdict"]] += 1
    sites = sorted({site for site, _ in counts} - {"all"})
    return [(site, *(_cell(counts[site, kind]) for kind in KINDS)) for site in [*sites, "all"]]


def _cell(count: Counter[str]) -> str:
    unread = f", {count['']} unread" if count[""] else ""
    judged = count["right"] + count["wrong"]
    return f"{count['right']} of {judged}{unread}" if judged or unread else ""
