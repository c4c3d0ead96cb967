"""The page: one HTML file that needs no other file and opens no connection.

It draws with the map and the colours of the web page. Its policy forbids every connection, and every script and style
but its own, by their hashes. Texts and names of
documents are in it as JSON only, from which the page makes text nodes: no text of a document is ever markup.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any, BinaryIO

from graphctx.export.options import ExportOptions, OnProgress
from graphctx.export.page_data import page_data
from graphctx.retrieve.graph.view import GraphView
from graphctx.version import __version__

_ASSETS = Path(__file__).parent / "assets"
_SHARED = Path(__file__).parents[1] / "ui" / "static"
_STYLES = (_SHARED / "shared.css", _ASSETS / "page.css")
_MODULES = (_SHARED / "vendor" / "map.js", _SHARED / "lib" / "tones.js", _SHARED / "lib" / "circles.js")
"""Modules of the web page that the exported page has too, each after those that it imports."""
_SCRIPTS = tuple(_ASSETS / name for name in ("model.js", "panel.js", "main.js"))

_POLICY = (
    "default-src 'none'; script-src {scripts}; style-src {style}; img-src data:; base-uri 'none'; form-action 'none'"
)

_UNSAFE = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
"""Escapes for JSON in a script: characters that end the script, begin a comment, or end a line."""

_EXPORTS = re.compile(r"export ?\{([^{}]*)\};?\n?\Z")
_EXPORT = re.compile(r"^export (?=const |function )", re.M)
_IMPORT = re.compile(r"^import [^;\n]*;\n", re.M)


def write_page(
    view: GraphView, project_id: str, options: ExportOptions, file: BinaryIO, on_progress: OnProgress
) -> tuple[dict[str, int], list[str]]:
    """Write the page, whose title is the project, as UTF-8.

    Returns:
        The counts of the page's content, and a sentence for each limit that left something out.
    """
    content = page_data(view, project_id, options, on_progress)
    file.write(page(content.data).encode())
    return content.counts, content.left_out


def page(data: dict[str, Any]) -> str:
    """Return the page for the data of `graphctx.export.page_data`."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    style = "".join(path.read_text("utf-8") for path in _STYLES)
    parts = [*map(_inlined, _MODULES), *(path.read_text("utf-8") for path in _SCRIPTS)]
    script = "(() => {\n" + '"use strict";\n' + "\n".join(parts) + "})();\n"
    policy = _POLICY.format(scripts=_hash(script), style=_hash(style))
    templates = Environment(loader=FileSystemLoader(_ASSETS), autoescape=True, undefined=StrictUndefined)
    return templates.get_template("page.html.j2").render(
        title=data["project"],
        version=__version__,
        policy=policy,
        style=style,
        script=script,
        data=embedded(data),
    )


def embedded(data: dict[str, Any]) -> str:
    """Return JSON that is safe in a ``<script>`` element, whatever its strings hold."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).translate(_UNSAFE)


def _inlined(path: Path) -> str:
    """Return a module as a part of one script: its imports are already there, and its exports are plain names.

    A bundle, which ends with the list of its exports, keeps its other names to itself.
    """
    text = path.read_text("utf-8")
    if listed := _EXPORTS.search(text):
        names = [name.split(" as ") for name in listed[1].split(",")]
        exported = ", ".join(f"{public.strip()}: {own.strip()}" for own, public in names)
        public_names = ", ".join(public.strip() for _, public in names)
        return f"const {{ {public_names} }} = (() => {{\n{text[: listed.start()]}\nreturn {{ {exported} }};\n}})();\n"
    return _EXPORT.sub("", _IMPORT.sub("", text))


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
