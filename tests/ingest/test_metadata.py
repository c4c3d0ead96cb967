from __future__ import annotations

from collections.abc import Callable

import pytest

from graphctx.ingest.metadata import with_metadata
from graphctx.ingest.read.source import Rule, Source
from graphctx.model.documents import Document

TEXT = "---\nstatus: draft\nOwner: [Ana, Bo]\nreviewed: 2024-05-01\ntags: [own]\n---\n\n# A\n\nText.\n"


@pytest.mark.parametrize(
    ("rule", "tags"),
    [
        (Rule(tags=("all",)), {"all"}),
        (Rule(match=("notes/", "!old.md"), tags=("note",)), {"note"}),
        (Rule(match=("*.txt",), tags=("text",)), set()),
        (Rule(front_matter={"status": "draft"}, tags=("draft",)), {"draft"}),
        (Rule(match=("*.md",), front_matter={"status": "final"}, tags=("final",)), set()),
        (Rule(tags_from=("owner", "nobody")), {"owner:Ana", "owner:Bo"}),
    ],
)
def test_a_rule_adds_tags_where_its_conditions_hold(
    rule: Rule, tags: set[str], read_text: Callable[[str, str], Document]
) -> None:
    source = Source(path="docs", tags=("docs",), rules=(rule,))
    assert set(with_metadata(read_text("notes/a.md", TEXT), source, "notes/a.md").tags) == {"own", "docs"} | tags


def test_a_rule_names_the_key_of_the_date(read_text: Callable[[str, str], Document]) -> None:
    source = Source(path="docs", rules=(Rule(updated_from="Reviewed"),))
    assert with_metadata(read_text("a.md", TEXT), source, "a.md").updated_at == "2024-05-01"
    assert with_metadata(read_text("a.txt", TEXT), source, "a.txt").updated_at is None
