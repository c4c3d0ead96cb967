"""The page: one HTML file that needs no other file and opens no connection.

Its policy forbids every connection, and every script and style but its own, by their hashes. Texts and names of
documents are in it as JSON only, from which the page makes text nodes: no text of a document is ever markup.
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any, BinaryIO

from graphctx.export.options import ExportOptions, OnProgress
from graphctx.export.page_data import page_data
from graphctx.retrieve.graph.view import GraphView
from graphctx.version import __version__

_ASSETS = Path(__file__).parent / "assets"
_SCRIPTS = ("model.js", "map.js", "panel.js", "main.js")

_POLICY = (
    "default-src 'none'; script-src {scripts}; style-src {style}; img-src data:; base-uri 'none'; form-action 'none'"
)

_UNSAFE = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
"""Escapes for JSON in a script: characters that end the script, begin a comment, or end a line."""


def write_page(
    view: GraphView, project_id: str, options: ExportOptions, file: BinaryIO, on_progress: OnProgress
) -> tuple[dict[str, int], list[str]]:
    """Write the page as UTF-8.

    Args:
        view: the graph within a scope.
        project_id: the title.
        options: the limits.
        file: the file to write to.
        on_progress: called with each step's progress.

    Returns:
        The counts of the page's content, and a sentence for each limit that left something out.
    """
    content = page_data(view, project_id, options, on_progress)
    file.write(page(content.data).encode())
    return content.counts, content.left_out


def page(data: dict[str, Any]) -> str:
    """Return the page for the data of `graphctx.export.page_data`."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    style, library = _asset("page.css"), _asset("d3.min.js")
    script = "(() => {\n" + '"use strict";\n' + "\n".join(_asset(name) for name in _SCRIPTS) + "})();\n"
    policy = _POLICY.format(scripts=f"{_hash(library)} {_hash(script)}", style=_hash(style))
    templates = Environment(loader=FileSystemLoader(_ASSETS), autoescape=True, undefined=StrictUndefined)
    return templates.get_template("page.html.j2").render(
        title=data["project"],
        version=__version__,
        policy=policy,
        style=style,
        library=library,
        script=script,
        data=embedded(data),
    )


def embedded(data: dict[str, Any]) -> str:
    """Return JSON that is safe in a ``<script>`` element, whatever its strings hold."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).translate(_UNSAFE)


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
