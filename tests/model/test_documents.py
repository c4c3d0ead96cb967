from __future__ import annotations

import pytest

from graphctx.model.documents import has_file_lines, line_of, line_starts


@pytest.mark.parametrize("uri", ["a.md", "notes/b.txt", "src/c.py", "d.rst"])
def test_lines_of_a_text_file_are_those_of_the_file(uri: str) -> None:
    assert has_file_lines(uri)


@pytest.mark.parametrize("uri", ["a.html", "B.PDF", "c.docx", "rows.jsonl#7", "notes.md.htm"])
def test_lines_of_an_extracted_text_are_not_those_of_its_file(uri: str) -> None:
    assert not has_file_lines(uri)


def test_lines_are_counted_from_one_and_an_offset_at_a_line_end_belongs_to_that_line() -> None:
    starts = line_starts("ab\ncd\n")
    assert [line_of(starts, char) for char in range(7)] == [1, 1, 1, 2, 2, 2, 3]
