"""Layers of AGENTS.db beside the documents: found, quoted and written in the terms of the tools.

``source`` has `LayerSource`, the layers of one folder as tools, façade and answers use them; ``chunks`` shows chunks,
their marks and their conflicts, each bounded.
"""
