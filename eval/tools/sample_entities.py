"""Print entities of a knowledge base for a reader to judge: ``python eval/tools/sample_entities.py DIR [N]``.

They are drawn at random, and are the same ones for the same graph.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graphctx.errors import GraphctxError
from graphctx.store.snapshot import Snapshot, open_snapshot

_CONTEXT_CHARS = 40


@dataclass(frozen=True, slots=True)
class Sampled:
    """An entity as a reader sees it.

    Attributes:
        name: its name.
        label: its label.
        aliases: its other forms.
        kind: where most of its mentions come from (``MentionKind``), or ``definition`` where it has none.
        n_mentions: how often it is mentioned.
        context: the text around its first mention; empty where it has none.
    """

    name: str
    label: str
    aliases: tuple[str, ...]
    kind: str
    n_mentions: int
    context: str


def sample_entities(snapshot: Snapshot, n: int) -> list[Sampled]:
    """Draw entities at random but always the same, with each kind of mention represented by its share.

    Entities are ordered by a hash of their id inside their kind; each kind gives its share of ``n``, the largest
    remainders first.
    """
    kinds: dict[int, Counter[str]] = {}
    first: dict[int, tuple[int, int, int]] = {}
    table = snapshot.table("mentions", ["entity_row", "kind", "unit_row", "start_char", "end_char"])
    for entity, kind, unit, start, end in zip(*(column.to_pylist() for column in table.columns), strict=True):
        kinds.setdefault(entity, Counter())[kind] += 1
        first.setdefault(entity, (unit, start, end))
    entities = snapshot.table("entities").to_pylist()
    by_kind: dict[str, list[int]] = {}
    for row in sorted(range(len(entities)), key=lambda row: _order(entities[row]["id"])):
        counts = kinds.get(row)
        kind = min(counts, key=lambda name: (-counts[name], name)) if counts else "definition"
        by_kind.setdefault(kind, []).append(row)
    documents = snapshot.table("documents", ["text"])["text"]
    doc_of = snapshot.table("units", ["doc_row"])["doc_row"]
    sampled = []
    for kind, count in _shares({kind: len(rows) for kind, rows in by_kind.items()}, n).items():
        for row in by_kind[kind][:count]:
            entity = entities[row]
            context = ""
            if row in first:
                unit, start, end = first[row]
                text = documents[doc_of[unit].as_py()].as_py()
                context = " ".join(text[max(0, start - _CONTEXT_CHARS) : end + _CONTEXT_CHARS].split())
            aliases = tuple(entity["aliases"])
            sampled.append(Sampled(entity["name"], entity["label"], aliases, kind, entity["n_mentions"], context))
    return sampled


def render_sample(sample: list[Sampled]) -> str:
    """Return the sample as a Markdown table with an empty column for the verdict."""
    rows = ["| # | name | also | kind | mentions | first seen | verdict |", "|---|---|---|---|---|---|---|"]
    for number, one in enumerate(sample, 1):
        cells = (one.name, ", ".join(one.aliases[:4]), one.kind, str(one.n_mentions), one.context, "")
        rows.append(f"| {number} | " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows)


def _order(entity_id: str) -> str:
    return hashlib.sha256(f"sample:{entity_id}".encode()).hexdigest()


def _shares(sizes: dict[str, int], n: int) -> dict[str, int]:
    """Divide ``n`` by the sizes: the whole parts, then one each to the largest remainders, ties by name."""
    total = max(1, sum(sizes.values()))
    n = min(n, total)
    parts = {kind: n * size // total for kind, size in sizes.items()}
    rest = sorted(sizes, key=lambda kind: (-(n * sizes[kind] % total), kind))
    for kind in rest[: n - sum(parts.values())]:
        parts[kind] += 1
    return dict(sorted(parts.items()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; exit code 1 with a message where the knowledge base cannot be read."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kb", type=Path, metavar="DIR", help="the knowledge base")
    parser.add_argument("n", type=int, nargs="?", default=100, metavar="N", help="how many entities; default: 100")
    asked = parser.parse_args(arguments)
    try:
        with open_snapshot(asked.kb) as snapshot:
            print(render_sample(sample_entities(snapshot, asked.n)))
    except GraphctxError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
