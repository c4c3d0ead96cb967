"""Exploring the graph: nodes, what is around them, and the paths between them, within a scope.

- ``explorer``: ``GraphExplorer``, one method for each graph tool.
"""

from __future__ import annotations

from graphctx.retrieve.graph.explorer import GraphExplorer

__all__ = ["GraphExplorer"]
