"""Calls of the page's JSON interface without a browser."""

from __future__ import annotations

from typing import Any

import httpx2


def post(url: str, path: str, body: object, **headers: str) -> httpx2.Response:
    """Call an operation at the address of a page, with its token."""
    base, _, token = url.partition("/#token=")
    sent = {"Authorization": f"Bearer {token}", **headers}
    return httpx2.post(f"{base}/api/{path}", json=body, headers=sent, timeout=60)


def called(url: str, path: str, **body: Any) -> dict[str, Any]:
    """Return the answer of an operation that succeeds."""
    response = post(url, path, body)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer
