"""Contexts cached in Redis 8 are shared between processes, and no failure of Redis is one of a call."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from eval.context_cache import RedisServer
from graphctx.knowledge_base import KnowledgeBase
from graphctx.store.redis_client import place_of
from tests.redis_servers import redis_of_version_7, running_redis

QUESTION = "Who is entitled to cancel a warning before it expires?"
REWORDED = "Please tell me who is entitled to cancel warnings before they expire."

OpenKb = Callable[[str], KnowledgeBase]


@pytest.fixture(scope="module")
def shared() -> Iterator[RedisServer]:
    with running_redis() as server:
        yield server


@pytest.fixture
def open_kb(handbook_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenKb]:
    """Open the handbook with a cache at an address."""
    opened: list[KnowledgeBase] = []

    def of(url: str) -> KnowledgeBase:
        monkeypatch.setenv("GRAPHCTX_CONTEXT__CACHE_URL", url)
        opened.append(KnowledgeBase.open(handbook_path))
        return opened[-1]

    yield of
    for kb in opened:
        kb.close()


def test_two_processes_share_hits_and_entries_expire(
    shared: RedisServer, open_kb: OpenKb, handbook_path: Path, python: Callable[..., str]
) -> None:
    import redis

    kb = open_kb(shared.url)
    text = kb.compose_context(QUESTION, 2000).retrieved_sections
    code = f"""if True:
        from graphctx import KnowledgeBase
        with KnowledgeBase.open({str(handbook_path)!r}) as kb:
            kb.compose_context({REWORDED!r}, 2000)
            print(kb.context_cache.counts.similar)
    """
    assert python(code).strip() == "1"
    assert kb.compose_context(REWORDED, 2000).retrieved_sections == text
    assert (kb.context_cache.counts.similar, kb.context_cache.counts.store) == (1, "redis")
    with redis.Redis.from_url(shared.url) as client:
        keys = client.keys("*")
        assert len(keys) == 2
        assert all(0 < client.ttl(key) <= 3600 for key in keys)


def test_an_entry_that_is_damaged_or_gone_is_a_miss(shared: RedisServer, open_kb: OpenKb) -> None:
    import redis

    kb = open_kb(shared.url)
    found = kb.compose_context(QUESTION, 2001)
    assert kb.context_cache.counts.misses == 1
    with redis.Redis.from_url(shared.url) as client:
        for damage in (lambda key: client.set(key, b"{", keepttl=True), client.delete):
            for key in client.keys("graphctx:context:*:*"):
                damage(key)
            assert kb.compose_context(QUESTION, 2001) == found
            assert kb.compose_context(REWORDED, 2001).retrieved_sections == found.retrieved_sections
    assert kb.context_cache.counts.misses == 3


def test_no_call_fails_when_redis_is_killed(open_kb: OpenKb, caplog: pytest.LogCaptureFixture) -> None:
    with running_redis() as server:
        kb = open_kb(server.url)
        found = kb.compose_context(QUESTION, 2000)
        assert kb.context_cache.counts.store == "redis"
        server.kill()
        with caplog.at_level(logging.WARNING):
            assert kb.compose_context(QUESTION, 2000) == found
            assert kb.compose_context(REWORDED, 2000).retrieved_sections == found.retrieved_sections
    counts = kb.context_cache.counts
    assert (counts.store, counts.similar) == ("process", 1)
    assert "cached in this process" in counts.note
    assert [record.getMessage() for record in caplog.records] == [counts.note]


def test_a_redis_without_vector_sets_is_named_with_its_version(open_kb: OpenKb) -> None:
    with redis_of_version_7() as address:
        kb = open_kb(f"redis://user:hush-hush@{address}/0")
        assert kb.compose_context(QUESTION, 2000) == kb.compose_context(QUESTION, 2000)
        kb.close()
    counts = kb.context_cache.counts
    assert (counts.store, counts.exact) == ("process", 1)
    assert "has version 7.0.15" in counts.note
    assert counts.note in kb.status().notes
    assert "hush" not in counts.note + repr(kb.settings)


@pytest.mark.parametrize("url", ["default:hush-hush@host:6379/0", "redis://user:hush/hush@host:6379"])
def test_the_place_of_a_redis_has_no_password(url: str) -> None:
    assert place_of(url) == "host:6379"
