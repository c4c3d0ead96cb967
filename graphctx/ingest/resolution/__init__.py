"""The rungs of the resolution ladder, strongest first; ``graphctx.ingest.resolve`` climbs them.

``names`` (normalised exact) → ``aliases`` (stated aliases, acronyms) → ``containment`` (short names of people and
things) → ``similar`` (spelling, plurals). ``forest`` remembers who was merged with whom, and why.
"""
