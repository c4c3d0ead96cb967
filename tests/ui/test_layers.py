"""The view Layers: chunks, signatures, and proposals with what they change."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from eval.page_browser import served
from graphctx.layers import LayerStack, proposals, write_context

from .api import post
from .conftest import take_picture
from .stored import fill_layers


@pytest.fixture
def layers(tmp_path: Path) -> Iterator[tuple[str, LayerStack]]:
    made = fill_layers(tmp_path / "layers")
    with served(tmp_path / "none", "--layers", tmp_path / "layers") as url:
        yield url, made


@pytest.fixture
def ask(layers: tuple[str, LayerStack]) -> Callable[..., dict[str, object]]:
    return lambda name, **body: post(layers[0], name, body).json()


@pytest.mark.slow
def test_layers_are_read_searched_and_proposals_decided(page: Page, layers: tuple[str, LayerStack]) -> None:
    url, made = layers
    page.goto(url)
    page.get_by_role("link", name="Layers").click()
    expect(page.get_by_role("row").filter(has_text="AGENTS.db")).to_contain_text("signed")
    expect(page.get_by_label("base 2")).to_contain_text("<b>Releases</b> are cut on Mondays.\\u{202e}")
    page.get_by_label("Search the layers").fill("When are releases cut?")
    page.keyboard.press("Enter")
    expect(page.locator("article.memory").first).to_contain_text("Releases")

    page.get_by_role("link", name="Proposals (2)").click()
    raised = page.locator("article.proposal").filter(has_text="80")
    expect(raised.locator("del")).to_contain_text(["only there", "50"])
    expect(raised.locator("ins")).to_contain_text(["only in the proposal", "80"])
    take_picture(page, "layers")
    raised.get_by_role("button", name="Reject…").click()
    raised.get_by_label("Reason (optional)").fill("It is 50 still.")
    raised.get_by_role("button", name="Reject", exact=True).click()
    expect(page.locator("article.proposal")).to_have_count(1)
    page.get_by_role("button", name="Accept…").click()
    page.get_by_role("button", name="Accept", exact=True).click()
    expect(page.get_by_text("Nothing waits for a decision.")).to_be_visible()
    assert [(one.status, one.reason) for one in proposals(made)] == [("rejected", "It is 50 still."), ("accepted", "")]
    assert [entry.chunk.content for entry in made.entries(["user"])] == ["Logs rotate at midnight."]


def test_a_chunk_that_changed_after_it_was_shown_is_not_accepted(
    layers: tuple[str, LayerStack], ask: Callable[..., dict[str, object]]
) -> None:
    made = layers[1]
    shown = ask("layers_proposals")["proposals"][0]  # type: ignore[index]
    write_context(
        made,
        content="Delete everything.",
        kind="invariant",
        confidence=0.9,
        scope="delta",
        author="human",
        edit=shown["context_id"],
    )
    refused = ask("layers_decide", id=shown["id"], action="accept", digest=shown["digest"])
    assert "was changed after it was shown" in refused["error"]["message"]  # type: ignore[index]
    assert made.view("user") is None


def test_a_file_that_changed_after_it_was_signed_and_a_damaged_one_are_reported(
    layers: tuple[str, LayerStack], ask: Callable[..., dict[str, object]]
) -> None:
    base, user = layers[1].path("base"), layers[1].path("user")
    os.utime(base, (base.stat().st_mtime + 9, base.stat().st_mtime + 9))
    user.write_bytes(b"nothing of the kind")
    told = {layer["layer"]: layer for layer in ask("layers_overview")["layers"]}  # type: ignore[attr-defined]
    assert told["base"]["signature"] == "older"
    assert "AGENTS.user.db" in told["user"]["fault"]
    assert len(ask("layers_chunks")["chunks"]) == 4  # type: ignore[arg-type]
