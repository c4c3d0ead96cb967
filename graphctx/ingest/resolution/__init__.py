"""The rungs of the resolution ladder, strongest first; ``graphctx.ingest.resolve`` applies them in order.

``names`` (normalised exact) → ``aliases`` (stated aliases, acronyms) → ``containment`` (short names of people and
things) → ``similar`` (spelling, plurals). ``union_find`` holds which names are merged.
"""
