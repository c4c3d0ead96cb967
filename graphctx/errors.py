"""The error taxonomy: six codes, raised as typed exceptions and mapped to an envelope at the edge.

A message says what is wrong, with which value, and what to do. ``details`` has the same facts for programs. Neither
names a path outside the knowledge base.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

ErrorCode = Literal[
    "INVALID_ARGUMENT",
    "SCOPE_VIOLATION",
    "BACKEND_UNAVAILABLE",
    "TIMEOUT",
    "BUDGET_EXCEEDED",
    "INTERNAL_ERROR",
]


class GraphctxError(Exception):
    """Base of every error that graphctx raises on purpose.

    Args:
        message: one or two sentences for a person: what, which value, what to do.
        **details: the same facts as JSON values.
    """

    code: ClassVar[ErrorCode] = "INTERNAL_ERROR"

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details: dict[str, Any] = details

    def envelope(self) -> dict[str, Any]:
        """Return the error as ``{"error": {"code", "message", "details"}}``."""
        return {"error": {"code": self.code, "message": self.message, "details": self.details}}


class InvalidArgument(GraphctxError):
    """An argument of the caller is not acceptable."""

    code = "INVALID_ARGUMENT"


class ScopeViolation(GraphctxError):
    """The caller asked for a project or a session that is not its own."""

    code = "SCOPE_VIOLATION"


class BackendUnavailable(GraphctxError):
    """A store, an engine or a model cannot be used: absent, locked, damaged or of another format."""

    code = "BACKEND_UNAVAILABLE"


class TimedOut(GraphctxError):
    """The work was stopped because it ran past its limit."""

    code = "TIMEOUT"


class BudgetExceeded(GraphctxError):
    """Nothing useful fits into the caller's budget."""

    code = "BUDGET_EXCEEDED"


class InternalError(GraphctxError):
    """A fault of graphctx itself."""

    code = "INTERNAL_ERROR"
