"""Plain data that all packages share, and the rules about it. Imports nothing of graphctx but errors and graphemes.

- ``documents``, ``knowledge``, ``ids``: documents and their parts; entities, facts, communities; content-derived ids.
- ``requests``, ``arguments``: input models with their defaults and caps; `parse_arguments` for what comes from outside.
- ``results``: what a searcher returns, ``...Results``; ``answers``, ``graph``, ``layers``: what callers get,
  ``...Answer``; ``assemble`` makes answers of results.
- ``scope``: which documents a call may see; ``budgets``, ``pages``, ``cursors``: how much of an answer it gets.
- ``interrupt``: cancellation.
"""
