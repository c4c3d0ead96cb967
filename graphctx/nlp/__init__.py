"""Models: what turns texts into vectors, and documents into mentions and facts.

- ``base``: the protocols ``Embedder`` and ``Extractor``.
- ``embedders``: ``make_embedder`` by name; ``onnx`` (shipped weights) and ``sentence_transformer`` (any other).
- ``tokens``: ``WordPieceCounter`` counts, locates and clips tokens for chunks, ``AnswerCounter`` for answers.
- ``spacy_extractor``: the extractor.

Nothing is imported here, so that whoever needs one part does not pay for the others.
"""
