"""Write ``docs/transcript.md``: what a client and the server really say to each other, and what that costs.

Starts the server over stdio as an editor would, asks it questions about the sample handbook, and weighs every answer
to the golden questions. The page is the same each time: random ids are replaced by fixed ones, of one weight.

    python -m eval.transcript            # writes docs/transcript.md
    python -m eval.transcript --print    # prints the page instead
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from eval.tool_cost import PASSING, golden_questions, table, tokens
from graphctx import KnowledgeBase

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "transcript.md"
GOLDEN = ROOT / "eval" / "golden" / "handbook.jsonl"
HANDBOOK = ROOT / "eval" / "corpora" / "handbook"
SITES = ROOT / "eval" / "answers"
RUNS = {
    name: ROOT / "eval" / "baselines" / f"{file}.jsonl"
    for name, file in (("before", "answers"), ("now", "answers_now"))
}
PER_SITE = 10

ONE_CALL = "How often does a freshly built data logger fail its cold test?"
TWO_CALLS = "What do I type to put Choirboy back on its previous firmware?"
NO_ANSWER = "How do I change the tyre of a bicycle?"
CONNECTED = ("Whistler", "Averil Bay")
ABOUT_THE_WHOLE = "What is done to keep people from getting hurt, afloat and ashore?"


def main() -> None:
    """Make the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--print", action="store_true", help="print the page instead of writing it")
    parser.add_argument("--kb", type=Path, default=ROOT / ".kb" / "transcript", help="where the handbook is ingested")
    options = parser.parse_args()
    with KnowledgeBase.open(options.kb, create=True, project_id="handbook") as base:
        base.ingest(HANDBOOK)
        tool_costs = table(base, golden_questions())
    page = anyio.run(_page, options.kb, tool_costs)
    if options.print:
        sys.stdout.write(page)
    else:
        PAGE.write_text(page, encoding="utf-8")


async def _page(kb: Path, tool_costs: str) -> str:
    golden = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
    answers = {row["question"]: row["answers"][0] for row in golden if row["answers"]}
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "graphctx.cli", "serve", "--kb", str(kb), "--toolsets", "core,graph"]
    )
    async with Client(stdio_client(server)) as client:
        one = await _asked(client, "kb_retrieve_evidence", {"question": ONE_CALL})
        two = await _asked(client, "kb_retrieve_evidence", {"question": TWO_CALLS, "max_quotes": 3})
        best = max(two["structure"]["quotes"], key=lambda quote: quote["confidence"])
        around = {"passage_id": best["section_id"], "before_tokens": 60, "after_tokens": 60}
        more = await _asked(client, "kb_read_excerpt", around)
        silent = await _asked(client, "kb_retrieve_evidence", {"question": NO_ANSWER})
        start, end = CONNECTED
        joined = await _asked(client, "graph_paths", {"start_ids": [start], "end_ids": [end], "max_paths": 2})
        whole = await _asked(client, "kb_global_search", {"question": ABOUT_THE_WHOLE, "points_tokens": 250})
        costs = [await _asked(client, "kb_retrieve_evidence", {"question": row["question"]}) for row in golden]
    parts = [
        "# A transcript",
        "<!-- Made by `make transcript` from a real session. Do not edit. -->",
        "A client asks the server of the [sample handbook](../eval/corpora/handbook) over stdio, which "
        "offers the default tools and, for the question about connections, those of the graph. A host hands its "
        "model either the text of an answer or its structured content, so each stands alone; both are weighed here as "
        "budgets are ([how](decisions/0016-what-an-answer-weighs.md)). Ids of passages, of the session and of the "
        "snapshot differ from session to session, and are replaced.",
        "## A question, one call",
        _shown(one, structure=True),
        _found(one, answers[ONE_CALL]),
        "## A question, and reading on",
        _shown(two),
        _found(two, answers[TWO_CALLS]) + " The second call reads on around the quote with the most confidence.",
        _shown(more),
        _sum([two, more]),
        "## What the documents do not say",
        _shown(silent),
        "## How two things are connected",
        _shown(joined),
        "## A question about the whole",
        _shown(whole),
        "## What the tools cost",
        "Tokens that a model reads before its first question, and those of an answer of six quotes to a golden "
        "question (median, in brackets 90 % and the most), in the default form and in that of the tool contract "
        "([why](decisions/0035-slim-lists-and-answers.md)); `python -m eval.tool_cost` prints it:",
        tool_costs,
        "## What an answer costs",
        f"`kb_retrieve_evidence` with its defaults, all {len(costs)} questions of the golden set, those without an "
        "answer included:",
        _costs(costs),
        "## Questions to documentation sites",
        f"{PER_SITE} questions to each of four sites, with the parts of the answer that the quotes state, how many "
        "quotes there are, and the page of the first. *Before* is the run that the [answer sets]"
        "(../eval/answers/README.md) began with. `make eval-answers` asks all of them; the text of the sites belongs "
        "to their authors and is not repeated here.",
        *_sites(),
    ]
    return _steady("\n\n".join(parts)) + "\n"


def _sites() -> Iterator[str]:
    """Yield a table of what two runs found of each site."""
    runs = {name: {row["id"]: row for row in map(json.loads, path.open())} for name, path in RUNS.items()}
    for path in sorted(SITES.glob("*.jsonl")):
        questions = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        if "points" in questions[0]:
            continue
        yield f"### {path.stem}"
        lines = ["| question | " + " | ".join(runs) + " |", "|---" * (1 + len(runs)) + "|"]
        for question in (questions[at * len(questions) // PER_SITE] for at in range(PER_SITE)):
            cells = (_outcome(run[question["id"]]) for run in runs.values())
            lines.append(f"| {question['question']} | {' | '.join(cells)} |")
        yield "\n".join(lines)


def _outcome(row: dict[str, Any]) -> str:
    if not row["quotes"]:
        return "no quotes"
    given, total = row["parts"].count("given"), len(row["parts"])
    what = f"{given} of {total} parts" if total else f"no answer there; confidence {row['confidence']:.2f}"
    return f"{what}; {len(row['quotes'])} quotes, first {row['quotes'][0][0].rpartition('/')[2]}"


async def _asked(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    text = "\n".join(getattr(item, "text", "") for item in result.content)
    return {"tool": tool, "arguments": arguments, "text": text, "structure": result.structured_content}


def _weights(call: dict[str, Any]) -> tuple[int, int]:
    """Tokens of the text and of the structured content."""
    return tokens(call["text"]), tokens(call["structure"])


def _shown(call: dict[str, Any], *, structure: bool = False) -> str:
    text, structured = _weights(call)
    parts = [
        f"**Call** `{call['tool']}` `{json.dumps(call['arguments'], ensure_ascii=False)}`",
        f"**Text** ({text} tokens; the structured content has {structured})",
        _fenced(call["text"], "text"),
    ]
    if structure:
        content = json.dumps(call["structure"], ensure_ascii=False, indent=1)
        parts += [f"**Structured content** ({structured} tokens without the line breaks)", _fenced(content, "json")]
    return "\n\n".join(parts)


def _found(call: dict[str, Any], answer: str) -> str:
    """Return which quote holds the answer of the golden set."""
    quotes = [quote["quote"] for quote in call["structure"]["quotes"]]
    holding = [str(number) for number, quote in enumerate(quotes, start=1) if answer in quote]
    where = f"is in quote {' and '.join(holding)}" if holding else "is in none of the quotes"
    return f"The answer, “{answer}”, {where}."


def _sum(calls: list[dict[str, Any]]) -> str:
    text, structured = (sum(column) for column in zip(*map(_weights, calls), strict=True))
    return f"Both calls together: {text} tokens of text, {structured} of structured content."


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


def _steady(page: str) -> str:
    """Return the page with its passing ids numbered in the order in which they appear, the same one always the same."""
    names: dict[str, dict[str, str]] = {"p": {}, "x": {}, "sn": {}}

    def named(match: re.Match[str]) -> str:
        of_kind = names[match[1]]
        return of_kind.setdefault(match[0], f"{match[1]}_{len(of_kind) + 1}")

    return PASSING.sub(named, page)


if __name__ == "__main__":
    main()
