"""Links and figures of a text, for telling whether another text brings in some of its own.

A link is whatever a client might turn into one: not only addresses with a scheme, but hosts, mail addresses, paths of
files, tags of HTML, and the markup of Markdown around them. Texts are compared as a reader sees them: letters of other
widths, invisible characters, case and entities make no difference.
"""

from __future__ import annotations

import html
import re
import unicodedata

_LINK = re.compile(
    r"""
    [a-z][a-z0-9+.-]{0,60}:\S    # a scheme
    | // | \\\\ | @             # a host without one, a share, an address of mail
    | \w\.[^\W\d_]{2}           # a host, a file: the end has letters, other than that of "e.g." or "2.5"
    | [a-z0-9]\u3002[a-z]{2}     # resolvers take the full stop of Chinese for a dot
    | \d(?:\.\d+){2}\.\d         # an address in numbers
    """,
    re.VERBOSE,
)
_TAG = re.compile(r"<[a-z/!?][^>]*>?")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")
_AROUND = "()[]{}<>\"'`*_~.,;:!?\u2026\u3002\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb"
_OWNER = re.compile(r"['\u2019]s$")
_INSIDE = re.compile(r"[()\[\]{}<>\"`|]+")

_MARKED = re.compile(r"!?\[([^\[\]]*)\]\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_AUTOLINK = re.compile(r"<([a-z][a-z0-9+.-]*:[^\s<>]+|[^\s<>@]+@[^\s<>]+)>", re.IGNORECASE)
_NESTED = 3
"""An image in a link in a link; what is nested deeper stays as it is, and is no link that a source has."""


def without_markup(text: str) -> str:
    """A text with the links and images of Markdown written out: ``[this](target)`` becomes ``this (target)``."""
    for _ in range(_NESTED):
        plain = _MARKED.sub(r"\1 (\2)", text)
        if plain == text:
            break
        text = plain
    return _AUTOLINK.sub(r"\1", text)


def adds_links(text: str, source: str) -> bool:
    """Whether a text has a link, or a tag, that does not stand as a whole in its source."""
    said, known = _folded(text), _folded(source)
    if any(tag not in known for tag in _TAG.findall(said)):
        return True
    links = {token for token in _tokens(said) if _LINK.search(token)}
    return bool(links) and not links <= _tokens(known) | _tokens(_INSIDE.sub(" ", known))


def adds_figures(text: str, source: str) -> bool:
    """Whether a text has a figure that its source lacks: whole numbers count, and zeros before them do not."""
    return not _figures(text) <= _figures(source)


def _figures(text: str) -> set[str]:
    plain = unicodedata.normalize("NFKC", text)
    return {_THOUSANDS.sub("", figure).lstrip("0") for figure in _FIGURE.findall(plain)}


def _folded(text: str) -> str:
    """A text as it is compared."""
    plain = unicodedata.normalize("NFKC", html.unescape(text)).casefold()
    return "".join(char for char in plain if unicodedata.category(char) != "Cf")


def _tokens(folded: str) -> set[str]:
    """What stands between spaces, without the marks around it."""
    return {_OWNER.sub("", token.strip(_AROUND)) for token in folded.split()}
