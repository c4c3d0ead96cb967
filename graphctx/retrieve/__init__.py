"""Question in, evidence out: one step per file, in the order of ``service.Retriever``.

``question`` → ``scope`` → ``first_stage`` → ``base_score`` → ``walk`` → ``rank`` → ``sentences`` → ``evidence`` →
``cite`` (with ``focus``). ``extract`` is the purely lexical way from given units to quotes.

Public: ``service.Retriever`` and ``index.SearchIndex``, which is what a snapshot looks like from here.
"""
