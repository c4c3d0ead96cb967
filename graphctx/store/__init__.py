"""The files of a knowledge base: snapshots of tables, graph and arrays, the memo, the configuration and the locks.

::

    <kb>/kb.toml                 config.py      project, engine, embedder, sources
    <kb>/CURRENT                 snapshot.py    the id of the published snapshot
    <kb>/ingest.lock             lock.py        one ingest at a time
    <kb>/cursor.key              cursor_key.py  signs cursors
    <kb>/cache/memo.sqlite       cache.py       memoised steps
    <kb>/snapshots/<id>/         publish.py writes, snapshot.py opens, history.py lists, prunes and purges them
        MANIFEST.json            manifest.py    size and checksum of every file, content hash (content.py)
        parquet/  tables/        schema.py, communities.py; tables.py (LanceDB)
        graph.<engine>           graph/         engines behind a protocol, built and verified in child.py
        walk.npz  vectors/       walk.py, arrays.py
        bm25/  texts/            bm25.py, texts.py

Importing this package imports nothing heavy. Usage::

    with IngestLock(kb_dir):
        manifest = publish(kb_dir, content, engine="kuzu", project_id="demo", versions=versions, created_at=now)
    with open_snapshot(kb_dir) as snapshot:
        snapshot.table("units", ["id", "text"])
"""
