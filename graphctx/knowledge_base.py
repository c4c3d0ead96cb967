"""The façade: one knowledge base, to fill and to ask.

with KnowledgeBase.open("kb", create=True) as kb:
    kb.ingest("handbook")
    for quote in kb.retrieve_evidence("Who approves a release?").quotes:
        print(quote.quote, quote.doc_uri, quote.start_char, quote.end_char)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, Unpack

from pydantic import BaseModel

from graphctx.errors import InvalidArgument
from graphctx.model.answers import EvidenceAnswer, GlobalAnswer, SearchAnswer
from graphctx.model.arguments import parse_arguments
from graphctx.model.assemble import evidence_answer, global_answer, search_answer
from graphctx.model.budgets import Limits
from graphctx.model.context import (
    DEFAULT_CONTEXT_TOKENS,
    ContextInput,
    ContextSection,
    OptimalContext,
    OptimizeContextInput,
    OptimizedContext,
    SearchContextInput,
    Strategy,
)
from graphctx.model.keywords import ContextKeywords, EvidenceKeywords, GlobalKeywords, ScopeKeywords, SearchKeywords
from graphctx.model.pages import Pager
from graphctx.model.requests import (
    Environment,
    Filters,
    GlobalSearchInput,
    RetrieveInput,
    Scope,
    SearchInput,
)
from graphctx.model.results import UnitText
from graphctx.model.scope import Boundary
from graphctx.opening import open_folder
from graphctx.published import Published
from graphctx.settings import Settings, layers_folder, load_settings
from graphctx.store.config import KbConfig, read_config
from graphctx.store.replica import Replica

if TYPE_CHECKING:
    from graphctx.context import ContextCache
    from graphctx.export.options import ExportFormat, ExportReport
    from graphctx.export.options import OnProgress as OnExport
    from graphctx.ingest.communities import Summariser
    from graphctx.ingest.pipeline import Ingest
    from graphctx.ingest.read.source import Source
    from graphctx.ingest.removal import RemovalReport
    from graphctx.ingest.report import IngestPlan, IngestReport, OnProgress
    from graphctx.layer_source.source import LayerSource
    from graphctx.layers import LayerContent
    from graphctx.model.context_source import ContextSource
    from graphctx.nlp.base import Embedder
    from graphctx.nlp.tokens import AnswerCounter
    from graphctx.retrieve.documents import DocumentText
    from graphctx.retrieve.global_search.phrase import PhraserConfig
    from graphctx.retrieve.index import SearchIndex
    from graphctx.retrieve.searcher import Searcher
    from graphctx.store.graph.base import QueryResult
    from graphctx.store.history import PurgeReport
    from graphctx.store.remote import RemotePublication
    from graphctx.store.snapshot import Snapshot
    from graphctx.store.status import Status

Input = TypeVar("Input", bound=BaseModel)
IngestEngine = Literal["local", "dask"]


class KnowledgeBase:
    """A folder with an index of documents. Open it with `open`.

    Reads are thread-safe. Each sees one published snapshot; a snapshot that another process publishes is picked up by
    the next call. `ingest` holds a lock across processes.

    Where the settings draw a boundary (``[server] doc_tags, repositories``), everything that answers keeps to it:
    `search`, `retrieve_evidence`, `global_search`, `document`, `unit` and `searcher`. What looks after the knowledge
    base itself sees all documents: `ingest`, `status`, `cypher`, and an `export` of tables.

    Args:
        path: its folder.
        config: its ``kb.toml``.
        snapshot_id: stay with this snapshot instead of following the published one.
        layers: the folder of the layers, instead of that of the settings.
    """

    def __init__(
        self, path: Path, config: KbConfig, *, snapshot_id: str | None = None, layers: Path | None = None
    ) -> None:
        self.path = path
        self._layers_folder = layers
        self.config = config
        self.settings: Settings = load_settings(config.settings)
        replica = Replica(path, self.settings.replica.poll_seconds)
        self._published = Published(path, replica, self._open_index, snapshot_id)
        self._searcher: Searcher | None = None

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
        layers: Path | None = None,
    ) -> KnowledgeBase:
        """Open a knowledge base.

        Args:
            path: its folder, or the address of one that is published on an object store (``s3://bucket/handbook``),
                which is copied to this machine and followed.
            create: make one if there is none.
            project_id: of a fresh one; by default the name of the folder, or of the folder above ``.graphctx``.
                For an existing one it must be its own.
            engine: of a fresh one: ``kuzu`` or ``ladybug``.
            embedder: of a fresh one: ``minilm-int8`` or ``st:<model>``.
            snapshot_id: stay with this snapshot instead of following the published one.
            layers: the folder of the layers, instead of that of the settings.

        Raises:
            BackendUnavailable: there is none and ``create`` is false, or its ``kb.toml`` cannot be used.
            ScopeViolation: it belongs to another project.
            InvalidArgument: an unknown engine or embedder, or a project that is empty or too long.
        """
        folder, config = open_folder(path, create, project_id, engine, embedder)
        base = cls(folder, config, snapshot_id=snapshot_id, layers=layers)
        base._published.follow()
        return base

    # Filling it

    def ingest(
        self,
        paths: Iterable[str | Path | Source] | str | Path | Source,
        *,
        prune: bool = False,
        prune_most: bool = False,
        processes: int | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        engine: IngestEngine = "local",
        scheduler: str | None = None,
        on_progress: OnProgress | None = None,
    ) -> IngestReport:
        """Read documents, index them and publish a snapshot.

        Documents are added, or replaced where one has the same URI; all others stay.

        Args:
            paths: files, folders, addresses of web pages, and sources that say more of what is read.
            prune: drop documents whose file has gone from the given folders.
            prune_most: do so even if they are more than half of all documents.
            processes: worker processes for extraction; by default one for each core.
            include: of folders, only files that match one of these patterns; by default those of the settings.
            exclude: of folders, no files and folders that match one of these patterns.
            engine: where documents are read, split, extracted from and embedded: ``local`` or ``dask``.
            scheduler: the address of the Dask cluster; one is started on this machine by default.
            on_progress: called as the steps advance.

        Raises:
            InvalidArgument: a path does not exist, nothing in it can be read, or pruning would drop more than half of
                the documents without ``prune_most``.
            BackendUnavailable: another ingest is running, the disk refuses a write, or the cluster cannot be used. The
                published snapshot is untouched.
        """
        pipeline = self._pipeline(prune, prune_most, processes, on_progress, include, exclude)
        if engine == "dask":
            from graphctx.ingest.dask_executor import DaskExecutor

            cluster = DaskExecutor(scheduler, pipeline.settings.processes, self._embedder.name)
            pipeline = replace(pipeline, executor=cluster)
        report = pipeline.run(_paths(paths))
        self.config = read_config(self.path)
        self._published.invalidate_unless(report.snapshot_id)
        return report

    def plan_ingest(
        self,
        paths: Iterable[str | Path | Source] | str | Path | Source,
        *,
        prune: bool = False,
        processes: int | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        on_progress: OnProgress | None = None,
    ) -> IngestPlan:
        """Say what `ingest` would do with the same arguments: what differs and, where a language model is set, what
        it would be asked. Nothing is published.

        With a language model the index is made up to the summaries, into the cache; without, files are only read.

        Raises:
            InvalidArgument, BackendUnavailable: as in `ingest`.
        """
        return self._pipeline(prune, False, processes, on_progress, include, exclude).plan(_paths(paths))

    def remove(
        self,
        references: Iterable[str] | str = (),
        *,
        tags: Sequence[str] = (),
        missing: bool = False,
        dry_run: bool = False,
        on_progress: OnProgress | None = None,
    ) -> RemovalReport:
        """Publish a snapshot without some documents, chosen in one of three ways.

        Documents that are removed by reference or by tag stay out of later ingests, unless an ingest names their file.
        Older snapshots and the cache hold them until `purge`.

        Args:
            references: URIs or ids of documents, paths of their files, folders.
            tags: documents with one of these tags.
            missing: documents whose file is gone.
            dry_run: only say what would be removed.
            on_progress: called as the steps advance.

        Raises:
            InvalidArgument: a reference matches no document, or all documents would go.
            BackendUnavailable: another ingest is running, or the disk refuses a write.

        Example:
            >>> kb.remove("people/ana.md").removed  # doctest: +SKIP
            ['people/ana.md']
        """
        from graphctx.ingest.removal import Removal

        named = (references,) if isinstance(references, str) else tuple(references)
        removal = Removal(named, tuple(tags), missing)
        report = self._pipeline(False, False, None, on_progress).remove(removal, dry_run=dry_run)
        self.config = read_config(self.path)
        self._published.invalidate_unless(report.snapshot_id)
        return report

    def purge(self, *, dry_run: bool = False) -> PurgeReport:
        """Erase what the published snapshot does not hold: older snapshots, their memoised results, damaged copies.

        Args:
            dry_run: only say what would be erased.

        Raises:
            BackendUnavailable: an ingest is running, or the published snapshot is unknown or damaged.
        """
        from graphctx.store.history import purge

        self.close()
        return purge(self.path, dry_run=dry_run)

    def publish(
        self, to: str, *, keep: int = 2, force: bool = False, on_file: Callable[[int, int], None] | None = None
    ) -> RemotePublication:
        """Publish the published snapshot to an object store, from where replicas serve it.

        Args:
            to: such as ``s3://bucket/handbook``.
            keep: snapshots to keep there, this one among them; older ones are deleted.
            force: send also the files that are there already, which repairs damaged ones.
            on_file: called with the number of files that are there, and of all.

        Raises:
            InvalidArgument: ``to`` or ``keep`` is not acceptable.
            ScopeViolation: another project is published there.
            BackendUnavailable: nothing is published here, or the store cannot be used.

        Example:
            >>> kb.publish("s3://bucket/handbook").uploaded  # doctest: +SKIP
            31
        """
        from graphctx.store.remote import publish_to

        return publish_to(self.path, to, keep=keep, force=force, on_file=on_file or (lambda done, total: None))

    # Asking it

    def search(self, query: str, **options: Unpack[SearchKeywords]) -> SearchAnswer:
        """Find passages, best first.

        Args:
            query: a question or key words.
            **options: `SearchKeywords`. With ``layers``, also chunks of these layers of AGENTS.db.

        Returns:
            The output of ``kb.search``, all ``top_k`` results on one page as far as the response budget goes.

        Raises:
            InvalidArgument: a value is out of range.
            ScopeViolation: ``scope`` asks for more than this knowledge base answers for.

        Example:
            >>> kb.search("release checklist", top_k=3).results[0].preview  # doctest: +SKIP
        """
        request = _request(SearchInput, {"query": query, **options})
        request = request.model_copy(update={"page_size": request.top_k})
        return search_answer(self._pager, request, self.searcher().search(request))[0]

    def retrieve_evidence(self, question: str, **options: Unpack[EvidenceKeywords]) -> EvidenceAnswer:
        """Answer a question with quotes: the surest first, then in reading order.

        Args:
            question: as a full sentence.
            **options: `EvidenceKeywords`. With ``layers``, also chunks of these layers of AGENTS.db.

        Returns:
            The output of ``kb.retrieve_evidence``.

        Raises:
            InvalidArgument: a value is out of range.
            ScopeViolation: ``scope`` asks for more than this knowledge base answers for.

        Example:
            >>> kb.retrieve_evidence("Who approves a release?", max_quotes=3).quotes[0].quote  # doctest: +SKIP
        """
        request = _request(RetrieveInput, {"question": question, **options})
        if request.options.include_memory:
            raise InvalidArgument(
                "include_memory: a knowledge base has no memory. Leave it out, and ask graphctx.memory.Memory.",
                field="options.include_memory",
                value=True,
            )
        return evidence_answer(self._pager, request, self.searcher().evidence(request))[0]

    def global_search(self, question: str, **options: Unpack[GlobalKeywords]) -> GlobalAnswer:
        """Answer a question about the whole with points: sentences of many documents.

        Args:
            question: as a full sentence.
            **options: `GlobalKeywords`.

        Returns:
            The output of ``kb.global_search``, all points on one page as far as the response budget goes.

        Raises:
            InvalidArgument: a value is out of range.
            ScopeViolation: ``scope`` asks for more than this knowledge base answers for.

        Example:
            >>> kb.global_search("What do the reports complain about?").points[0].quote  # doctest: +SKIP
        """
        request = _request(GlobalSearchInput, {"question": question, **options})
        return global_answer(self._pager, request, self.searcher().global_search(request))[0]

    def compose_context(
        self,
        query: str,
        max_tokens: int = DEFAULT_CONTEXT_TOKENS,
        strategy: Strategy = "hierarchical",
        *,
        sources: Sequence[ContextSource] = (),
        **options: Unpack[ContextKeywords],
    ) -> OptimalContext:
        """Compose a context window for a question: what matters most first and last, the question at the end.

        Args:
            query: the question, as a full sentence.
            max_tokens: of the whole context.
            strategy: ``flat`` takes whole chunks in order of score.
            sources: beside documents and layers, such as `graphctx.memory.MemoryContextSource`.
            **options: `ContextKeywords`.

        Raises:
            InvalidArgument: a value is out of range, the question alone has more tokens, or there are no layers.
            ScopeViolation: ``scope`` asks for more than this knowledge base answers for.

        Example:
            >>> kb.compose_context("Who approves a release?", max_tokens=8000).text  # doctest: +SKIP
        """
        from graphctx.context import compose_context

        fields = {"query": query, "max_tokens": max_tokens, "strategy": strategy, **options}
        request = parse_arguments(ContextInput, fields)
        return compose_context(request, self.searcher(), self.tokens, cache=self.context_cache, sources=sources)

    def search_context(
        self, query: str, max_results: int = 10, min_relevance: float = 0.7, **options: Unpack[ScopeKeywords]
    ) -> Iterator[ContextSection]:
        """Yield the most relevant concepts, then sections, chunks and exact matches for a question.

        Args:
            query: the question; what it has in quotation marks is also looked for to the letter.
            max_results: most of all levels together.
            min_relevance: what is less relevant is left out, in 0..1.
            **options: `ScopeKeywords`.

        Raises:
            InvalidArgument: a value is out of range.
            ScopeViolation: ``scope`` asks for more than this knowledge base answers for.
        """
        from graphctx.context import HierarchicalRetriever

        fields = {"query": query, "max_results": max_results, "min_relevance": min_relevance, **options}
        request = parse_arguments(SearchContextInput, fields)
        retriever = HierarchicalRetriever(self.searcher(), self.tokens, self.settings.context)
        yield from retriever.retrieve(request).sections

    def optimize_context(
        self, current_context: str, target_tokens: int = DEFAULT_CONTEXT_TOKENS, *, query: str = ""
    ) -> OptimizedContext:
        """Shorten any text to what bears on a question or on its own subject; sentences are kept or left out whole.

        Args:
            current_context: the text; nothing needs to be published.
            target_tokens: most tokens of the result.
            query: a question.

        Raises:
            InvalidArgument: ``target_tokens`` is below 1, or the text too long.
        """
        from graphctx.context import optimize_context

        fields = {"current_context": current_context, "target_tokens": target_tokens, "query": query or None}
        request = parse_arguments(OptimizeContextInput, fields)
        return optimize_context(
            request.current_context, request.target_tokens, self.tokens, request.query or "", self._embedder
        )

    def document(self, doc_uri: str) -> DocumentText:
        """A document by its URI or id, with its text.

        Raises:
            InvalidArgument: the published snapshot has no such document, or the settings' boundary leaves it out.
        """
        return self.searcher().index.document(doc_uri)

    def unit(self, section_id: str) -> UnitText:
        """A text unit by its id, with its text and its place.

        Raises:
            InvalidArgument: the published snapshot has no such unit, or the settings' boundary leaves it out.
        """
        return self.searcher().unit(section_id)

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
        return self.searcher().index.snapshot.graph.query(query, params, timeout_ms=limit, max_rows=max_rows)

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
        """Write what is published for other programs (``graphml``, ``parquet``, ``redis``) or for people (``html``).

        Tables are whole, as `cypher` is; all else holds what the settings' boundary and the filters leave.

        Args:
            path: the file to write, the folder for ``parquet``, the address of the database for ``redis``.
            format: what to write.
            doc_tag, path_prefix: narrow it, as filters of a search do.
            replace: whether an earlier export there may be replaced.
            on_progress: called as it advances.
            **limits: ``documents``, ``max_entities`` and ``max_quotes`` of `graphctx.export.options.ExportOptions`.

        Raises:
            InvalidArgument: a value is out of range, the place cannot be used, or the filters leave no document.
            BackendUnavailable: nothing is published, the disk refuses the write, or there is no Redis 8.
        """
        from graphctx.export.options import ExportOptions, no_progress
        from graphctx.export.run import export

        place = {"to": str(path)} if format == "redis" else {"path": path}
        given = {"format": format, **place, "doc_tag": doc_tag, "path_prefix": path_prefix, "replace": replace}
        options = parse_arguments(ExportOptions, given | limits)
        return export(self.searcher(), self.project_id, options, on_progress or no_progress)

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

        filters = parse_arguments(Filters, {"doc_tag": list(doc_tag), "path_prefix": path_prefix})
        return units_layer(
            self.searcher().index.within(Scope(), filters),
            kind=kind,
            created_at_unix_ms=created_at_unix_ms,
            i8=i8,
            on_progress=on_progress or no_progress,
        )

    def status(self) -> Status:
        """What is in it: project, snapshot, counts, sizes, sources; and whether the Redis of the settings answers."""
        from graphctx.store.status import status_of

        status = status_of(self.path, self.config)
        note = self.context_cache.check() if self.settings.context.cache_url.get_secret_value() else ""
        return status.model_copy(update={"notes": [*status.notes, note]}) if note else status

    @property
    def project_id(self) -> str:
        """The project that this knowledge base holds; fixed in ``kb.toml``."""
        return self.config.project_id

    @property
    def environment(self) -> Environment:
        """The environment that answers are for; a setting."""
        return self.settings.server.environment

    @property
    def snapshot_id(self) -> str:
        """The snapshot that the next answer comes from; empty before the first ingest."""
        return self._published.snapshot_id

    def searcher(self) -> Searcher:
        """Pin the published snapshot: what one call reads, however much is published meanwhile.

        Raises:
            BackendUnavailable: the snapshot is missing or damaged.
        """
        index, held = self._published.current(), self._searcher
        if held is not None and held.published is index:
            return held
        from graphctx.retrieve.searcher import Searcher

        server, retrieve = self.settings.server, self.settings.retrieve
        boundary = Boundary(self.project_id, self.environment, server.doc_tags, server.repositories)
        self._searcher = Searcher(index, boundary, self.tokens, retrieve, phraser=self._phraser, layers=self.layers)
        return self._searcher

    def warm(self) -> None:
        """Load the model and open the index, so that the next call is fast."""
        self.tokens.count("warm")
        index = self._published.current()
        if index is not None:
            index.warm()

    @cached_property
    def context_cache(self) -> ContextCache:
        """Keeps what the documents hold for the questions of `compose_context`."""
        from graphctx.context import ContextCache

        return ContextCache(self.settings, self._embedder)

    @cached_property
    def tokens(self) -> AnswerCounter:
        """Counts the tokens that budgets are measured in."""
        from graphctx.nlp.tokens import AnswerCounter

        return AnswerCounter()

    @cached_property
    def layers(self) -> LayerSource | None:
        """The layers of AGENTS.db beside the documents; ``None`` where no folder of layers is named."""
        from graphctx.layer_source.source import LayerSource
        from graphctx.layers import LayerStack
        from graphctx.layers.embedders import profiled
        from graphctx.nlp.embedders import DEFAULT

        folder = self._layers_folder or layers_folder(self.settings, self.path)
        if folder is None:
            return None
        shared = (self.config.embedder or DEFAULT) == DEFAULT
        return LayerSource(LayerStack(folder, profiled(self._embedder) if shared else None), self.tokens)

    def close(self) -> None:
        """Close what is open; a later call opens it again."""
        self._searcher = None
        self._published.close()
        if (cache := self.__dict__.get("context_cache")) is not None:
            cache.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @cached_property
    def _embedder(self) -> Embedder:
        from graphctx.nlp.embedders import DEFAULT, make_embedder

        return make_embedder(self.config.embedder or DEFAULT)

    @cached_property
    def _phraser(self) -> PhraserConfig | None:
        llm = self.settings.llm
        if not llm.enabled:
            return None
        from graphctx.retrieve.global_search.phrase import PhraserConfig

        # Half of a call's time, so that the extractive answer still arrives where the model is slow.
        return PhraserConfig(llm, self.settings.server.call_timeout_seconds / 2)

    @cached_property
    def _pager(self) -> Pager:
        limits = Limits(self.settings.server.max_tokens, self.settings.server.max_bytes)
        return Pager(limits, self.tokens.count)

    def _open_index(self, snapshot: Snapshot) -> SearchIndex:
        from graphctx.retrieve.index import SearchIndex

        server = self.settings.server
        boundary = Scope(doc_tags=list(server.doc_tags), repositories=list(server.repositories))
        # The boundary is applied once, to the index itself, so that no request can step over it.
        return SearchIndex(snapshot, self._embedder).within(boundary, Filters())

    def _pipeline(
        self,
        prune: bool,
        prune_most: bool,
        processes: int | None,
        on_progress: OnProgress | None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
    ) -> Ingest:
        from graphctx.ingest.pipeline import Ingest
        from graphctx.nlp.spacy_extractor import SpacyExtractor

        given = {"processes": processes, "include": tuple(include), "exclude": tuple(exclude)}
        changes = {name: value for name, value in given.items() if value not in (None, ())}
        return Ingest(
            kb_dir=self.path,
            embedder=self._embedder,
            extractor=SpacyExtractor(),
            settings=self.settings.ingest.model_copy(update=changes),
            on_progress=on_progress,
            prune_missing=prune,
            prune_most=prune_most,
            summariser=self._summariser(),
            lancedb=self.settings.retrieve.first_stage == "lancedb",
        )

    def _summariser(self) -> Summariser | None:
        llm = self.settings.llm
        if not llm.enabled:
            return None
        from graphctx.nlp.llm.client import make_chat_model
        from graphctx.nlp.llm.phrase import SummariserLlm

        return SummariserLlm(make_chat_model(llm), llm)


def _request(model: type[Input], arguments: Mapping[str, Any]) -> Input:
    """Make a request of keyword arguments; those that are not fields of it are its options."""
    own: dict[str, Any] = {"options": {}}
    for name, value in arguments.items():
        plain = value.model_dump() if isinstance(value, BaseModel) else value
        (own if name in model.model_fields else own["options"])[name] = plain
    return parse_arguments(model, own)


def _paths(paths: Iterable[str | Path | Source] | str | Path | Source) -> list[str | Path | Source]:
    from graphctx.ingest.read.source import Source

    return [paths] if isinstance(paths, str | Path | Source) else list(paths)
