"""A tool that waits, for tests of calls that take long."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import Field

from graphctx.errors import TimedOut
from graphctx.model.answers import Answer
from graphctx.model.interrupt import checkpoint
from graphctx.model.requests import Request
from graphctx.server.call_context import CallContext
from graphctx.server.tool import Description, Reply, Tool
from graphctx.server.tools import TOOLSETS

NAME = "kb.wait"
HANG = 60
"""Seconds after which a test counts as hanging."""


class WaitInput(Request):
    deaf: bool = Field(False, description="Look for nothing but the release.")


class Waited(Answer):
    done: bool


class Waiting:
    """A tool whose calls go on until they are released or, unless they are deaf, stopped."""

    def __init__(self) -> None:
        self.began, self.stopped, self.released = threading.Event(), threading.Event(), threading.Event()

    def run(self, context: CallContext, request: WaitInput) -> Reply[Waited]:
        self.began.set()
        try:
            while not self.released.wait(HANG if request.deaf else 0.005):
                checkpoint()
        except TimedOut:
            self.stopped.set()
            raise
        return Reply(Waited(done=True), "done")

    @contextmanager
    def offered(self) -> Iterator[Waiting]:
        """Offer the tool beside the others; release its calls in the end."""
        text = Description("a test waits.", "none does.", "one word.", "wait again.")
        tool = Tool(NAME, "kb", "Wait", text, WaitInput, Waited, self.run)
        before = TOOLSETS["kb"]
        TOOLSETS["kb"] = (*before, tool)
        try:
            yield self
        finally:
            self.released.set()
            TOOLSETS["kb"] = before
