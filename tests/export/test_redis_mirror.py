"""The mirror of a snapshot in a real Redis 8 is read back: keys, vectors, and nothing beyond the scope."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.knowledge_base import KnowledgeBase
from tests.redis_servers import redis_of_version_7, running_redis

QUESTION = "Who is entitled to cancel a warning before it expires?"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running_redis() as server:
        yield server.url


@pytest.fixture
def client(url: str) -> Iterator[Any]:
    """A connection to an empty database."""
    import redis

    with redis.Redis.from_url(url) as opened:
        opened.flushdb()
        yield opened


def held(client: Any, level: str) -> dict[str, dict[str, Any]]:
    """Read all items of a level."""
    items = {}
    for key in client.keys(f"{level}:*"):
        fields = {name.decode(): value for name, value in client.hgetall(key).items()}
        embedding = np.frombuffer(fields.pop("embedding"), "<f4")
        text = {name: value.decode() for name, value in fields.items()}
        parsed = {name: json.loads(text[name]) for name in ("children", "metadata")}
        items[key.decode().partition(":")[2]] = {**text, **parsed, "embedding": embedding}
    return items


def test_the_hierarchy_is_read_back_with_its_texts_and_vectors(
    handbook_kb: KnowledgeBase, client: Any, url: str
) -> None:
    report = handbook_kb.export(url, "redis")
    concepts, sections, chunks = (held(client, level) for level in ("concept", "section", "chunk"))
    index = handbook_kb.searcher().index
    assert set(chunks) == {index.unit(row).id for row in range(index.walk.n_units)}
    assert report.counts == {"concepts": len(concepts), "sections": len(sections), "chunks": len(chunks)}
    for item in (*sections.values(), *chunks.values()):
        place = item["metadata"]
        assert item["content"] == handbook_kb.document(place["doc_uri"]).text[place["start_char"] : place["end_char"]]
    for unit_id, chunk in chunks.items():
        assert unit_id in sections[chunk["parent"]]["children"]
        assert np.array_equal(chunk["embedding"], index.vectors_of(np.array([index.unit_row(unit_id)]))[0])
    for section_id, section in sections.items():
        assert not section["parent"] or section_id in concepts[section["parent"]]["children"]
    for concept in concepts.values():
        spans = concept["metadata"]["spans"]
        said = [handbook_kb.document(s["doc_uri"]).text[s["start_char"] : s["end_char"]] for s in spans]
        assert concept["content"] == "\n".join(said)
    assert client.hget("graphctx:mirror", "snapshot_id").decode() == handbook_kb.snapshot_id


def test_vector_sets_find_the_chunks_that_are_nearest(handbook_kb: KnowledgeBase, client: Any, url: str) -> None:
    handbook_kb.export(url, "redis")
    index = handbook_kb.searcher().index
    vector = index.embedder.embed([QUESTION])[0]
    exact = np.argsort(-index.unit_similarity(vector, index.visible_rows), kind="stable")[:5].tolist()
    blob = vector.astype("<f4").tobytes()
    found = client.execute_command("VSIM", "chunk_index", "FP32", blob, "COUNT", 5, "TRUTH")
    assert [one.decode() for one in found] == [index.unit(row).id for row in exact]
    for level in ("concept", "section"):
        (best,) = client.execute_command("VSIM", f"{level}_index", "FP32", blob, "COUNT", 1)
        assert client.exists(f"{level}:{best.decode()}")


def test_only_what_the_filters_leave_is_mirrored(handbook_kb: KnowledgeBase, client: Any, url: str) -> None:
    handbook_kb.export(url, "redis", path_prefix="people/")
    items = [*held(client, "section").values(), *held(client, "chunk").values()]
    assert items
    spans = [span for one in held(client, "concept").values() for span in one["metadata"]["spans"]]
    assert all(place["doc_uri"].startswith("people/") for place in [*(one["metadata"] for one in items), *spans])


def test_a_mirror_is_replaced_whole_if_that_is_asked_for_and_other_keys_stay(
    handbook_kb: KnowledgeBase, client: Any, url: str
) -> None:
    others = ["chunk:of-another-program", "section:s_1", f"chunk:u_{'a' * 17}", f"concept:s_{'a' * 16}"]
    client.set(others[0], "stays")
    for key in others[1:]:
        client.hset(key, "content", "stays")
    handbook_kb.export(url, "redis")
    with pytest.raises(InvalidArgument, match="--force"):
        handbook_kb.export(url, "redis")
    report = handbook_kb.export(url, "redis", path_prefix="people/", replace=True)
    assert client.delete(*others) == len(others)
    assert len(held(client, "chunk")) == report.counts["chunks"] == client.execute_command("VCARD", "chunk_index")


@pytest.mark.parametrize("key", ["section_index", f"chunk:u_{'a' * 16}"])
def test_keys_of_its_names_that_no_mirror_accounts_for_are_replaced_only_if_that_is_asked_for(
    handbook_kb: KnowledgeBase, client: Any, url: str, key: str
) -> None:
    client.hset(key, "content", "of another program")
    with pytest.raises(InvalidArgument, match=rf"holds {key}, .*--force"):
        handbook_kb.export(url, "redis")
    assert client.keys() == [key.encode()]
    handbook_kb.export(url, "redis", path_prefix="people/", replace=True)
    assert client.hget("graphctx:mirror", "complete") == b"1"


def test_a_mirror_whose_writing_was_interrupted_is_written_anew(
    handbook_kb: KnowledgeBase, client: Any, url: str
) -> None:
    def interrupt(*_: Any) -> None:
        assert client.hget("graphctx:mirror", "complete") == b"0"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        handbook_kb.export(url, "redis", on_progress=interrupt)
    report = handbook_kb.export(url, "redis", path_prefix="people/")
    assert len(held(client, "chunk")) == report.counts["chunks"]


def test_a_redis_that_cannot_be_used_is_named_with_the_reason(handbook_kb: KnowledgeBase) -> None:
    with redis_of_version_7() as address, pytest.raises(BackendUnavailable, match=r"has version 7\.0\.15.*vector sets"):
        handbook_kb.export(f"redis://user:hush-hush@{address}/0", "redis")
    with pytest.raises(BackendUnavailable, match="cannot be used") as caught:
        handbook_kb.export("redis://user:hush-hush@127.0.0.1:1/0", "redis")
    assert "hush" not in caught.value.message
    with pytest.raises(InvalidArgument, match="redis://"):
        handbook_kb.export("mirror.html", "redis")
