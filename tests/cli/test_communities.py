"""``graphctx communities`` and ``graphctx ask --global``: what they print; mistakes and one of each in processes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from e2e.house import graphctx, succeeded
from typer.testing import CliRunner

from graphctx.cli.app import app
from graphctx.knowledge_base import KnowledgeBase
from graphctx.model.answers import GlobalAnswer
from graphctx.model.graph import CommunitiesAnswer
from graphctx.model.requests import CommunitiesInput

QUESTION = "What went wrong in the incidents, and what recurs?"


def run(kb: Path, *words: object) -> str:
    shown = CliRunner().invoke(app, [*map(str, words), "--kb", str(kb)])
    assert shown.exit_code == 0, shown.output
    return shown.stdout


def answer(kb: Path, *words: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(kb, *words, "--json"))
    return found


def failed(kb: Path, code: int, *words: object) -> str:
    done = graphctx(*words, "--kb", kb)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", done.stderr).split())


@pytest.mark.parametrize("words", [("communities",), ("ask", "--global", QUESTION)], ids=" ".join)
def test_a_process_of_its_own_prints_the_same(handbook_path: Path, words: tuple[str, ...]) -> None:
    assert succeeded(graphctx(*words, "--kb", handbook_path)) == run(handbook_path, *words)


# The tree


def test_the_hierarchy_is_a_tree_with_a_line_for_each_community(handbook_path: Path) -> None:
    lines = run(handbook_path, "communities").splitlines()
    told = answer(handbook_path, "communities")
    CommunitiesAnswer.model_validate(told)
    every = {one["id"]: one for one in told["communities"]}
    assert len(lines) == len(every) + 1
    assert lines[0] == f"handbook: {sum(one['level'] == 0 for one in every.values())} communities"
    above: list[str] = []
    for line in lines[1:]:
        found = re.fullmatch(r"([│├└─\s]*)(.+) · (\d+) (?:entities|entity), (\d+) units?.* · (c_\w+)", line)
        assert found is not None, line
        depth, community = len(found[1]) // 4, every.pop(found[5])
        above = [*above[: depth - 1], community["id"]]
        assert community["level"] == depth - 1
        assert community["parent_id"] if depth > 1 else "parent_id" not in community
        assert depth == 1 or community["parent_id"] == above[-2]
        assert (found[2], int(found[3]), int(found[4])) == (
            community["title"],
            community["n_entities"],
            community["n_units"],
        )
    assert not every


def test_depth_and_level_choose_a_part_of_it(handbook_path: Path) -> None:
    roots = answer(handbook_path, "communities", "--depth", 1)["communities"]
    assert {one["level"] for one in roots} == {0}
    assert any(f"{one['n_children']} below" in run(handbook_path, "communities", "--depth", 1) for one in roots)
    finer = answer(handbook_path, "communities", "--level", 1)["communities"]
    assert {one["level"] for one in finer} >= {1}
    assert 0 not in {one["level"] for one in finer}
    assert "of level 1" in run(handbook_path, "communities", "--level", 1)
    few = answer(handbook_path, "communities", "--path-prefix", "people/", "--depth", 1)["communities"]
    assert sum(one["n_entities"] for one in few) < sum(one["n_entities"] for one in roots)
    chain = answer(handbook_path, "communities", "--entity", "Gannet")["communities"]
    assert [one["level"] for one in chain] == list(range(len(chain)))
    assert all(any(key["name"] for key in one["key_entities"]) for one in chain)


def test_one_is_shown_by_id_or_title_with_its_summary_and_where_it_stands(
    handbook_path: Path, handbook_kb: KnowledgeBase
) -> None:
    roots = list(handbook_kb.searcher().graph.communities(CommunitiesInput(include_snippet=True)).items)
    root = next(one for one in roots if one.n_children and one.summary)
    by_id = run(handbook_path, "communities", root.id)
    assert by_id == run(handbook_path, "communities", root.title)
    assert by_id.startswith(f"{root.title}\n{root.id} · level 0 · ")
    assert "Key entities: " in by_id
    [sentence] = root.summary
    assert f"[1] {sentence.text.splitlines()[0]}" in by_id
    assert sentence.doc_uri in by_id
    assert by_id.count("├── ") + by_id.count("└── ") == root.n_children
    whole = answer(handbook_path, "communities", root.id, "--depth", 1)
    [one] = whole["communities"]
    assert one["summary"][0]["text"] == sentence.text
    child = next(iter(handbook_kb.searcher().graph.communities(CommunitiesInput(parent_id=root.id)).items))
    assert f"part of {root.title} · {root.id}" in run(handbook_path, "communities", child.id)


def test_a_mistake_is_told_with_what_to_do(handbook_path: Path, tmp_path: Path) -> None:
    for name in ("Gannet", "Ganet"):
        told = failed(handbook_path, 1, "communities", name)
        assert "Near it: " in told
        assert re.search(r"\(c_[a-z2-7]{16}\)", told)
    assert "Put the title in quotes" in failed(handbook_path, 2, "communities", "Gannet", "burst")
    assert "Give one or the other" in failed(handbook_path, 2, "communities", "Gannet", "--level", 1)
    assert "entity_id" in failed(handbook_path, 1, "communities", "--entity", "zeppelin of the north")
    error = json.loads(graphctx("communities", "zeppelin", "--kb", handbook_path, "--json").stdout)["error"]
    assert error["code"] == "INVALID_ARGUMENT"
    assert "No document passes" in run(handbook_path, "communities", "--path-prefix", "nowhere/")
    assert "none of this kind" in run(handbook_path, "communities", "--level", 20)
    assert "BACKEND_UNAVAILABLE" in failed(tmp_path / "none", 1, "communities")


@pytest.fixture
def tiny(make_kb: Any) -> Path:
    return Path(make_kb({"a.md": "# A\n\nNothing much is said here.\n"}).path)


def test_documents_that_are_too_few_have_none_and_that_is_no_error(tiny: Path) -> None:
    assert "There are no communities" in run(tiny, "communities")
    assert answer(tiny, "communities")["empty_reason"] == "no_communities"
    assert "Traceback" not in run(tiny, "ask", "--global", QUESTION)


# Asking about the whole


def test_a_question_about_the_whole_gives_points_below_their_themes(handbook_path: Path) -> None:
    told = answer(handbook_path, "ask", "--global", QUESTION, "--points-tokens", 300)
    shown = run(handbook_path, "ask", "--global", QUESTION, "--points-tokens", 300)
    GlobalAnswer.model_validate(told)
    assert told["points"]
    assert told["diagnostics"]["mode"] == "global"
    for number, point in enumerate(told["points"], start=1):
        assert f"[{number}] {point['title']}" in shown
        assert point["quote"].splitlines()[0] in shown
        assert point["doc_uri"] in shown
    for theme in told["themes"]:
        assert f"{theme['title']} · {theme['id']}" in shown
    assert "extractive: every word is of a document" in shown
    assert f"of {told['diagnostics']['communities']} communities" in shown
    few = answer(handbook_path, "ask", "--global", QUESTION, "--max-points", 2, "--diagnostics")
    assert len(few["points"]) == 2
    assert few["diagnostics"]["stages"]


def test_options_of_the_other_kind_of_question_are_refused(handbook_path: Path) -> None:
    for option, value in (("--max-quotes", 3), ("--top-k", 3), ("--mode", "auto"), ("--context-tokens", 0)):
        assert f"{option} has no meaning with --global" in failed(
            handbook_path, 2, "ask", "--global", QUESTION, option, value
        )
    assert "--max-points needs --global" in failed(handbook_path, 2, "ask", QUESTION, "--max-points", 3)


def test_where_the_filters_leave_nothing_the_reason_is_told(handbook_path: Path) -> None:
    shown = run(handbook_path, "ask", "--global", QUESTION, "--tag", "no such tag")
    assert "no document passes the filters" in shown
    shown = run(handbook_path, "ask", "Who wrote Keel?", "--tag", "no such tag")
    assert "no document passes the filters" in shown
