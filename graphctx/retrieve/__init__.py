"""Question in, evidence out.

`searcher.Searcher` is the public way in: it holds a pinned snapshot and has one method for each kind of request.

- `scope` and `index`: which units may answer, and the arrays of a snapshot that all steps read.
- `question`, `stages/`, `hybrid_score`, `ranking`: parse the question, find candidates, expand along the graph, rank.
- `results`: previews for a search. `evidence`: quotes for a question, through `sentences` and their features,
  `selection`, `fragments` of what is too long, `confidence` and `cite`.
- `graph/`: nodes, neighbourhoods and paths. `global_search/`: answers about the whole of the documents.

Example:
    >>> with KnowledgeBase.open("kb") as kb:  # doctest: +SKIP
    ...     kb.searcher().evidence(RetrieveInput(question="Who signs a release?")).items[0].quote
"""
