from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from graphctx.memory import IterationClient, MemoryScope

from .runner import Done, run

REFERENCE = (
    '{"type":"entity","name":"Ann","entityType":"person","observations":["Likes tea","Sails on Sundays"]}\n'
    '{"type":"relation","from":"Ann","to":"Acme","relationType":"works_at"}\n'
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a memory in ``notes``."""
    (tmp_path / "memory.json").write_text(REFERENCE)
    assert memory(tmp_path, "import", "memory.json", "--json").json == {"items": 3, "facts": 1, "known": 0}
    return tmp_path


def memory(folder: Path, command: str, *words: object, notes: str = "notes", stdin: bytes = b"") -> Done:
    return run("memory", command, *words, "--memory", notes, folder=folder, stdin=stdin)


def lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def test_what_was_imported_is_searched_shown_and_counted(folder: Path) -> None:
    found = memory(folder, "search", "what does Ann drink", "--json").json["items"]
    assert found[0]["text"] == "Ann: Likes tea"
    shown = memory(folder, "show", found[0]["id"])
    assert "text: Ann: Likes tea" in shown.out
    assert len(memory(folder, "show", "--json").json["items"]) == 3
    stats = memory(folder, "stats", "--json").json
    assert (stats["project"], stats["n_items"], stats["projects"], stats["problems"]) == ("notes", 3, {"notes": 3}, [])
    assert "Ann: Likes tea" in memory(folder, "context", "tea").out
    assert memory(folder, "context", "tea", "--tokens", "3").out == ""


def test_an_item_is_corrected_and_forgotten_by_the_beginning_of_its_id(folder: Path) -> None:
    item = memory(folder, "search", "what does Ann drink", "--json").json["items"][0]
    corrected = memory(folder, "correct", item["id"][2:6], "Ann: Likes coffee", "--json").json
    assert corrected["corrected"] == item["id"]
    assert "Likes coffee" in memory(folder, "context", "what does Ann drink").out
    assert "--yes" in memory(folder, "forget", corrected["id"]).err
    gone = memory(folder, "forget", corrected["id"][:6], item["id"], "--yes", "--json").json
    assert gone == {"deleted": 2, "ids": [corrected["id"], item["id"]]}
    assert "There is no memory" in memory(folder, "forget", item["id"], "--yes").err


def test_an_empty_answer_names_the_projects_that_hold_memories(folder: Path) -> None:
    for command in ("context", "search"):
        done = memory(folder, command, "what does Ann drink", "--project", "other")
        assert done.out.strip() == ""
        assert "--project: notes (3)" in done.err


def test_an_export_is_imported_exactly_and_only_once(folder: Path) -> None:
    exported = memory(folder, "export").out
    assert memory(folder, "export", "--out", "out.jsonl").code == 0
    assert (folder / "out.jsonl").read_text() == exported
    assert stat.S_IMODE((folder / "out.jsonl").stat().st_mode) == 0o600
    assert {line["type"] for line in lines(exported)} == {"item", "fact"}
    assert memory(folder, "import", "-", "--json", notes="copy", stdin=exported.encode()).json["items"] == 3
    assert memory(folder, "export", "--project", "notes", notes="copy").out == exported
    again = memory(folder, "import", "-", "--json", notes="copy", stdin=exported.encode()).json
    assert again == {"items": 0, "facts": 0, "known": 3}


def test_the_form_of_the_reference_server_goes_in_and_out(folder: Path) -> None:
    assert memory(folder, "import", "memory.json", "--json").json["known"] == 3
    entities = {
        line["name"]: line for line in lines(memory(folder, "export", "--format", "reference").out) if "name" in line
    }
    assert entities["Ann"]["observations"] == ["Likes tea", "Sails on Sundays"]
    relation = lines(memory(folder, "export", "--format", "reference").out)[-1]
    assert relation == {"type": "relation", "from": "Ann", "to": "Acme", "relationType": "works_at"}


def test_items_go_into_a_layer_of_agents_db_and_come_back(folder: Path) -> None:
    for n_new in (3, 0):
        done = memory(folder, "export", "--format", "layer", "--out", "AGENTS.local.db")
        assert f"{n_new} chunks appended" in done.err
    assert memory(folder, "import", "AGENTS.local.db", "--json", notes="other").json["items"] == 3
    assert memory(folder, "import", "AGENTS.local.db", "--json", notes="other").json["known"] == 3


@pytest.mark.parametrize("line", ["nothing", "[1]", '{"type":"item"}', '{"type":"planet","name":"x"}'])
def test_a_file_that_holds_no_memories_is_refused_with_its_line(folder: Path, line: str) -> None:
    stdin = f"{REFERENCE.splitlines()[1].replace('Acme', 'Bolt')}\n{line}\n".encode()
    error = memory(folder, "import", "-", "--json", stdin=stdin).error
    assert error["code"] == "INVALID_ARGUMENT"
    assert error["details"]["line"] == 2
    assert memory(folder, "stats", "--json").json["n_items"] == 3


def test_a_backup_is_a_store(folder: Path) -> None:
    (folder / "saved").mkdir()
    assert memory(folder, "backup", "saved/memory.db").code == 0
    assert memory(folder, "stats", "--json", notes="saved").json["projects"] == {"notes": 3}
    assert memory(folder, "backup", "saved/memory.db").code == 1


def test_wiping_asks_and_leaves_other_projects(folder: Path) -> None:
    memory(folder, "import", "memory.json", "--project", "other")
    assert memory(folder, "wipe", "--json").error["code"] == "INVALID_ARGUMENT"
    assert memory(folder, "wipe", "--yes", "--json").json == {"deleted": 3}
    assert memory(folder, "stats", "--json").json["projects"] == {"other": 3}
    assert memory(folder, "wipe", "--yes", "--all-projects", "--json").json == {"deleted": 3}


def test_a_damaged_store_is_repaired_and_kept(folder: Path) -> None:
    path = folder / "notes" / "memory.db"
    data = bytearray(path.read_bytes())
    data[4096 * 3 : 4096 * 3 + 64] = b"\xff" * 64
    path.write_bytes(data)
    report = memory(folder, "repair", "--json").json
    assert (folder / "notes" / report["damaged_file"]).exists()
    assert memory(folder, "stats", "--json").json["problems"] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("export", "--out", "nowhere/x.jsonl"), "x.jsonl cannot be written: No such file"),
        (("backup", "nowhere/x.db"), "x.db cannot be written"),
        (("import", "bad.jsonl"), "Line 1 is not a memory: its type is 'note'"),
        (("import", "keyless.jsonl"), "Line 1 is not a memory: it has no 'name'"),
    ],
)
def test_a_careless_command_is_refused_by_what_is_wrong(folder: Path, arguments: tuple[str, ...], said: str) -> None:
    (folder / "bad.jsonl").write_text('{"type": "note"}\n')
    (folder / "keyless.jsonl").write_text('{"type": "entity"}\n')
    done = memory(folder, *arguments)
    assert done.code == 1
    assert said in done.err
    assert "INTERNAL_ERROR" not in done.err


def test_a_file_is_no_memory(folder: Path) -> None:
    (folder / "file").write_text("text")
    assert "file is a file" in memory(folder, "import", "memory.json", notes="file").err


def test_no_memory_is_made_by_looking(tmp_path: Path) -> None:
    error = memory(tmp_path, "search", "tea", "--json").error
    assert error["code"] == "BACKEND_UNAVAILABLE"
    assert list(tmp_path.iterdir()) == []


def test_the_context_of_iterations_is_printed_as_a_block_for_a_prompt(folder: Path) -> None:
    with IterationClient(folder / "loop", MemoryScope(project="loop")) as client:
        client.store_iteration_result(1, "Deployed the shop.", True)
    printed = memory(folder, "context", "deploy", "--iterations", notes="loop").out
    assert printed.startswith("## Relevant Context from Previous Iterations\n")
    assert printed.rstrip().endswith("### [ITERATION]\nIteration 1 succeeded: Deployed the shop.")
    assert memory(folder, "context", "deploy", "--iterations", "--json", notes="loop").json["tokens"] > 0
