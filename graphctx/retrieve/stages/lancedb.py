"""First stage with LanceDB's vector index; words are looked up in graphctx's own index, which respects the scope."""

from __future__ import annotations

import numpy as np

from graphctx.retrieve.index import SearchIndex
from graphctx.retrieve.question import Question
from graphctx.retrieve.stages.arrays_search import merge_candidates
from graphctx.retrieve.stages.base import Candidates


def search_lancedb(index: SearchIndex, question: Question, k: int) -> Candidates:
    """Find the best units by BM25 and by LanceDB; a `graphctx.retrieve.stages.base.FirstStage`.

    The scope is a prefilter on document rows.
    """
    where = None
    if index.visible is not None:
        documents = np.unique(index.walk.unit_doc[index.visible_rows]).tolist()
        where = f"doc_row IN ({', '.join(map(str, documents))})" if documents else "false"
    found = index.snapshot.tables.search_vector("units", question.vector, k, where)
    near = np.array(sorted(hit.row for hit in found), dtype=np.int64)
    return merge_candidates(index, question, k, near, farthest_known=False)
