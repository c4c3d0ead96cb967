"""Asking, as a person does: quotes, their places in the documents, why they were found, and the call elsewhere."""

from __future__ import annotations

import json
import shlex
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from graphctx import KnowledgeBase
from tests.cli.runner import run
from tests.ui.api import called, post
from tests.ui.marks import expect_marked, marked

QUESTION = "For whom did the managing director work before she joined the Coop?"


def ask(page: Page, url: str, question: str = QUESTION, **params: object) -> None:
    """Open the page at a question, with further parameters of the address."""
    page.goto(url)
    expect(page.get_by_role("heading", name="Ask")).to_be_visible()
    page.goto(f"{page.url.partition('#')[0]}#/ask?{urlencode({'q': question, **params})}")
    expect(page.locator(".verdict")).to_be_visible()


def test_keys_walk_the_quotes_and_each_is_marked_exactly_in_its_document(
    page: Page, handbook_url: str, handbook_kb: KnowledgeBase
) -> None:
    quotes = handbook_kb.retrieve_evidence(QUESTION).quotes
    page.goto(handbook_url)
    page.get_by_label("Question").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.get_by_text(f"Answered. {len(quotes)} quotes")).to_be_visible()
    page.get_by_role("heading", name="Ask").click()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    for number, quote in enumerate(quotes):
        expect(page.locator(".quote[aria-current]")).to_have_attribute("data-number", str(number + 1))
        expect(page.get_by_role("region", name=f"Document {quote.title}")).to_be_visible()
        expect_marked(page, quote.quote)
        others = sum(other.doc_uri == quote.doc_uri for other in quotes) - 1
        expect(page.locator("mark.light").first).to_be_attached(attached=others > 0)
        page.keyboard.press("j")
    page.keyboard.press("k")
    expect_marked(page, quotes[-2].quote)
    page.keyboard.press("Escape")
    expect(page.locator(".reader")).to_have_count(0)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()


@pytest.mark.slow
def test_a_link_shows_a_colleague_the_same(page: Page, handbook_url: str, handbook_kb: KnowledgeBase) -> None:
    ask(page, handbook_url)
    quote = handbook_kb.retrieve_evidence(QUESTION).quotes[1].quote
    page.locator(".quote").nth(1).get_by_role("link").first.click()
    expect_marked(page, quote)
    page.reload()
    expect_marked(page, quote)
    expect(page.get_by_label("Question")).to_have_value(QUESTION)


@pytest.mark.slow
def test_on_a_phone_the_document_opens_below_its_quote(page: Page, handbook_url: str) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    ask(page, handbook_url)
    page.locator(".quote").first.get_by_role("link").first.click()
    marked(page)
    quote, reader = (page.locator(name).first.bounding_box() for name in (".quote", ".reader"))
    assert quote
    assert reader
    assert reader["y"] >= quote["y"] + quote["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.slow
def test_filters_and_limits_are_in_the_address(page: Page, handbook_url: str) -> None:
    ask(page, handbook_url)
    page.get_by_text("Filters and limits").click()
    page.get_by_label("Tags").fill("people")
    expect(page.locator("#tags option").first).to_be_attached()  # and what was typed before they came is kept
    page.get_by_label("Quotes", exact=True).fill("2")
    page.get_by_label("Search by").select_option("vector_only")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("3 set")).to_be_visible()
    expect(page.locator(".quote")).to_have_count(2)
    assert "tag=people" in page.url
    assert all(place.startswith("people/") for place in page.locator(".quote footer .code").all_text_contents())
    page.get_by_label("Tags").fill("nothing-has-this-tag")
    page.get_by_role("button", name="Apply").click()
    page.get_by_role("link", name="Ask without filters").click()
    expect(page.locator(".quote")).to_have_count(6)


@pytest.mark.slow
def test_what_the_limit_of_tokens_cuts_is_shown_on_request(page: Page, handbook_url: str) -> None:
    ask(page, handbook_url, tokens=1200)
    expect(page.get_by_text("of 1,200 tokens")).to_be_visible()
    before = page.locator(".quote").count()
    assert before < 6
    page.get_by_role("link", name="Show more").click()
    expect(page.get_by_text("in 2 responses")).to_be_visible()
    assert page.locator(".quote").count() > before


def test_why_this_shows_the_way_through_the_graph(page: Page, handbook_url: str) -> None:
    ask(page, handbook_url)
    page.locator(".quote", has_text="Managing director since").get_by_role("button", name="Why this").click()
    way = page.locator(".why .way")
    expect(way).to_contain_text("The managing director is Ingrid Vasslund.")
    expect(page.locator(".why table")).to_contain_text("Reached over the graph")
    way.get_by_role("link", name="Welcome to the Coop").first.click()
    expect(page.get_by_role("region", name="Document Welcome to the Coop")).to_be_visible()
    assert "The managing director is [Ingrid Vasslund]" in marked(page)


@pytest.mark.slow
def test_quotes_are_copied_character_for_character_with_their_citations(
    page: Page, handbook_url: str, handbook_kb: KnowledgeBase
) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    quotes = handbook_kb.retrieve_evidence(QUESTION).quotes
    ask(page, handbook_url)
    page.get_by_role("button", name="Copy all as Markdown").click()
    expect(page.get_by_text("Copied").first).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    lines = "\n".join(line.removeprefix(">").removeprefix(" ") for line in copied.splitlines())
    for quote in quotes:
        assert quote.quote in lines
        assert f"{quote.start_char}–{quote.end_char}" in lines


@pytest.mark.slow
@pytest.mark.parametrize("question", [QUESTION, "What's “the phantom swell”; $(echo x) `y`?", "--who is -x?"])
def test_the_same_call_as_a_command_and_as_a_request(page: Page, handbook_url: str, question: str) -> None:
    ask(page, handbook_url, question, quotes=3, mode="vector_only", path="people/")
    shown = page.locator(".quote footer .code").all_text_contents()
    page.get_by_text("The same question elsewhere").click()
    command = shlex.split(page.get_by_label("Command", exact=True).inner_text())
    assert command[0] == "graphctx"
    answer = run("ask", "--json", *command[2:]).json
    assert [f"{quote['doc_uri']}:{quote['line']}" for quote in answer["quotes"]] == shown
    request = json.loads(page.get_by_label("MCP request").inner_text())
    assert request["params"]["name"] == "kb_retrieve_evidence"
    again = called(handbook_url, "tools/kb.retrieve_evidence", **request["params"]["arguments"])
    assert [f"{quote['doc_uri']}:{quote['line']}" for quote in again["quotes"]] == shown


@pytest.mark.slow
@pytest.mark.parametrize("about", ["", "whole"])
def test_what_the_command_for_asking_cannot_say_is_a_call_of_the_tool(
    page: Page, handbook_url: str, about: str
) -> None:
    ask(page, handbook_url, about=about, tokens=1500)
    page.get_by_text("The same question elsewhere").click()
    answer = run("call", "--json", *shlex.split(page.get_by_label("Command", exact=True).inner_text())[2:]).json
    assert answer["budget"]["max_tokens"] == 1500


@pytest.mark.slow
def test_memory_and_layers_are_asked_beside_the_documents(
    page: Page, everything_url: str, beside: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(page, everything_url, "What is the limit of an upload?")
    expect(page.locator(".remembered")).to_have_count(0)
    page.get_by_text("Filters and limits").click()
    page.get_by_label("Memory").check()
    page.get_by_label("Layer base").check()
    page.get_by_role("button", name="Apply").click()
    quote = page.locator(".quote", has_text="The limit of an upload is 50 MB.")
    expect(quote).to_contain_text("layer base")
    remembered = page.get_by_role("region", name="Remembered")
    expect(remembered).to_contain_text("The user is allergic to nuts.")
    assert "memory=1&layer=base" in page.url
    page.get_by_text("The same question elsewhere").click()
    for name, value in beside.items():
        monkeypatch.setenv(name, value)
    answer = run("call", "--json", *shlex.split(page.get_by_label("Command", exact=True).inner_text())[2:]).json
    assert "layer" in answer["quotes"][0]
    assert "nuts" in answer["memory"]["block"]
    assert json.loads(page.get_by_label("MCP request").inner_text())["params"]["arguments"]["options"] == {
        "include_memory": True,
        "layers": ["base"],
    }
    quote.get_by_role("link").first.click()
    expect(page.get_by_label("base 1")).to_contain_text("The limit of an upload is 50 MB.")
    page.go_back()
    expect(remembered).to_be_visible()
    page.get_by_text("Filters and limits").click()
    page.get_by_label("Layer base").uncheck()
    page.get_by_label("Memory").uncheck()
    page.get_by_role("button", name="Apply").click()
    expect(quote).to_have_count(0)
    expect(remembered).to_have_count(0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What is the exchange rate of the Turkish lira?", "No document holds"),
        ("qqqq zzzz xxxx", "Nothing in the documents"),
        ("Who is the mannaging director?", "was read as"),
    ],
)
def test_the_verdict_is_in_words(page: Page, handbook_url: str, question: str, said: str) -> None:
    ask(page, handbook_url, question)
    expect(page.locator(".verdict")).to_contain_text(said)


def test_a_question_about_the_whole_shows_points_by_theme(page: Page, handbook_url: str) -> None:
    page.goto(handbook_url)
    page.get_by_role("link", name="What are the main themes?").click()
    expect(page.locator(".theme").nth(2)).to_be_visible()
    expect(page.get_by_role("radio", name="The whole")).to_be_checked()
    point = page.locator(".theme .quote").first
    theme = page.locator(".theme h2").first.inner_text()
    point.get_by_role("button", name="Why this").click()
    expect(point.locator(".why").get_by_role("link", name=theme)).to_be_visible()
    expect(point.locator(".why")).to_contain_text("It names")
    point.get_by_role("link").first.click()
    assert marked(page)
    page.get_by_text("A detail").click()
    expect(page.locator(".verdict")).to_contain_text("Nothing in the documents")
    page.get_by_text("The whole").click()
    expect(page.locator(".quote").first).to_contain_text("rating")


def test_an_explanation_stays_within_its_filters(handbook_url: str) -> None:
    explanation = called(handbook_url, "explain", question=QUESTION, filters={"path_prefix": "teams/"})
    places = [one["unit"] for one in explanation["final"]] + [edge["source"] for edge in explanation["edges"]]
    assert places
    assert {place["doc_uri"].split("/")[0] for place in places} == {"teams"}


def test_a_quote_is_explained_though_its_passage_is_not_among_the_best(handbook_url: str) -> None:
    body = {"question": QUESTION, "top_k": 40, "max_quotes": 20}
    explanation = called(handbook_url, "explain", **body)
    ranked = {one["unit"]["section_id"] for one in explanation["final"]}
    assert {quote["section_id"] for quote in explanation["quotes"]} <= ranked
    assert len(ranked) > 10


def test_filters_offer_the_tags_and_folders_that_are_there(handbook_url: str) -> None:
    offered = called(handbook_url, "filters")
    assert {"name": "people", "documents": 7} in offered["tags"]
    for folder in offered["folders"]:
        answer = post(handbook_url, "tools/kb.search", {"query": "sea", "filters": {"path_prefix": folder["name"]}})
        assert "filtered_by" not in answer.json()
