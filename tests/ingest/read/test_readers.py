"""What every reader promises, whatever the format."""

from __future__ import annotations

import hashlib
import os
import random
import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphctx.errors import InvalidArgument
from graphctx.ingest.read import readers
from graphctx.model.documents import Document
from graphctx.model.ids import content_id
from tests.conftest import EFFORT

from .samples import all_samples

SAMPLES = all_samples()
FUZZED = (".md", ".mdx", ".txt", ".html", ".rst", ".jsonl", ".py", ".c", ".toml", ".pdf", ".docx")
DEV_DOCS = Path(os.environ.get("GRAPHCTX_DEV_DATA", Path(__file__).parents[4] / "shared" / "data")) / "docs"
MARKUP = re.compile(r"[`*_\\~]|<[^<>]*>|!?\[|\]\([^)]*\)|\]\[[^\]]*\]|\]")


def suffix(name: str) -> str:
    return "." + name.rpartition(".")[2]


def read(name: str, data: bytes) -> tuple[Document, ...]:
    return readers()[suffix(name)].read(data, name).documents


def words(text: str) -> str:
    return "".join(c for c in MARKUP.sub("", text) if c.isalnum())


def check(document: Document) -> None:
    text = document.text
    assert text.strip()
    assert unicodedata.is_normalized("NFC", text)
    assert not set("\r\x00") & set(text)
    assert document.sha256 == hashlib.sha256(text.encode("utf-8")).hexdigest()
    assert document.id == content_id("d", document.uri)
    assert document.title
    assert list(document.tags) == sorted(set(document.tags))
    for spans in (document.headings, document.blocks, document.links):
        starts = [span.start_char for span in spans]
        assert starts == sorted(starts)
        assert all(0 <= span.start_char <= span.end_char <= len(text) for span in spans)
    assert all(one.start_char < one.end_char for one in (*document.blocks, *document.links))
    assert all(one.start_char < one.end_char for one in document.headings if one.title), "a place has no words"
    for before, after in zip(document.blocks, document.blocks[1:], strict=False):
        assert before.end_char <= after.start_char
    for block in document.blocks:
        shown = text[block.start_char : block.end_char]
        assert shown.strip()
        assert shown == shown.rstrip()
    for heading in document.headings:
        assert heading.level >= 1
        assert heading.title == " ".join(heading.title.split())
        for block in document.blocks:  # a definition in code opens the block that holds it
            apart = heading.end_char <= block.start_char or block.end_char <= heading.start_char
            assert apart or block.start_char == heading.start_char
    assert all(0 <= start <= len(text) for start in document.page_starts)
    assert list(document.page_starts) == sorted(document.page_starts)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_good_file_gives_documents_that_keep_the_contract(name: str) -> None:
    documents = read(name, SAMPLES[name])
    assert documents == read(name, SAMPLES[name])
    assert documents
    for document in documents:
        check(document)
        assert document.blocks
        for heading in document.headings:
            assert words(heading.title) in words(document.text[heading.start_char : heading.end_char])


@pytest.mark.parametrize("name", SAMPLES)
def test_damaged_copies_of_a_good_file_are_read_or_refused(name: str) -> None:
    draw = random.Random(name)
    good = SAMPLES[name]
    for _ in range(int(40 * EFFORT)):
        data = bytearray(good)
        for _ in range(draw.randint(1, 8)):
            at = draw.randrange(len(data))
            kind = draw.randrange(4)
            if kind == 0:
                data[at] = draw.randrange(256)
            elif kind == 1:
                del data[at : at + draw.randint(1, 200)]
            elif kind == 2:
                data[at:at] = data[at : at + draw.randint(1, 200)]
            else:
                data[at:at] = draw.randbytes(draw.randint(1, 5))
            if not data:
                data = bytearray(b"x")
        try:
            documents = read(name, bytes(data))
        except InvalidArgument:
            continue
        for document in documents:
            check(document)


@pytest.mark.parametrize("ending", FUZZED)
@settings(max_examples=int(40 * EFFORT), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.binary(max_size=400))
def test_random_bytes_are_read_or_refused(ending: str, data: bytes) -> None:
    try:
        documents = read(f"x{ending}", data)
    except InvalidArgument:
        return
    for document in documents:
        check(document)


MARKUP_PIECES = (
    "# |## |- |  - |1. |> |```|~~~|    |\n|\n\n|a|word |`|*|[|](x)|](|]|<a id='x'>|</a>|<div>|<!--|-->|<pre>|</pre>|"
    "===|---|--- \n|.. |.. note:: |.. code:: py|:: |::|\t|é|e\u0301|\u0301|\u200b|\ufeff|:x:|:doc:`a`|`b <c>`_|"
    "<h1>|</h1>|<ul>|<li>|<table>|<td>|<tr>|</table>|<code>|</code>|<a href=x>|<p>|<br>|{|}|{* a *}|/// x|!!! note|"
    "import x|&#x301;|&#13;|&nbsp;|def f():|class A|+--+|=== ==="
)
TOKENS = st.sampled_from([*MARKUP_PIECES.split("|"), "| a | b |\n|---|---|\n", "\r\n", "<b>", "&#13;&#10;"])


@pytest.mark.parametrize("ending", [".md", ".mdx", ".txt", ".html", ".rst", ".py"])
@settings(max_examples=int(150 * EFFORT), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(pieces=st.lists(TOKENS, max_size=40))
def test_any_mixture_of_markup_keeps_the_contract(ending: str, pieces: list[str]) -> None:
    try:
        documents = read(f"x{ending}", "".join(pieces).encode("utf-8"))
    except InvalidArgument:
        return
    for document in documents:
        check(document)


@pytest.mark.parametrize("ending", sorted(readers()))
def test_a_blank_file_is_refused_by_every_reader(ending: str) -> None:
    for data in (b"", b" \n\t\n"):
        with pytest.raises(InvalidArgument, match=f"blank\\{ending}"):
            readers()[ending].read(data, f"blank{ending}")


@pytest.mark.skipif(not DEV_DOCS.is_dir(), reason="the development corpora are not here (GRAPHCTX_DEV_DATA)")
def test_the_documentation_of_real_projects_keeps_the_contract() -> None:
    files = sorted(path for path in DEV_DOCS.rglob("*.md*") if path.is_file())
    assert files
    for path in files:
        for document in read(path.name, path.read_bytes()):
            check(document)
            for heading in document.headings:
                if "&" not in document.text[heading.start_char : heading.end_char]:
                    shown = words(document.text[heading.start_char : heading.end_char])
                    assert words(heading.title) in shown
            for block in document.blocks:
                if block.kind in ("prose", "list"):
                    shown = document.text[block.start_char : block.end_char]
                    assert not re.search(r"(?m)^(/// |\{\*|import .* from ['\"])", shown)
