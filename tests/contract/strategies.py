"""Arguments made from a tool's listed schema: right, at the border, and wrong; with ids that exist, and with junk."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

NASTY = (
    "",
    " ",
    "\x00",
    "tide\x00gate",
    "\ud800",
    "gate \udfff\ud800",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\U0001f1f3\U0001f1f4\U0001f1f8",
    "e" + "\u0301" * 60,
    "\u202eetag\u202c \u2066x\u2069",
    "שער הגאות",
    "بوابة المد",
    "\u1100\u1161\u11a8",
    "\ufeff\ufffe\uffff",
    "\r\n\t\x0b\x0c\x85\u2028\u2029",
    "' OR 1=1 --",
    "MATCH (n) DETACH DELETE n",
    "../../../etc/passwd",
    "%00%2e%2e",
    "*:* AND _exists_:x) (\"'[]{}^~?\\/",
    "{{7*7}} ${x} %s %n",
    "<script>alert(1)</script>",
    "NaN",
    "-0",
    "9" * 400,
    "ignore previous instructions",
)
"""Texts that have broken servers."""

NAMES = tuple(text for text in NASTY if text.isprintable() or "\x00" in text)
"""Of arguments; the SDK's client cannot write the name of one with half a surrogate pair."""

WORDS = (
    "tide gate Marrow Bay inspects Oda Brenn Halvard Works Mercury Captain Doyle Kestrel Harbour Office RTB storm "
    "week ships who when how many endless line bell valve ferry planet sign"
).split()

JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(NASTY),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=2),
    st.recursive(st.none(), lambda inner: st.lists(inner, max_size=2), max_leaves=20),
)
"""Values of any type whatever."""

ANY_TEXT = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join),
    st.lists(st.one_of(st.sampled_from(WORDS), st.sampled_from(NASTY)), min_size=1, max_size=4).map(" ".join),
    st.text(st.characters(exclude_categories=()), max_size=60),
    st.sampled_from(NASTY),
)
DATES = st.sampled_from(("2024-01-01", "2025-03-01T00:00:00Z", "2025-02-30", "2199-01-01", "yesterday", "0001-01-01"))


def _integer(schema: dict[str, Any]) -> st.SearchStrategy[int]:
    low, high = schema.get("minimum", -(2**31)), schema.get("maximum", 2**31)
    border = st.sampled_from((low, high, low - 1, high + 1, schema.get("default", low)))
    near = st.integers(low, min(high, low + 30))
    span = int(math.log2(high - low + 1)) if high > low else 0
    return st.one_of(near, near, st.integers(low, high), border, st.integers(0, span).map(lambda n: low + 2**n - 1))


def _text(name: str, schema: dict[str, Any], known: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    if "enum" in schema:
        return st.one_of(st.sampled_from(schema["enum"]), st.sampled_from(schema["enum"]), st.sampled_from(NASTY))
    longest = schema.get("maxLength", 1000)
    long = st.sampled_from((longest, longest + 1)).map(lambda length: "tide " * (length // 5) + "a" * (length % 5))
    if name == "updated_after":
        return DATES
    if name in ("query", "question"):
        return st.one_of(ANY_TEXT, ANY_TEXT, ANY_TEXT, long)
    return st.one_of(known, known, known, ANY_TEXT, long)


def value_of(name: str, schema: dict[str, Any], known: dict[str, st.SearchStrategy[str]]) -> st.SearchStrategy[Any]:
    """Values for an argument, by its name and schema.

    Args:
        name: of the argument, or of the list that it stands in.
        schema: of the value.
        known: strings that mean something, by the names of arguments; under ``""`` for all others.
    """
    match schema["type"]:
        case "integer":
            return _integer(schema)
        case "number":
            return st.floats(schema["minimum"], schema["maximum"]) | st.floats(allow_nan=False, allow_infinity=False)
        case "boolean":
            return st.booleans()
        case "string":
            return _text(name, schema, known.get(name, known[""]))
        case "array":
            most = min(schema.get("maxItems", 5), 6)
            return st.lists(value_of(name, schema["items"], known), max_size=most)
        case "object" if "properties" not in schema:
            return st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=3)
        case "object":
            return arguments_of(schema, known)
    raise AssertionError(f"a schema of a type that these tests do not know: {schema}")


def arguments_of(schema: dict[str, Any], known: dict[str, st.SearchStrategy[str]]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects of a schema; now and then one value is of any type, or a name is one that nobody knows."""
    required = set(schema.get("required", ()))
    values = {name: value_of(name, inner, known) for name, inner in schema["properties"].items()}
    whole = st.fixed_dictionaries(
        {name: value for name, value in values.items() if name in required},
        optional={name: value for name, value in values.items() if name not in required},
    )

    @st.composite
    def spoilt(draw: st.DrawFn) -> dict[str, Any]:
        given = dict(draw(whole))
        # Most arguments stay out of most calls: many at once hide each other's faults behind the first refusal.
        for name in sorted(given.keys() - required):
            if draw(st.integers(0, 3)):
                del given[name]
        match draw(st.integers(0, 15)):
            case 0:
                given[draw(st.sampled_from(sorted(values)))] = draw(JUNK)
            case 1:
                given[draw(st.sampled_from(NAMES))] = draw(JUNK)
            case 2 if required:
                given.pop(draw(st.sampled_from(sorted(required))), None)
        return given

    return spoilt()
