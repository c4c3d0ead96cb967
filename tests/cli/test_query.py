"""``graphctx communities`` and ``graphctx ask --global``; plain questions are asked in ``tests/e2e``."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.answers import GlobalAnswer
from graphctx.model.graph import CommunitiesAnswer
from graphctx.model.requests import CommunitiesInput
from graphctx.text.readable import readable

from .runner import run

QUESTION = "What went wrong in the incidents, and what recurs?"


def shown(kb: Path, *words: object) -> str:
    done = run(*words, "--kb", kb)
    assert done.code == 0, done.out + done.err
    return done.out


def answer(kb: Path, *words: object) -> dict[str, Any]:
    found: dict[str, Any] = run(*words, "--kb", kb, "--json").json
    return found


def test_the_whole_hierarchy_is_a_tree_with_a_line_for_each_community(handbook_path: Path) -> None:
    title, *lines = shown(handbook_path, "communities", "--all").splitlines()
    found = answer(handbook_path, "communities", "--all")
    CommunitiesAnswer.model_validate(found)
    every = {one["id"]: one for one in found["communities"]}
    assert title == f"handbook: {sum(one['level'] == 0 for one in every.values())} communities"
    above: list[str] = []
    for line in lines:
        match = re.fullmatch(r"([│├└─\s]*)(.+) · (\d+) (?:entities|entity), (\d+) units? · (c_\w+)", line)
        assert match is not None, line
        depth, community = len(match[1]) // 4, every.pop(match[5])
        above = [*above[: depth - 1], community["id"]]
        assert community["level"] == depth - 1
        assert community.get("parent_id") == (above[-2] if depth > 1 else None)
        sizes = (community["title"], community["n_entities"], community["n_units"])
        assert (match[2], int(match[3]), int(match[4])) == sizes
    assert not every


@pytest.mark.parametrize("words", [(), ("--level", "1")])
def test_by_default_the_largest_of_one_level_are_shown_and_how_to_see_more(
    handbook_path: Path, words: tuple[str, ...]
) -> None:
    title, *rest = shown(handbook_path, "communities", *words).splitlines()
    lines = [line for line in rest if " · c_" in line]
    found = answer(handbook_path, "communities", *words, "--depth", 1)["communities"]
    assert {one["level"] for one in found} == {0 if not words else 1}
    assert str(len(found)) in title
    assert len(lines) == min(len(found), 18)
    assert all(one["id"] in line for one, line in zip(found, lines, strict=False))
    if len(found) > 18 or not words:
        assert "--all" in rest[-1]
        assert "--level N" in rest[-1]


def test_filters_depth_and_entity_choose_a_part_of_it(handbook_path: Path) -> None:
    roots = answer(handbook_path, "communities", "--depth", 1)["communities"]
    two_levels = answer(handbook_path, "communities")["communities"]
    assert {one["level"] for one in two_levels} == {0, 1}
    few = answer(handbook_path, "communities", "--path-prefix", "people/", "--depth", 1)["communities"]
    assert sum(one["n_entities"] for one in few) < sum(one["n_entities"] for one in roots)
    chain = answer(handbook_path, "communities", "--entity", "Gannet")["communities"]
    assert [one["level"] for one in chain] == list(range(len(chain)))
    assert "No document passes" in shown(handbook_path, "communities", "--path-prefix", "nowhere/")
    assert "No community matches" in shown(handbook_path, "communities", "--level", 20)


def test_one_is_shown_by_id_or_title_with_its_summary_and_its_places(
    handbook_path: Path, handbook_kb: KnowledgeBase
) -> None:
    graph = handbook_kb.searcher().graph
    roots = graph.communities(CommunitiesInput(include_snippet=True)).items
    root = next(one for one in roots if one.n_children and one.summary)
    by_id = shown(handbook_path, "communities", root.id)
    assert by_id == shown(handbook_path, "communities", root.title)
    assert by_id.startswith(f"{root.title}\n{root.id} · level 0 · ")
    assert "Key entities: " in by_id
    [sentence] = root.summary
    assert f"[1] {readable(sentence.text, sentence.doc_uri)[0]}" in by_id
    assert sentence.doc_uri in by_id
    assert by_id.count("├── ") + by_id.count("└── ") == root.n_children
    [one] = answer(handbook_path, "communities", root.id, "--depth", 1)["communities"]
    assert one["summary"][0]["text"] == sentence.text
    child = graph.communities(CommunitiesInput(parent_id=root.id)).items[0]
    assert f"part of {root.title} · {root.id}" in shown(handbook_path, "communities", child.id)


def test_documents_without_communities_are_not_an_error(lighthouse: Path) -> None:
    alone = ("--path-prefix", "in/")
    assert "There are no communities" in shown(lighthouse, "communities", *alone)
    assert answer(lighthouse, "communities", *alone)["empty_reason"] == "no_communities"


def test_a_question_about_the_whole_gives_points_below_their_themes(handbook_path: Path) -> None:
    words = ("ask", "--global", QUESTION, "--points-tokens", 300)
    found, text = answer(handbook_path, *words), shown(handbook_path, *words)
    GlobalAnswer.model_validate(found)
    assert found["points"]
    assert found["diagnostics"]["mode"] == "global"
    for number, point in enumerate(found["points"], start=1):
        assert f"\n[{number}] " in text
        assert f"] {point['title']}" in text
        assert readable(point["quote"], point["doc_uri"])[0] in text
        assert point["doc_uri"] in text
    assert all(f"{theme['title']} · {theme['id']}" in text for theme in found["themes"])
    assert "extractive: every word comes from a document" in text
    few = answer(handbook_path, "ask", "--global", QUESTION, "--max-points", 2, "--diagnostics")
    assert len(few["points"]) == 2
    assert few["diagnostics"]["stages"]


@pytest.mark.parametrize("words", [("ask", "--global", QUESTION), ("ask", "Who wrote Keel?")])
def test_where_the_filters_leave_nothing_the_reason_is_shown(handbook_path: Path, words: tuple[str, ...]) -> None:
    assert "no document passes the filters" in shown(handbook_path, *words, "--tag", "no such tag")


def test_a_composed_context_ends_with_the_question_and_keeps_its_tokens(handbook_path: Path) -> None:
    words = ("context", QUESTION, "--tokens", 900, "--path-prefix", "incidents/")
    found = answer(handbook_path, *words)
    assert shown(handbook_path, *words).strip() == found["text"].strip()
    assert found["text"].endswith(QUESTION)
    assert found["tokens"]["total"] <= 900
    assert all(one["metadata"]["doc_uri"].startswith("incidents/") for one in found["retrieved_sections"])


def test_a_context_that_nothing_fits_says_so_beside_it_and_ends_well(handbook_path: Path) -> None:
    done = run("context", "How do I bake sourdough bread with rye flour?", "--kb", handbook_path)
    assert done.code == 0
    assert "nothing in the documents bears on the question" in done.err
    assert "Closest documents" in done.err
    assert "Nothing in the documents bears on the question." in done.out
    assert answer(handbook_path, "context", "What is the salary of the duty officer?")["answered"] == "near"


def test_a_context_holds_what_is_remembered_if_that_is_asked_for(
    handbook_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = '{"type":"entity","name":"Ann","entityType":"person","observations":["Ann repairs the tide gate"]}\n'
    (tmp_path / "memory.json").write_text(note)
    monkeypatch.setenv("GRAPHCTX_MEMORY__FOLDER", str(tmp_path / "notes"))
    assert "There is no memory" in run("context", "Who is Ann?", "--with-memory", "--kb", handbook_path).err
    run("memory", "import", tmp_path / "memory.json", "--memory", tmp_path / "notes", "--project", "handbook")
    words = ("context", "Who repairs the tide gate?", "--tokens", 900)
    assert "Ann repairs the tide gate" in shown(handbook_path, *words, "--with-memory")
    assert "Ann repairs the tide gate" not in shown(handbook_path, *words)
    with closing(sqlite3.connect(tmp_path / "notes" / "memory.db")) as connection, connection:
        connection.execute("DROP TABLE item_text")
        connection.execute("DROP TABLE items")
    done = run(*words, "--with-memory", "--kb", handbook_path)
    assert done.code == 0
    assert "The memory is degraded" in done.err
