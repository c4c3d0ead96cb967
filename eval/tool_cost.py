"""Print what the tools cost a model: the list that it reads before its first question, and an answer of six quotes.

python -m eval.tool_cost             # ingests the sample handbook, if need be, into .kb/transcript
python -m eval.tool_cost --kb DIR    # asks another knowledge base the same questions
python -m eval.tool_cost --tools     # also each tool by itself
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
from pathlib import Path
from typing import Any

import anyio
from mcp import Client

from graphctx import KnowledgeBase
from graphctx.model.budgets import weigh
from graphctx.nlp.tokens import AnswerCounter
from graphctx.server.app import build_server
from graphctx.server.config import ServerConfig, Toolset
from graphctx.server.warmup import OpenKnowledgeBase, Warmup

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "eval" / "golden" / "handbook.jsonl"
HANDBOOK = ROOT / "eval" / "corpora" / "handbook"
FORMS: dict[str, tuple[Toolset, ...]] = {
    "core": ("core",),
    "core,kb,graph": ("core", "kb", "graph"),
    "kb,graph": ("kb", "graph"),
}

_COUNT = AnswerCounter().count


PASSING = re.compile(r"\b(p|x|sn)_[a-z2-7]{16}\b")
"""Ids that differ from session to session, and the snapshot's, which differs from version to version."""

_MIDDLING = "y3zku4i7nh32hsrp"
"""Stands for each of them while it is weighed; 12 tokens with its letter, the mean of 3,000 random ones."""


def tokens(value: Any) -> int:
    """Return the tokens of a value as it is sent: JSON without white space, or a text as it is."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return weigh([PASSING.sub(rf"\1_{_MIDDLING}", text)], _COUNT).tokens


async def list_costs(kb: KnowledgeBase, config: ServerConfig) -> dict[str, tuple[int, int]]:
    """Return of each listed tool the tokens of name, description and input schema, and those of everything listed."""
    async with _client(kb, config) as client:
        listed = [
            tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in (await client.list_tools()).tools
        ]
    shown = ("name", "description", "inputSchema")
    return {tool["name"]: (tokens({key: tool[key] for key in shown}), tokens(tool)) for tool in listed}


async def answer_costs(kb: KnowledgeBase, config: ServerConfig, questions: list[str]) -> list[tuple[int, int]]:
    """Return the tokens of structured content and of text of each answer that has six quotes."""
    costs = []
    async with _client(kb, config) as client:
        await client.list_tools()
        for question in questions:
            result = await client.call_tool("kb_retrieve_evidence", {"question": question})
            structure: dict[str, Any] = result.structured_content or {}
            if len(structure["quotes"]) == 6:
                costs.append((tokens(structure), tokens(getattr(result.content[0], "text", ""))))
    return costs


def table(kb: KnowledgeBase, questions: list[str]) -> str:
    """Return the costs as a table of Markdown."""
    lines = [
        "| `--toolsets` | tools | name, description, input | everything listed | an answer as structure (90 %, most) "
        "| as text |",
        "|---|---|---|---|---|---|",
    ]
    for name, toolsets in FORMS.items():
        config = ServerConfig(toolsets=toolsets)
        listed = anyio.run(list_costs, kb, config)
        shown, whole = (sum(column) for column in zip(*listed.values(), strict=True))
        structures, texts = (
            sorted(column) for column in zip(*anyio.run(answer_costs, kb, config, questions), strict=True)
        )
        structure = (
            f"{statistics.median(structures):.0f} ({statistics.quantiles(structures, n=10)[-1]:.0f}, {structures[-1]})"
        )
        lines.append(
            f"| `{name}` | {len(listed)} | {shown:,} | {whole:,} | {structure} | {statistics.median(texts):.0f} |"
        )
    return "\n".join(lines)


def golden_questions() -> list[str]:
    """Return the golden questions about the handbook."""
    return [json.loads(line)["question"] for line in GOLDEN.read_text(encoding="utf-8").splitlines()]


def _client(kb: KnowledgeBase, config: ServerConfig) -> Client:
    return Client(
        build_server(Warmup(lambda: OpenKnowledgeBase(kb.searcher, kb.warm, kb.tokens.count, kb.layers)), config)
    )


def main() -> None:
    """Print the costs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", type=Path, help="a knowledge base to ask instead of the handbook's")
    parser.add_argument("--tools", action="store_true", help="print each tool of the default list by itself")
    options = parser.parse_args()
    with KnowledgeBase.open(options.kb or ROOT / ".kb" / "transcript", create=not options.kb) as kb:
        if not options.kb:
            kb.ingest(HANDBOOK)
        print(table(kb, golden_questions()))
        if options.tools:
            for name, (shown, whole) in anyio.run(list_costs, kb, ServerConfig()).items():
                print(f"{name}: {shown} of name, description and input, {whole} of everything")


if __name__ == "__main__":
    main()
