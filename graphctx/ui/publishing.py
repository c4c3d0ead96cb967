"""What changes the published documents runs here, in a process of its own: it neither slows the server nor ends it.

``python -m graphctx.ui.publishing`` reads a `PublishTask` as JSON from standard input and writes lines of JSON to
standard output: ``{"progress": …}``, and at the end ``{"result": …}`` or the envelope of an error.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING, Any

from graphctx.errors import GraphctxError, InternalError
from graphctx.store.processes import end_with_parent
from graphctx.ui.jobs import PublishTask

if TYPE_CHECKING:
    from graphctx.ingest.report import Progress

_PROGRESS_SECONDS = 0.1
"""Seconds between two lines about one step."""


def _run(task: PublishTask) -> dict[str, Any]:
    from graphctx.knowledge_base import KnowledgeBase

    sent = ("", 0.0)

    def on_progress(progress: Progress) -> None:
        nonlocal sent
        now = time.monotonic()
        if progress.step != sent[0] or now - sent[1] >= _PROGRESS_SECONDS:
            sent = (progress.step, now)
            found = {name: getattr(progress, name) for name in ("step", "done", "total", "unit")}
            _send({"progress": found})

    if task.kind == "remove":
        with KnowledgeBase.open(task.kb) as kb:
            return kb.remove(task.documents, on_progress=on_progress).model_dump(mode="json")
    with KnowledgeBase.open(task.kb, create=True) as kb:
        if task.ignore_files is not None:
            group = kb.settings.ingest.model_copy(update={"ignore_files": task.ignore_files})
            kb.settings = kb.settings.model_copy(update={"ingest": group})
        return kb.ingest(task.paths, prune=task.prune, on_progress=on_progress).model_dump(mode="json")


def _send(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


def main() -> None:
    """Run one task and exit."""
    end_with_parent()
    try:
        _send({"result": _run(PublishTask.model_validate_json(sys.stdin.read()))})
    except GraphctxError as error:
        _send(error.envelope())
    except Exception as error:
        _send(InternalError(f"{type(error).__name__}: {error}").envelope())
    os._exit(0)


if __name__ == "__main__":
    main()
