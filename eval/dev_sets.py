"""The development sets: what each must show, where it lies, and how it is asked."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from graphctx.cli.console import errors_console
from graphctx.cli.progress import progress_view
from graphctx.errors import InvalidArgument
from graphctx.eval.run import Measured, Where
from graphctx.eval.suites import load_suite
from graphctx.ingest.report import Progress

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class DevSet:
    """A set, and what it must show in percent (``AUROC`` in 0..1).

    Attributes:
        name: of the folder.
        least: measure to the least value.
        not_below: measures in which no baseline may be better.
        blank: whether titles are blanked.
        limit: how many questions; 0 for all.
        quoting: the measure that tells how well the set is quoted from: ``span`` where it has no answers, or answers
            that are free paraphrases of the text.
    """

    name: str
    least: dict[str, float]
    not_below: tuple[str, ...] = ()
    blank: bool = False
    limit: int = 0
    quoting: Literal["answer", "span"] = "answer"

    @property
    def path(self) -> str:
        return "eval/golden/handbook.jsonl" if self.name == "handbook" else self.name


SETS = (
    DevSet("musique_train100", {"R@5": 73, "all@10": 64, "answer@500": 50}),
    DevSet("2wiki_dev200", {"R@5": 97, "all@10": 98, "answer@500": 78}),
    DevSet("hotpot_train100", {"R@5": 96, "all@10": 97, "answer@500": 82}),
    DevSet("musique_train100", {"R@5": 66}, blank=True),
    DevSet("2wiki_dev200", {"R@5": 88}, blank=True),
    DevSet("hotpot_train100", {"R@5": 90}, blank=True),
    DevSet("popqa_pooled", {"MRR": 80}, limit=300),
    DevSet("clapnq_dev", {"AUROC": 0.8}, ("R@5", "hit@1"), quoting="span"),
    DevSet("xquad_en", {"answer@500": 95}, ("R@5", "hit@1")),
    DevSet("chunking_eval", {}, ("R@5", "hit@1"), quoting="span"),
    DevSet("lihua_world", {"R@5": 82}),
    DevSet("handbook", {"answer": 90, "AUROC": 0.8}),
)


def dev_parser(description: str) -> argparse.ArgumentParser:
    """What every command over the development sets takes; it ends with code 2 where a set is asked for that is none."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = Path(os.environ.get("GRAPHCTX_DEV_DATA") or ROOT.parent / "shared" / "data")
    parser.add_argument("--data", type=Path, default=data, help="where the sets lie")
    parser.add_argument("--work", type=Path, default=ROOT / ".kb" / "eval", help="where knowledge bases are kept")
    parser.add_argument("--only", type=_names, default=_NAMES, metavar="NAME,…", help="sets, separated by commas")
    return parser


def sets_of(asked: argparse.Namespace) -> Iterator[tuple[DevSet, Path]]:
    """The sets that are asked for and there, each with its path; of others a line is printed.

    Raises:
        InvalidArgument: none of them is there.
    """
    found = False
    for one in SETS:
        if one.name not in asked.only:
            continue
        path = ROOT / one.path if one.name == "handbook" else asked.data / one.path
        if path.exists():
            found = True
            yield one, path
        else:
            errors_console().print(f"{one.name}: not below {asked.data}, passed over", soft_wrap=True)
    if not found:
        raise InvalidArgument(f"There is none of these sets below {asked.data}: say by --data where they lie.")


def ask(
    measured: Measured,
    one: DevSet,
    path: Path,
    variants: tuple[str, ...],
    work: Path,
    *,
    ranking_only: tuple[str, ...],
    with_misses: bool = False,
) -> None:
    """Ingest a set where that is needed, and ask its questions."""
    suite = load_suite(path, blank_titles=one.blank, limit=one.limit)
    errors_console().print(suite.name, style="bold", soft_wrap=True)
    with progress_view() as view:

        def asked(variant: str, done: int, total: int) -> None:
            view(Progress(variant, done, total, "questions"))  # type: ignore[arg-type]

        measured.add(
            suite,
            variants,
            Where(None, work, work),
            ranking_only=ranking_only,
            with_misses=with_misses,
            on_progress=view,
            on_asked=asked,
        )


_NAMES = tuple(dict.fromkeys(one.name for one in SETS))


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    unknown = [name for name in names if name not in _NAMES]
    if unknown or not names:
        raise argparse.ArgumentTypeError(
            f"no such set: {', '.join(unknown) or repr(text)}; sets are {', '.join(_NAMES)}"
        )
    return names
