from __future__ import annotations

import json
import traceback
from pathlib import Path

import pytest

from graphctx.errors import InvalidArgument
from graphctx.settings import MemorySettings, Settings, load_settings, memory_folder, memory_project


def test_every_setting_has_a_default_and_says_what_it_is_for() -> None:
    settings = Settings()
    for group in Settings.model_fields:
        for name, field in type(getattr(settings, group)).model_fields.items():
            assert field.description, f"{group}.{name}"
            assert not field.is_required()


def test_the_environment_wins_over_the_file_and_the_file_over_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = {"retrieve": {"candidates": 50}, "server": {"max_tokens": 1000}, "graph": {"engine": "kuzu"}}
    assert load_settings().retrieve.candidates == 100
    assert load_settings(tables).retrieve.candidates == 50
    monkeypatch.setenv("GRAPHCTX_RETRIEVE__CANDIDATES", "77")
    loaded = load_settings(tables)
    assert loaded.retrieve.candidates == 77
    assert loaded.server.max_tokens == 1000


def test_one_variable_of_a_group_leaves_what_the_file_says_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHCTX_INGEST__MAX_FILE_MB", "9")
    loaded = load_settings({"ingest": {"unit_tokens": 128}})
    assert (loaded.ingest.max_file_mb, loaded.ingest.unit_tokens) == (9, 128)


@pytest.mark.parametrize(
    ("tables", "name"),
    [
        ({"retrieve": {"candidates": 1}}, "retrieve.candidates"),
        ({"retrieve": {"candidates": "many"}}, "retrieve.candidates"),
        ({"retrieve": {"candidats": 100}}, "retrieve.candidats"),
        ({"ingest": {"unit_tokens": 9999}}, "ingest.unit_tokens"),
        ({"server": {"environment": "moon"}}, "server.environment"),
    ],
)
def test_a_wrong_setting_is_named_with_its_value_and_its_variable(
    tables: dict[str, dict[str, object]], name: str
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        load_settings(tables)
    assert name in caught.value.message
    assert f"GRAPHCTX_{name.upper().replace('.', '__')}" in caught.value.message
    assert caught.value.details["setting"] == name


def test_a_wrong_variable_is_an_error_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHCTX_SERVER__MAX_TOKENS", "lots")
    with pytest.raises(InvalidArgument, match=r"server\.max_tokens"):
        load_settings()


@pytest.mark.parametrize(
    ("variable", "value", "advice"),
    [
        ("GRAPHCTX_SERVER__DOC_TAGS", "foo", """'["foo"]'"""),
        ("GRAPHCTX_SERVER__REPOSITORIES", "docs,notes", """'["docs", "notes"]'"""),
        ("GRAPHCTX_RETRIEVE", "fast", "GRAPHCTX_RETRIEVE__"),
    ],
)
def test_a_variable_that_is_no_json_is_named_with_how_to_write_it(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, advice: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(InvalidArgument) as caught:
        load_settings()
    assert variable in caught.value.message
    assert advice in caught.value.message
    assert caught.value.details == {"setting": variable, "value": value}


def test_a_list_is_written_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHCTX_SERVER__DOC_TAGS", '["a,b", "c"]')
    assert load_settings().server.doc_tags == ("a,b", "c")


def test_variables_of_other_programs_and_tables_of_other_parts_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHCTX_KB", "/somewhere")
    monkeypatch.setenv("GRAPHCTX_TEST_EFFORT", "2")
    assert load_settings({"sources": [], "notes": {"x": 1}}) == load_settings()


@pytest.mark.parametrize(
    ("setting", "variable"),
    [("kb_v2", "MCP_KB_V2_ENABLED"), ("structured_output", "MCP_STRUCTURED_OUTPUT_ENABLED")],
)
def test_the_contracts_variables_come_after_ours_and_before_the_file(
    monkeypatch: pytest.MonkeyPatch, setting: str, variable: str
) -> None:
    def value(tables: dict[str, dict[str, object]] | None = None) -> bool:
        return bool(getattr(load_settings(tables).server, setting))

    assert value()
    assert not value({"server": {setting: False}})
    monkeypatch.setenv(variable, "false")
    assert not value()
    assert not value({"server": {setting: True}})
    assert load_settings({"server": {"max_tokens": 900}}).server.max_tokens == 900
    monkeypatch.setenv(f"GRAPHCTX_SERVER__{setting.upper()}", "true")
    assert value()
    monkeypatch.delenv(f"GRAPHCTX_SERVER__{setting.upper()}")
    monkeypatch.setenv(variable, "perhaps")
    with pytest.raises(InvalidArgument, match=variable):
        load_settings()


def test_tokens_come_from_a_table_or_from_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    def tokens(tables: dict[str, dict[str, object]] | None = None) -> dict[str, str]:
        return {name: token.get_secret_value() for name, token in load_settings(tables).server.tokens.items()}

    assert tokens({"server": {"tokens": {"ana": "one"}}}) == {"ana": "one"}
    monkeypatch.setenv("GRAPHCTX_SERVER__TOKENS", '{"ben": "two"}')
    assert tokens()["ben"] == "two"


@pytest.mark.parametrize(
    ("tables", "variables"),
    [
        ({"server": {"cursor_key": ["hush-hush"]}}, {}),
        ({"server": {"tokens": "hush-hush"}}, {}),
        ({"server": {"tokens": {"ana": ["hush-hush"]}}}, {}),
        ({"server": ["hush-hush"]}, {}),
        ({}, {"GRAPHCTX_SERVER__TOKENS": "hush-hush"}),
        ({}, {"GRAPHCTX_SERVER": "hush-hush"}),
    ],
)
def test_a_wrong_secret_is_named_and_never_shown(
    monkeypatch: pytest.MonkeyPatch, tables: dict[str, object], variables: dict[str, str]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(InvalidArgument) as caught:
        load_settings(tables)
    shown = "".join(traceback.format_exception(caught.value))
    assert "hush-hush" not in f"{shown}{caught.value.details}"
    assert "server" in caught.value.message.lower()


def test_secrets_are_shown_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHCTX_SERVER__CURSOR_KEY", "hush-hush")
    settings = load_settings({"server": {"tokens": {"ana": "hush-hush"}}})
    for shown in (repr(settings), str(settings), settings.model_dump_json(), json.dumps(Settings.model_json_schema())):
        assert "hush" not in shown
    assert settings.server.cursor_key.get_secret_value() == "hush-hush"


@pytest.mark.parametrize(
    "url",
    [
        "http://[::1/v1",
        "http://[::g]/v1",
        "http://host:99999/v1",
        "http://host:x/v1",
        "http://1.2.3.999/v1",
        "http://\u2603.example",
        "http:///v1",
        "http://host/\x07",
        "ftp://host",
        "localhost:11434",
    ],
)
def test_an_address_that_nothing_can_connect_to_is_refused_by_the_name_of_its_setting(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("GRAPHCTX_LLM__BASE_URL", url)
    monkeypatch.setenv("GRAPHCTX_LLM__MODEL", "m")
    with pytest.raises(
        InvalidArgument, match=r"llm\.base_url.*such as http://localhost:11434/v1.*GRAPHCTX_LLM__BASE_URL"
    ):
        load_settings()


@pytest.mark.parametrize(
    "url", ["http://[::1]:80/v1", "https://api.example/v1", "http://localhost:11434/v1", "http://10.0.0.1"]
)
def test_a_language_model_is_on_where_address_and_name_are_set(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    assert not load_settings().llm.enabled
    monkeypatch.setenv("GRAPHCTX_LLM__BASE_URL", url)
    assert load_settings({"llm": {"model": "m"}}).llm.enabled


@pytest.mark.parametrize(
    ("name", "value", "missing"), [("base_url", "http://h/v1", "model"), ("model", "m", "base_url")]
)
def test_half_a_language_model_is_refused_and_the_other_half_is_named(name: str, value: str, missing: str) -> None:
    with pytest.raises(InvalidArgument, match=rf"^Setting llm\.{missing} is empty.*GRAPHCTX_LLM__{missing.upper()}"):
        load_settings({"llm": {name: value}})


def test_a_password_in_an_address_is_not_shown() -> None:
    with pytest.raises(InvalidArgument) as caught:
        load_settings({"llm": {"base_url": "http://me:hush-hush@[::1/v1", "model": "m"}})
    assert "hush-hush" not in str(caught.value.envelope())


def test_a_memory_without_a_knowledge_base_has_the_name_of_its_folder(tmp_path: Path) -> None:
    own = MemorySettings()
    for folder in ("crane", "crane/memory", "crane/.graphctx/memory", "crane/.graphctx"):
        assert memory_project(own, tmp_path / folder) == "crane"
    assert memory_project(MemorySettings(project="dock"), tmp_path) == "dock"
    assert memory_folder(load_settings(), tmp_path) == tmp_path / "memory"
    assert memory_folder(load_settings({"memory": {"folder": "../notes"}}), tmp_path) == tmp_path / "../notes"
