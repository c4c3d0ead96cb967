"""Files that are made from the code: schemas, the graph's DDL, the tables' columns, the references in ``docs/``.

``python -m graphctx.cli.reference`` writes them; with ``--check`` it tells which differ, and exits with 1 if any does.
"""
