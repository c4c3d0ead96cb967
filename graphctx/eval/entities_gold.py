"""Gold entities: documents with the names that a reader marked, and pairs that a statement relates.

A suite is JSON Lines in one of two forms:

- ``{"id", "title", "text", "entities": [{"id", "name", "type", "mentions": [[start, end], …]}], "relations":
  [{"head", "tail"}]}``: the text is in the row, mentions are spans of code points, and a relation names two
  entities by their place in the list. Entities of one name and type are one, within their row only.
- ``{"doc", "entities": [{"name", "type", "mentions": ["…"], "id"?}], "pairs": [["name", "name"], …]}``: the text is
  a document of a knowledge base, a mention is a string that names the entity wherever it occurs as a whole word, and
  entities of one ``id`` (by default the name, whatever its case) are one, in all documents.

Neither kind marks everything that is worth a node, so a precision against it is a lower bound.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphctx.errors import InvalidArgument
from graphctx.eval.golden import objects
from graphctx.text.names import DETERMINERS


@dataclass(frozen=True, slots=True)
class GoldMention:
    """Where an entity is named: code points of the document's text, end exclusive."""

    start: int
    end: int
    entity: str
    type: str


@dataclass(frozen=True, slots=True)
class GoldDocument:
    """A document with its marks.

    Attributes:
        uri: what its URI in the knowledge base ends with.
        mentions: sorted by start and end; they do not overlap where they come from strings.
        pairs: of entity keys that a statement relates, sorted, without repeats.
    """

    uri: str
    mentions: tuple[GoldMention, ...]
    pairs: tuple[tuple[str, str], ...]


def read_gold(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a suite: of the file, or of ``gold.jsonl`` in a folder.

    Raises:
        InvalidArgument: there is no such file, or a line is not an object with ``entities``.
    """
    file = path / "gold.jsonl" if path.is_dir() else path
    rows = []
    for number, row in objects(file):
        if "entities" not in row or not {"text", "doc"} & row.keys():
            raise InvalidArgument(
                f"Line {number} of {file.name} needs `entities`, and `text` or `doc` to find them in.", line=number
            )
        rows.append(row)
    if not rows:
        raise InvalidArgument(f"{file.name} is empty.", path=file.name)
    return rows


def has_texts(rows: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether the rows bring their texts along."""
    return all("text" in row for row in rows)


def gold_documents(rows: Iterable[Mapping[str, Any]], text_of: Callable[[str], str]) -> list[GoldDocument]:
    """Find the marks of every row in its document.

    Args:
        rows: the result of `read_gold`.
        text_of: the text of the document whose URI ends with its argument.

    Raises:
        InvalidArgument: a row does not have the form, its document is unknown, its text is another one than was
            ingested, a span lies outside it, or a pair names an entity that the row does not have.
    """
    found = []
    for number, row in enumerate(rows, 1):
        try:
            found.append(_with_spans(row, text_of) if "text" in row else _with_strings(row, text_of))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidArgument(
                f"Row {number} of the gold entities does not have their form ({type(error).__name__}: {error}). "
                "graphctx/eval/entities_gold.py describes it.",
                row=number,
            ) from error
    return found


def _with_spans(row: Mapping[str, Any], text_of: Callable[[str], str]) -> GoldDocument:
    uri = f"#{row['id']}"
    text = text_of(uri)
    if text != row["text"]:
        raise InvalidArgument(f"The text of {row['id']!r} is not what was ingested.", id=row["id"])
    # Some sets list every mention as an entity of its own: those of one name and type are one.
    keys = [f"{row['id']}: {e.get('type', '')} {' '.join(e['name'].casefold().split())}" for e in row["entities"]]
    mentions = []
    for key, entity in zip(keys, row["entities"], strict=True):
        for start, end in entity["mentions"]:
            if not 0 <= start < end <= len(text):
                raise InvalidArgument(f"Span {start}:{end} lies outside {row['id']!r}.", id=row["id"])
            mentions.append(GoldMention(start, end, key, entity.get("type", "")))
    try:
        pairs = {_pair(keys[relation["head"]], keys[relation["tail"]]) for relation in row.get("relations", ())}
    except IndexError as error:
        raise InvalidArgument(f"A relation of {row['id']!r} names no entity of it.", id=row["id"]) from error
    return GoldDocument(uri, _sorted(mentions), tuple(sorted(pairs)))


def _with_strings(row: Mapping[str, Any], text_of: Callable[[str], str]) -> GoldDocument:
    text = text_of(row["doc"])
    keys = {entity["name"]: str(entity.get("id", entity["name"])).casefold() for entity in row["entities"]}
    written = [
        (mention, keys[entity["name"]], entity.get("type", ""))
        for entity in row["entities"]
        for mention in entity["mentions"]
    ]
    taken = bytearray(len(text))
    mentions = []
    for mention, key, kind in sorted(written, key=lambda item: (-len(item[0]), item)):
        for start, end in _occurrences(mention, text):
            if not any(taken[start:end]):  # "Keel" inside "Keel 4.2" is not a mention of Keel
                taken[start:end] = b"\1" * (end - start)
                mentions.append(GoldMention(start, end, key, kind))
    try:
        pairs = {_pair(keys[one], keys[other]) for one, other in row.get("pairs", ())}
    except KeyError as error:
        raise InvalidArgument(f"A pair of {row['doc']!r} names no entity of it: {error}.", doc=row["doc"]) from error
    return GoldDocument(row["doc"], _sorted(mentions), tuple(sorted(pairs)))


def _occurrences(mention: str, text: str) -> list[tuple[int, int]]:
    """Whole-word occurrences in any line breaking; a determiner before a name is not part of it."""
    words = mention.split()
    while len(words) > 1 and words[0].casefold() in DETERMINERS:
        words = words[1:]
    pattern = r"(?<!\w)" + r"\s+".join(map(re.escape, words)) + r"(?!\w)"
    return [match.span() for match in re.finditer(pattern, text)]


def _pair(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one <= other else (other, one)


def _sorted(mentions: Iterable[GoldMention]) -> tuple[GoldMention, ...]:
    return tuple(sorted(mentions, key=lambda m: (m.start, m.end, m.entity)))
