"""Tags and dates that a source's rules give to its documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from graphctx.ingest.read.base import iso_date
from graphctx.ingest.read.front_matter import MAX_LINES, field_key, read_front_matter
from graphctx.ingest.read.ignore import pattern_matcher
from graphctx.ingest.read.source import Rule, Source
from graphctx.model.documents import Document

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_WITH_FRONT_MATTER = ("text/markdown", "text/mdx")


def with_metadata(document: Document, source: Source, rel: str) -> Document:
    """Return a document with the tags of its source and of the rules that apply to it.

    Args:
        document: as it was read.
        source: what it was read for.
        rel: its path below the source.
    """
    if not (source.tags or source.rules):
        return document
    entries = _front_matter(document) if any(_reads_front_matter(rule) for rule in source.rules) else {}
    tags, updated_at = {*document.tags, *source.tags}, document.updated_at
    for rule in source.rules:
        if not _applies(rule, rel, entries):
            continue
        tags |= {*rule.tags, *(f"{key}:{value}" for key in rule.tags_from for value in entries.get(field_key(key), ()))}
        stated = entries.get(field_key(rule.updated_from), ())
        updated_at = next((date for value in stated if (date := iso_date(value))), updated_at)
    return replace(document, tags=tuple(sorted(tags)), updated_at=updated_at)


def _reads_front_matter(rule: Rule) -> bool:
    return bool(rule.front_matter or rule.tags_from or rule.updated_from)


def _applies(rule: Rule, rel: str, entries: Mapping[str, Sequence[str]]) -> bool:
    matcher = _matcher(rule.match)
    stated = all(value in entries.get(field_key(key), ()) for key, value in rule.front_matter.items())
    return stated and (matcher is None or matcher.match_file(rel))


@lru_cache(maxsize=256)
def _matcher(patterns: tuple[str, ...]) -> GitIgnoreSpec | None:
    return pattern_matcher(patterns)


def _front_matter(document: Document) -> Mapping[str, Sequence[str]]:
    if document.media_type not in _WITH_FRONT_MATTER:
        return {}
    lines = list(islice(document.text.split("\n", MAX_LINES), MAX_LINES))
    return read_front_matter(lines).entries
