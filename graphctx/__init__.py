"""graphctx: a folder of documents in, cited quotes out, offline and under strict budgets.

    from graphctx import KnowledgeBase

    kb = KnowledgeBase.open("handbook.kb", create=True)
    kb.ingest(["docs/"])
    for quote in kb.retrieve_evidence("Who approves a release?").quotes:
        print(quote.quote, quote.doc_uri, quote.line)

`KnowledgeBase` is all there is to learn first. Importing this package imports nothing heavy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphctx.version import __version__

if TYPE_CHECKING:
    from graphctx.knowledge_base import KnowledgeBase

__all__ = ["KnowledgeBase", "__version__"]


def __getattr__(name: str) -> Any:
    if name == "KnowledgeBase":
        from graphctx.knowledge_base import KnowledgeBase

        return KnowledgeBase
    raise AttributeError(f"module 'graphctx' has no attribute {name!r}")
