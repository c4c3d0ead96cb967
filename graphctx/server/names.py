"""The two forms of a tool's name, and which of them a client is listed.

``kb.search`` is the tool's name. Several hosts refuse names with a dot, one of them so that every chat fails
while the server is connected, so each tool is also ``kb_search``. **Both forms can always be called.**
Listing:

* ``dotted`` and ``underscore`` list that form to everybody.
* ``auto`` over HTTP lists dotted names: there a list must not depend on who asks.
* ``auto`` on stdio lists underscore names to clients known to refuse dots, by the name that they give
  themselves (in the handshake, or with each request in the era without one), and dotted names to all others.
  A stdio process has one client, so its list never changes. A client that gives no name is listed dotted
  names, as the protocol allows them; a host that refuses them is configured with ``--tool-names underscore``.

A third style is no form of a name but another one: what the answers of the ``compat`` tools call them.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from graphctx.server.config import ServerConfig

NameStyle = Literal["dotted", "underscore", "older"]

_OLDER = {
    "kb.retrieve_evidence": "search_sections",
    "kb.search": "search_sections",
    "kb.extract_evidence": "get_section_text",
    "kb.read_excerpt": "get_section_text",
    "kb.expand_excerpt": "get_section_text",
    "graph.describe": "describe_nodes",
    "graph.expand": "expand_neighbors",
    "graph.paths": "get_paths_between",
    "graph.parents": "list_parents",
    "graph.children": "list_children",
    "graph.entities_for_sections": "get_entities_for_sections",
    "graph.sections_for_entities": "get_sections_for_entities",
}
"""What to call where only the older tools are known; there is none that quotes, so texts are read instead."""

_QUOTED = re.compile(
    r"""(?<!\w)(?:'(?:[^'\\]|\\.){0,500}?(?:'(?!\w)|…)|"(?:[^"\\]|\\.){0,500}?(?:"(?!\w)|…))""", re.DOTALL
)
"""A value as a message shows it: in quotes, or from a quote to where it was cut. An apostrophe opens nothing."""

_REFUSES_DOTS = re.compile(
    r"^claude-ai\b"  # Claude Desktop and claude.ai connectors
    r"|^claude[ -]?desktop"
    r"|^cursor"  # cursor-vscode and the like
    r"|copilot",  # Copilot CLI and its JetBrains plugin; VS Code calls itself Visual Studio Code
    re.IGNORECASE,
)


def name_style(config: ServerConfig, client_name: str | None) -> NameStyle:
    """The form in which tools are listed to a client, and in which texts speak of them."""
    if config.tool_names != "auto":
        return config.tool_names
    if config.transport == "stdio" and client_name and _REFUSES_DOTS.search(client_name):
        return "underscore"
    return "dotted"


def styled(name: str, style: NameStyle) -> str:
    """A dotted tool name in a style: ``kb.search``, ``kb_search`` or ``search_sections``."""
    if style == "older":
        return _OLDER.get(name, name)
    return name if style == "dotted" else name.replace(".", "_")


def restyle(text: str, style: NameStyle) -> str:
    """Our own sentences about tools, with the tools' names in a style. Never for text of a document."""
    said = _tools().sub(lambda match: styled(match[0], style), text)
    # Two tools may have been one before: what was "this or that" is then the same twice.
    return re.sub(r"\b([a-z]+(?:_[a-z]+)+) or \1\b", r"\1", said) if style == "older" else said


def restyle_message(message: str, style: NameStyle) -> str:
    """The message of an error, with tools' names in a style; what it quotes is the caller's, and stays as it is."""
    ours: list[str] = []
    end = 0
    for quoted in _QUOTED.finditer(message):
        ours += [restyle(message[end : quoted.start()], style), quoted[0]]
        end = quoted.end()
    return "".join([*ours, restyle(message[end:], style)])


@cache
def _tools() -> re.Pattern[str]:
    """The names of all tools that there are, as words of their own: not as parts of the name of a file."""
    from graphctx.server.tools import TOOLS  # they are made of what is here

    names = "|".join(re.escape(tool.name) for tool in TOOLS if "." in tool.name)
    return re.compile(rf"(?<![\w./-])(?:{names})(?![\w/-]|\.\w)")
