"""What a Markdown file holds beside Markdown: the directives of site generators."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphctx.text.directives import role_of

MYST_LABEL = re.compile(r"\(([^()\s][^()\n]*+)\)=")
"""What others refer to a heading by, on a line above it: ``(install)=``."""

_FENCE = re.compile(r"\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)*(`{3,}(?=[^`]*$)|~{3,})")
_DIRECTIVE = re.compile(
    r"\s*(?:"
    r"/{3,}(?:\s++.*+)?"  # /// tip | Title
    r"|:{3,}\s*(?:\{?[A-Za-z].*+)?"  # :::warning Title
    r"|\{[*%].*[*%]\}"  # {* include *}, {% tag %}
    r"|\{\{.*\}\}"  # {{#include file}}, {{< shortcode >}}
    rf"|{MYST_LABEL.pattern}"
    r"|\[TOC\]|\[\[_?TOC_?\]\]"
    r"|import\s++(?:[\w*{}\s,$]+\sfrom\s++)?['\"][^'\"]+['\"];?"  # an ES module import
    r")\s*",
    re.IGNORECASE,
)
_API_DIRECTIVE = re.compile(r":::\s+[\w.]+\s*")  # ::: package.module, its options indented below
_ALERT = re.compile(r"(\s*>\s*)\[![A-Z]+\][-+]?.*")  # > [!NOTE]
_MYST = re.compile(r"\s*(?:`{3,}|~{3,}|:{3,})\s*\{([A-Za-z][\w:.+-]*)\}")  # ```{note}, :::{note}
_MYST_OPTION = re.compile(r"\s*:[\w-]+:(?:\s.*)?")
_MAX_OPTIONS = 40  # lines
_ADMONITION = re.compile(r"(?:!!!|\?\?\?\+?|={3})\s+[\"\w].*")  # !!! note, ??? tip, === "Tab"
_BODY_INDENT = 4  # of the body of such an admonition

_MDX_STATEMENT = re.compile(r"(?:import(?:\s+\w|\s*[{*])|export\s+(?:default|const|let|function|async)\b)")
_MDX_COMMENT = ("{/*", "*/}")


def mask(lines: Sequence[str], *, mdx: bool) -> list[str]:
    """Blank out lines that are not Markdown.

    Args:
        lines: the file's lines, without its front matter.
        mdx: whether there may be JavaScript statements between the paragraphs.

    Returns:
        As many lines. The bodies of indented admonitions are moved to the left; nothing else is changed. A fence of
        MyST whose body is text goes, and its body stays.
    """
    masked: list[str] = []
    fence = ""
    hidden = False  # whether the lines of the fence go
    bodies: list[str] = []  # the fences of the MyST directives around the line whose bodies are text
    dedent = 0  # of the admonition around the line
    until = ""  # what the construct that is being skipped ends with: "" outside, "\n" for a blank line
    options = False  # whether indented lines are options of an API directive
    stated = False  # whether options of a MyST directive may follow
    for number, line in enumerate(lines):
        stripped = line.strip()
        if until:
            masked.append("")
            until = "" if (until in stripped if until != "\n" else not stripped) else until
            continue
        if stripped and dedent and not fence:
            indent = len(line) - len(line.lstrip(" "))
            dedent = min(dedent, indent // _BODY_INDENT * _BODY_INDENT)
        line = line[dedent:] if dedent and not line[:dedent].strip() else line
        found = _FENCE.match(line)
        if fence:
            if found and found.group(1).startswith(fence) and not stripped.strip(fence[0]):
                fence = ""
            masked.append("" if hidden else line)
            hidden = hidden and bool(fence)
            continue
        yaml = (
            stated
            and stripped == "---"
            and any(one.strip() == "---" for one in lines[number + 1 : number + 1 + _MAX_OPTIONS])
        )
        if yaml or (stated and _MYST_OPTION.fullmatch(line)):
            until = "---" if yaml else ""
            masked.append("")
            continue
        myst = _MYST.match(line)
        stated = myst is not None
        if options and (not stripped or line[:1].isspace()):
            masked.append("")
            continue
        options = False
        if found and bodies and found.group(1).startswith(bodies[-1]) and not stripped.strip(found.group(1)[0]):
            bodies.pop()
            line = ""
        elif found:
            role = role_of(myst.group(1)) if myst else None
            if role in ("text", "container") or (myst and myst.group(1) == "list-table"):
                bodies.append(found.group(1))
                line = ""
            else:
                fence, hidden = found.group(1), role == "skip"
                line = "" if hidden else line
        elif _API_DIRECTIVE.fullmatch(line):
            options, line = True, ""
        elif _DIRECTIVE.fullmatch(line):
            line = ""
        elif _ADMONITION.fullmatch(line):
            dedent += _BODY_INDENT
            line = ""
        elif (alert := _ALERT.fullmatch(line)) is not None:
            line = alert.group(1)
        elif stripped.startswith(_MDX_COMMENT[0]):
            until = "" if _MDX_COMMENT[1] in stripped else _MDX_COMMENT[1]
            line = ""
        elif mdx and _MDX_STATEMENT.match(line):
            until = "\n" if line.startswith("export") or not stripped.endswith((";", "'", '"')) else ""
            line = ""
        masked.append(line)
    return masked
