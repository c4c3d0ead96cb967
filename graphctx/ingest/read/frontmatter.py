"""The metadata block that Markdown files open with: the few keys that graphctx uses, parsed without YAML.

Everything else in the block is left alone, so a block that is not quite YAML costs nothing but its odd lines.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphctx.ingest.read.base import Metadata
from graphctx.ingest.read.dates import iso_date

MAX_LINES = 500
"""A block that has not ended by then is no front matter, but a text that begins with a rule."""

_KEY = re.compile(r"([A-Za-z_][\w. -]{0,60}?)\s*:(?:\s+(.*))?$")
_ITEM = re.compile(r"\s*-\s+(.*)$")
_COMMENT = re.compile(r"(?<!\s)\s+#.*$")
_DATE_KEYS = ("updated_at", "updated", "lastmod", "last_modified", "last_update", "modified", "date")


def front_matter_end(lines: Sequence[str]) -> int:
    """How many lines the front matter takes, both ``---`` lines included; 0 if there is none."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    for number in range(1, min(len(lines), MAX_LINES)):
        line = lines[number].rstrip()
        if line in ("---", "..."):
            return number + 1
    return 0


def parse_front_matter(lines: Sequence[str]) -> Metadata:
    """Read title, tags and date from the lines between the ``---`` lines."""
    values: dict[str, list[str]] = {}
    key = ""
    for line in lines:
        item = _ITEM.match(line)
        if item and key:
            values[key].append(_scalar(item.group(1)))
        elif (found := _KEY.match(line)) is not None:
            key = found.group(1).lower().replace("-", "_")
            values[key] = _values(found.group(2) or "")
        elif line.strip() and key and line[:1].isspace() and values[key]:  # a folded scalar goes on
            values[key][-1] = f"{values[key][-1]} {_scalar(line)}".strip()
    dates = [iso_date(values[name][0]) for name in _DATE_KEYS if values.get(name)]
    title = " ".join(values.get("title", [])[:1]).lstrip(">|").strip()
    tags = values.get("tags", [])
    if len(tags) == 1 and "," in tags[0]:
        tags = [tag.strip() for tag in tags[0].split(",")]
    return Metadata(title, tuple(tag for tag in tags if tag), next((d for d in dates if d), None))


def _values(raw: str) -> list[str]:
    raw = raw.strip()
    if raw.startswith("[") and raw.endswith("]"):
        return [value for part in raw[1:-1].split(",") if (value := _scalar(part))]
    value = _scalar(raw)
    return [value] if value else []


def _scalar(raw: str) -> str:
    raw = raw.strip()
    if raw[:1] in ("'", '"'):
        end = raw.find(raw[0], 1)
        if end > 0 and not raw[end + 1 :].split("#")[0].strip():
            return raw[1:end].strip()
    return "" if raw.startswith("#") else _COMMENT.sub("", raw).strip()
