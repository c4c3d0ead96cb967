"""Dates that a source states about itself, as ISO 8601."""

from __future__ import annotations

from datetime import UTC, date, datetime


def iso_date(value: str) -> str | None:
    """Bring a stated date to one form, or give ``None`` if it is no ISO 8601 date.

    A date stays a date (``2024-05-01``); a moment with a zone is moved to UTC (``2024-05-01T12:00:00Z``); a moment
    without one stays as it is.
    """
    value = value.strip()
    try:
        if len(value) <= len("2024-05-01"):
            return date.fromisoformat(value).isoformat()
        return iso_moment(datetime.fromisoformat(value))
    except (ValueError, OverflowError):
        return None


def iso_moment(moment: datetime) -> str:
    """A moment to the second, in UTC with ``Z`` if it has a zone."""
    moment = moment.replace(microsecond=0)
    if moment.tzinfo is None:
        return moment.isoformat()
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"
