"""What all rooms speak of: plain data and the rules about it. Imports nothing of graphctx but its errors.

- ``documents``: ``Document``, ``Heading``, ``Block``, ``Link``; ``Section``, ``TextUnit``, ``Sentence``; lines.
- ``knowledge``: ``Mention``, ``RawFact``, ``Extraction``; ``Entity``, ``Fact``, ``Community``.
- ``ids``: ``content_id`` and ``fingerprint``, the same on every machine.
- ``answers``: inputs and outputs of the tools, the façade and the command line (pydantic).
- ``arguments``: ``parse_arguments``, for whatever comes from outside.
- ``scope``: ``within``, the rule of what may be seen; ``Boundary``, which calls can only narrow.
- ``found``: ``Found``, ``Evidence``, ``UnitText``, what retrieval gives.
- ``assemble``: ``search_answer``, ``evidence_answer``, which make answers of it.
- ``budgets``: ``Limits``, ``Weight``, ``weigh``, ``fit``; ``cursors``: ``write_cursor``, ``read_cursor``.
"""
