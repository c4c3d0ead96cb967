"""The front matter that Markdown files open with: title, tags and date, read as YAML entry by entry.

Each entry that graphctx uses is parsed by itself, so that a block with faults loses only the faulty entries.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphctx.ingest.read.base import Metadata
from graphctx.ingest.read.dates import iso_date

MAX_LINES = 500
"""A block that has not ended by then is no front matter, but a text that begins with a rule."""

MAX_ENTRY_CHARS = 10_000
"""A longer entry is ignored: PyYAML parses about 100,000 characters a second, and a title or tag list is short."""

_KEY = re.compile(r"([A-Za-z_][\w. -]{0,60}?)\s*:(?:\s+(.*))?$")
_DATE_KEYS = ("updated_at", "updated", "lastmod", "last_modified", "last_update", "modified", "date")


def front_matter_end(lines: Sequence[str]) -> int:
    """Return how many lines the front matter takes, both ``---`` lines included; 0 if there is none."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    for number in range(1, min(len(lines), MAX_LINES)):
        line = lines[number].rstrip()
        if line in ("---", "..."):
            return number + 1
    return 0


def parse_front_matter(lines: Sequence[str]) -> Metadata:
    """Read title, tags and date from the lines between the ``---`` lines."""
    entries: dict[str, list[str]] = {}
    key = ""
    for line in lines:
        if (found := _KEY.match(line)) is not None:
            key = found.group(1).lower().replace("-", "_")
            entries[key] = [found.group(2) or ""]
        elif key:
            entries[key].append(line)
    dates = (iso_date(value) for name in _DATE_KEYS for value in _values(entries.get(name, []))[:1])
    tags = _values(entries.get("tags", []))
    if len(tags) == 1:
        tags = [tag.strip() for tag in tags[0].split(",")]
    return Metadata(
        title=" ".join(_values(entries.get("title", []))[:1]),
        tags=tuple(tag for tag in tags if tag),
        updated_at=next((date for date in dates if date), None),
    )


def _values(entry: Sequence[str]) -> list[str]:
    """Return the value of an entry, or the values of a list, as text; what follows the key if that is not YAML."""
    import yaml

    text = "\n".join(entry)
    if not text.strip() or len(text) > MAX_ENTRY_CHARS:
        return []
    try:
        # Of the safe loaders the one that leaves scalars as they are written: a title may be "1.10" or "no".
        value = yaml.load(text, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError):
        value = entry[0]
    if isinstance(value, dict):  # an unquoted colon: "title: Part 2: the gate"
        value = entry[0]
    items = value if isinstance(value, list) else [value]
    return [" ".join(item.split()) for item in items if isinstance(item, str) and item.strip()]
