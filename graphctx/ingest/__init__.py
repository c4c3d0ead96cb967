"""Documents in, snapshot out: one step per file, in the order of ``pipeline.Ingest``.

``read`` (with ``changes`` and ``sources``) → ``split`` → ``extract`` (through ``memoised``) → ``resolve`` →
``link`` (with ``homes``) → ``embed`` → ``relate`` → ``cluster`` → ``tables`` → publish, which is ``store.publish``.

Public: ``pipeline.Ingest``, ``report.IngestReport``, ``report.Progress``. Everything else serves those.
"""
