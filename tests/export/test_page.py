from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.export.page import embedded
from graphctx.export.page_data import MAX_QUOTE_CHARS
from graphctx.knowledge_base import KnowledgeBase
from tests.export.conftest import GENERIC, IMAGE, Export, data_of


class Elements(HTMLParser):
    """The elements of a page with their attributes, and the texts of its scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.elements and self.elements[-1][0] in ("script", "style") and data.strip():
            self.raw.append((self.elements[-1][0], data))


@pytest.fixture(scope="module")
def handbook(handbook_kb: KnowledgeBase, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The data of the handbook's page."""
    path = tmp_path_factory.mktemp("handbook") / "x.html"
    handbook_kb.export(path, "html")
    return data_of(path)


def test_every_quote_is_the_span_of_its_document(handbook_kb: KnowledgeBase, handbook: dict[str, Any]) -> None:
    assert len(handbook["quotes"]) > 300
    for quote in handbook["quotes"]:
        document = handbook_kb.document(handbook["documents"][quote["document"]]["uri"])
        start, end = quote["span"]
        assert document.text[start:end] == quote["text"]
        assert 0 < len(quote["text"]) <= MAX_QUOTE_CHARS
        assert quote.get("line", document.line(start)) == document.line(start)


def test_quotes_of_an_entity_name_it(handbook: dict[str, Any]) -> None:
    gannet = next(entity for entity in handbook["entities"] if entity["name"] == "Gannet")
    assert len(gannet["quotes"]) == 3
    assert all("gannet" in handbook["quotes"][at]["text"].casefold() for at in gannet["quotes"])


def test_a_community_shows_the_sentences_of_its_summary(handbook_kb: KnowledgeBase, handbook: dict[str, Any]) -> None:
    table = handbook_kb.searcher().index.snapshot.table("communities", ["id", "title", "summary"]).to_pylist()
    rows = {row["id"]: row for row in table}
    assert len(handbook["communities"]) == len(rows)
    for community in handbook["communities"]:
        summary = " ".join(rows[community["id"]]["summary"].split())
        quotes = [handbook["quotes"][at] for at in community.get("quotes", [])]
        assert community["title"] == rows[community["id"]]["title"]
        assert bool(quotes) == (summary != community["title"])
        texts = (re.sub(r"^(?:[-*+]|\d+[.)])\s", "", quote["text"]) for quote in quotes)
        assert all(" ".join(text.split()) in summary for text in texts)


def test_no_text_of_a_document_is_markup(page: Path) -> None:
    found = Elements(page.read_text("utf-8"))
    names = {entity["name"] for entity in data_of(page)["entities"]}
    assert {GENERIC, f"{IMAGE}.md"} <= names
    assert [tag for tag, _ in found.elements].count("script") == 2
    assert not [tag for tag, _ in found.elements if tag == "img"]
    assert not [name for _, attributes in found.elements for name in attributes if name.startswith("on")]


def test_the_page_reaches_nothing_else(page: Path) -> None:
    found = Elements(page.read_text("utf-8"))
    links = [(tag, attributes.get(name)) for tag, attributes in found.elements for name in ("src", "href", "srcset")]
    assert {link for link in links if link[1] is not None} == {("link", "data:,")}
    style = next(text for tag, text in found.raw if tag == "style")
    assert "url(" not in style
    assert "@import" not in style


def test_the_policy_forbids_connections_and_foreign_scripts(page: Path) -> None:
    found = Elements(page.read_text("utf-8"))
    policy = next(
        attributes["content"] or ""
        for tag, attributes in found.elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert not {"connect-src", "font-src", "frame-src", "media-src"} & rules.keys()
    assert "unsafe" not in policy
    hashes = {_hash(text) for tag, text in found.raw if tag == "script" and not text.startswith("{")}
    assert set(rules["script-src"].split()) == hashes
    assert rules["style-src"] == _hash(next(text for tag, text in found.raw if tag == "style"))


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_limits_hold_and_what_they_leave_out_is_said(export: Export, page: Path, tmp_path: Path) -> None:
    report = export(tmp_path / "x.html", "html", max_entities=3, max_quotes=1)
    data = data_of(tmp_path / "x.html")
    assert len(data["entities"]) == 3
    assert all(len(entity.get("quotes", [])) <= 1 for entity in data["entities"])
    assert data["leftOut"] == report.left_out
    assert re.search(r"The 3 names .* of \d+ ", report.left_out[0])
    assert all("communities" in line for line in report.left_out[1:])
    units = {entity["name"]: entity["units"] for entity in data_of(page)["entities"]}
    assert min(units[entity["name"]] for entity in data["entities"]) >= sorted(units.values())[-3]


def test_every_reference_leads_somewhere(export: Export, tmp_path: Path) -> None:
    for limit in (1, 4, 2_000):
        export(tmp_path / f"{limit}.html", "html", max_entities=limit)
        data = data_of(tmp_path / f"{limit}.html")
        for community in data["communities"]:
            assert community["parent"] < len(data["communities"])
            assert all(at < len(data["entities"]) for at in community.get("key", []))
        for entity in data["entities"]:
            assert entity.get("community", 0) < max(1, len(data["communities"]))
            assert all(one[0] < len(data["entities"]) for one in entity.get("related", []))
        used = {at for one in (*data["communities"], *data["entities"]) for at in one.get("quotes", [])}
        assert used == set(range(len(data["quotes"])))


def test_equal_content_gives_an_equal_page(export: Export, page: Path, tmp_path: Path) -> None:
    export(tmp_path / "again", "html")
    assert (tmp_path / "again").read_bytes() == page.read_bytes()


@given(st.recursive(st.text(), lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside)))
def test_any_text_is_embedded_safely(value: Any) -> None:
    text = embedded({"value": value})
    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text) == {"value": value}


def test_the_page_has_the_licences_of_its_library(page: Path) -> None:
    script = next(text for tag, text in Elements(page.read_text("utf-8")).raw if tag == "script" and "Bostock" in text)
    assert "Permission to use, copy, modify" in script
    assert "Redistributions of source code must retain" in script
