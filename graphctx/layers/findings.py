"""What is wrong with a layer file: one finding for each rule that it breaks, with the place and the value."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

from graphctx.errors import InvalidArgument

PER_RULE = 16
"""Findings kept of one rule; a damaged table would give one for each of its rows."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule, where it is broken and by what.

    Attributes:
        rule: such as ``strings.utf8``; docs/agents-db-conformance.md lists them.
        offset: the byte at which the offending value stands.
        message: what is wrong, for a person.
        value: the value, for a machine.
        severity: an ``error`` makes the file unusable; a ``warning`` does not.
    """

    rule: str
    offset: int
    message: str
    value: Any = None
    severity: Literal["error", "warning"] = "error"


class Findings:
    """Findings in the order in which they were made, at most `PER_RULE` of each rule."""

    def __init__(self) -> None:
        self.all: list[Finding] = []
        self._counts: Counter[str] = Counter()

    def error(self, rule: str, offset: int, message: str, value: Any = None) -> None:
        """Note a broken rule."""
        self._add(Finding(rule, offset, message, value))

    def warn(self, rule: str, offset: int, message: str, value: Any = None) -> None:
        """Note something odd that does no harm."""
        self._add(Finding(rule, offset, message, value, "warning"))

    def count(self, rule: str) -> int:
        """How often a rule was broken, those not kept included."""
        return self._counts[rule]

    @property
    def errors(self) -> list[Finding]:
        """Without the warnings."""
        return [finding for finding in self.all if finding.severity == "error"]

    def _add(self, finding: Finding) -> None:
        self._counts[finding.rule] += 1
        if self._counts[finding.rule] <= PER_RULE:
            self.all.append(finding)


def refusal(name: str, finding: Finding) -> InvalidArgument:
    """The error that a finding makes of opening a file."""
    return InvalidArgument(
        f"{name} is no valid layer file: at byte {finding.offset}, {finding.message} ({finding.rule}). "
        f"Restore it from version control or a backup; `graphctx layers validate {name}` lists every fault.",
        file=name,
        offset=finding.offset,
        rule=finding.rule,
        value=finding.value,
    )
