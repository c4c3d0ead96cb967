"""Front matter: what a document states about itself in front of its text.

YAML between ``---``, TOML between ``+++``, a JSON object, ``%`` lines as in pandoc, and ``Title: …`` lines as in mail.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from graphctx.ingest.read.base import Metadata, iso_date
from graphctx.text.normalise import normalise

MAX_LINES = 500
"""Front matter that has not ended by then is a text that begins with a rule."""

MAX_ENTRY_CHARS = 10_000
"""A longer entry is ignored: PyYAML parses about 100,000 characters a second, and a title or tag list is short."""

Entries = Mapping[str, Sequence[str]]
"""The values of each key; keys in lower case with ``_``."""

_KEY = re.compile(r"([A-Za-z_][\w. -]{0,60}?)\s*:(?:\s+(.*))?$")
_DATE_KEYS = (
    "updated_at updated last_updated lastmod last_modified last_update modified date published publish_date pubdate "
    "created_at created"
).split()
_TAG_KEYS = ("tags", "keywords", "categories", "category")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands in front of a text.

    Attributes:
        n_lines: how many lines it takes; 0 if there is none.
        entries: what it states.
    """

    n_lines: int = 0
    entries: Entries = field(default_factory=dict)

    @property
    def metadata(self) -> Metadata:
        """Title, tags and date."""
        return metadata_of(self.entries)


def metadata_of(entries: Entries) -> Metadata:
    """Return the title, the tags and the latest kind of date that entries state."""
    dates = (iso_date(value) for key in _DATE_KEYS for value in entries.get(key, ())[:1])
    tags = [_storable(tag) for key in _TAG_KEYS for tag in _listed(entries.get(key, ()))]
    return Metadata(
        title=_storable(" ".join(entries.get("title", ())[:1])),
        tags=tuple(dict.fromkeys(filter(None, tags))),
        updated_at=next((date for date in dates if date), None),
    )


def read_front_matter(lines: Sequence[str]) -> FrontMatter:
    """Read the front matter of a Markdown text; it is empty if the text begins at once."""
    first = lines[0].rstrip() if lines else ""
    if first == "---":
        return _yaml(lines)
    if first == "+++":
        return _toml(lines)
    if first.startswith("{"):
        return _json(lines)
    if first.startswith("% "):
        return _pandoc(lines)
    return read_mail_header(lines)


def read_mail_header(lines: Sequence[str]) -> FrontMatter:
    """Read lines of ``Key: value`` up to the first blank one, if ``Title`` is a key and all lines belong to them."""
    end = _line_of(lines, ("",))
    entries: dict[str, list[str]] = {}
    key = ""
    for line in lines[: max(end - 1, 0)]:
        if (found := _KEY.match(line)) is not None:
            key = field_key(found.group(1))
            entries.setdefault(key, []).append((found.group(2) or "").strip())
        elif key and line[:1].isspace():
            entries[key][-1] = f"{entries[key][-1]} {line.strip()}".strip()
        else:
            return FrontMatter()
    return FrontMatter(end, entries) if any(entries.get("title", ())) else FrontMatter()


def _yaml(lines: Sequence[str]) -> FrontMatter:
    end = _line_of(lines, ("---", "..."))
    entries: dict[str, list[str]] = {}
    key = ""
    for line in lines[1 : max(end - 1, 0)]:
        if (found := _KEY.match(line)) is not None:
            key = field_key(found.group(1))
            entries[key] = [found.group(2) or ""]
        elif key:
            entries[key].append(line)
    return FrontMatter(end, {key: _values(entry) for key, entry in entries.items()})


def _toml(lines: Sequence[str]) -> FrontMatter:
    end = _line_of(lines, ("+++",))
    source = "\n".join(lines[1 : max(end - 1, 0)])
    try:
        return FrontMatter(end, _flat(tomllib.loads(source)) if len(source) <= MAX_ENTRY_CHARS else {})
    except (ValueError, RecursionError):  # the lines are front matter all the same
        return FrontMatter(end)


def _json(lines: Sequence[str]) -> FrontMatter:
    source = "\n".join(lines[:MAX_LINES])[:MAX_ENTRY_CHARS]
    try:
        found, end = json.JSONDecoder().raw_decode(source)
    except (ValueError, RecursionError):
        return FrontMatter()
    n_lines = source.count("\n", 0, end) + 1
    if (
        not isinstance(found, dict)
        or not isinstance(found.get("title"), str)
        or source[end:].partition("\n")[0].strip()
    ):
        return FrontMatter()
    return FrontMatter(n_lines, _flat(found))


def _pandoc(lines: Sequence[str]) -> FrontMatter:
    """Title, authors and date, each on a line after ``%`` and on the indented lines below it."""
    rows = list(takewhile(lambda line: line.strip() and line.startswith(("%", " ", "\t")), lines[:MAX_LINES]))
    parts = [" ".join(part.split()) for part in re.split(r"(?m)^%", "\n".join(rows))[1:]]
    return FrontMatter(len(rows), dict(zip(("title", "author", "date"), ([part] for part in parts), strict=False)))


def _values(entry: Sequence[str]) -> list[str]:
    """Return the value of an entry, or the values of a list, as text; what follows the key if that is not YAML."""
    import yaml

    text = "\n".join(entry)
    if not text.strip() or len(text) > MAX_ENTRY_CHARS:
        return []
    try:
        # Of the safe loaders the one that leaves scalars as they are written: a title may be "1.10" or "no".
        value = yaml.load(text, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError, ValueError, OverflowError):  # the last two: an escape beyond Unicode
        value = entry[0]
    if isinstance(value, dict):  # an unquoted colon: "title: Part 2: the gate"
        value = entry[0]
    items = value if isinstance(value, list) else [value]
    return [" ".join(item.split()) for item in items if isinstance(item, str) and item.strip()]


def _storable(value: str) -> str:
    """Return a value in normal form. The file has it, but an escape may make a NUL or one half of a surrogate pair."""
    return " ".join(normalise(value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")).split())


def _line_of(lines: Sequence[str], marks: Sequence[str]) -> int:
    """Return the number of lines up to the next one that is a mark; 0 without one."""
    for number in range(1, min(len(lines), MAX_LINES)):
        if lines[number].rstrip() in marks:
            return number + 1
    return 0


def field_key(name: str) -> str:
    """Return the key of an entry: its name in lower case with ``_``."""
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def _flat(found: Mapping[str, object]) -> dict[str, list[str]]:
    """Return the values of a mapping, and of the tables in it, as text."""
    entries: dict[str, list[str]] = {}
    todo = [found]
    while todo:
        for key, value in todo.pop(0).items():
            if isinstance(value, dict):
                todo.append(value)
                continue
            items = value if isinstance(value, list) else [value]
            texts = [" ".join(str(item).split()) for item in items if not isinstance(item, dict | list | bool)]
            entries.setdefault(field_key(key), [text for text in texts if text])
    return entries


def _listed(values: Sequence[str]) -> list[str]:
    """Return the tags of an entry: its values, or the parts of its only value between commas."""
    parts = values[0].strip("[]").split(",") if len(values) == 1 else values
    return [tag for part in parts if (tag := part.strip().strip("\"'"))]
