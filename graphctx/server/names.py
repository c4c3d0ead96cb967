"""The form of tool names in the texts of a server.

A tool's name is dotted, ``kb.search``, and every text of this package uses that form. The APIs of language models
refuse dots, so a server lists ``kb_search`` unless its settings ask for dots, and a `ToolNaming` puts the listed form
into each sentence that a client reads. **Both forms can always be called.**
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeVar

from graphctx.errors import GraphctxError

ToolNames = Literal["underscore", "dotted"]
Failure = TypeVar("Failure", bound=GraphctxError)

_QUOTED = re.compile(
    r"""(?<!\w)(?:'(?:[^'\\]|\\.){0,500}?(?:'(?!\w)|…)|"(?:[^"\\]|\\.){0,500}?(?:"(?!\w)|…))""", re.DOTALL
)
"""A value in a message: in quotes, or from a quote to where it was cut. An apostrophe opens nothing."""

_TWICE = re.compile(r"\b([a-z]+(?:_[a-z]+)+) or \1\b")
"""Two tools with one name: "search_sections or search_sections"."""


@dataclass(frozen=True, slots=True)
class ToolNaming:
    """The names of tools as the readers of a text know them.

    Attributes:
        forms: the form of each tool's own name; a name that is missing stays as it is.
    """

    forms: Mapping[str, str]

    @classmethod
    def of(cls, names: Iterable[str], style: ToolNames) -> ToolNaming:
        """Return the naming of these tools in a style."""
        return DOTTED if style == "dotted" else cls({name: name.replace(".", "_") for name in names if "." in name})

    def name(self, name: str) -> str:
        """Return the form of a tool's name."""
        return self.forms.get(name, name)

    def text(self, text: str) -> str:
        """Return the server's own words with the names in their forms. Not for the text of a document."""
        if not self.forms:
            return text
        return _TWICE.sub(r"\1", _names(tuple(self.forms)).sub(lambda found: self.forms[found[0]], text))

    def message(self, message: str) -> str:
        """Return the message of an error; a value of the caller that it quotes stays as it is."""
        ours: list[str] = []
        end = 0
        for quoted in _QUOTED.finditer(message):
            ours += [self.text(message[end : quoted.start()]), quoted[0]]
            end = quoted.end()
        return "".join([*ours, self.text(message[end:])])

    def error(self, error: Failure) -> Failure:
        """Put the message of an error, and the calls that it advises to repeat, into these forms, and return it."""
        error.message = self.message(error.message)
        if repeat := error.details.get("repeat"):
            error.details["repeat"] = list(dict.fromkeys(map(self.name, repeat)))
        return error

    def schema(self, schema: Any) -> Any:
        """Return a JSON Schema, or a part of one, with its descriptions in these forms."""
        if isinstance(schema, list):
            return [self.schema(part) for part in schema]
        if not isinstance(schema, dict):
            return schema
        return {
            key: self.text(part) if key == "description" and isinstance(part, str) else self.schema(part)
            for key, part in schema.items()
        }


DOTTED = ToolNaming({})
"""The tools' own names, for documentation and the command line."""


@cache
def _names(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern of names as whole words, not as parts of a file's name."""
    return re.compile(rf"(?<![\w./-])(?:{'|'.join(map(re.escape, names))})(?![\w/-]|\.\w)")
