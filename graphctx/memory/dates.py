"""Dates as English or ISO 8601 writes them: in statements, and in questions about what was said at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta

_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = rf"(?:{'|'.join(_MONTHS)})"
_DAY = rf"(?:{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH})"

DATE = rf"(?:\d{{4}}-\d{{2}}-\d{{2}}|{_DAY},? \d{{4}}|{_MONTH} \d{{4}}|(?:19|20)\d{{2}})"
"""Pattern of a day, month or year."""

_ASKED = re.compile(rf"\b(?:{DATE}|(?:19|20)\d{{6}}|{_DAY}|(?:in|during|last) {_MONTH}(?!,? \d))\b", re.I)
_UNITS = {"day": 1, "week": 7, "month": 30, "year": 365}
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_AGO = re.compile(
    rf"\b(?:(?P<near>today|yesterday)|"
    rf"(?P<n>\d{{1,3}}|an?|a couple of|{'|'.join(_NUMBERS)}) (?P<unit>{'|'.join(_UNITS)})s? ago|"
    rf"last (?:(?P<last>{'|'.join(_UNITS)})|(?P<weekday>{'|'.join(_WEEKDAYS)})))\b",
    re.I,
)


def date_of(text: str) -> datetime | None:
    """Return the start of a `DATE`, in UTC; ``None`` if there is no such day."""
    year, month, day = _parts(text)
    try:
        return None if year is None else datetime(year, month or 1, day or 1, tzinfo=UTC)
    except ValueError:
        return None


def periods_in(text: str, now: datetime) -> Iterator[tuple[datetime, datetime]]:
    """Yield the days, months and years that a question names, each with its end.

    A day or month without a year is the last one. "Two weeks ago" and "last week" are seven days, of which the middle
    is so long ago; months and years likewise.
    """
    for found in _ASKED.finditer(text):
        year, month, day = _parts(found[0])
        try:
            start = datetime(year or now.year, month or 1, day or 1, tzinfo=UTC)
            if year is None and start > now:
                start = start.replace(year=start.year - 1)
            if day:
                yield start, start + timedelta(days=1)
            else:
                yield start, datetime(start.year + (month or 12) // 12, (month or 12) % 12 + 1, 1, tzinfo=UTC)
        except (OverflowError, ValueError):  # no such day
            continue
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    for found in _AGO.finditer(text):
        with suppress(OverflowError):
            days, width = _days_ago(found, today)
            start = today - timedelta(days=days + width // 2)
            yield start, start + timedelta(days=width)


def _days_ago(found: re.Match[str], today: datetime) -> tuple[int, int]:
    """Return how many days ago the middle of a period is, and of how many days it is."""
    near, n, unit, last, weekday = (each.lower() if each else "" for each in found.groups())
    if near:
        return int(near == "yesterday"), 1
    if weekday:
        return (today.weekday() - _WEEKDAYS.index(weekday) - 1) % 7 + 1, 1
    width = _UNITS[unit or last]
    if last or n in ("a", "an"):
        return width, width
    number = 2 if n == "a couple of" else int(n) if n.isdecimal() else _NUMBERS.index(n)
    return number * width, width


def _parts(text: str) -> tuple[int | None, int | None, int | None]:
    """Return year, month and day of a date, each where it is named."""
    text = text.lower()
    digits = text.replace("-", "")
    if len(digits) == 8 and digits.isdecimal():
        return int(digits[:4]), int(digits[4:6]), int(digits[6:])
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    year = next((number for number in numbers if number > 31), None)
    month = next((at + 1 for at, name in enumerate(_MONTHS) if name in text), None)
    return year, month, next((number for number in numbers if number <= 31), None)
