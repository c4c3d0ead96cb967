from __future__ import annotations

import json
from typing import get_args

import pytest

from graphctx import errors
from graphctx.errors import ErrorCode, GraphctxError

KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, GraphctxError) and kind is not GraphctxError
]


def test_there_is_one_exception_for_each_code() -> None:
    assert sorted(kind.code for kind in KINDS) == sorted(get_args(ErrorCode))


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_becomes_an_envelope_that_is_json(kind: type[GraphctxError]) -> None:
    error = kind("top_k is 0; give 1 or more.", field="top_k", value=0)
    assert str(error) == error.message
    assert json.loads(json.dumps(error.envelope())) == {
        "error": {
            "code": kind.code,
            "message": "top_k is 0; give 1 or more.",
            "details": {"field": "top_k", "value": 0},
        }
    }
