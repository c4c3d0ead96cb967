"""An operation of the page's JSON interface: its name, input model, function and the right that it needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from graphctx.errors import InvalidArgument
from graphctx.model.requests import Strict
from graphctx.retrieve.searcher import Searcher
from graphctx.server.dispatch import Dispatcher
from graphctx.server.sessions import Caller
from graphctx.server.warmup import OpenKnowledgeBase
from graphctx.store.config import is_absent
from graphctx.store.objects import origin_of
from graphctx.ui.access import Access
from graphctx.ui.jobs import PublishJobs
from graphctx.ui.uploads import Uploads

In = TypeVar("In", bound=Strict)

Right = Literal["read", "write"]
"""What a caller may do: ``write`` is to ingest, remove, roll back, and to change layers and the memory."""


class NoInput(Strict):
    """The input of an operation without arguments."""


@dataclass(frozen=True, slots=True)
class PageServer:
    """What the operations of one server share.

    Attributes:
        kb: the folder of the knowledge base, which need not exist yet; of one on an object store, the local copy.
        reports: the folder of reports of evaluations, which need not exist yet.
        dispatcher: runs tools, and blocking work in worker threads.
        access: who may do what.
        uploads: the files that were uploaded.
        jobs: ingests and removals, one at a time.
    """

    kb: Path
    reports: Path
    dispatcher: Dispatcher
    access: Access
    uploads: Uploads
    jobs: PublishJobs

    @property
    def is_new(self) -> bool:
        """Return whether there is no knowledge base yet."""
        return is_absent(self.kb)

    @property
    def origin(self) -> str | None:
        """Return the address on an object store that the folder is a copy of, if it is one."""
        return origin_of(self.kb)

    def require_folder(self) -> None:
        """Refuse to change a knowledge base on an object store, which is changed where it is published from.

        Raises:
            InvalidArgument: it is one.
        """
        if (url := self.origin) is not None:
            raise InvalidArgument(f"{url} is only read here. Change it where it is published from.", url=url)


@dataclass(frozen=True, slots=True)
class PageCall:
    """One call of an operation, in a worker thread."""

    server: PageServer
    caller: Caller

    @property
    def may_write(self) -> bool:
        """Return whether the caller has the right ``write``."""
        return self.server.access.may_write(self.caller)

    def kb(self) -> OpenKnowledgeBase:
        """Return the open knowledge base.

        Raises:
            BackendUnavailable: there is none yet, or it cannot be read.
        """
        return self.server.dispatcher.warmup.get()

    def searcher(self) -> Searcher:
        """Pin the published snapshot, within the boundary of the settings."""
        return self.kb().searcher()


@dataclass(frozen=True, slots=True)
class Operation(Generic[In]):
    """An operation: ``POST /api/NAME`` with a JSON object.

    Attributes:
        name: the path below ``/api``.
        input: the model of its arguments.
        run: answers with a model or JSON values; it is synchronous and raises the errors of `graphctx.errors`.
        right: what the caller needs.
    """

    name: str
    input: type[In]
    run: Callable[[PageCall, In], BaseModel | dict[str, Any]]
    right: Right = "read"


AnyOperation = Operation[Any]


@dataclass(frozen=True, slots=True)
class Stream:
    """A request that uploads files or answers with a stream: its function gets the request itself.

    Attributes:
        name: the path below ``/api``.
        run: answers the request; the caller's token has been checked, other rights have not.
        method: of HTTP.
    """

    name: str
    run: Callable[[Request, PageServer, Caller], Awaitable[Response]]
    method: str = "POST"
