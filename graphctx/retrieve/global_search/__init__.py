"""Global search: points from all over the documents for a question about the whole of them.

``search`` runs the steps: ``selection`` selects communities of the hierarchy (dynamic community selection), ``points``
maps them and a plain search to candidate points (map), ``reduce`` selects among these (reduce). ``introductions`` has
the candidates for questions that name nothing, ``phrase`` a language model's words for the points.
"""
