"""What is published, written down for other programs and for people.

- ``run``: ``export(searcher, project_id, options, on_progress) -> ExportReport``, the way in; ``options`` says what
  may be asked, ``report`` what was done.
- ``graphml``: the entity graph for tools that read GraphML; ``parquet``: the tables; ``page``: one HTML file that shows
  the communities, their entities and what documents say of them. ``page_data`` and ``quotes`` gather what it shows,
  ``assets/`` says how.
- ``layer``: the units as a base layer of AGENTS.db, which the layers room writes.
- ``seen``, ``communities`` and ``relations``: what of the entities, the communities and the edges lies within a scope.
- ``target``: files and folders that are either wholly there or not at all.

GraphML and the page hold what may be seen within the settings' boundary and the filters of the export, by the same
rules as every answer (`graphctx.retrieve.scope`, `graphctx.retrieve.graph`). The tables are the snapshot's own, whole:
they are for the owner of the knowledge base.
"""
