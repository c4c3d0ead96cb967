"""The hyperlinks of a piece of reStructuredText, with the spans of their labels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from graphctx.model.documents import Link

_DEFINITION = re.compile(r"^[ \t]*\.\. _(`[^`\n]+`|[^:\n]+):[ \t]+(\S+)[ \t]*$", re.MULTILINE)
_MARKUP = re.compile(
    r"``.+?``"  # a literal
    r"|:(?:[\w.+-]+:)?([\w.+-]+):`([^`]{1,1000})`"  # a role
    r"|`([^`]{1,1000})`__?"  # a phrase reference
    r"|(?<![\w`])([A-Za-z0-9](?:[\w.+-]{0,100}[A-Za-z0-9])?)_(?![\w`_])"  # a simple reference
    r"|<?(https?://[^\s<>`]{1,2000})",
    re.DOTALL,
)
_TARGETED = re.compile(r"\s*(.*?)\s*<([^<>]+)>\s*", re.DOTALL)
_TITLE_MARKUP = re.compile(
    r"``(.+?)``|(?::[\w.+-]+){1,2}:`([^`<]*?)\s*(?:<[^<>`]*>)?`|`([^`<]+?)\s*(?:<[^<>`]*>)?`_{0,2}"
    r"|\*\*(.+?)\*\*|\*(.+?)\*"
)


MAX_TITLE_CHARS = 1000
"""A longer title is a paragraph that was underlined; its markup stays."""


def link_targets(text: str) -> dict[str, str]:
    """The explicit targets that name a URL, by their normalised name."""
    return {_name(m.group(1)): m.group(2) for m in _DEFINITION.finditer(text) if not m.group(2).endswith("_")}


def find_links(text: str, start: int, end: int, targets: Mapping[str, str]) -> Iterator[Link]:
    """Find the links of ``text[start:end]``.

    A ``:doc:`` target is the document's path as written, a ``:ref:`` target is ``#label`` (a label may belong to
    another document), and a named reference is looked up in ``targets``.
    """
    for match in _MARKUP.finditer(text, start, end):
        role, role_text, phrase, simple, url = match.groups()
        if role in ("doc", "ref", "numref") and role_text:
            yield from _targeted(role_text, match.start(2), "" if role == "doc" else "#")
        elif phrase:
            embedded = _TARGETED.fullmatch(phrase)
            if embedded:
                yield from _targeted(phrase, match.start(3), "", targets)
            elif _name(phrase) in targets:
                yield Link(targets[_name(phrase)], match.start(3), match.end(3))
        elif simple and _name(simple) in targets:
            yield Link(targets[_name(simple)], match.start(4), match.end(4))
        elif url:
            shown = url.rstrip(".,;:!?)'\"")
            yield Link(shown, match.start(5), match.start(5) + len(shown))


def plain_title(title: str) -> str:
    """A section title without its inline markup."""
    if len(title) > MAX_TITLE_CHARS:
        return " ".join(title.split())
    shown = _TITLE_MARKUP.sub(lambda m: next((g for g in m.groups() if g is not None), ""), title)
    return " ".join(re.sub(r"\\(.)", r"\1", shown).split())


def _targeted(body: str, at: int, prefix: str, targets: Mapping[str, str] | None = None) -> Iterator[Link]:
    """``label <target>``, or a target alone, which is its own label."""
    found = _TARGETED.fullmatch(body)
    label_start, label_end = (found.start(1), found.end(1)) if found and found.group(1) else (0, len(body))
    target = " ".join((found.group(2) if found else body).split())
    if targets and target.endswith("_"):
        target = targets.get(_name(target[:-1]), target)
    if target.strip() and label_start < label_end:
        yield Link(prefix + target, at + label_start, at + label_end)


def _name(name: str) -> str:
    return " ".join(name.strip("`").split()).casefold()
