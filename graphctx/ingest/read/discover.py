"""Find the files to read below paths, and the reasons why others are not read."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from graphctx.errors import InvalidArgument
from graphctx.ingest.read.base import Skipped
from graphctx.ingest.read.ignore import IgnoreRules, pattern_matcher
from graphctx.ingest.read.registry import reader_for, readers
from graphctx.ingest.read.source import Source, sources_of

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

MAX_FILE_BYTES = 256 * 1024 * 1024
"""A larger file is skipped: its text is held in memory several times while it is read."""

JUNK_FOLDERS = frozenset(("node_modules", "__pycache__", "__pypackages__", "site-packages", "agents-archive"))
"""Folders of other people's, of generated or of replaced files; hidden folders are left out anyway."""

_VENV_MARK = "pyvenv.cfg"
_MOST_READ = ".md, .txt, .html, .rst, .pdf, .docx, .jsonl"
"""What people name first; the rest are the suffixes of fifty languages."""
_KB_MARK = "kb.toml"  # a knowledge base that was put among the documents it is made of
_OFFICE_LOCK = "~$"


IF_DELETED = "If its files were deleted, graphctx remove --missing removes their documents."
"""What to do about a folder that is empty or gone."""


@dataclass(frozen=True, slots=True, order=True)
class SourceFile:
    """A file to read.

    Attributes:
        rel: its path below ``root``, with ``/``.
        root: the path's own folder, or the folder of a single file.
        path: absolute.
        size: bytes that it had when it was found.
        source: what it was found for.
        content: its bytes and its time of modification, where the reader has no access to the file.
    """

    rel: str
    root: Path
    path: Path
    size: int = 0
    source: Source | None = field(default=None, compare=False)
    content: tuple[bytes, float] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Discovery:
    """The files to read, sorted by ``rel``, what was skipped, sorted by URI, and what is ignored or excluded.

    Paths are absolute; what is in an ignored or excluded folder is not looked at.
    """

    files: tuple[SourceFile, ...]
    skipped: tuple[Skipped, ...]
    ignored_files: frozenset[Path] = frozenset()
    ignored_folders: frozenset[Path] = frozenset()
    excluded: frozenset[Path] = frozenset()

    def ignores(self, path: Path) -> bool:
        """Whether an ignore file or a pattern excludes a path or a folder around it."""
        around = (path, *path.parents)
        return path in self.ignored_files or not (self.ignored_folders | self.excluded).isdisjoint(around)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know: how much was ignored."""
        counts = [(len(self.ignored_files), "file"), (len(self.ignored_folders), "folder")]
        if not any(count for count, _ in counts):
            return ()
        shown = " and ".join(f"{count:,} {noun}{'s' * (count != 1)}" for count, noun in counts if count)
        return (f"Ignored because of .gitignore or .ignore: {shown}; --no-ignore reads them",)


def discover(
    paths: Sequence[Path | Source],
    *,
    max_bytes: int = MAX_FILE_BYTES,
    ignore_files: bool = True,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
) -> Discovery:
    """Find the files below paths.

    Folders are walked to the bottom, except where another source is in one: that folder is searched by its own
    source alone. Hidden files and folders, virtual environments, knowledge bases and other
    generated folders below a path are left out. A link is followed only to targets below the same path, and no file
    is listed twice.

    Args:
        paths: files and folders, or sources of them.
        max_bytes: larger files are skipped.
        ignore_files: whether to leave out what files named .gitignore and .ignore exclude, in the folders and above.
            A path that is given is never left out.
        include: of a folder that is not a source, only files that match one of these patterns are found; all by
            default. Patterns are those of .gitignore files, compared with the path below the folder.
        exclude: of such a folder, files and folders that match one of these patterns are left out.

    Raises:
        InvalidArgument: there is no path, one does not exist or is not valid UTF-8, or a folder holds nothing that can
            be read.
    """
    if not paths:
        raise InvalidArgument("No path was given. Name a file or a folder to ingest.")
    sources = sources_of(paths, include, exclude)
    missing = [source.path for source in sources if not os.path.exists(source.path)]  # noqa: PTH110 - as in `_holds`
    if missing:
        raise InvalidArgument(f"There is no such file or folder: {', '.join(missing)}.", paths=missing)
    by_path = {Path(os.path.abspath(source.path)): source for source in reversed(sources)}  # noqa: PTH100 - links stay
    search = _Search(max_bytes, ignore_files, by_path)
    # Inner folders first, so that each is searched by its own source; files last, so that links come after targets.
    for path in sorted(by_path, key=lambda path: (not path.is_dir(), -len(path.parts), path)):
        if (shown := _shown(str(path))) != str(path):
            raise InvalidArgument(f"The name of {shown} is not valid UTF-8. Rename it.", path=shown)
        search.add(path, by_path[path])
    read = {file.path for file in search.files}
    return Discovery(
        tuple(sorted(search.files)),
        tuple(sorted(set(search.skipped), key=_by_uri)),
        frozenset(search.ignored_files - read),
        frozenset(folder for folder in search.ignored_folders if os.path.realpath(folder) not in search.entered),
        frozenset(path for path in search.excluded - read if os.path.realpath(path) not in search.entered),
    )


@dataclass(slots=True)
class _Search:
    max_bytes: int
    ignore_files: bool
    sources: Mapping[Path, Source]
    files: list[SourceFile] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    ignored_files: set[Path] = field(default_factory=set)
    ignored_folders: set[Path] = field(default_factory=set)
    excluded: set[Path] = field(default_factory=set)
    entered: set[str] = field(default_factory=set)  # real paths of folders
    _include: GitIgnoreSpec | None = None  # patterns of the source that is searched now
    _exclude: GitIgnoreSpec | None = None
    _seen: set[str] = field(default_factory=set)  # real paths of files

    def add(self, path: Path, source: Source) -> None:
        """Search one path."""
        self._include, self._exclude = pattern_matcher(source.include), pattern_matcher(source.exclude)
        if not path.is_dir():
            self._take(path, path.parent, path.name)
            return
        if _holds(path, _KB_MARK):
            raise InvalidArgument(
                f"{path} is a knowledge base, not a folder of documents. Name the folder that holds the documents.",
                path=str(path),
            )
        before, passed, excluded = len(self.files), len(self.skipped), len(self.excluded)
        covered = os.path.realpath(path) in self.entered or any(path in inner.parents for inner in self.sources)
        rules = IgnoreRules(path) if self.ignore_files else None
        links: list[Path] = []
        self._walk(path, path, rules, links)
        while links:  # only when all real files are known, so that a file keeps its own name
            found: list[Path] = []
            for link in sorted(links):
                self._follow(link, path, rules, found)
            links = found
        if len(self.files) == before and not covered and len(self.skipped) == passed and len(self.excluded) > excluded:
            given = {"include": source.include, "exclude": source.exclude}
            shown = [f"{name} {', '.join(patterns)}" for name, patterns in given.items() if patterns]
            raise InvalidArgument(
                f"The patterns leave no file of the folder {path} ({'; '.join(shown)}){self._ignored_below(path)}. "
                "Patterns are those of .gitignore files: *.md matches in every folder, drafts/ a folder.",
                path=str(path),
                include=list(source.include),
                exclude=list(source.exclude),
            )
        if len(self.files) == before and not covered:
            raise InvalidArgument(
                f"Nothing in the folder {path} can be read ({len(self.skipped) - passed} skipped"
                f"{self._ignored_below(path)}). "
                f"What can be read: {_MOST_READ}, and source code; --json lists every suffix."
                f"{'' if len(self.skipped) > passed else f' {IF_DELETED}'}",
                path=str(path),
                skipped=[[s.uri, s.reason] for s in self.skipped[passed:][:20]],
                supported=sorted(readers()),
            )

    def _ignored_below(self, path: Path) -> str:
        ignored = sum(one.is_relative_to(path) for one in (*self.ignored_files, *self.ignored_folders))
        return f", {ignored} ignored because of .gitignore or .ignore: --no-ignore reads them" if ignored else ""

    def _walk(self, folder: Path, root: Path, rules: IgnoreRules | None, links: list[Path]) -> None:
        todo = [folder]
        while todo:
            at = todo.pop()
            real = os.path.realpath(at)
            if real in self.entered:
                continue
            self.entered.add(real)
            for entry in self._entries(at, root):
                path, is_folder = Path(entry.path), entry.is_dir(follow_symlinks=False)
                if is_folder and _is_junk(path):
                    continue
                if rules and rules.ignores(path, is_folder=is_folder):
                    (self.ignored_folders if is_folder else self.ignored_files).add(path)
                elif self._exclude and self._exclude.match_file(_relative(path, root) + "/" * is_folder):
                    self.excluded.add(path)
                elif entry.is_symlink():
                    links.append(path)
                elif is_folder:
                    todo.append(path)
                else:
                    self._choose(path, root, _relative(path, root))

    def _entries(self, folder: Path, root: Path) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            self._skip(_relative(folder, root), f"the folder cannot be opened: {_cause(error)}")
            return
        for entry in found:
            if entry.name.startswith((".", _OFFICE_LOCK)):
                continue
            if (shown := _shown(entry.name)) == entry.name:
                yield entry
            else:
                self._skip(_relative(folder / shown, root), "its name is not valid UTF-8; rename it")

    def _follow(self, link: Path, root: Path, rules: IgnoreRules | None, links: list[Path]) -> None:
        rel = _relative(link, root)
        try:
            target = link.resolve(strict=True)
        except (OSError, RuntimeError):
            self._skip(rel, "a link to nothing, or to itself")
            return
        if not target.is_relative_to(root.resolve()):
            self._skip(rel, "a link to outside of the given folder")
        elif target.is_dir():
            if str(target) in self.entered:
                self._skip(rel, "a link to a folder that is read already")
            elif not _is_junk(target):
                self._walk(link, root, rules, links)
        else:
            self._choose(link, root, rel)

    def _choose(self, path: Path, root: Path, rel: str) -> None:
        if self._include and not self._include.match_file(rel):
            self.excluded.add(path)
        else:
            self._take(path, root, rel)

    def _take(self, path: Path, root: Path, rel: str) -> None:
        around = [folder for folder in path.parents if folder in self.sources]
        if around:  # of overlapping sources, the outermost gives the name
            root, rel = around[-1], _relative(path, around[-1])
        if reader_for(path.name) is None:
            suffix = path.suffix.lower()
            self._skip(rel, f"unsupported type {suffix}" if suffix else "unsupported type (no suffix)")
            return
        try:
            status = path.stat()
        except OSError as error:
            self._skip(rel, f"the file cannot be opened: {_cause(error)}")
            return
        real = os.path.realpath(path)
        if not stat.S_ISREG(status.st_mode):
            self._skip(rel, "not a regular file")
        elif status.st_size == 0:
            self._skip(rel, "the file is empty (0 bytes)")
        elif status.st_size > self.max_bytes:
            self._skip(rel, f"{status.st_size} bytes are more than the limit of {self.max_bytes}")
        elif real not in self._seen:
            self._seen.add(real)
            source = next(self.sources[near] for near in (path, *path.parents) if near in self.sources)
            self.files.append(SourceFile(rel, root, path, status.st_size, source))
        elif path.is_symlink():
            self._skip(rel, "a link to a file that is read already")

    def _skip(self, uri: str, reason: str) -> None:
        self.skipped.append(Skipped(uri, reason))


def _is_junk(folder: Path) -> bool:
    return folder.name in JUNK_FOLDERS or any(_holds(folder, mark) for mark in (_VENV_MARK, _KB_MARK))


def _holds(folder: Path, name: str) -> bool:
    """Whether a folder holds an entry; false if the folder may not be entered, which the walk reports."""
    return os.path.exists(folder / name)  # noqa: PTH110 - `Path.exists` raises PermissionError


def _shown(name: str) -> str:
    """Return a name with a question mark for each byte that is not UTF-8, which Python gives as a lone surrogate."""
    return name.encode("utf-8", "replace").decode("utf-8")


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def _cause(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


def _by_uri(skipped: Skipped) -> tuple[str, str]:
    return skipped.uri, skipped.reason
