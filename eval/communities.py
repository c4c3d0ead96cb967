"""Print the levels, sizes, titles and summaries of communities, and check their promises.

    python -m eval.communities KB… [--titles 10] [--summaries 0] [--rebuild] [--json]

Of each knowledge base: the figures of each level, how much the communities cover, and titles, those with the most
entities first. Checked are: no leaf is over the maximum size, each community's children hold its entities, every
sentence of a summary is a span of its document, and with ``--rebuild`` that an ingest of the same sources from nothing,
with another hash seed and another number of processes, gives the same hierarchy, titles and summaries; its times are
printed as shares. Exit code 1 if a check fails.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from eval.benchmarks import table
from graphctx.settings import load_settings
from graphctx.store.communities import CommunityLevel, levels_of
from graphctx.store.config import KbConfig, read_config
from graphctx.store.schema import UNHASHED_COLUMNS
from graphctx.store.snapshot import Snapshot, open_snapshot

ROOT = Path(__file__).resolve().parent.parent

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Look:
    """What is seen of a knowledge base.

    Attributes:
        name: of its folder.
        levels: figures by level.
        coverage: shares of entities, and of units with a sentence of prose in a point, from 0 to 1.
        titles: ``title`` or title and sentences, the largest community of the finest division first.
        faults: what does not hold.
    """

    name: str
    levels: list[CommunityLevel]
    coverage: dict[str, float]
    titles: list[list[str]]
    faults: list[str]


def look(kb_dir: Path, titles: int = 10, sentences: int = 0) -> Look:
    """Look at the published snapshot of a knowledge base."""
    config = read_config(kb_dir)
    with open_snapshot(kb_dir) as snapshot:
        communities = snapshot.table("communities")
        rows = communities.to_pylist()
        said = _sentences(snapshot, rows)
        n_entities, n_units = snapshot.table("entities").num_rows, snapshot.table("units").num_rows
        faults = _faults(rows, said, load_settings(config.settings).ingest.max_community_size)
        spoken = {said[at][0] for row in rows for at in row["point_rows"]}
    roots = [row for row in rows if row["parent_id"] is None]
    coverage = {
        "entities": sum(row["n_entities"] for row in roots) / max(1, n_entities),
        "units": len(spoken) / max(1, n_units),
    }
    largest = sorted(roots, key=lambda row: (-row["n_entities"], row["id"]))
    shown = [[row["title"], *(said[at][1] for at in row["summary_rows"][:sentences])] for row in largest[:titles]]
    return Look(kb_dir.name, levels_of(communities), coverage, shown, faults)


def _sentences(snapshot: Snapshot, rows: Sequence[Row]) -> dict[int, tuple[int, str]]:
    """Return the unit row and the text of each sentence that is a point, as its document has it."""
    wanted = sorted({at for row in rows for at in row["point_rows"]})
    found = snapshot.table("sentences").take(wanted).to_pylist()
    units, texts = snapshot.table("units")["doc_row"].to_pylist(), snapshot.table("documents")["text"].to_pylist()
    return {
        at: (one["unit_row"], texts[units[one["unit_row"]]][one["start_char"] : one["end_char"]])
        for at, one in zip(wanted, found, strict=True)
    }


def _faults(rows: Sequence[Row], said: dict[int, tuple[int, str]], max_size: int) -> list[str]:
    children: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row["parent_id"] is not None:
            children[row["parent_id"]].append(row)
    faults = []
    for row in rows:
        inside = sorted(entity for child in children[row["id"]] for entity in child["entity_ids"])
        if not inside and row["n_entities"] > max_size:
            faults.append(f"{row['id']} is a leaf of {row['n_entities']} entities, over {max_size}")
        if inside and inside != row["entity_ids"]:
            faults.append(f"{row['id']} has not the entities of its children")
        if row["summary"] != "\n".join([row["title"], *(said[at][1] for at in row["summary_rows"])]):
            faults.append(f"the summary of {row['id']} does not slice back")
    return faults


def rebuild(kb_dir: Path) -> tuple[list[str], dict[str, float]]:
    """Ingest the sources of a knowledge base from nothing.

    Returns:
        What differs, and the share of each step in the time of the whole.
    """
    config = read_config(kb_dir)
    with TemporaryDirectory(prefix="graphctx-communities-") as temporary:
        again = Path(temporary) / "kb"
        report = _ingest(config, again)
        differs = [] if _content(kb_dir) == _content(again) else ["a second build has other communities"]
    return differs, {step: seconds / report["total_seconds"] for step, seconds in report["seconds"].items()}


def _ingest(config: KbConfig, kb_dir: Path) -> Row:
    command = [sys.executable, "-m", "graphctx.cli", "ingest", *(str(source.path) for source in config.sources)]
    variables = {**os.environ, "PYTHONHASHSEED": "4711", "PYTHONPATH": str(ROOT)}
    options = ["--kb", str(kb_dir), "--project-id", config.project_id, "--processes", "2", "--json"]
    done = subprocess.run([*command, *options], env=variables, stdout=subprocess.PIPE, check=True)
    report: Row = json.loads(done.stdout)
    return report


def _content(kb_dir: Path) -> list[Row]:
    with open_snapshot(kb_dir) as snapshot:
        found = snapshot.table("communities")
        rows: list[Row] = found.drop_columns(sorted(UNHASHED_COLUMNS["communities"])).to_pylist()
    return rows


def show(found: Look, shares: dict[str, float]) -> None:
    """Print a look for a person."""
    print(f"## {found.name}\n")
    table(tuple(CommunityLevel.model_fields), [tuple(one.model_dump().values()) for one in found.levels])
    print("covered: " + ", ".join(f"{share:.0%} of {what}" for what, share in found.coverage.items()))
    if shares:
        print("time: " + ", ".join(f"{step} {share:.1%}" for step, share in shares.items()))
    print()
    for title, *sentences in found.titles:
        print(f"- {title}")
        for sentence in sentences:
            print(f"    {' '.join(sentence.split())}")
    for fault in found.faults:
        print(f"FAULT: {fault}")
    print()


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what is seen of each knowledge base; 1 where something does not hold."""
    parser = argparse.ArgumentParser(prog="python -m eval.communities", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("kb", nargs="+", type=Path, help="folders of knowledge bases")
    parser.add_argument("--titles", type=int, default=10, metavar="N", help="titles of root communities to print")
    parser.add_argument("--summaries", type=int, default=0, metavar="N", help="sentences to print below each")
    parser.add_argument("--rebuild", action="store_true", help="ingest the sources again and compare")
    parser.add_argument("--json", action="store_true", help="print one JSON object for each knowledge base")
    chosen = parser.parse_args(arguments)
    sound = True
    for kb_dir in chosen.kb:
        found = look(kb_dir, chosen.titles, chosen.summaries)
        differs, shares = rebuild(kb_dir) if chosen.rebuild else ([], {})
        found.faults.extend(differs)
        sound = sound and not found.faults
        if chosen.json:
            levels = [one.model_dump() for one in found.levels]
            figures = {"levels": levels, "coverage": found.coverage, "shares": shares, "titles": found.titles}
            print(json.dumps({"name": found.name, **figures, "faults": found.faults}, ensure_ascii=False))
        else:
            show(found, shares)
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
