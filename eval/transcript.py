"""Write ``docs/transcript.md``: what a client and the server really say to each other, and what that costs.

Starts the server over stdio as an editor would, asks it questions about the sample handbook, and weighs every answer
to the golden questions. Random ids are replaced by fixed ones.

    python eval/transcript.py            # writes docs/transcript.md
    python eval/transcript.py --print    # prints the page instead
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from graphctx import KnowledgeBase
from graphctx.model.budgets import weigh
from graphctx.nlp.tokens import WordPieceCounter

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "transcript.md"
GOLDEN = ROOT / "eval" / "golden" / "handbook.jsonl"
HANDBOOK = ROOT / "eval" / "corpora" / "handbook"

ONE_CALL = "How often does a freshly built data logger fail its cold test?"
TWO_CALLS = "What do I type to put Choirboy back on its previous firmware?"

_RANDOM = re.compile(r"\b([px])_[A-Za-z0-9_-]{11,16}\b")


def main() -> None:
    """Make the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--print", action="store_true", help="print the page instead of writing it")
    parser.add_argument("--kb", type=Path, default=ROOT / ".kb" / "transcript", help="where the handbook is ingested")
    options = parser.parse_args()
    with KnowledgeBase.open(options.kb, create=True, project_id="handbook") as base:
        base.ingest(HANDBOOK)
    page = anyio.run(_page, options.kb)
    if options.print:
        sys.stdout.write(page)
    else:
        PAGE.write_text(page, encoding="utf-8")


async def _page(kb: Path) -> str:
    server = StdioServerParameters(command=sys.executable, args=["-m", "graphctx.cli", "serve", "--kb", str(kb)])
    async with Client(stdio_client(server)) as client:
        first = await _asked(client, "kb.retrieve_evidence", {"question": ONE_CALL})
        second = await _asked(client, "kb.retrieve_evidence", {"question": TWO_CALLS, "max_quotes": 3})
        passage = second["structure"]["quotes"][0]["passage_id"]
        third = await _asked(client, "kb.expand_excerpt", {"passage_id": passage, "after_tokens": 100})
        asked = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
        costs = [await _asked(client, "kb.retrieve_evidence", {"question": row["question"]}) for row in asked]
    return (
        "\n\n".join(
            [
                "# A transcript",
                "<!-- Made by `make transcript` from a real session. Do not edit. -->",
                "A client asks the server of the sample handbook over stdio. A host hands its model either the text of "
                "an answer or its structured content, so each stands alone; both are weighed here as budgets are "
                "([how](decisions/0016-what-an-answer-weighs.md)). Random ids are replaced.",
                "## A question, one call",
                _shown(first, structure=True),
                "## A question, and reading on",
                _shown(second),
                _shown(third),
                "## What an answer costs",
                f"`kb.retrieve_evidence` with its defaults, all {len(costs)} questions of the golden set:",
                _costs(costs),
            ]
        )
        + "\n"
    )


async def _asked(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    text = "\n".join(getattr(item, "text", "") for item in result.content)
    return {"tool": tool, "arguments": arguments, "text": text, "structure": result.structured_content}


def _weights(call: dict[str, Any]) -> tuple[int, int]:
    """Tokens of the text and of the structured content."""
    minified = json.dumps(call["structure"], ensure_ascii=False, separators=(",", ":"))
    return weigh([call["text"]], _COUNT).tokens, weigh([minified], _COUNT).tokens


def _shown(call: dict[str, Any], *, structure: bool = False) -> str:
    text, structured = _weights(call)
    arguments = json.dumps(call["arguments"], ensure_ascii=False)
    parts = [
        f"**Call** `{call['tool']}` `{_steady(arguments)}`",
        f"**Text** ({text} tokens)",
        _fenced(_steady(call["text"]), "text"),
    ]
    if structure:
        content = json.dumps(call["structure"], ensure_ascii=False, indent=1)
        parts += [f"**Structured content** ({structured} tokens, minified)", _fenced(_steady(content), "json")]
    else:
        parts.append(f"Structured content: {structured} tokens.")
    return "\n\n".join(parts)


def _costs(calls: list[dict[str, Any]]) -> str:
    weights = [_weights(call) for call in calls]
    rows = {
        "text": [text for text, _ in weights],
        "structured content": [structured for _, structured in weights],
        "both": [sum(pair) for pair in weights],
    }
    lines = ["| tokens | median | 90 % | most |", "|---|---|---|---|"]
    for name, values in rows.items():
        tenths = statistics.quantiles(values, n=10)
        lines.append(f"| {name} | {statistics.median(values):.0f} | {tenths[-1]:.0f} | {max(values)} |")
    return "\n".join(lines)


def _fenced(text: str, language: str) -> str:
    fence = "`" * max(3, max((len(run) for run in re.findall(r"`+", text)), default=0) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _steady(text: str) -> str:
    """The text with the n-th random id of a kind called ``p_000n``, the same one always the same."""
    names: dict[str, str] = {}
    return _RANDOM.sub(lambda match: names.setdefault(match[0], f"{match[1]}_{len(names) + 1:04}"), text)


_COUNT = WordPieceCounter().count

if __name__ == "__main__":
    main()
