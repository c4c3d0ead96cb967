"""Exploring the graph: nodes, what is around them, and the paths between them, within a scope.

- ``explorer``: ``GraphExplorer``, one method for each graph tool; ``resolve`` and ``lookup`` find what a request names,
  ``tree``, ``expand``, ``paths`` and ``sections`` find what it asks for; ``nodes``, ``relations`` and ``snippets`` say
  it.
- ``view``: what one request may see; ``edges`` and ``related`` lead from node to node in it, ``names`` tells what it
  calls an entity.
- ``tables``, ``columns``, ``mentions``: what is read of a snapshot, once.
"""

from __future__ import annotations

from graphctx.retrieve.graph.explorer import GraphExplorer

__all__ = ["GraphExplorer"]
