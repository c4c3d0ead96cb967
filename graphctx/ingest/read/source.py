"""Sources: a folder, a file or web pages, and what is read of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from graphctx.errors import InvalidArgument
from graphctx.ingest.read.ignore import pattern_matcher


def check_patterns(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Return the patterns; raise ValueError if one is not a pattern of a .gitignore file."""
    try:
        pattern_matcher(patterns)
    except InvalidArgument as error:
        raise ValueError(error.message) from error
    return patterns


Patterns = Annotated[tuple[str, ...], Field(max_length=1000), AfterValidator(check_patterns)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Columns(_Part):
    """The columns, or the keys of a JSON row, that make a document of a row."""

    id: str = Field("id", min_length=1, description="Part of the URI; a row without one has its number.")
    text: tuple[str, ...] = Field(
        ("text",), min_length=1, description="The text; of several columns, with blank lines between them."
    )
    title: str = Field("title", min_length=1)
    tags: str = Field("tags", min_length=1, description="A list, or a text with commas or semicolons.")
    updated_at: str = Field("updated_at", min_length=1, description="A date or a moment in ISO 8601.")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns."""
        return (self.id, *self.text, self.title, self.tags, self.updated_at)

    def of(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row under the names that readers expect, without empty values."""
        texts = [str(value) for name in self.text if (value := row.get(name)) not in (None, "")]
        found = {"text": "\n\n".join(texts), "tags": row.get(self.tags)}
        found |= {name: _plain(row.get(getattr(self, name))) for name in ("id", "title", "updated_at")}
        if isinstance(found["tags"], str):
            found["tags"] = [tag.strip() for tag in re.split("[,;]", found["tags"]) if tag.strip()]
        return {name: value for name, value in found.items() if value not in (None, "", [])}


DEFAULT_COLUMNS = Columns()
"""Of a source that names none."""


def _plain(value: object) -> object:
    """Return a date as text and everything else but a number as it is."""
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, int | float) else value


class Rule(_Part):
    """Metadata for some documents of a source: those that fulfil every condition of the rule."""

    match: Patterns = Field((), description="Patterns as in .gitignore, compared with the path below the source.")
    front_matter: dict[str, str] = Field({}, description="Keys of the front matter and the values that they have.")
    tags: tuple[str, ...] = Field((), description="Tags to add.")
    tags_from: tuple[str, ...] = Field(
        (), description="Keys of the front matter whose values become tags: `owner` adds `owner:Ana`."
    )
    updated_from: str = Field("", description="A key of the front matter that states the date of the last update.")


class Source(_Part):
    """A folder, a file or web pages to read. Relative paths are relative to the job file.

    Example:
        >>> Source(path="docs", include=("*.md",), exclude=("drafts/",)).path
        'docs'
    """

    path: str = Field("", description="A folder or a file.")
    urls: tuple[str, ...] = Field((), description="Addresses of web pages, http or https.")
    url_file: str = Field("", description="A text file with an address on each line; # begins a comment.")
    name: str = Field("web", min_length=1, description="The name of the source of web pages in kb.toml.")
    allow_hosts: tuple[str, ...] = Field(
        (),
        description="Hosts, with the port if it is not the usual one, that web pages, and what they redirect to, may "
        "come from; by default those of the list.",
    )
    delay_seconds: float = Field(1.0, ge=0, le=3600, description="Seconds between two requests to a host.")
    include: Patterns = Field((), description="Of a folder, only files that match one of these patterns.")
    exclude: Patterns = Field((), description="Of a folder, no files and folders that match one of these patterns.")
    tags: tuple[str, ...] = Field((), description="Tags of every document.")
    rules: tuple[Rule, ...] = Field((), description="Metadata for some documents.")
    columns: Columns = Field(DEFAULT_COLUMNS, description="Of JSONL, CSV and Parquet.")

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if bool(self.path) == bool(self.urls or self.url_file):
            raise ValueError("a source has either a path, or urls and url_file")
        return self

    @property
    def is_web(self) -> bool:
        """Whether it is web pages."""
        return not self.path

    @property
    def reading(self) -> dict[str, Any]:
        """How its files are read: the keys that differ from the defaults, as JSON values."""
        keys = {"include", "exclude", "tags", "rules", "columns"}
        return self.model_dump(mode="json", include=keys, exclude_defaults=True)


def is_web_address(text: str) -> bool:
    """Return whether a text is the address of a web page."""
    return text.lower().startswith(("http://", "https://"))


def sources_of(paths: Sequence[str | Path | Source], include: Sequence[str], exclude: Sequence[str]) -> list[Source]:
    """Return paths, addresses and sources as sources; those without patterns have the given ones."""
    made = []
    for path in paths:
        if isinstance(path, Source):
            patterns = {"include": path.include or tuple(include), "exclude": path.exclude or tuple(exclude)}
            made.append(path.model_copy(update=patterns))
        elif is_web_address(str(path)):
            made.append(Source(urls=(str(path),)).model_copy(update={"name": ""}))  # no list has this name
        else:
            made.append(Source(path=str(path), include=tuple(include), exclude=tuple(exclude)))
    return made
