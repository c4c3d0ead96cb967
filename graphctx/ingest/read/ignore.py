"""The rules of ``.gitignore`` and ``.ignore`` files for the paths below a folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from graphctx.errors import InvalidArgument

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILES = (".gitignore", ".ignore")
"""The names of the files, in rising precedence."""

_REPOSITORY_MARK = ".git"


@dataclass(slots=True)
class IgnoreRules:
    """Decides which entries below a folder are ignored.

    Rules of folders above ``root`` hold as well: up to the top of its repository or, outside of one, to the user's
    home or the file system's root, whose own rules do not hold. They do not hold if they exclude ``root`` itself,
    because it was named.

    Example:
        >>> IgnoreRules(Path("docs")).ignores(Path("docs/build"), is_folder=True)  # doctest: +SKIP
        True
    """

    root: Path
    _of_folder: dict[Path, tuple[tuple[Path, GitIgnoreSpec], ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if _decide(self._rules(self.root.parent), self.root, is_folder=True):
            self._of_folder = {self.root.parent: ()}

    def ignores(self, path: Path, *, is_folder: bool) -> bool:
        """Whether the rules exclude an entry of a folder that they do not exclude."""
        return _decide(self._rules(path.parent), path, is_folder=is_folder)

    def _rules(self, folder: Path) -> tuple[tuple[Path, GitIgnoreSpec], ...]:
        """Return the rules for the entries of a folder, those of the nearest folder first."""
        if folder not in self._of_folder:
            below_root = folder.is_relative_to(self.root) and folder != self.root
            repository = not below_root and _is_repository(folder)
            top = folder.parent == folder or (folder == _home() and folder != self.root)
            own = None if top and not repository else _read_rules(folder)
            above = () if top or repository else self._rules(folder.parent)
            self._of_folder[folder] = ((folder, own), *above) if own else above
        return self._of_folder[folder]


def pattern_matcher(patterns: Sequence[str]) -> GitIgnoreSpec | None:
    """Return what matches paths with patterns as they stand in .gitignore files; ``None`` without patterns.

    Raises:
        InvalidArgument: one of them is not a pattern.
    """
    for pattern in patterns:
        if not pattern.strip() or not _is_pattern(pattern):
            raise InvalidArgument(f"{pattern!r} is not a pattern such as *.md or drafts/.", value=pattern)
    return _spec(list(patterns)) if patterns else None


def _decide(rules: tuple[tuple[Path, GitIgnoreSpec], ...], path: Path, *, is_folder: bool) -> bool:
    for folder, spec in rules:
        rel = path.relative_to(folder).as_posix()
        included = spec.check_file(f"{rel}/" if is_folder else rel).include
        if included is not None:
            return included
    return False


def _read_rules(folder: Path) -> GitIgnoreSpec | None:
    """Return the rules that a folder holds; a line that is not a pattern is left out."""
    lines: list[str] = []
    for name in IGNORE_FILES:
        try:
            lines += (folder / name).read_text(encoding="utf-8-sig", errors="replace").splitlines()
        except OSError:
            continue
    patterns = [line for line in lines if line.strip() and not line.startswith("#") and _is_pattern(line)]
    return _spec(patterns) if patterns else None


def _is_pattern(line: str) -> bool:
    try:
        _spec([line])
    except ValueError:
        return False
    return True


def _spec(lines: list[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(lines)


@lru_cache(maxsize=1)
def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:  # no home folder is known
        return None


def _is_repository(folder: Path) -> bool:
    try:
        return (folder / _REPOSITORY_MARK).exists()
    except OSError:
        return False
