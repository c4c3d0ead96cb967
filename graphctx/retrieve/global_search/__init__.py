"""Global search: what documents say to a question about the whole of them.

``question -> evidence -> descent -> points -> budget -> answer``

- ``route``: whether a question asks for the whole.
- ``evidence``: which communities a plain search leads to: where the descent begins, without looking at all of them.
- ``rate``: how well communities and sentences fit the question.
- ``descend``: from the root communities down, as far as they bear on the question.
- ``points``: the map step, sentences of the chosen communities and of the units that a plain search finds.
- ``reduce``: which of them are told, in what order, within a budget of tokens.
- ``phrase``: a language model's words for them, where one is set.
- ``search``: the steps in order; ``quotes``: the same as quotes of ``kb.retrieve_evidence``.

Nothing is imported here: who asks a local question pays for the route alone.
"""
