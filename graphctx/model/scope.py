"""Scope: which documents a call may see, and the boundary of the settings around it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from graphctx.errors import ScopeViolation
from graphctx.model.requests import Environment, Scope

Within = Callable[[Iterable[str], str], bool]
"""Whether a document with these tags and this URI may be seen."""


def within(doc_tags: Sequence[str] = (), repositories: Sequence[str] = ()) -> Within:
    """Return a test of a scope: one of the tags, and below one of the folders; an empty list does not narrow.

    A trailing slash of a repository's name is ignored.
    """
    wanted = frozenset(doc_tags)
    folders = folders_of(repositories)

    def test(tags: Iterable[str], uri: str) -> bool:
        return (not wanted or not wanted.isdisjoint(tags)) and (not folders or uri.startswith(folders))

    return test


def folders_of(repositories: Sequence[str]) -> tuple[str, ...]:
    """Return the prefixes of the URIs of documents in these repositories."""
    return tuple(f"{_folder(name)}/" for name in repositories)


@dataclass(frozen=True, slots=True)
class Boundary:
    """The documents that the settings allow; a call may narrow this, never widen it.

    Attributes:
        project_id: the one project.
        environment: the one environment.
        doc_tags: if any, only documents with one of these tags.
        repositories: if any, only documents below one of these folders.
    """

    project_id: str
    environment: Environment
    doc_tags: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()

    def narrow(self, asked: Scope) -> Scope:
        """Return the scope that applies to a call: what it asks for within the boundary, else the boundary itself.

        Raises:
            ScopeViolation: it asks for another project or environment, or for a tag or a repository outside the
                boundary.
        """
        for name, own in (("project_id", self.project_id), ("environment", self.environment)):
            value = getattr(asked, name)
            if value is not None and value != own:
                raise _outside(name, value, own, repr(own))
        for tag in asked.doc_tags:
            if self.doc_tags and tag not in self.doc_tags:
                raise _outside("doc_tags", tag, list(self.doc_tags), ", ".join(map(repr, self.doc_tags)))
        below = within(repositories=self.repositories)
        folders = [_folder(name) for name in asked.repositories]
        for folder in folders:
            if not below((), f"{folder}/"):
                named = ", ".join(map(repr, self.repositories))
                raise _outside("repositories", folder, list(self.repositories), named)
        return Scope(
            project_id=self.project_id,
            environment=self.environment,
            doc_tags=asked.doc_tags or list(self.doc_tags),
            repositories=folders or [_folder(name) for name in self.repositories],
        )


def _folder(name: str) -> str:
    return name.rstrip("/") or name


def _outside(field: str, value: str, allowed: object, named: str) -> ScopeViolation:
    return ScopeViolation(
        f"scope.{field} asks for {value!r}, but this knowledge base answers for {named} only. "
        f"Leave scope.{field} out, or ask the knowledge base of that one.",
        field=f"scope.{field}",
        value=value,
        allowed=allowed,
    )
