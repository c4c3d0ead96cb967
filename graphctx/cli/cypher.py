"""``graphctx cypher``: ask the graph itself."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from graphctx.cli.options import DEFAULT_KB, JsonOption, KbOption
from graphctx.errors import InvalidArgument


def cypher(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="One statement that reads.")],
    kb: KbOption = DEFAULT_KB,
    param: Annotated[
        list[str],
        typer.Option("--param", metavar="NAME=VALUE", help="A value for $NAME, as JSON or as text; may be repeated."),
    ] = [],  # noqa: B006 - typer copies the default
    max_rows: Annotated[int, typer.Option("--max-rows", metavar="N", min=1, help="Print at most N rows.")] = 100,
    timeout: Annotated[
        float | None, typer.Option("--timeout", metavar="SECONDS", min=0.001, help="Stop the query after this time.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run a Cypher statement that reads the graph.

    'CALL show_tables() RETURN *' lists the tables of nodes and relations, and "CALL table_info('Entity') RETURN *" the
    properties of one. The JSON object has columns, rows and truncated.
    """
    from graphctx.cli.console import errors_console, print_json, print_table
    from graphctx.knowledge_base import KnowledgeBase

    with KnowledgeBase.open(kb) as base:
        limit = None if timeout is None else max(1, int(timeout * 1000))
        result = base.cypher(query, dict(map(_parameter, param)), timeout_ms=limit, max_rows=max_rows)
    if as_json:
        rows = [list(row) for row in result.rows]
        print_json({"columns": list(result.columns), "rows": rows, "truncated": result.truncated})
        return
    print_table(result.columns, ([_cell(value) for value in row] for row in result.rows))
    more = f"{len(result.rows):,} rows" + (", cut; see --max-rows" if result.truncated else "")
    errors_console().print(more, style="dim")


def _parameter(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise InvalidArgument(f"--param is {text!r}; write it as NAME=VALUE.", field="param", value=text)
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)
