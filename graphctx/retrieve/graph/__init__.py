"""The graph tools: nodes, what is around them, the paths between them, and communities, within a scope.

``explorer`` has one method for each tool. ``resolve`` finds the nodes that a request names; ``traverse`` expands and
finds paths over ``edges``; ``sections`` walks the outline; ``communities`` and ``community_nodes`` describe
communities; ``nodes`` makes nodes and relations of answers. All of them read a ``view``: the ``tables`` of a snapshot,
whose ``columns`` are read once, within a scope.
"""

from __future__ import annotations

from graphctx.retrieve.graph.explorer import GraphExplorer

__all__ = ["GraphExplorer"]
