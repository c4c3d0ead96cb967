"""Question in, evidence out: one step per file, in the order of ``service.Retriever``.

- Asked: ``question`` (made ready once) and ``scope`` (which units may answer), over ``index`` (what a snapshot looks
  like from here). ``recipe`` holds every weight and switch, and the named variants.
- Found: ``first_stage`` (words and vectors, with ``signs`` over many units) → ``base_score`` → ``steps`` (from the
  seeds: ``walk`` through homes and rare entities, then ``rest`` to what completes a seed) → ``rank``. ``sparse`` holds
  values of a few units among very many.
- Quoted: ``sentences`` → ``evidence`` (within the ``reach`` of quotes) → ``confidence`` → ``cite`` (with ``focus``).
  ``extract`` is the purely lexical way from given units to quotes.
- Beside it: ``graph`` explores nodes, neighbourhoods and paths; ``trace`` looks into a ranking, for explanations.

Public: ``service.Retriever``, ``index.SearchIndex`` and ``graph.GraphExplorer``.
"""
