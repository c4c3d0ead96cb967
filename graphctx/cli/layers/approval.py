"""The approval that promotion and compaction need: a person's answer, or ``--yes``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from graphctx.errors import InvalidArgument

if TYPE_CHECKING:
    from graphctx.layers.promote import Approver


def approved(question: str, *, yes: bool, command: str) -> Approver | None:
    """Who approves: ``human`` or ``ci``; ``None`` if a person said no.

    Args:
        question: asked on a terminal, after what it is about was shown.
        yes: whether it was approved beforehand.
        command: to be named where nobody can be asked.

    Raises:
        InvalidArgument: it was not approved, and there is nobody to ask.
    """
    if yes:
        return "human" if sys.stdin.isatty() else "ci"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InvalidArgument(
            f"This needs a person's approval, and there is no terminal to ask at. Run it on one, or approve it "
            f"beforehand: {command} --yes",
            field="yes",
        )
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)  # standard output may be JSON
    answer = sys.stdin.readline().strip().casefold()
    return "human" if answer in ("y", "yes") else None
