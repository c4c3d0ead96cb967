"""Pages for people hang together: links lead somewhere, every page is found, and none shows the machine it was made on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EVAL = [ROOT / "eval" / "README.md", ROOT / "eval" / "answers" / "README.md"]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *EVAL])

_CODE = re.compile(r"^(`{3,}|~{3,})[^\n]*\n.*?^\1`*\s*$|`+[^`\n]+`+", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.+?)\s*$", re.MULTILINE)
_FENCE = re.compile(r"^(`{3,}|~{3,})[^\n]*\n.*?^\1`*\s*$", re.MULTILINE | re.DOTALL)
_MACHINE = re.compile(r"(?<![\w.~])/(?:work|root|home|Users|tmp|var)/\w+")


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """The files that a page links to, and the heading where a link names one."""
    for target in _LINK.findall(_CODE.sub("", page.read_text("utf-8"))):
        if "://" not in target and not target.startswith("mailto:"):
            path, _, anchor = target.partition("#")
            yield (page.parent / path).resolve() if path else page, anchor


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as code hosts make them."""
    headings = _HEADING.findall(_FENCE.sub("", page.read_text("utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for path, anchor in links(page):
        assert path.exists(), path
        assert path.is_relative_to(ROOT), "a reader has this repository only"
        assert not anchor or anchor in anchors(path), f"{path.name}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_shows_the_machine_it_was_made_on(page: Path) -> None:
    assert _MACHINE.findall(page.read_text("utf-8")) == []


def test_every_page_is_found_from_the_first_one() -> None:
    found, ahead = set(), [ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        if page not in found:
            found.add(page)
            ahead += [path for path, _ in links(page) if path.suffix == ".md" and path.exists()]
    assert {page for page in PAGES if page.parent != ROOT} <= found


def test_every_decision_is_listed_under_its_own_title() -> None:
    decisions = ROOT / "docs" / "decisions"
    listed = (decisions / "README.md").read_text("utf-8")
    for page in sorted(decisions.glob("[0-9]*.md")):
        title = page.read_text("utf-8").split("\n", 1)[0].removeprefix("# ")
        assert f"- [{page.name[:4]}]({page.name}): {title}\n" in listed
