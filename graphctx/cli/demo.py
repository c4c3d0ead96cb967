"""``graphctx demo``: a folder in, questions asked by a real MCP client, quotes out. ``make run`` runs it."""

from __future__ import annotations

import hashlib
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphctx.cli.console import output_console
from graphctx.cli.serve import program
from graphctx.errors import BackendUnavailable, InvalidArgument
from graphctx.model.documents import has_file_lines
from graphctx.store.processes import start_process
from graphctx.text.printable import one_line
from graphctx.text.readable import readable

if TYPE_CHECKING:
    from rich.console import Console

    from graphctx.model.answers import EvidenceAnswer

CALL_SECONDS = 60
"""Seconds after which clients commonly give up on a call."""


def demo(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The documents.")],
    kb: Annotated[
        Path | None,
        typer.Option("--kb", metavar="DIR", help="Where to keep the result.", show_default=".kb/NAME-HASH"),
    ] = None,
    question: Annotated[
        list[str], typer.Option("--question", "-q", metavar="QUESTION", help="What to ask; may be repeated.")
    ] = [],
) -> None:
    """Ingest a folder, then ask questions through an MCP client that starts the server, as an editor would."""
    import anyio

    if not question:
        raise InvalidArgument(
            'There is no question to ask: make run DOCS=/some/folder Q="a question".', field="question"
        )
    documents = folder.expanduser()  # not every shell expands ~ in make's DOCS=~/notes
    base = kb or _own_place(documents)
    console = output_console()
    ingest = ["ingest", str(documents), "--kb", str(base)]
    serve = ["serve", "--kb", str(base), "--toolsets", "kb,graph"]  # answers with every field
    _say(console, ingest)
    sys.stdout.flush()
    with start_process([*program(), *ingest]) as process:
        code = process.wait()
    if code:
        raise typer.Exit(code)
    _say(console, serve)
    console.print("(started by an MCP client session over stdio, which calls kb_retrieve_evidence)\n", style="dim")
    anyio.run(_ask_all, console, [*program(), *serve], question)


def _own_place(documents: Path) -> Path:
    """Return the default knowledge base of a folder; two folders with the same name have different ones."""
    place = documents.resolve()
    return Path(".kb", f"{place.name}-{hashlib.sha256(str(place).encode()).hexdigest()[:6]}")


def _say(console: Console, arguments: list[str]) -> None:
    console.print(f"\n$ graphctx {shlex.join(arguments)}", style="bold green")


async def _ask_all(console: Console, command: list[str], questions: list[str]) -> None:
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client

    from graphctx.model.answers import EvidenceAnswer

    parameters = StdioServerParameters(command=command[0], args=command[1:])
    # The server writes to a file descriptor, which a stand-in for sys.stderr may lack.
    errors = sys.__stderr__ or sys.stderr
    async with Client(stdio_client(parameters, errors), read_timeout_seconds=CALL_SECONDS) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        console.print(f"The server offers: {', '.join(tools)}\n")
        for question in questions:
            result = await client.call_tool("kb_retrieve_evidence", {"question": question})
            if result.is_error or not result.structured_content:
                text = "\n".join(getattr(part, "text", "") for part in result.content)
                raise BackendUnavailable(f"The server did not answer {question!r}: {text}", question=question)
            _show(console, question, EvidenceAnswer.model_validate(result.structured_content))


def _show(console: Console, question: str, answer: EvidenceAnswer) -> None:
    console.print(f"Q: {question}", style="bold")
    if not answer.quotes:
        console.print(f"   No evidence: {answer.empty_reason}\n")
    for quote in answer.quotes:
        for line in readable(quote.quote, quote.doc_uri):
            console.print(f"   │ {line}")
        heading = f" › {quote.heading}" if quote.heading else ""
        span = f"characters {quote.start_char}–{quote.end_char}"
        line = f":{quote.line}" if has_file_lines(quote.doc_uri) else ""
        console.print(
            f"   {one_line(quote.title + heading)} — {one_line(quote.doc_uri)}{line} ({span})\n",
            style="dim",
        )
