"""Servers over HTTP in processes of their own."""

from __future__ import annotations

import socket
import subprocess


def free_port() -> int:
    """Return a port of this machine that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def wait_until_listening(process: subprocess.Popen[str]) -> None:
    """Wait until a server says on standard error that it takes connections."""
    assert process.stderr is not None
    assert any(line.startswith("MCP at") for line in process.stderr), "the server ended"
