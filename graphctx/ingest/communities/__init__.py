"""Communities of entities: clustering, titles, extractive summaries, and their ids in earlier snapshots.

- ``cluster``: recursive Leiden over the entity graph.
- ``evidence``: the tables that communities are described from, as arrays.
- ``summarise``: summaries, from the finest level up, with ``titles`` and ``points`` (which sentences say most).
- ``phrase``: the protocol of a language model that rewords summaries.
- ``lineage``: which community of the last snapshot continues as which.
"""

from graphctx.ingest.communities.cluster import CLUSTER_VERSION, cluster_entities, entity_languages
from graphctx.ingest.communities.evidence import CommunityEvidence
from graphctx.ingest.communities.lineage import FormerCommunity, former_ids, read_former
from graphctx.ingest.communities.phrase import Summariser, phrase_summaries, texts_of
from graphctx.ingest.communities.summarise import SUMMARY_VERSION, summarise_communities

__all__ = [
    "CLUSTER_VERSION",
    "SUMMARY_VERSION",
    "CommunityEvidence",
    "FormerCommunity",
    "Summariser",
    "cluster_entities",
    "entity_languages",
    "former_ids",
    "phrase_summaries",
    "read_former",
    "summarise_communities",
    "texts_of",
]
