"""Which documents a removal is about, and its report."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePath

from pydantic import BaseModel, ConfigDict, Field

from graphctx.errors import InvalidArgument
from graphctx.ingest.sources import owners_of, paths_of
from graphctx.model.documents import Document
from graphctx.store.config import SourceEntry


class RemovalReport(BaseModel):
    """What a removal did, or would do in a dry run."""

    model_config = ConfigDict(frozen=True)

    project_id: str
    dry_run: bool
    snapshot_id: str = Field(description="The published snapshot: after the removal, or in a dry run as it stays.")
    removed: list[str] = Field(description="URIs, sorted.")
    kept_out: list[str] = Field(description="Of these, those whose file still exists, and which stay out of ingests.")
    documents: int = Field(description="Documents afterwards.")
    notes: list[str] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Removal:
    """A choice of documents, by one of three ways.

    Attributes:
        references: URIs and ids of documents, paths of their files, folders, and files whose
            rows are documents.
        tags: documents with one of these tags.
        missing: documents whose file is gone.

    Raises:
        InvalidArgument: nothing is named, or it is named in several ways.

    Example:
        >>> Removal(references=("people/ana.md",)).remembered
        True
    """

    references: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    missing: bool = False

    def __post_init__(self) -> None:
        if sum(map(bool, (self.references, self.tags, self.missing))) != 1:
            raise InvalidArgument(
                "Name the documents in one way: by URIs, by tags (--tag, tags=), or as those whose file is gone "
                "(--missing, missing=True)."
            )

    @property
    def remembered(self) -> bool:
        """Whether later ingests leave the documents out, too: if they are removed although their file may exist."""
        return not self.missing

    def choose(self, documents: Iterable[tuple[Document, SourceEntry]]) -> set[str]:
        """Return the URIs of the chosen documents.

        Raises:
            InvalidArgument: a reference or a tag matches no document.
        """
        chosen: set[str] = set()
        matched: set[str] = set()
        known: set[str] = set()
        former: dict[str, set[str]] = {}
        wanted = {one: (one.rstrip("/"), os.path.abspath(one)) for one in self.references}  # noqa: PTH100 - links stay
        documents = list(documents)
        owners = owners_of({document.uri: source.name for document, source in documents})
        for document, source in documents:
            files = paths_of(document.uri, source, owners)
            hits = {tag for tag in self.tags if tag in document.tags}
            if self.references:
                names = _names(document, files)
                hits |= {one for one, forms in wanted.items() if not names.isdisjoint(forms)}
            if hits or (self.missing and files and not any(map(exists, files))):
                chosen.add(document.uri)
            matched |= hits
            for uri in document.formerly:
                former.setdefault(uri, set()).add(document.uri)
            known |= {document.uri} if self.references else set(document.tags)
        for one in wanted.keys() - matched:  # a former name counts where no document has it now
            if earlier := set().union(*(former.get(form, ()) for form in wanted[one])):
                chosen |= earlier
                matched.add(one)
        if unknown := [one for one in (*self.references, *self.tags) if one not in matched]:
            near = get_close_matches(unknown[0], sorted(known), n=3, cutoff=0.5)
            similar = f" Similar: {', '.join(near)}." if near else ""
            raise InvalidArgument(
                f"No document matches {', '.join(unknown)}; nothing is removed."
                f"{similar} A document is named by its URI, its id, the path of its file, or a folder.",
                value=unknown,
                similar=near,
            )
        return chosen


def _names(document: Document, files: Sequence[Path]) -> set[str]:
    """Return everything that a reference to a document may say."""
    file_uri = document.uri.partition("#")[0]
    paths = (file_uri, *map(str, files))
    folders = {str(folder) for path in paths for folder in PurePath(path).parents if folder.name}
    return {document.uri, document.id, *paths, *folders}


def exists(path: Path) -> bool:
    """Return whether a file exists; one whose folder cannot be opened counts as existing."""
    try:
        return path.exists()
    except OSError:
        return True
