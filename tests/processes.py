"""Servers in processes of their own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import Client, StdioServerParameters

from tests.conftest import REPO

COMMAND = [sys.executable, "-m", "graphctx.cli"]


def environment(**extra: str) -> dict[str, str]:
    """Return the environment without graphctx settings of the person who runs the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHCTX_")}
    return {**kept, "PYTHONPATH": str(REPO), "COLUMNS": "100", **extra}


@asynccontextmanager
async def over_pipes(*options: str, mode: str = "auto", cwd: Path | None = None, **extra: str) -> AsyncIterator[Client]:
    """A client of ``graphctx serve`` with some options and settings."""
    from mcp.client.stdio import stdio_client

    parameters = StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], "serve", *options], env=environment(**extra), cwd=cwd
    )
    async with Client(stdio_client(parameters), mode=mode, read_timeout_seconds=120) as client:
        yield client


def free_port() -> int:
    """Return a port of this machine that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def wait_until_listening(process: subprocess.Popen[str]) -> None:
    """Wait until a server says on standard error that it takes connections."""
    assert process.stderr is not None
    assert any(line.startswith("MCP at") for line in process.stderr), "the server ended"
