"""Export of the published snapshot, for other programs and for people.

- ``run``: ``export(searcher, project_id, options, on_progress) -> ExportReport``, the way in; ``options`` has its
  models.
- ``graphml``: the entity graph for tools that read GraphML; ``parquet``: the tables; ``page``: one HTML file with the
  communities, their entities and quotes. ``page_data`` collects its content, ``assets/`` has its scripts and style.
- ``redis_mirror``: concepts, sections and chunks as keys and vector sets of Redis 8.
- ``layer``: the units as a base layer of AGENTS.db.
- ``visible``: the entities, communities and relations within a scope.
- ``target``: files and folders that are either complete or not there at all.

GraphML, the page and the mirror hold what the settings' boundary and the filters of the export allow, by the same rules
as every answer (`graphctx.retrieve.scope`, `graphctx.retrieve.graph`). The tables are the snapshot's own, whole, and
are for the owner of the knowledge base.
"""
