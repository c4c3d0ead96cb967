"""What a Markdown file holds beside Markdown: front matter, and the directives of site generators."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphctx.ingest.read.base import Metadata, iso_date
from graphctx.text.normalise import normalise

MAX_LINES = 500
"""A block that has not ended by then is a text that begins with a rule."""

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
    except (yaml.YAMLError, RecursionError, ValueError, OverflowError):  # the last two: an escape beyond Unicode
        value = entry[0]
    if isinstance(value, dict):  # an unquoted colon: "title: Part 2: the gate"
        value = entry[0]
    items = value if isinstance(value, list) else [value]
    shown = (" ".join(_storable(item).split()) for item in items if isinstance(item, str))
    return [item for item in shown if item]


def _storable(value: str) -> str:
    """Return a value in normal form. The file has it, but an escape may make a NUL or one half of a surrogate pair."""
    return normalise(value.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


_FENCE = re.compile(r"\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)*(`{3,}(?=[^`]*$)|~{3,})")
_DIRECTIVE = re.compile(
    r"\s*(?:"
    r"/{3,}(?:\s++.*+)?"  # /// tip | Title
    r"|:{3,}\s*(?:\{?[A-Za-z].*+)?"  # :::warning Title
    r"|\{[*%].*[*%]\}"  # {* include *}, {% tag %}
    r"|\{\{.*\}\}"  # {{#include file}}, {{< shortcode >}}
    r"|\[TOC\]|\[\[_?TOC_?\]\]"
    r"|import\s++(?:[\w*{}\s,$]+\sfrom\s++)?['\"][^'\"]+['\"];?"  # an ES module import
    r")\s*",
    re.IGNORECASE,
)
_API_DIRECTIVE = re.compile(r":::\s+[\w.]+\s*")  # ::: package.module, its options indented below
_ALERT = re.compile(r"(\s*>\s*)\[![A-Z]+\][-+]?.*")  # > [!NOTE]
_ADMONITION = re.compile(r"(?:!!!|\?\?\?\+?|={3})\s+[\"\w].*")  # !!! note, ??? tip, === "Tab"
_BODY_INDENT = 4  # of the body of such an admonition

_MDX_STATEMENT = re.compile(r"(?:import\s*[\w{*]|export\s+(?:default|const|let|function|async)\b)")
_MDX_COMMENT = ("{/*", "*/}")


def mask(lines: Sequence[str], *, mdx: bool) -> list[str]:
    """Blank out lines that are not Markdown.

    Args:
        lines: the file's lines, without its front matter.
        mdx: whether there may be JavaScript statements between the paragraphs.

    Returns:
        As many lines. The bodies of indented admonitions are moved to the left; nothing else is changed.
    """
    masked: list[str] = []
    fence = ""
    dedent = 0  # of the admonition around the line
    until = ""  # what the construct that is being skipped ends with: "" outside, "\n" for a blank line
    options = False  # whether indented lines are options of an API directive
    for line in lines:
        stripped = line.strip()
        if until:
            masked.append("")
            until = "" if (until in stripped if until != "\n" else not stripped) else until
            continue
        if stripped and dedent and not fence:
            indent = len(line) - len(line.lstrip(" "))
            dedent = min(dedent, indent // _BODY_INDENT * _BODY_INDENT)
        line = line[dedent:] if dedent and not line[:dedent].strip() else line
        found = _FENCE.match(line)
        if fence:
            if found and found.group(1).startswith(fence) and not stripped.strip(fence[0]):
                fence = ""
            masked.append(line)
            continue
        if options and (not stripped or line[:1].isspace()):
            masked.append("")
            continue
        options = False
        if found:
            fence = found.group(1)
        elif _API_DIRECTIVE.fullmatch(line):
            options, line = True, ""
        elif _DIRECTIVE.fullmatch(line):
            line = ""
        elif _ADMONITION.fullmatch(line):
            dedent += _BODY_INDENT
            line = ""
        elif (alert := _ALERT.fullmatch(line)) is not None:
            line = alert.group(1)
        elif stripped.startswith(_MDX_COMMENT[0]):
            until = "" if _MDX_COMMENT[1] in stripped else _MDX_COMMENT[1]
            line = ""
        elif mdx and _MDX_STATEMENT.match(line):
            until = "\n" if line.startswith("export") or not stripped.endswith((";", "'", '"')) else ""
            line = ""
        masked.append(line)
    return masked
