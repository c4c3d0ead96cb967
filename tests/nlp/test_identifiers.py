"""Identifiers by their shape."""

from __future__ import annotations

import pytest

from graphctx.nlp.identifiers import MAX_IDENTIFIER_CHARS, code_identifiers, is_camel, is_identifier


@pytest.mark.parametrize(
    ("word", "camel"),
    [("FastAPI", True), ("PostgreSQL", True), ("readLine", True), ("IDs", False), ("HTTP", False), ("house", False)],
)
def test_a_capital_inside_makes_a_word_camel_case(word: str, camel: bool) -> None:
    assert is_camel(word) is camel


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "word", ["a" + "A" * 40 + "=", "aA" * 50_000, "A" * 50_000 + "a" * 50_000 + "!", "_" * 100_000]
)
def test_a_word_that_is_data_is_no_name(word: str) -> None:
    assert len(word) > MAX_IDENTIFIER_CHARS or word.endswith("=")
    assert not is_identifier(word)
    assert not list(code_identifiers(word))
