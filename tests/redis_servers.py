"""Servers of Redis for tests: a real one, and one of a version without vector sets."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from eval.context_cache import RedisServer, redis_server
from graphctx.errors import BackendUnavailable


@contextmanager
def running_redis() -> Iterator[RedisServer]:
    """Run Redis 8; a test is skipped where it does not run."""
    with ExitStack() as stack:
        try:
            server = stack.enter_context(redis_server())
        except BackendUnavailable as error:
            pytest.skip(error.message)
        yield server


class Version7(socketserver.StreamRequestHandler):
    """Answers as much of the protocol as a client sends before it knows the version."""

    def handle(self) -> None:
        info = b"redis_version:7.0.15\r\n"
        while line := self.rfile.readline():
            parts = [self.rfile.readline() and self.rfile.readline().strip() for _ in range(int(line[1:]))]
            known = parts[0].upper() == b"INFO"
            self.wfile.write(b"$%d\r\n%s\r\n" % (len(info), info) if known else b"+OK\r\n")


@contextmanager
def redis_of_version_7() -> Iterator[str]:
    """Run a server that says so, and yield its host and port."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Version7) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
