"""What an index was made by: when any of it differs, the index is made again."""

from __future__ import annotations

from graphctx.ingest.communities import CLUSTER_VERSION, SUMMARY_VERSION, Summariser
from graphctx.ingest.read import READ_VERSION
from graphctx.ingest.resolve import RESOLVER_VERSION
from graphctx.ingest.split import SPLIT_VERSION
from graphctx.model.ids import fingerprint
from graphctx.nlp.base import Embedder, Extractor
from graphctx.settings import IngestSettings
from graphctx.store.graph import graph_engine
from graphctx.store.manifest import Versions
from graphctx.text.lexical import LEXICAL_VERSION
from graphctx.version import __version__

LINK_VERSION = 9
"""Of the steps embed, link, relate and write."""

_BUILD_SETTINGS = ("unit_tokens", "max_community_size", "max_community_depth")


def versions(
    engine: str,
    embedder: Embedder,
    extractor: Extractor,
    settings: IngestSettings,
    summariser: Summariser | None = None,
) -> Versions:
    """The versions of everything that shapes an index."""
    steps = (READ_VERSION, SPLIT_VERSION, RESOLVER_VERSION, LINK_VERSION, CLUSTER_VERSION, SUMMARY_VERSION)
    chosen = [f"{name}={getattr(settings, name)}" for name in _BUILD_SETTINGS]
    if summariser is not None:
        chosen.append(f"summariser={summariser.fingerprint}")
    return Versions(
        graphctx=__version__,
        engine=graph_engine(engine).version(),
        embedder=embedder.fingerprint,
        extractor=extractor.fingerprint,
        settings=fingerprint([*map(str, (*steps, LEXICAL_VERSION)), *chosen]),
    )
