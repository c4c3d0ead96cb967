from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphctx.errors import BackendUnavailable
from graphctx.store.config import KbConfig, SourceEntry, read_config, write_config

# TOML has no surrogates, and its integers have 64 bits.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
PLAIN = (
    TEXT
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.dates(date(1, 1, 1))
    | st.datetimes(datetime(1000, 1, 1), timezones=st.just(UTC)).map(lambda moment: moment.replace(microsecond=0))
)
VALUE = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=8
)
OWN = {"format", "project_id", "sources", "graph", "embedder"}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    project=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20),
    engine=st.sampled_from(["kuzu", "ladybug"]),
    embedder=TEXT,
    sources=st.lists(st.tuples(TEXT.filter(bool), TEXT.filter(bool)), max_size=3),
    others=st.dictionaries(TEXT.filter(lambda key: key not in OWN), VALUE, max_size=4),
)
def test_what_is_written_is_read(
    tmp_path: Path, project: str, engine: Any, embedder: str, sources: list[tuple[str, str]], others: dict[str, Any]
) -> None:
    config = KbConfig(
        project_id=project,
        engine=engine,
        embedder=embedder,
        sources=tuple(SourceEntry(name=name, path=path) for name, path in sources),
        settings=others,
    )
    write_config(tmp_path, config)
    assert read_config(tmp_path) == config


def test_other_tables_of_the_file_stay(tmp_path: Path) -> None:
    text = '# mine\nproject_id = "p"\n[graph]\nengine = "ladybug"\nmemory = 7\n[retrieve]\ntop_k = 9\n[retrieve.deep]\non = true\n'
    (tmp_path / "kb.toml").write_text(text)
    config = read_config(tmp_path)
    assert (config.engine, config.settings) == (
        "ladybug",
        {"graph": {"memory": 7}, "retrieve": {"top_k": 9, "deep": {"on": True}}},
    )
    write_config(tmp_path, config)
    assert (tmp_path / "kb.toml").read_text() == text
    changed = config.model_copy(update={"sources": (SourceEntry(name="s", path="/x"),)})
    write_config(tmp_path, changed)
    assert read_config(tmp_path) == changed


def test_comments_stay_where_something_else_changes(tmp_path: Path) -> None:
    text = '# mine\nproject_id = "p"  # fixed\n\n# ours\n[retrieve]\ntop_k = 9  # few\n\n[[sources]] # first\nname = "a"\npath = "/a"\n'
    (tmp_path / "kb.toml").write_text(text)
    config = read_config(tmp_path)
    changed = config.model_copy(
        update={"sources": (*config.sources, SourceEntry(name="b", path="/b")), "removed": {"b/c.md": "b"}}
    )
    write_config(tmp_path, changed)
    assert read_config(tmp_path) == changed
    written = (tmp_path / "kb.toml").read_text()
    assert all(
        line in written.splitlines() for line in ("# mine", 'project_id = "p"  # fixed', "# ours", "top_k = 9  # few")
    )


def test_no_file_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(BackendUnavailable, match="graphctx ingest"):
        read_config(tmp_path)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("project_id = ", "kb.toml"),
        ("", "project_id"),
        ('project_id = ""', "project_id"),
        ("project_id = 7", "project_id"),
        ('project_id = "p"\n[graph]\nengine = "neo4j"', "neo4j"),
        ('project_id = "p"\nsources = 3', "sources"),
        ('project_id = "p"\n[[sources]]\nname = "x"', "path"),
        ('project_id = "p"\nformat = 99', "99"),
        ("\udcff", "UTF-8"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, named: str) -> None:
    (tmp_path / "kb.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BackendUnavailable, match=named) as caught:
        read_config(tmp_path)
    assert str(tmp_path) not in caught.value.message
    assert ("Correct that line" in caught.value.message) == (named not in ("99", "UTF-8"))
