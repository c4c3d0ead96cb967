"""Layers of AGENTS.db beside the documents: found, quoted, written and told in the terms of the tools.

- ``source``: `LayerSource`, the layers of one folder as tools, façade and answers use them.
- ``spans``: which piece of a chunk is shown. ``told``: chunks, their marks and their conflicts, each bounded.
- ``fuse``: documents and chunks in one ranking.
"""
