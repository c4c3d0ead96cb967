"""Generated files: schemas, the graph's DDL, the tables' columns, and the references in ``docs/``.

``python -m graphctx.cli.reference`` writes them. With ``--check`` it prints those that are not up to date, and exits
with 1 if there are any.
"""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path
from typing import Any

import typer
from pydantic import BaseModel

ROOT = Path(__file__).parents[2]

_TOOLS = "schemas/tools"
_NOTE = "<!-- Made by `make generate` from {}. Do not edit. -->"

Schema = dict[str, Any]


def generated() -> dict[str, str]:
    """Return the generated files but those in ``schemas/tools``: path below the repository's root, and text."""
    from graphctx.cli.job import IngestJob
    from graphctx.ingest.report import IngestReport
    from graphctx.settings import Settings
    from graphctx.store.graph.schema import ddl
    from graphctx.store.manifest import Manifest
    from graphctx.store.status import Status

    models: dict[str, type[BaseModel]] = {
        "ingest-report": IngestReport,
        "job": IngestJob,
        "manifest": Manifest,
        "settings": Settings,
        "status": Status,
    }
    return {
        **{f"schemas/{name}.schema.json": _json(model.model_json_schema()) for name, model in models.items()},
        "docs/reference/commands.md": commands_page(),
        "docs/reference/settings.md": settings_page(),
        "docs/reference/tools.md": tools_page(),
        "schemas/graph.cypher": ddl(),
        "schemas/tables.json": _tables(),
    }


def write(root: Path) -> list[str]:
    """Write all generated files and return the paths of those that changed, below ``root``."""
    from graphctx.server.listing import write_schemas
    from graphctx.server.tools import TOOLS

    stale = check(root)
    texts = generated()
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    write_schemas(root / _TOOLS, TOOLS)
    return stale


def check(root: Path) -> list[str]:
    """Return the generated files below ``root`` that are missing or differ from what `write` would write."""
    from graphctx.server.listing import check_schemas
    from graphctx.server.tools import TOOLS

    stale = [f"{_TOOLS}/{name}" for name in check_schemas(root / _TOOLS, TOOLS)]
    for name, text in generated().items():
        path = root / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
    return sorted(stale)


def _tables() -> str:
    from graphctx.store.manifest import FORMAT_VERSION
    from graphctx.store.schema import TABLES, UNHASHED_COLUMNS

    tables = {
        name: [
            {
                "name": field.name,
                "type": str(field.type),
                "nullable": field.nullable,
                "in_content_hash": field.name not in UNHASHED_COLUMNS.get(name, ()),
            }
            for field in schema
        ]
        for name, schema in TABLES.items()
    }
    return _json({"format_version": FORMAT_VERSION, "tables": tables})


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _table(head: list[str], rows: list[str]) -> str:
    return "\n".join([f"| {' | '.join(head)} |", "|---" * len(head) + "|", *rows])


def commands_page() -> str:
    """Return ``docs/reference/commands.md``, made from the commands themselves."""
    from graphctx.cli.app import app

    root: Any = typer.main.get_command(app)
    parts = [
        f"# Commands\n\n{_NOTE.format('graphctx/cli')}",
        "`--kb` defaults to `$GRAPHCTX_KB`, else `./.graphctx`. Results are on standard output, everything else on "
        "standard error. With `--json`, standard output holds one JSON object, which is the error's envelope if the "
        "command fails.",
        "| exit code | meaning |\n|---|---|\n| 0 | done |\n| 1 | an error, with one of the codes "
        "`INVALID_ARGUMENT`, `SCOPE_VIOLATION`, `BACKEND_UNAVAILABLE`, `TIMEOUT`, `BUDGET_EXCEEDED`, "
        "`INTERNAL_ERROR`; or `doctor` and `status` found a fault |\n| 2 | bad usage |\n| 130 | stopped by Ctrl-C |",
        "`GRAPHCTX_DEBUG=1` shows the traceback of an error, `GRAPHCTX_LOG=info` the server's log.",
    ]
    parts += [_command_section(path, command) for path, command in visible_commands(root, "graphctx")]
    return "\n\n".join(parts) + "\n"


def visible_commands(command: Any, path: str) -> list[tuple[str, Any]]:
    """Return every command that is not hidden and not a group, with its words."""
    inner = getattr(command, "commands", None)
    if inner is None:
        return [(path, command)]
    return [
        found
        for name, child in inner.items()
        if not child.hidden
        for found in visible_commands(child, f"{path} {name}")
    ]


def _command_section(path: str, command: Any) -> str:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    pieces = command.collect_usage_pieces(command.context_class(command))
    usage = " ".join([path, *(piece for piece in pieces if piece != "[OPTIONS]"), "[OPTIONS]"])
    parts = [f"## {path}", inspect.cleandoc(command.help or ""), f"```\n{usage}\n```"]
    if arguments:
        parts.append("\n".join(f"- `{argument.metavar}`: {argument.help}" for argument in arguments))
    if options:
        rows = [f"| {_option_names(option)} | {_option_default(option)} | {option.help} |" for option in options]
        parts.append(_table(["option", "default", ""], rows))
    return "\n\n".join(parts)


def _option_names(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    return names if option.is_flag else f"{names} {(option.metavar or '').replace('|', chr(92) + '|')}".strip()


def _option_default(option: Any) -> str:
    if isinstance(option.show_default, str):
        return f"`{option.show_default}`"
    if option.is_flag or option.default is None or option.default in ([], ()) or callable(option.default):
        return ""
    return f"`{option.default}`"


def _settings_group(name: str, group: Any) -> list[str]:
    """Return the heading and table of a settings group, and those of the groups in it."""
    variable = name.upper().replace(".", "__")
    rows, inner = [], []
    for key, one in group.model_fields.items():
        if isinstance(one.annotation, type) and issubclass(one.annotation, BaseModel):
            inner += _settings_group(f"{name}.{key}", one.annotation)
        else:
            default = [] if one.default == () else one.default
            rows.append(f"| `{key}` | `GRAPHCTX_{variable}__{key.upper()}` | `{default}` | {one.description} |")
    heading = f"## [{name}]\n\n{inspect.cleandoc(group.__doc__ or '')}"
    return [heading, _table(["name", "environment variable", "default", ""], rows), *inner]


def settings_page() -> str:
    """Return ``docs/reference/settings.md``, made from the settings' models."""
    from graphctx.settings import Settings

    parts = [
        f"# Settings\n\n{_NOTE.format('graphctx/settings.py')}",
        "A value is taken from the first of these that has it: an argument in code or on the command line, the "
        "environment variable, the file `kb.toml` of the knowledge base, the default. In `kb.toml` a group is a "
        "table:",
        "```toml\n[retrieve]\ncandidates = 400\n```",
    ]
    for name, field in Settings.model_fields.items():
        parts += _settings_group(name, field.annotation)
    parts.append(
        "## Elsewhere in kb.toml\n\n"
        "`project_id` is fixed when the knowledge base is created. `[graph] engine` is `kuzu` or `ladybug`; change it "
        "and ingest again. `[embedder] name` is `minilm-int8`, or `st:` with a folder or a model's name "
        "(`graphctx[st]`). `[[sources]]` lists the folders that were ingested."
    )
    return "\n\n".join(parts) + "\n"


_TOOLS_INTRO = """\
Every tool can be called by its name and by the same name with `_` for `.` (`kb_search`). Every answer is there twice, \
as readable text and as structured content, and each of the two is complete. `document.text[start_char:end_char]` is \
the quote, preview, snippet or excerpt beside it. Complete JSON Schemas are in [`schemas/tools`](../../schemas/tools).

The default toolset, `core`, lists six of them: %s.

An argument that is null counts as left out; unknown arguments are refused. A field marked `?` is left out of an \
answer when it is empty."""
_TOOLSETS = {
    "kb": "Evidence and excerpts. Callable by default, and listed with `--toolsets kb`.",
    "graph": "Entities, sections and documents, and how they are related. Callable by default, and listed with "
    "`--toolsets graph`. Nodes are named by id or passage id, documents also by URI, entities also by name; an "
    "ambiguous name gives its candidates in `unresolved`.",
    "compat": "The same under older names and with their defaults, for prompts and clients that were written for them. "
    "Off by default; alone where the flag `kb_v2` is off.",
    "connector": "The two tools that ChatGPT's connectors and deep research look for, in exactly their form. Off by "
    "default.",
    "memory": "What people and agents said and found out, across sessions. Off until asked for: `--memory` or "
    "`--toolsets`. `memory_store` is also `store_facts`.",
    "layers": "Layers of AGENTS.db: chunks that people and agents wrote about a repository. Offered where "
    "`[layers] folder` or `--layers` names their folder. Dots for underscores are accepted too: `agents.search`, "
    "`agents.context.write`, `agents.context.propose`.",
    "iteration": "The context of an orchestrator's iterations ([how](../iterations.md)). Off by default; `--memory` "
    "names the folder.",
    "context": "Sections by level for a question, and texts made shorter ([how](../context.md)), with two resources "
    "and two prompts. Off by default.",
}
_ERRORS = {
    "INVALID_ARGUMENT": "An argument is unknown, of the wrong type or out of range, or names something that does not "
    "exist. `details` has `field`, `value` and `allowed`, and all of them as `problems` where there are several.",
    "SCOPE_VIOLATION": "The scope asks for another project or environment, or for tags or folders outside the "
    "server's; or a passage lies outside the scope.",
    "BACKEND_UNAVAILABLE": "The knowledge base is missing, damaged, locked or of another format.",
    "TIMEOUT": "The call took longer than the server allows.",
    "BUDGET_EXCEEDED": "Not even one item fits into `max_tokens` and `max_bytes`.",
    "INTERNAL_ERROR": "An error of the server; its log has the details.",
}


def tools_page() -> str:
    """Return ``docs/reference/tools.md``, made from the tools' declarations."""
    from graphctx.model.answers import ListAnswer
    from graphctx.model.graph import Snippet
    from graphctx.model.requests import GraphInput
    from graphctx.server.listing import tool_document
    from graphctx.server.schemas import tool_schema
    from graphctx.server.tools import CORE, TOOLSETS

    own = ("include_snippet", "page_size")
    fields = tool_schema(GraphInput, "input")["properties"].items()
    arguments = {name: field for name, field in fields if name not in own}
    answer = tool_schema(ListAnswer, "output")
    core = ", ".join(_link(tool.name) for tool in CORE)
    parts = [f"# Tools\n\n{_NOTE.format('graphctx/server/tools')}", _TOOLS_INTRO % core]
    for toolset, tools in TOOLSETS.items():
        names = ", ".join(_link(tool.name) for tool in tools)
        parts.append(f"**Toolset `{toolset}`.** {_TOOLSETS[toolset]} {names}.")
    parts += [
        "## What tools share",
        "Arguments of most tools:",
        _table(["argument", "type", "default", ""], _argument_rows({"properties": arguments}, [])),
        "Fields of every answer that is a list:",
        _table(["answer", "type", ""], _field_rows(answer, [])),
        "A `snippet`:",
        _table(["answer", "type", ""], _field_rows(tool_schema(Snippet, "output"), [])),
        "## Errors",
        'A failed call gives `{"error": {"code", "message", "details"}}` as text, with `isError` and without '
        "structured content. The message says what was wrong, with which value, and what to do.",
        _table(["code", "when"], [f"| `{code}` | {when} |" for code, when in _ERRORS.items()]),
    ]
    first: dict[type, str] = {}  # the first tool with an output
    for tool in (tool for tools in TOOLSETS.values() for tool in tools):
        same_output = first.setdefault(tool.output, tool.name)
        parts.append(_tool_section(tool_document(tool), arguments, answer["properties"], same_output))
    return "\n\n".join(parts) + "\n"


def _tool_section(tool: Schema, arguments: Schema, fields: Schema, same_output: str) -> str:
    """Describe a tool: its own arguments and fields in full, those of ``arguments`` and ``fields`` by name.

    ``same_output`` is the first tool with the same output; only there its fields are described.
    """
    shared_arguments = _equal(tool["inputSchema"], arguments)
    shared_fields = _equal(tool["outputSchema"], fields)
    parts = [
        f"## {tool['name']}",
        f"{tool['title']}.",
        "\n".join(f"- {line}" for line in tool["description"].split("\n")),
        _table(["argument", "type", "default", ""], _argument_rows(tool["inputSchema"], shared_arguments)),
        _shared("accepts", shared_arguments),
    ]
    if same_output == tool["name"]:
        parts.append(_table(["answer", "type", ""], _field_rows(tool["outputSchema"], shared_fields)))
        parts.append(_shared("returns", shared_fields))
    else:
        every_field = ", ".join(f"`{name}`" for name in tool["outputSchema"]["properties"])
        parts.append(f"It answers as {_link(same_output)} does: {every_field}.")
    return "\n\n".join(part for part in parts if part)


def _equal(schema: Schema, known: Schema) -> list[str]:
    """Return the names of the properties that are equal to those known."""
    return [name for name, field in schema["properties"].items() if known.get(name) == field]


def _link(tool: str) -> str:
    """Return a tool's name as a link to its section; viewers drop the dots of a heading in its anchor."""
    return f"[`{tool}`](#{tool.replace('.', '')})"


def _shared(verb: str, names: list[str]) -> str:
    listed = ", ".join(f"`{name}`" for name in names)
    return f"It also {verb} [what tools share](#what-tools-share): {listed}." if names else ""


def _argument_rows(schema: Schema, left_out: list[str], prefix: str = "") -> list[str]:
    rows = []
    required = schema.get("required", [])
    for name, field in schema["properties"].items():
        if name in left_out:
            continue
        if field.get("properties"):
            rows += _argument_rows(field, [], f"{prefix}{name}.")
            continue
        default = "required" if name in required else f"`{_value(field['default'])}`" if "default" in field else ""
        rows.append(f"| `{prefix}{name}` | {_type(field)} | {default} | {field.get('description', '')} |")
    return rows


def _field_rows(schema: Schema, left_out: list[str], prefix: str = "") -> list[str]:
    """Return a row for each field of an answer and of its items; ``?`` marks those left out when they are empty."""
    rows = []
    for name, field in schema["properties"].items():
        if name in left_out:
            continue
        mark = "" if name in schema.get("required", [name]) else "?"
        rows.append(f"| `{prefix}{name}`{mark} | {_type(field)} | {field.get('description', '')} |")
        inner, step = (field["items"], "[].") if "items" in field else (field, ".")
        if "properties" in inner and name != "snippet":
            rows += _field_rows(inner, [], f"{prefix}{name}{step}")
    return rows


def _type(field: Schema) -> str:
    if "enum" in field:
        return " \\| ".join(f"`{_value(value)}`" for value in field["enum"])
    if "items" in field:
        limit = f", at most {field['maxItems']}" if "maxItems" in field else ""
        return f"list of {_type(field['items'])}{limit}"
    types = field.get("type", "any")
    text = " or ".join(types) if isinstance(types, list) else str(types)
    bounds = [str(field[key]) for key in ("minimum", "maximum") if key in field]
    return f"{text} {'–'.join(bounds)}" if len(bounds) == 2 else text


def _value(value: object) -> str:
    """Return a value as in JSON, but a string without quotes."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        stale = check(ROOT)
        for name in stale:
            print(f"{name} is not up to date: run `make generate`", file=sys.stderr)
        sys.exit(1 if stale else 0)
    for name in write(ROOT):
        print(name)
