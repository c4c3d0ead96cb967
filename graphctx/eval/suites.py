"""Suites: questions, and the documents they are asked of.

A suite is a golden file (JSONL) or a folder with ``corpus.jsonl`` and ``questions.jsonl``. A TOML file beside it has
the rest: ``handbook.suite.toml`` for ``handbook.jsonl``, ``suite.toml`` inside a folder.
"""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from graphctx.errors import InvalidArgument
from graphctx.eval.golden import Numbered, objects, read_rows, unknown_fields
from graphctx.model.arguments import parse_arguments

Judge = Literal["auto", "documents", "units"]
Kind = Literal["questions", "entities", "points"]

_LISTED = 10
"""Lines that a warning names."""

CORPUS, QUESTIONS, ENTITIES = "corpus.jsonl", "questions.jsonl", "gold.jsonl"


class SuiteFile(BaseModel):
    """A suite's TOML file.

    Attributes:
        name: of the suite, in tables and baselines; by default that of its file or folder.
        corpus: the documents, relative to this file: a file or a folder.
        judge: what is ranked.
        max_tokens, max_calls: what an answer may cost, for questions that do not say it themselves; 0 for anything.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field("", max_length=80)
    corpus: str = ""
    judge: Judge = "auto"
    max_tokens: int = Field(0, ge=0)
    max_calls: int = Field(0, ge=0)


@dataclass(frozen=True, slots=True)
class Suite:
    """Questions, with answers or with points, or documents with marked entities, and where the documents are.

    Attributes:
        name: in tables and baselines.
        path: the golden file.
        kind: what it holds.
        rows: the questions that are asked; none for entities. Those of ``points`` are about the whole.
        left_out: questions of which nothing can be measured, in a suite whose others have gold.
        corpus: what is ingested for it; ``None`` where the suite does not say.
        prefix: the part of a document's URI before a gold ``id``.
        judge: what is ranked.
        blank_titles: whether the corpus is taken without its titles.
        warnings: what is odd about the golden file, a sentence each: unknown fields, and what was left out.
    """

    name: str
    path: Path
    kind: Kind
    rows: tuple[Numbered, ...] = ()
    left_out: int = 0
    corpus: Path | None = None
    prefix: str = ""
    judge: Judge = "auto"
    blank_titles: bool = False
    warnings: tuple[str, ...] = ()


def load_suite(
    path: Path,
    *,
    corpus: Path | None = None,
    judge: Judge = "auto",
    blank_titles: bool = False,
    limit: int = 0,
) -> Suite:
    """Read a suite.

    Args:
        path: a golden file, or a folder with ``corpus.jsonl`` and ``questions.jsonl``.
        corpus: the documents, instead of what the suite says.
        judge: what is ranked, instead of what the suite says.
        blank_titles: take the corpus without its titles; only for a corpus in one JSONL file.
        limit: ask only the first this many questions; 0 for all.

    Raises:
        InvalidArgument: there is no such suite, it holds no question, or a line is wrong; the message names it.
    """
    place = path.expanduser()
    if not place.exists():
        raise InvalidArgument(f"There is no suite {path}: give a golden file (.jsonl) or a folder.", path=str(path))
    golden = _golden_of(place)
    said = _said(place, golden)
    documents = _corpus_of(place, golden, said, corpus)
    if blank_titles and (documents is None or documents.suffix != ".jsonl"):
        raise InvalidArgument(
            f"--blank-titles needs a corpus in one JSONL file; that of {path} is not.", path=str(path)
        )
    name = said.name or (
        place.resolve().name
        if place.is_dir()
        else golden.stem
        if golden.name not in (QUESTIONS, ENTITIES)
        else _parent(golden)
    )
    name += ":blank" if blank_titles else ""
    if _marks_entities(golden):
        return Suite(name, golden, "entities", corpus=documents, blank_titles=blank_titles)
    rows = [_with_budget(item, said) for item in read_rows(golden)]
    if not rows:
        raise InvalidArgument(f"{golden.name} holds no question.", path=str(golden))
    graded = [item for item in rows if item.row.is_graded]
    asked = graded if any(item.row.has_gold for item in graded) else rows
    kept = {item.line for item in asked}
    return Suite(
        name,
        golden,
        _kind(golden, rows),
        tuple(asked[: limit or None]),
        len(rows) - len(asked),
        documents,
        f"{documents.name}#" if documents and documents.suffix == ".jsonl" else f"{CORPUS}#",
        said.judge if judge == "auto" else judge,
        blank_titles,
        (*unknown_fields(rows), *_left_out([item for item in rows if item.line not in kept])),
    )


def _kind(golden: Path, rows: Sequence[Numbered]) -> Kind:
    """``points`` if the questions have points, which then each of them must have and no other gold."""
    with_points = [item.line for item in rows if item.row.points]
    if not with_points:
        return "questions"
    for item in rows:
        row = item.row
        fault = ""
        if not row.points:
            fault = f"there are no points, and line {with_points[0]} has some: write the other questions into a file"
        elif row.answers or row.answerable is False or row.gold_docs or row.gold_ids or row.gold_spans:
            fault = "a question with points is judged by these alone: leave out answers, answerable and gold_…"
        if fault:
            raise InvalidArgument(
                f"{golden.name}, line {item.line}: {fault}{'' if row.points else ' of their own'}.",
                path=golden.name,
                line=item.line,
            )
    return "points"


def _left_out(rows: Sequence[Numbered]) -> list[str]:
    """Why rows are not asked, a sentence for each reason."""
    empty = [item.line for item in rows if item.row.has_answers]
    bare = [item.line for item in rows if not item.row.has_answers]
    without = "there are neither answers nor gold nor answerable, while other lines have gold"
    nowhere = "they have answers, and an empty list of gold says that no document has them; remove the empty list"
    return [f"{_lines(at)} left out: {why}" for at, why in ((bare, without), (empty, nowhere)) if at]


def _lines(lines: Sequence[int]) -> str:
    shown = ", ".join(map(str, lines[:_LISTED])) + (f" and {len(lines) - _LISTED:,} more" if lines[_LISTED:] else "")
    return f"line {shown} is" if len(lines) == 1 else f"lines {shown} are"


def _golden_of(place: Path) -> Path:
    if place.is_file():
        return place
    for name in (QUESTIONS, ENTITIES):
        if (place / name).is_file():
            return place / name
    raise InvalidArgument(
        f"{place.name} holds neither {QUESTIONS} nor {ENTITIES}, so it is not a suite.", path=str(place)
    )


def _parent(golden: Path) -> str:
    return golden.resolve().parent.name


def _said(place: Path, golden: Path) -> SuiteFile:
    """What the TOML file of a suite says, if it has one."""
    path = golden.with_name(
        "suite.toml" if place.is_dir() or golden.name in (QUESTIONS, ENTITIES) else f"{golden.stem}.suite.toml"
    )
    if not path.is_file():
        return SuiteFile()
    try:
        return parse_arguments(SuiteFile, tomllib.loads(path.read_text("utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidArgument(f"{path.name}: {error}.", path=path.name) from None
    except InvalidArgument as error:
        raise InvalidArgument(f"{path.name}: {error.message}", path=path.name) from None


def _corpus_of(place: Path, golden: Path, said: SuiteFile, given: Path | None) -> Path | None:
    if given is not None:
        if not given.expanduser().exists():
            raise InvalidArgument(f"There is no corpus {given}.", path=str(given))
        return given.expanduser()
    if said.corpus:
        named = golden.parent / said.corpus
        if not named.exists():
            raise InvalidArgument(
                f"The suite {place.name} names the corpus {said.corpus!r}, which is not there.", path=said.corpus
            )
        return named
    beside = golden.with_name(CORPUS)
    if (place.is_dir() or golden.name == QUESTIONS) and beside.is_file():
        return beside
    return None


def _marks_entities(golden: Path) -> bool:
    return any("entities" in value for _, value in itertools.islice(objects(golden), 1))


def _with_budget(item: Numbered, said: SuiteFile) -> Numbered:
    row = item.row
    update = {"max_tokens": row.max_tokens or said.max_tokens, "max_calls": row.max_calls or said.max_calls}
    return replace(item, row=row.model_copy(update=update))
