"""Documents in, snapshot out.

- ``pipeline``: ``Ingest``, one ingest. ``runner``: runs ``steps``, which fill a ``state``.
- ``steps``: the list, ``read → split → extract → resolve → link → embed → relate → cluster → summarise → phrase →
  write → publish``. What a step does is in the file of its name; ``read`` also uses ``changes`` and ``sources``.
- ``report``: ``IngestReport``, ``IngestPlan``, ``Progress``.
"""
