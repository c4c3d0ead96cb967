"""Skills of a skillbook.json, and feedback for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphctx.memory import IterationClient, MemoryFilter, Moment

from .conftest import HERE, Clock, OpenMemory, on_day

BACKOFF = "Retry an upload with a backoff when the gateway answers 503."
EXISTS = "Check that a file exists before it is opened."


def skill(section: str, content: str, helpful: int = 0, harmful: int = 0, **more: Any) -> dict[str, Any]:
    counts = {"helpful": helpful, "harmful": harmful, "neutral": 0}
    return {"id": "", "section": section, "content": content, "embedding": None, **counts, **more}


def write(path: Path, **skills: dict[str, Any]) -> None:
    path.write_text(json.dumps({"skills": skills, "sections": {}, "next_id": 9, "similarity_decisions": {}}))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "skillbook.json"


@pytest.fixture
def client(open_memory: OpenMemory, path: Path) -> IterationClient:
    return IterationClient(open_memory(skillbook=str(path)), HERE, clock=Clock())


def found(client: IterationClient) -> dict[str, float]:
    return {each["content"]: each["usefulness_score"] for each in client.get_skills(min_score=0)["skills"]}


def test_skills_of_the_file_are_found_and_follow_it(client: IterationClient, path: Path) -> None:
    assert client.get_skills() == {"skills": [], "total": 0, "degraded": ""}
    write(path, net1=skill("network", BACKOFF, helpful=2), io1=skill("files", EXISTS, harmful=1))
    assert found(client) == {BACKOFF: 0.7, EXISTS: 0.35}
    assert [each["skill_id"] for each in client.get_skills(["network"])["skills"]] == ["net1"]
    answer = client.get_relevant_context("upload fails with 503")
    assert (answer["items"][0]["content"], answer["items"][0]["content_type"]) == (BACKOFF, "skill")
    write(path, net1=skill("network", f"{BACKOFF} Wait 2 s.", helpful=2), io1=skill("files", EXISTS, status="invalid"))
    assert found(client) == {f"{BACKOFF} Wait 2 s.": 0.7}
    path.write_text("{ no skillbook")
    answer = client.get_skills()
    assert "skillbook was not read" in answer["degraded"]
    assert answer["total"] == 1


def test_several_clients_read_a_skill_once(open_memory: OpenMemory, path: Path) -> None:
    write(path, net1=skill("network", BACKOFF))
    one, other = (open_memory(skillbook=str(path)) for _ in range(2))
    for memory in (one, other, one):
        IterationClient(memory, HERE, clock=Clock()).get_skills()
    assert len(one.select(HERE, Moment(on_day(1).at), MemoryFilter(kinds=("skill",), history=True))) == 1


def test_feedback_is_exported_once_as_an_update_of_the_skillbook(client: IterationClient, path: Path) -> None:
    write(path, net1=skill("network", BACKOFF, helpful=2), io1=skill("files", EXISTS))
    net = client.get_skills(["network"])["skills"][0]["id"]
    files = client.get_skills(["files"])["skills"][0]["id"]
    for item, helpful in ((net, True), (net, True), (net, False), (files, True)):
        assert client.mark_useful(item, helpful)["degraded"] == ""
    waiting = path.with_name("feedback.json")
    operations = {each["skill_id"]: each for each in json.loads(waiting.read_text())["operations"]}
    assert operations["net1"] == {
        "type": "TAG",
        "section": "network",
        "skill_id": "net1",
        "metadata": {"helpful": 2, "harmful": 1},
    }
    assert operations["io1"]["metadata"] == {"helpful": 1}

    waiting.unlink()  # as whoever applied it does
    write(path, net1=skill("network", BACKOFF, helpful=4, harmful=1), io1=skill("files", EXISTS, helpful=1))
    assert found(client) == {BACKOFF: pytest.approx(0.75), EXISTS: pytest.approx(0.6)}
    client.mark_useful(files, False)
    operations = json.loads(waiting.read_text())["operations"]
    assert [(each["skill_id"], each["metadata"]) for each in operations] == [("io1", {"harmful": 1})]
    waiting.write_text("damaged")
    assert "feedback.json" in client.mark_useful(files, False)["degraded"]
