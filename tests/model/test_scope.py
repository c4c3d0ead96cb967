"""Scope: one rule of what may be seen, and a boundary that calls can only narrow."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphctx.errors import ScopeViolation
from graphctx.model.requests import Scope
from graphctx.model.scope import Boundary, within

NAMES = st.lists(st.sampled_from(["pub", "pub/sub", "ops", "ops,people", "people"]), max_size=3)
URIS = st.sampled_from(["a.md", "pub/a.md", "pub/sub/a.md", "public/a.md", "ops/b.md", "ops,people/b.md"])


def test_a_slash_at_the_end_of_a_repository_means_nothing() -> None:
    for name in ("pub", "pub/"):
        rule = within(repositories=[name])
        assert rule((), "pub/a.md")
        assert not rule((), "public/a.md")
        assert not rule((), "a.md")
    boundary = Boundary("p", "dev", repositories=("pub/",))
    assert boundary.narrow(Scope(repositories=["pub/"])) == boundary.narrow(Scope(repositories=["pub"]))
    assert boundary.narrow(Scope()).repositories == ["pub"]


def test_a_tag_with_a_comma_is_one_tag() -> None:
    rule = within(doc_tags=["ops,people"])
    assert rule(("ops,people",), "a.md")
    assert not rule(("ops", "people"), "a.md")


@given(own_tags=NAMES, own_folders=NAMES, tags=NAMES, folders=NAMES, has=NAMES, uri=URIS)
def test_nothing_outside_the_boundary_is_ever_seen(
    own_tags: list[str], own_folders: list[str], tags: list[str], folders: list[str], has: list[str], uri: str
) -> None:
    boundary = Boundary("p", "dev", tuple(own_tags), tuple(own_folders))
    try:
        scope = boundary.narrow(Scope(doc_tags=tags, repositories=folders))
    except ScopeViolation:
        return
    if within(scope.doc_tags, scope.repositories)(has, uri):
        assert within(own_tags, own_folders)(has, uri)
        assert within(tags, folders)(has, uri)


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        (Scope(project_id="other"), "project_id"),
        (Scope(environment="prod"), "environment"),
        (Scope(doc_tags=["ops", "secret"]), "doc_tags"),
        (Scope(repositories=["public"]), "repositories"),
    ],
)
def test_what_lies_outside_is_refused_and_what_is_allowed_is_named(asked: Scope, field: str) -> None:
    boundary = Boundary("p", "dev", ("ops", "people"), ("pub",))
    with pytest.raises(ScopeViolation, match=field) as caught:
        boundary.narrow(asked)
    assert caught.value.details["field"] == f"scope.{field}"
    allowed = caught.value.details["allowed"]
    for one in [allowed] if isinstance(allowed, str) else allowed:
        assert one in caught.value.message


def test_a_call_may_narrow_the_boundary() -> None:
    narrowed = Boundary("p", "dev", ("ops", "people"), ("pub",)).narrow(
        Scope(doc_tags=["ops"], repositories=["pub/sub"])
    )
    assert (narrowed.doc_tags, narrowed.repositories) == (["ops"], ["pub/sub"])
