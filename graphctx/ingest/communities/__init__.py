"""Communities described: titles, key entities and facts, extractive summaries, and the ids they had before.

- ``material``: what they are described from; ``summarise``: the step, level by level from the finest up.
- ``titles``: what is characteristic of a community; ``points``: which sentences say most.
- ``phrase``: the protocol of a language model that may put a summary into its own words.
- ``lineage``: which community of the last snapshot goes on as which.
"""

from graphctx.ingest.communities.lineage import Former, former_ids, read_former
from graphctx.ingest.communities.material import Material
from graphctx.ingest.communities.phrase import Phrased, Summariser, phrase_summaries, texts_of
from graphctx.ingest.communities.summarise import SUMMARY_VERSION, summarise

__all__ = [
    "SUMMARY_VERSION",
    "Former",
    "Material",
    "Phrased",
    "Summariser",
    "former_ids",
    "phrase_summaries",
    "read_former",
    "summarise",
    "texts_of",
]
