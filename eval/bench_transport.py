"""Measure calls over HTTP beside the same calls over stdio, and print their ratio.

``python -m eval.bench_transport [KB] [--rounds N]``. Both servers are processes of their own on this machine, and take
turns call by call; times are medians of one run, so compare ratios, not milliseconds.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

CALLS: dict[str, dict[str, Any]] = {
    "graph.describe": {"node_ids": ["handbook"]},
    "kb.search": {"query": "Who is on duty?"},
    "kb.retrieve_evidence": {"question": "Who is on duty?"},
}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m eval.bench_transport", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kb", nargs="?", default=".graphctx", help="the knowledge base; default: .graphctx")
    parser.add_argument("--rounds", type=int, default=20, help="calls of each kind; default: 20")
    arguments = parser.parse_args()
    print("| call | stdio ms | HTTP ms | HTTP / stdio |\n|---|--:|--:|--:|")
    for call, near, far in asyncio.run(measured(Path(arguments.kb), arguments.rounds)):
        print(f"| {call} | {near:.1f} | {far:.1f} | {far / near:.2f} |")


async def measured(kb: Path, rounds: int) -> list[tuple[str, float, float]]:
    """The median milliseconds of each call, over stdio and over HTTP."""
    rows = []
    async with AsyncExitStack() as stack:
        command = [sys.executable, "-m", "graphctx.cli", "serve", "--kb", str(kb)]
        parameters = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
        near = await stack.enter_async_context(Client(stdio_client(parameters), read_timeout_seconds=120))
        url = await stack.enter_async_context(_served(command))
        far = await stack.enter_async_context(Client(url, read_timeout_seconds=120))
        for call, arguments in CALLS.items():
            taken: list[tuple[Client, list[float]]] = [(near, []), (far, [])]
            for _ in range(rounds + 1):
                for client, times in taken:
                    start = time.perf_counter()
                    await client.call_tool(call, arguments)
                    times.append((time.perf_counter() - start) * 1000)
            stdio, http = (statistics.median(times[1:]) for _, times in taken)  # the first warms up
            rows.append((call, stdio, http))
    return rows


@asynccontextmanager
async def _served(command: list[str]) -> AsyncIterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
    process = subprocess.Popen(
        [*command, "--transport", "http", "--port", str(port)], stderr=subprocess.PIPE, env=os.environ
    )
    try:
        assert process.stderr is not None
        process.stderr.readline()  # it listens
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
