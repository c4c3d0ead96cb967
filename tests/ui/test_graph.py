"""The view of the graph in a browser, and its operations over HTTP."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from eval.page_browser import served
from graphctx.knowledge_base import KnowledgeBase
from graphctx.text.readable import readable
from tests.ui.api import called
from tests.ui.marks import place_and_text

EDGE = """(canvas) => {
    const { sigma } = canvas.network, graph = sigma.getGraph(), box = canvas.getBoundingClientRect();
    const spots = graph.mapNodes((_, node) => sigma.graphToViewport(node));
    for (const edge of graph.edges()) {
        const [one, other] = graph.extremities(edge).map((id) => sigma.graphToViewport(graph.getNodeAttributes(id)));
        const x = (one.x + other.x) / 2, y = (one.y + other.y) / 2;
        // away from every name, which would be pointed at instead
        if (spots.every((spot) => Math.hypot(spot.x - x, spot.y - y) > 25)) return [box.x + x, box.y + y];
    }
}"""
NODE = """(canvas, name) => {
    const { sigma } = canvas.network, graph = sigma.getGraph();
    const id = graph.findNode((_, node) => node.label.endsWith(name));
    const spot = sigma.graphToViewport(graph.getNodeAttributes(id)), box = canvas.getBoundingClientRect();
    return [box.x + spot.x, box.y + spot.y];
}"""


def shown(page: Page, name: str) -> Page:
    """The page, with a name drawn and selected."""
    page.emulate_media(reduced_motion="reduce")
    page.get_by_role("link", name="Graph", exact=True).click()
    page.get_by_label("Find a name", exact=True).fill(name)
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    expect(page.get_by_text("neighbours in all")).to_be_visible()  # until then the whole graph is drawn
    return page


@pytest.fixture
def gannet(page: Page, handbook_url: str) -> Page:
    """The neighbourhood of Gannet."""
    page.goto(handbook_url)
    return shown(page, "Gannet")


@pytest.mark.slow
def test_a_name_shows_what_documents_say_of_it_and_its_neighbours(gannet: Page) -> None:
    expect(gannet.locator(".cited mark").first).to_have_text("Gannet")
    expect(gannet.get_by_text("neighbours in all")).to_be_visible()
    expect(gannet.locator(".rows > li").first).to_be_visible()


@pytest.mark.slow
def test_a_relation_opens_to_its_sentence(gannet: Page, handbook_kb: KnowledgeBase) -> None:
    relation = gannet.locator(".rows > li").first
    relation.get_by_role("button").first.click()
    quote = relation.locator(".cited")
    expect(quote.locator("mark").first).to_have_text("Gannet", ignore_case=True)
    found, said = place_and_text(quote)
    span = handbook_kb.document(found["uri"]).text[int(found["start"]) : int(found["end"])]
    assert "\n".join(readable(span, found["uri"])) == said


@pytest.mark.slow
def test_a_line_under_the_pointer_shows_its_sentence(gannet: Page) -> None:
    gannet.get_by_role("button", name="All names").click()
    x, y = gannet.locator(".canvas").evaluate(EDGE)
    gannet.mouse.move(x, y, steps=4)
    expect(gannet.locator(".edge-evidence")).to_be_visible()
    expect(gannet.locator(".edge-evidence .cited, .edge-evidence .quiet").first).to_be_visible()


@pytest.mark.slow
def test_a_double_click_expands_a_name_and_back_undoes_it(gannet: Page) -> None:
    gannet.mouse.dblclick(*gannet.locator(".canvas").evaluate(NODE, "Almanac"))
    expect(gannet.get_by_role("heading", name="Almanac")).to_be_visible()
    expect(gannet).to_have_url(re.compile("id=.*id="))
    expect(gannet.get_by_role("button", name="Expand")).to_have_count(0)
    gannet.go_back()
    expect(gannet.get_by_role("button", name="Expand")).to_be_visible()


@pytest.mark.slow
def test_enter_on_the_canvas_expands_the_selected_name(gannet: Page) -> None:
    gannet.get_by_role("button", name="All names").click()
    gannet.locator(".panel").get_by_role("button", name="Almanac").click()
    gannet.locator(".canvas").press("Enter")
    expect(gannet.get_by_text("neighbours in all")).to_be_visible()


@pytest.mark.slow
def test_paths_between_two_names_are_drawn_and_reported_step_by_step(page: Page, handbook_url: str) -> None:
    page.goto(handbook_url)
    page.get_by_role("link", name="Graph", exact=True).click()
    page.get_by_label("From", exact=True).fill("Gannet")
    page.get_by_label("To", exact=True).fill("Brida")
    page.get_by_role("button", name="Find paths").click()
    expect(page.get_by_role("button", name="Gannet — buoy — Brida")).to_be_visible()
    expect(page.locator(".panel .cited")).to_have_count(2)


@pytest.mark.slow
def test_an_answer_is_drawn_with_the_names_of_its_quotes(page: Page, handbook_url: str) -> None:
    page.goto(handbook_url)
    expect(page.get_by_role("heading", name="Ask")).to_be_visible()
    page.evaluate("location.hash = '/graph?q=How often does a freshly built data logger fail its cold test?'")
    expect(page.get_by_text("Named in the")).to_be_visible()
    expect(page.get_by_role("button", name="logger", exact=False).first).to_be_visible()


@pytest.mark.slow
def test_an_unknown_name_is_refused_with_names_near_it(page: Page, handbook_url: str) -> None:
    page.goto(handbook_url)
    page.get_by_role("link", name="Graph", exact=True).click()
    page.get_by_label("Find a name", exact=True).fill("Gannnet")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Gannet")


def test_a_drawing_is_the_same_every_time_and_relations_join_what_it_shows(
    handbook_url: str, handbook_path: Path
) -> None:
    bodies: list[dict[str, Any]] = [{}, {"entity_ids": ["Gannet"]}, {"max_nodes": 1_000}]
    drawings = [called(handbook_url, "graph", **body) for body in bodies]
    with served(handbook_path) as other:
        assert [called(other, "graph", **body) for body in bodies] == drawings
    for drawing in drawings:
        n_nodes = len(drawing["nodes"])
        assert all(0 <= one < other < n_nodes for one, other, _ in drawing["relations"])
        assert len({(node["x"], node["y"]) for node in drawing["nodes"]}) == n_nodes


def test_caps_are_kept_and_what_they_leave_out_is_counted(handbook_url: str) -> None:
    drawing = called(handbook_url, "graph", entity_ids=["Gannet"], neighbours=5)
    [centre] = (node for node in drawing["nodes"] if node["name"] == "Gannet")
    assert len(drawing["nodes"]) == 6
    assert centre["n_neighbours"] > 5
    whole = called(handbook_url, "graph", max_nodes=10)
    assert len(whole["nodes"]) == 10 < whole["n_entities"]


@pytest.fixture(scope="module")
def narrow_url(handbook_path: Path) -> Iterator[str]:
    """A page whose boundary leaves the decisions alone."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("GRAPHCTX_SERVER__DOC_TAGS", '["decision"]')
        with served(handbook_path) as url:
            yield url


def test_nothing_outside_the_boundary_is_drawn_named_or_counted(handbook_url: str, narrow_url: str) -> None:
    whole, narrow = (called(url, "graph", max_nodes=5_000) for url in (handbook_url, narrow_url))
    assert 0 < narrow["n_entities"] < whole["n_entities"]
    assert {node["id"] for node in narrow["nodes"]} < {node["id"] for node in whole["nodes"]}
    themes, fewer = (called(url, "themes") for url in (handbook_url, narrow_url))
    assert 0 < fewer["n_themes"] <= themes["n_themes"]
    assert sum(theme["n_units"] for theme in fewer["themes"]) < sum(theme["n_units"] for theme in themes["themes"])
