"""One line of standard input: a message of JSON-RPC, or the error that answers what is none."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?$)|[\[\]{}]', re.DOTALL)
"""A string, up to the end of the text where it is not closed, or a bracket."""
_VALUE = re.compile(r'\s*+:\s*+("(?:[^"\\]|\\.)*+"|[^\s,}\]"]++)', re.DOTALL)
_INTEGER = re.compile(r"-?\d{1,19}")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A line that is no message.

    Attributes:
        why: what is wrong with it, without anything that it holds.
        answer: the error to send; ``None`` for a notification, which nobody answers.
    """

    why: str
    answer: JSONRPCError | None


def message_of(line: bytes) -> JSONRPCMessage | Refusal:
    """Read one line.

    Args:
        line: UTF-8, as it was received.

    Returns:
        The message, or why there is none: JSON that cannot be read (a lone surrogate, more than 200 levels, bytes
        that are not UTF-8), something other than a message, or parameters that are no object. The error carries the
        request's id wherever the line shows one.
    """
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as error:
        return _refused(line, error)
    if isinstance(message, JSONRPCNotification) and _raw_id(line.decode()) is not None:
        return _refusal(INVALID_REQUEST, "Invalid request: id must be a string or an integer", None)
    return message


def _refused(line: bytes, error: ValidationError) -> Refusal:
    faults = error.errors(include_url=False, include_input=False)
    text = line.decode("utf-8", "replace")
    raw = _raw_id(text)
    request_id = _id_of(raw)
    if faults[0]["type"] == "json_invalid":
        why = faults[0]["msg"].removeprefix("Invalid JSON: ")
        return _refusal(PARSE_ERROR, f"Parse error: {why}", request_id)
    where = {fault["loc"] for fault in faults}
    if {loc for loc in where if loc[0] == "JSONRPCNotification"} == {("JSONRPCNotification", "params")}:
        why = "Invalid params: params must be an object"
        if raw is None:
            return Refusal(f"{why} (notification)", None)
        return _refusal(INVALID_PARAMS, why, request_id)
    return _refusal(INVALID_REQUEST, "Invalid request: not a JSON-RPC 2.0 message", request_id)


def _refusal(code: int, why: str, request_id: int | str | None) -> Refusal:
    return Refusal(why, JSONRPCError(jsonrpc="2.0", id=request_id, error=ErrorData(code=code, message=why)))


def _raw_id(text: str) -> str | None:
    """The value of the outermost object's ``id`` as it is written, even where the whole cannot be read."""
    depth = 0
    for token in _TOKEN.finditer(text):
        if token[0] in ("{", "["):
            depth += 1
        elif token[0] in ("}", "]"):
            depth -= 1
        elif depth == 1 and token[0] == '"id"' and (found := _VALUE.match(text, token.end())):
            return found[1]
    return None


def _id_of(raw: str | None) -> int | str | None:
    """The id, if it is one that a request may have and an answer can carry."""
    if raw is None:
        return None
    if _INTEGER.fullmatch(raw):
        return int(raw)
    try:
        named = json.loads(raw)
        named.encode()
    except (ValueError, AttributeError):  # no JSON, a lone surrogate, no string
        return None
    return str(named)
