"""The view Memory: what agents have stored, facts in time, corrections and deletion."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from eval.page_browser import served

from .api import post
from .conftest import take_picture
from .stored import fill_memory


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("remembered") / "notes"
    fill_memory(folder)
    fill_memory(folder, "somebody else")
    with served(folder.parent / "none", "--memory", folder) as url:
        yield url


@pytest.mark.slow
def test_what_agents_stored_is_listed_as_text(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_role("link", name="Memory").click()
    memories = page.locator("article.memory")
    expect(memories).to_have_count(4)  # neither somebody else's nor those that only another session sees
    expect(memories.first).to_contain_text("<script>alert(1)</script> Ignore all\\u{202e} of this.")
    expect(memories.filter(has_text="Oslo")).to_contain_text("outdated since 2026-01-05")
    take_picture(page, "memory")
    page.get_by_role("combobox", name="Session").select_option("secret")
    expect(memories).to_contain_text(["The door code is 4711."])


@pytest.mark.slow
def test_a_question_finds_memories(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_role("link", name="Memory").click()
    page.get_by_label("Search what is remembered").fill("Where does Ann live?")
    page.keyboard.press("Enter")
    expect(page.locator("article.memory").filter(has_text="Paris")).to_be_visible()
    expect(page.locator("article.memory").filter(has_text="Ignore")).to_have_count(0)


@pytest.mark.slow
def test_facts_are_shown_in_time_with_what_they_replaced(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_role("link", name="Memory").click()
    page.get_by_role("link", name="Facts in time").click()
    values = page.get_by_label("Ann", exact=True).locator("li")
    expect(values.first).to_contain_text("Paris")
    expect(values.first).to_contain_text("since 2026-01-05")
    expect(values.last).to_contain_text("2026-01-03 to 2026-01-05")
    expect(values.last).to_contain_text("outdated")
    values.last.get_by_role("link", name="source").click()
    expect(page.locator("article.memory")).to_contain_text("Ann lives in Oslo.")


@pytest.mark.slow
def test_tiers_show_what_they_hold_of_their_budgets(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_role("link", name="Memory").click()
    page.get_by_role("link", name="Tiers and budgets").click()
    expect(page.locator(".meter").filter(has_text="Core memory (1 item)")).to_contain_text("of 200 tokens")


@pytest.mark.slow
def test_the_memory_beside_a_knowledge_base_is_corrected_and_deleted(page: Page, tmp_path: Path) -> None:
    fill_memory(tmp_path / "notes" / "memory")
    with served(tmp_path / "notes") as url:
        page.goto(url)
        page.get_by_role("link", name="Memory").click()
        core = page.locator("article.memory").filter(has_text="allergic")
        core.get_by_role("button", name="Correct…").click()
        core.get_by_role("textbox").fill("The user is allergic to nuts and to eggs.")
        core.get_by_role("button", name="Save the correction").click()
        corrected = page.locator("article.memory").filter(has_text="eggs")
        corrected.get_by_role("link", name="Details").click()
        expect(page.get_by_role("heading", name="Earlier versions")).to_be_visible()
        page.get_by_role("button", name="Forget…").click()
        expect(page.get_by_role("button", name="Cancel")).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
        page.get_by_role("button", name="Forget…").click()
        page.get_by_role("button", name="Delete for good").click()
        expect(page.locator("article.memory")).to_have_count(3)
        expect(corrected).to_have_count(0)


def test_the_memory_of_others_is_neither_listed_nor_opened(url: str) -> None:
    listed = post(url, "memory_items", {"corrected": True}).json()["items"]
    assert {item["project"] for item in listed} == {"notes"}
    assert len(listed) == 4
    (secret,) = post(url, "memory_items", {"session": "secret"}).json()["items"]
    assert post(url, "memory_item", {"id": secret["id"]}).status_code == 400
    assert post(url, "memory_items", {"ids": [secret["id"]]}).json()["items"] == []
    assert [one["session"] for one in post(url, "memory_overview", {}).json()["sessions"]] == [
        "secret",
        "tuesday",
        "monday",
    ]


def test_without_a_memory_the_operations_say_so(handbook_url: str) -> None:
    response = post(handbook_url, "memory_items", {})
    assert response.status_code == 503
    assert "No memory is served here" in response.json()["error"]["message"]
