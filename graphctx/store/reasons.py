"""What an error of the system or of a library says, fit to be shown: without the directories of this machine."""

from __future__ import annotations

import os
import re

_FOLDER = r"""[^\s/\\'"<>|(),;:]+[/\\]+"""
_PATH = re.compile(
    rf"(?:(?<![a-z])[a-z]+:/+|[A-Za-z]:[/\\]+|(?<![\w.])[/\\])(?:{_FOLDER})+|(?<![^\s/\\'\"<>|(),;:])(?:{_FOLDER}){{2,}}"
)
"""Folders below a root, or two and more without one: some libraries leave out the leading slash."""


def reason_of(error: BaseException, *directories: object) -> str:
    """The error's own words. What is left of a path in them is its last part.

    Args:
        error: whatever was raised.
        *directories: folders that the text may name, needed where their names hold spaces.
    """
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)  # what stands in error.strerror may be pyarrow's, with the path in it
    text = str(error)
    for directory in directories:
        bare = str(directory).strip("/\\")
        text = re.sub(rf"(?:[a-z]+:/+)?[/\\]?{re.escape(bare)}[/\\]*", "", text) if bare else text
    return _PATH.sub("", text)
