"""The directives of Docutils and Sphinx, in reStructuredText and in MyST Markdown: what becomes of their bodies."""

from __future__ import annotations

from typing import Literal, cast

DirectiveRole = Literal["code", "table", "text", "container", "skip"]

_ROLES = {
    name: role
    for role, names in {
        "code": "code code-block sourcecode parsed-literal math doctest testcode testoutput productionlist prompt "
        "ipython",
        "table": "table csv-table list-table flat-table",
        "text": "note warning tip important hint caution danger attention error seealso todo admonition versionadded "
        "versionchanged deprecated topic sidebar rubric epigraph highlights pull-quote compound centered",
        "container": "container only glossary figure hlist tab tabs tab-set tab-item dropdown card grid class-desc",
        "skip": "toctree contents image include literalinclude raw meta index currentmodule module highlight "
        "default-role role replace unicode date sectnum section-numbering header footer title tags target-notes "
        "tabularcolumns graphviz digraph graph automodule autoclass autofunction automethod autosummary plot "
        "sectionauthor codeauthor testsetup testcleanup restructuredtext-test-directive cssclass rst-class",
    }.items()
    for name in names.split()
}


def role_of(name: str) -> DirectiveRole | None:
    """Return what becomes of the body of a directive; ``None`` for one that is not known.

    That of ``text`` and ``container`` is text, but of a container the argument is not. In reStructuredText a directive
    that is not known documents its argument.

    >>> role_of("warning"), role_of("py:function")
    ('text', None)
    """
    return cast("DirectiveRole | None", _ROLES.get(name.lower().rpartition(":")[2]))
