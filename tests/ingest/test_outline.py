from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

import pyarrow as pa
import pytest

from graphctx.ingest.outline import document_from_row, outline_of
from graphctx.model.documents import Document
from graphctx.store.schema import DOCUMENTS

TEXTS = {
    "a.md": "---\ntags: [b, a]\nupdated_at: 2025-01-02\n---\n\n# T “ü”\n\n[x](y.md) text\n\n```py\n1\n```\n\n| a |\n|---|\n",
    "b.txt": "no structure\n",
    "c.py": "def gate() -> None:\n    pass\n",
    "d.html": "<html><body><h1>T</h1><p>text <a href='a.html#b'>link</a></p></body></html>",
}


@pytest.mark.parametrize("uri", sorted(TEXTS))
def test_a_document_comes_back_from_its_row_as_it_was(read_text: Callable[[str, str], Document], uri: str) -> None:
    document = read_text(uri, TEXTS[uri])
    own = {field.name: getattr(document, field.name) for field in fields(document) if field.name in DOCUMENTS.names}
    row = {**own, "n_units": 0, "outline": outline_of(document), "source": "s"}
    stored = pa.Table.from_pylist([row], schema=DOCUMENTS).to_pylist()[0]
    assert document_from_row(stored) == document
    assert outline_of(document_from_row(stored)) == outline_of(document)
