"""The façade: one knowledge base, to fill and to ask."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from graphctx.model.answers import EvidenceAnswer, SearchAnswer
from graphctx.model.arguments import parse_arguments
from graphctx.model.assemble import evidence_answer, global_answer, search_answer
from graphctx.model.requests import (
    Filters,
    GlobalSearchInput,
    LayerName,
    Mode,
    RetrieveInput,
    Scope,
    SearchInput,
)
from graphctx.model.themes import GlobalAnswer
from graphctx.opening import open_folder
from graphctx.served import Served
from graphctx.store.config import read_config

if TYPE_CHECKING:
    from graphctx.export.options import ExportFormat
    from graphctx.export.options import OnProgress as OnExport
    from graphctx.export.report import ExportReport
    from graphctx.ingest.communities import Summariser
    from graphctx.ingest.pipeline import Ingest
    from graphctx.ingest.report import IngestPlan, IngestReport, OnProgress
    from graphctx.layers import LayerContent
    from graphctx.retrieve.document_texts import DocumentText
    from graphctx.store.base import QueryResult
    from graphctx.store.status import Status

Input = TypeVar("Input", bound=BaseModel)


class KnowledgeBase(Served):
    """A folder with an index of documents.

    Reads are thread-safe, and each sees one published snapshot; one that another process publishes is picked up by
    the next call (calls that come while it is being opened are answered from the one before). `ingest` holds a
    lock across processes.

    Where the settings draw a boundary (``[server] doc_tags, repositories``), all that reads documents keeps to it:
    `search`, `retrieve_evidence`, `document`, `unit`, and whatever a server asks. What lies outside is unknown there,
    by any name, and counts for nothing. What looks after the knowledge base itself sees all of it: `ingest`, `status`
    and `cypher`, and an `export` of tables, which are for its owner and no part of the server.
    """

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        create: bool = False,
        project_id: str | None = None,
        engine: str | None = None,
        embedder: str | None = None,
        snapshot_id: str | None = None,
    ) -> KnowledgeBase:
        """Open a knowledge base.

        Args:
            path: its folder.
            create: make one if there is none.
            project_id: of a fresh one; by default the name of the folder, or of the folder above ``.graphctx``.
                For an existing one it must be its own.
            engine: of a fresh one: ``kuzu`` or ``ladybug``.
            embedder: of a fresh one: ``minilm-int8`` or ``st:<model>``.
            snapshot_id: stay with this snapshot instead of following the published one.

        Raises:
            BackendUnavailable: there is none and ``create`` is false, or its ``kb.toml`` cannot be used.
            ScopeViolation: it belongs to another project.
            InvalidArgument: an unknown engine or embedder, or a project that is empty or too long.
        """
        folder, config = open_folder(path, create, project_id, engine, embedder)
        return cls(folder, config, snapshot_id=snapshot_id)

    # Filling it

    def ingest(
        self,
        paths: Iterable[str | Path] | str | Path,
        *,
        prune: bool = False,
        prune_most: bool = False,
        processes: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> IngestReport:
        """Read documents, index them and publish a snapshot.

        Documents are added, or replaced where one has the same URI; all others stay.

        Args:
            paths: files and folders.
            prune: drop documents whose file has gone from the given folders.
            prune_most: do so even if they are more than half of all documents.
            processes: worker processes for extraction; by default one for each core.
            on_progress: called as the steps advance.

        Raises:
            InvalidArgument: a path does not exist, nothing in it can be read, or pruning would drop more than half of
                the documents without ``prune_most``.
            BackendUnavailable: another ingest is running, or the disk refuses a write. The published snapshot
                is untouched.
        """
        pipeline = self._pipeline(prune, processes, on_progress)
        pipeline.prune_most = prune_most
        report = pipeline.run(_paths(paths))
        self.config = read_config(self.path)
        self._published.expect(report.snapshot_id)
        return report

    def plan_ingest(
        self,
        paths: Iterable[str | Path] | str | Path,
        *,
        prune: bool = False,
        processes: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> IngestPlan:
        """Say what `ingest` would do with the same arguments: what differs and, where a language model is set, what
        it would be asked. Nothing is published.

        With a language model the index is made up to the summaries, into the cache; without, files are only read.

        Raises:
            InvalidArgument, BackendUnavailable: as in `ingest`.
        """
        return self._pipeline(prune, processes, on_progress).plan(_paths(paths))

    # Asking it

    def search(
        self,
        query: str,
        *,
        top_k: int = 5,
        mode: Mode = "auto",
        scope: Scope | Mapping[str, Any] | None = None,
        filters: Filters | Mapping[str, Any] | None = None,
        max_per_doc: int = 1,
        max_snippet_chars: int = 280,
        include_scores: bool = False,
        layers: Sequence[LayerName] = (),
    ) -> SearchAnswer:
        """Find passages; with ``layers``, also chunks of these layers of AGENTS.db (``[layers] folder``).

        Returns:
            The output of ``kb.search``, all ``top_k`` results on one page as far as the response budget goes.

        Raises:
            InvalidArgument: a value is out of range.
            ScopeViolation: ``scope`` asks for more than this knowledge base answers for.
        """
        request = _parse(
            SearchInput,
            query=query,
            top_k=top_k,
            page_size=top_k,
            scope=scope,
            filters=filters,
            options={
                "mode": mode,
                "max_per_doc": max_per_doc,
                "max_snippet_chars": max_snippet_chars,
                "include_scores": include_scores,
                "layers": list(layers),
            },
        )
        request = request.model_copy(update={"scope": self._scope(request.scope)})
        found = self.pinned().find(request)
        if layers:
            found = self._layers().found(request, found)
        return search_answer(self._pager, request, found)[0]

    def retrieve_evidence(
        self,
        question: str,
        *,
        top_k: int = 5,
        max_quotes: int = 6,
        max_quote_tokens: int = 80,
        include_context_tokens: int = 20,
        mode: Mode = "auto",
        rerank: bool = True,
        scope: Scope | Mapping[str, Any] | None = None,
        filters: Filters | Mapping[str, Any] | None = None,
        include_diagnostics: bool = False,
        layers: Sequence[LayerName] = (),
    ) -> EvidenceAnswer:
        """Answer a question with quotes; with ``layers``, also of chunks of these layers of AGENTS.db.

        Returns:
            The output of ``kb.retrieve_evidence``.

        Raises:
            InvalidArgument: a value is out of range.
            ScopeViolation: ``scope`` asks for more than this knowledge base answers for.
        """
        request = _parse(
            RetrieveInput,
            question=question,
            top_k=top_k,
            max_quotes=max_quotes,
            max_quote_tokens=max_quote_tokens,
            include_context_tokens=include_context_tokens,
            scope=scope,
            filters=filters,
            options={
                "mode": mode,
                "rerank": rerank,
                "include_diagnostics": include_diagnostics,
                "layers": list(layers),
            },
        )
        request = request.model_copy(update={"scope": self._scope(request.scope)})
        evidence = self.pinned().evidence(request)
        if layers:
            evidence = self._layers().evidence(request, evidence)
        return evidence_answer(self._pager, request, evidence)[0]

    def global_search(
        self,
        question: str,
        *,
        points_tokens: int = 1000,
        max_points: int = 40,
        max_point_tokens: int = 80,
        relevance_tests: int = 64,
        phrase: bool = True,
        scope: Scope | Mapping[str, Any] | None = None,
        filters: Filters | Mapping[str, Any] | None = None,
        include_diagnostics: bool = False,
    ) -> GlobalAnswer:
        """Answer a question about the whole with points: sentences of many documents.

        Args:
            question: as a full sentence.
            points_tokens: of all points together.
            max_points: most points.
            max_point_tokens: longest point.
            relevance_tests: communities that are compared with the question at most.
            phrase: let the language model of the settings phrase the points; there is none by default.
            scope: which documents may be seen.
            filters: narrow them further.
            include_diagnostics: add counts of the stages.

        Returns:
            The output of ``kb.global_search``, all points on one page as far as the response budget goes.

        Raises:
            InvalidArgument: a value is out of range.
            ScopeViolation: ``scope`` asks for more than this knowledge base answers for.
        """
        request = _parse(
            GlobalSearchInput,
            question=question,
            points_tokens=points_tokens,
            max_points=max_points,
            max_point_tokens=max_point_tokens,
            scope=scope,
            filters=filters,
            options={"relevance_tests": relevance_tests, "phrase": phrase, "include_diagnostics": include_diagnostics},
        )
        request = request.model_copy(update={"scope": self._scope(request.scope)})
        return global_answer(self._pager, request, self.pinned().global_search(request))[0]

    def document(self, doc_uri: str) -> DocumentText:
        """A document by its URI or id, with its text.

        Raises:
            InvalidArgument: the published snapshot has no such document, or the settings' boundary leaves it out.
        """
        return self._index().document(doc_uri)

    def cypher(
        self,
        query: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout_ms: int | None = None,
        max_rows: int | None = None,
    ) -> QueryResult:
        """Ask the graph in Cypher; only reading is allowed.

        For the owner of the knowledge base: a query sees every document, whatever boundary the settings draw, since no
        rule about documents can be read off a query. No tool of the server leads here.

        Raises:
            InvalidArgument: the query is wrong or would write.
            TimedOut: it ran past its limit.
        """
        limit = timeout_ms or int(self.settings.retrieve.timeout_seconds * 1000)
        return self._index().snapshot.graph.query(query, params, timeout_ms=limit, max_rows=max_rows)

    def export(
        self,
        path: str | Path,
        format: ExportFormat,
        *,
        doc_tag: Sequence[str] = (),
        path_prefix: str | None = None,
        replace: bool = False,
        on_progress: OnExport | None = None,
        **limits: Any,
    ) -> ExportReport:
        """Write what is published for other programs (``graphml``, ``parquet``) or for people (``html``).

        GraphML and HTML hold what the settings' boundary and the filters leave. Tables are whole, as `cypher` is.

        Args:
            path: the file to write, or the folder for ``parquet``.
            format: what to write.
            doc_tag, path_prefix: narrow it, as filters of a search do.
            replace: whether an earlier export there may be replaced.
            on_progress: called as it advances.
            **limits: ``documents``, ``max_entities`` and ``max_quotes`` of `graphctx.export.options.ExportOptions`.

        Raises:
            InvalidArgument: a value is out of range, the place cannot be used, or the filters leave no document.
            BackendUnavailable: nothing is published, or the disk refuses the write.
        """
        from graphctx.export.options import ExportOptions, no_progress
        from graphctx.export.run import export

        given = {"format": format, "path": path, "doc_tag": doc_tag, "path_prefix": path_prefix, "replace": replace}
        options = parse_arguments(ExportOptions, given | limits)
        retriever = self.pinned().require()
        return export(retriever, self.project_id, options, on_progress or no_progress)

    def layer(
        self,
        *,
        kind: str = "canonical",
        created_at_unix_ms: int = 0,
        i8: bool = False,
        doc_tag: Sequence[str] = (),
        path_prefix: str | None = None,
        on_progress: OnExport | None = None,
    ) -> LayerContent:
        """The units that the settings' boundary and the filters leave, as a base layer of AGENTS.db.

        Args:
            kind: of every chunk.
            created_at_unix_ms: of every chunk; 0 says that nobody knows.
            i8: store vectors as a byte for each number.
            doc_tag, path_prefix: narrow it, as filters of a search do.
            on_progress: called as it advances.

        Raises:
            InvalidArgument: the filters leave nothing, or ``kind`` is not acceptable.
            BackendUnavailable: nothing is published.
        """
        from graphctx.export.layer import units_layer
        from graphctx.export.options import no_progress

        retriever = self.pinned().require()
        filters = _parse(Filters, doc_tag=list(doc_tag), path_prefix=path_prefix)
        return units_layer(
            retriever.index.within(Scope(), filters),
            kind=kind,
            created_at_unix_ms=created_at_unix_ms,
            i8=i8,
            on_progress=on_progress or no_progress,
        )

    def status(self) -> Status:
        """What is in it: project, snapshot, counts, sizes, sources."""
        from graphctx.store.status import status_of

        return status_of(self.path, self.config)

    # Beneath

    def _pipeline(self, prune: bool, processes: int | None, on_progress: OnProgress | None) -> Ingest:
        from graphctx.ingest.pipeline import Ingest
        from graphctx.nlp.spacy_extractor import SpacyExtractor

        changes = {} if processes is None else {"processes": processes}
        return Ingest(
            kb_dir=self.path,
            embedder=self._embedder,
            extractor=SpacyExtractor(),
            settings=self.settings.ingest.model_copy(update=changes),
            on_progress=on_progress,
            prune_missing=prune,
            summariser=self._summariser(),
        )

    def _summariser(self) -> Summariser | None:
        llm = self.settings.llm
        if not llm.enabled:
            return None
        from graphctx.nlp.llm.openai_compatible import make_chat_model
        from graphctx.nlp.llm.summarise import SummariserLlm

        return SummariserLlm(make_chat_model(llm), llm)


def _parse(model: type[Input], **values: Any) -> Input:
    plain = {name: value.model_dump() if isinstance(value, BaseModel) else value for name, value in values.items()}
    return parse_arguments(model, plain)


def _paths(paths: Iterable[str | Path] | str | Path) -> list[Path]:
    return [Path(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
