"""What is on disk: the graph, the tables, the arrays, snapshots of all three, the memo cache and the lock.

Nothing heavy is imported here; users import the part that they need. Engines stay behind protocols::

    <kb>/kb.toml                      config.py     which project, engine and embedder
    <kb>/CURRENT                      snapshot.py   the published snapshot's id
    <kb>/ingest.lock                  lock.py       one ingester at a time
    <kb>/snapshots/<id>/…             publish.py    graph.<engine> tables/ (LanceDB) parquet/ walk.npz
                                                    vectors/ MANIFEST.json
    <kb>/cache/                       cache.py      memoised steps

Public parts, by module:

``base``
    ``QueryResult(columns: tuple[str, ...], rows: list[tuple[Any, ...]], truncated: bool)``

    ``GraphStore`` (protocol, an open graph, read-only):
    ``query(cypher, params=None, *, timeout_ms=None, max_rows=None) -> QueryResult``;
    ``counts() -> dict[str, int]``; ``nodes(kind, ids) -> list[dict]`` (order of ``ids``, absent ones left
    out); ``neighbours(node_id, rel_types=None, direction="both", limit=50) -> list[Neighbour]``;
    ``shortest_paths(source_id, target_id, max_hops=4, limit=10) -> list[tuple[str, ...]]`` over ``RELATED``;
    ``close()``

    ``GraphEngine`` (protocol): ``name``, ``version``; ``build(path, tables) -> dict[str, int]``;
    ``open(path) -> GraphStore``

``graph``
    ``ENGINES``; ``make_graph_engine(name) -> GraphEngine``

``ddl``
    ``NODE_TABLES``, ``REL_TABLES``; ``ddl() -> str``, the text of ``schemas/graph.cypher``

``tables``
    ``write_tables(directory, tables, vectors) -> dict[str, int]``;
    ``TableReader(directory, versions)`` with ``take(table, rows, columns)``, ``take_ids(table, ids,
    columns)``, ``search_text(table, query, k, where=None) -> list[Hit]``,
    ``search_vector(table, vector, k, where=None, *, exact=False) -> list[Hit]``; ``Hit(id, row, score)``, best first,
    ties by id

``arrays``
    ``save_arrays(path, arrays)``, ``load_arrays(path) -> dict[str, ndarray]`` (``.npz``, same bytes for same
    content); ``save_matrix(path, matrix)``, ``open_matrix(path) -> ndarray`` (``.npy``, memory-mapped)

``content``
    ``content_hash(tables, vectors, arrays) -> str``, 64 hex characters

``manifest``
    ``Manifest``, ``Versions``, ``FileEntry`` (pydantic), ``snapshot_id(content_hash, engine, variant=()) ->
    str``

``publish``
    ``SnapshotContent(tables, vectors, arrays, matrices, extras)``: ``vectors`` ``{"units", "entities"}``
    float32 for LanceDB; ``arrays`` go to ``walk.npz``; ``matrices`` to ``vectors/<name>.npy``; ``extras`` is
    ``{"bm25": callable(directory)}``, each called with an empty directory of the snapshot to write into.

    ``publish(kb_dir, content, *, engine, project_id, versions, created_at, variant=(), on_step=None) ->
    Manifest``
    does it all: writes, verifies in a subprocess, renames, swaps ``CURRENT``. Same content: same id, kept as
    is. Call it while holding ``IngestLock``.

``snapshot``
    ``open_snapshot(kb_dir, snapshot_id=None) -> Snapshot``: verifies first. ``Snapshot`` has ``.id``,
    ``.directory``, ``.manifest``, ``.graph: GraphStore``, ``.tables: TableReader`` (both opened on first
    use), ``.arrays() -> dict[str, ndarray]``, ``.matrix(name) -> ndarray``, ``.table(name, columns=None) ->
    pa.Table`` (from Parquet), ``.close()``; it is a context manager. ``current_id(kb_dir) -> str | None``

``history``
    ``list_snapshots(kb_dir) -> list[SnapshotInfo]``, ``rollback(kb_dir, snapshot_id) -> None``,
    ``prune(kb_dir, keep=2) -> list[str]``

``purge``
    ``purge(kb_dir, dry_run=False) -> PurgeReport``: erases whatever the published snapshot does not hold

``processes``
    ``start_process(command)``, ``start_module(name)`` start a process that ends with this one, and
    ``end_with_parent()`` is what it calls first

``lock``
    ``IngestLock(kb_dir)``, a context manager; ``BackendUnavailable`` at once when another process holds it

``cache``
    ``Memo(path)``: ``get_many(kind, keys) -> dict[str, bytes]``, ``put_many(kind, items: Mapping[str,
    bytes])``, ``prune(kind, keep)``, ``remember_used(snapshot_id)``, ``unused(snapshot_id)``,
    ``erase_unused(snapshot_id)``, ``counts()``, ``size_bytes()``, ``close()``; a context manager

``config``
    ``KbConfig(project_id, engine, embedder, sources, settings)``, ``SourceEntry(name, path)``,
    ``read_config(kb_dir)``, ``write_config(kb_dir, config)``, ``keep_copy(kb_dir, config)``,
    ``restore_config(kb_dir)``, ``has_snapshots(kb_dir) -> bool``
"""
