"""The layers of one folder, searched together (RFC sections 6, 8.3, 10 and 12)."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from graphctx.errors import BackendUnavailable, GraphctxError, InvalidArgument
from graphctx.layers.chunk import Chunk
from graphctx.layers.conflicts import ChunkPlace, Conflict, Nearby, all_conflicts, conflicts_of
from graphctx.layers.effective import LayerView
from graphctx.layers.embedders import ProfiledEmbedder, built_in, embedder_for, hashed
from graphctx.layers.names import FILES, LAYERS, LayerName, layer_named, rank
from graphctx.layers.reader import LayerFile
from graphctx.layers.scoring import Metric
from graphctx.layers.search import (
    ChunkCandidate,
    LayerAnswer,
    LayerHit,
    candidates,
    left_out_note,
    ranked,
    retractors,
    similarity_kept,
)

_COMPARED = 20  # nearest chunks of each layer, or twice what is asked for, that hits are compared with
_COMPARED_WITH_ONE = 200  # nearest chunks of each layer that one chunk is compared with


@dataclass(frozen=True, slots=True)
class LayerEntry:
    """A chunk of the effective view: the newest record of its id in its layer."""

    layer: LayerName
    record: int
    chunk: Chunk
    revisions: int
    retracted_by: tuple[tuple[LayerName, int], ...]


class LayerStack:
    """The layer files of a folder. Files may be absent, and are read anew when they were replaced.

    Safe to share between threads.

    Args:
        paths: a folder that holds files by their standard names, or the file of each layer.
        embedder: what embeds queries and new chunks; the model that comes with graphctx by default.
    """

    def __init__(self, paths: Path | str | Mapping[LayerName, Path], embedder: ProfiledEmbedder | None = None) -> None:
        if isinstance(paths, Mapping):
            self.paths = {layer_named(name): Path(path) for name, path in paths.items()}
        else:
            self.paths = {name: Path(paths) / file for name, file in FILES.items()}
        self.embedder = embedder
        self._lock = threading.Lock()
        self._views: dict[LayerName, tuple[tuple[int, int, int], LayerView]] = {}

    def path(self, name: LayerName) -> Path:
        """The file of a layer, which need not be there.

        Raises:
            InvalidArgument: this stack has no such layer.
        """
        if name not in self.paths:
            raise InvalidArgument(
                f"No file is given for the {name} layer; name one, or a folder.", field="layers", value=name
            )
        return self.paths[name]

    def written_path(self, name: LayerName) -> Path:
        """The file of a layer that is about to be written to.

        Raises:
            InvalidArgument: this stack has no such layer, or its file is also that of another layer, by a link or by
                its name.
        """
        path = self.path(name)
        for other, its in self.paths.items():
            if other != name and _one_file(path, its):
                raise InvalidArgument(
                    f"{path.name} of the {name} layer is the same file as {its.name} of the {other} layer, which would "
                    "change too; remove the link.",
                    file=path.name,
                    layer=other,
                )
        return path

    def view(self, name: LayerName) -> LayerView | None:
        """A layer as it is now; ``None`` where there is no file.

        Raises:
            InvalidArgument: the file breaks a rule of the format.
            BackendUnavailable: it cannot be read.
        """
        path = self.paths.get(name)
        if path is None:
            return None
        with self._lock:
            try:
                status = path.stat()
            except FileNotFoundError:
                self._views.pop(name, None)
                return None
            except OSError as error:
                raise BackendUnavailable(
                    f"The layer {path.name} cannot be read: {error.strerror}. Check the folder of the layers.",
                    file=path.name,
                    errno=error.errno,
                ) from error
            stamp = (status.st_ino, status.st_mtime_ns, status.st_size)
            known = self._views.get(name)
            if known is None or known[0] != stamp:
                known = (stamp, LayerView(name, LayerFile.open(path)))
                self._views[name] = known
            return known[1]

    def views(self, layers: Iterable[str] = LAYERS) -> dict[LayerName, LayerView]:
        """The layers that have a file, by precedence.

        Raises:
            InvalidArgument: there is no such layer, or a file breaks a rule of the format.
        """
        wanted = sorted({layer_named(name) for name in layers}, key=rank)
        return {name: view for name in wanted if (view := self.view(name)) is not None}

    def entries(self, layers: Iterable[str] = LAYERS, kinds: Iterable[str] = ()) -> Iterator[LayerEntry]:
        """The effective view: every layer's newest records, by precedence and then by id. No layer hides another's."""
        views = self.views(layers)
        wanted = frozenset(kinds)
        for view in views.values():
            for _, record in sorted(view.records.items()):
                if wanted and view.file.kind(record) not in wanted:
                    continue
                chunk, tombstones = view.file.chunk(record), retractors(views, view, record)
                yield LayerEntry(view.name, record, chunk, view.revisions(record), tombstones)

    def conflicts(self, layers: Iterable[str] = LAYERS) -> list[Conflict]:
        """Every conflict of ids and subjects between layers."""
        return all_conflicts(list(self.views(layers).values()))

    def conflicts_of(self, layer: str, chunk_id: int) -> tuple[tuple[Conflict, ...], tuple[str, ...]]:
        """With which chunks of any layer a chunk disagrees.

        Args:
            layer: where the chunk is.
            chunk_id: its id.

        Returns:
            The conflicts, and notes about layers that could not be compared.

        Raises:
            InvalidArgument: there is no such chunk.
        """
        view = self.view(layer_named(layer))
        if view is None:
            raise InvalidArgument(f"There is no {layer} layer here.", field="layer", value=layer)
        record = view.file.record_of(chunk_id)
        views, notes = self._readable()
        content, kind = view.file.content(record), [view.file.kind(record)]
        near = Nearby(self._nearest(views, content, None, kind, _COMPARED_WITH_ONE))
        return conflicts_of(view, record, list(views.values()), near), notes

    def search(
        self,
        query: str = "",
        k: int = 10,
        *,
        kinds: Sequence[str] = (),
        layers: Iterable[str] = LAYERS,
        vector: npt.NDArray[np.float32] | None = None,
        metric: Metric = "cosine",
        live: bool = False,
    ) -> LayerAnswer:
        """Search the union of layers.

        Args:
            query: in words.
            k: hits at most, 1 or more.
            kinds: only chunks of these kinds; all if empty.
            layers: which to search.
            vector: the query as a vector of the layers' model, ``[dim]``, in place of words.
            metric: ``cosine`` or ``dot``.
            live: leave out what tombstones retract, and tombstones, options and ``meta.`` chunks themselves; the
                answer's ``left_out`` says what was retracted.

        Raises:
            InvalidArgument: there is neither query nor vector, ``k`` is below 1, a layer is unknown or breaks a rule
                of the format, or the layers cannot be searched together or by this embedder.
        """
        wanted = tuple(sorted({layer_named(name) for name in layers}, key=rank))
        _check(query, k, vector, metric)
        views = self.views(wanted)
        require_compatible(list(views.values()))
        found: list[ChunkCandidate] = []
        lost: list[ChunkCandidate] = []
        for view in views.values():
            likeness = view.similarities(query, self._query_vector(view, query, vector), metric)
            text = query if vector is None else ""
            allowed = _allowed(view, kinds, live)
            gone = allowed & _retracted(views, view) if live else np.zeros_like(allowed)
            kept = candidates(view, allowed & ~gone, likeness, text, k)
            found += kept
            lost += candidates(view, gone, likeness, text, k) if gone.any() else []

        def hit(candidate: ChunkCandidate) -> LayerHit:
            view, record = candidate.view, candidate.record
            return LayerHit(
                view.name,
                record,
                view.file.chunk(record),
                candidate.score,
                similarity_kept(metric, candidate.similarity),
                round(candidate.coverage, 6),
                candidate.verbatim,
                view.revisions(record),
                retractors(views, view, record),
                conflicts_of(view, record, list(known.values()), nearby),
            )

        words = vector is None and metric == "cosine"
        best = ranked(found, query, words=words)[:k]
        known, unread = self._readable()
        of_hits = list({candidate.view.file.kind(candidate.record): None for candidate in best})
        nearby = Nearby(self._nearest(known, query, vector, of_hits, max(_COMPARED, 2 * k)) if best else ())
        hits = tuple(map(hit, best))
        left_out: tuple[LayerHit, ...] = ()
        if lost:  # ranked once more, since how much a word weighs depends on what it is ranked with
            mixed = ranked([*found, *lost], query, words=words)[:k]
            left_out = tuple(
                hit(candidate) for candidate in mixed if retractors(views, candidate.view, candidate.record)
            )
        absent = tuple(name for name in wanted if name not in views)
        notes = (*(lacking_profiles(views.values()) if vector is None else ()), *left_out_note(left_out), *unread)
        return LayerAnswer(hits, tuple(views), absent, notes, left_out)

    def embedder_of(self, view: LayerView | None) -> ProfiledEmbedder:
        """What embeds chunks for a layer: by its profile; by words if it carries none; the default if there is none.

        Raises:
            InvalidArgument: no embedder at hand makes vectors like the layer's.
        """
        if view is None:
            return self._default()
        if view.file.profile is None:
            return hashed(view.file.dim)
        return embedder_for(view.file.profile, self.embedder)

    def _default(self) -> ProfiledEmbedder:
        """What makes a layer that is not there yet: like the layers that are, so that they stay searchable together."""
        views = self.views(self.paths).values()
        for view in views:
            if view.file.profile is not None:
                return embedder_for(view.file.profile, self.embedder)
        default = self.embedder or built_in()
        for view in views:
            if view.file.dim != default.profile.dim:
                return hashed(view.file.dim)
        return default

    def _readable(self) -> tuple[dict[LayerName, LayerView], tuple[str, ...]]:
        """All layers that can be read, by precedence, and notes about those that cannot."""
        views: dict[LayerName, LayerView] = {}
        notes = []
        for name in sorted(self.paths, key=rank):
            try:
                view = self.view(name)
            except GraphctxError as error:
                notes.append(f"Conflicts with the {name} layer are not known: {error.message}")
                continue
            if view is not None:
                views[name] = view
        return views, tuple(notes)

    def _nearest(
        self,
        views: Mapping[LayerName, LayerView],
        text: str,
        vector: npt.NDArray[np.float32] | None,
        kinds: Sequence[str],
        number: int,
    ) -> Iterator[ChunkPlace]:
        """The chunks in effect that come nearest to a text, this many of each layer.

        A layer of another model is compared by its words.
        """
        for view in views.values():
            allowed = _allowed(view, kinds, live=True) & ~_retracted(views, view)
            places = np.flatnonzero(allowed)
            if len(places) > number:
                try:
                    given = self._query_vector(view, text, vector)
                except InvalidArgument:
                    given = None
                likeness = view.similarities(text, given, "cosine")[places]
                places = places[np.argsort(-likeness, kind="stable")[:number]]
            yield from ((view, record) for record in places.tolist())

    def _query_vector(
        self, view: LayerView, query: str, vector: npt.NDArray[np.float32] | None
    ) -> npt.NDArray[np.float32] | None:
        if vector is None:
            profile = view.file.profile
            if profile is None or not len(view.file):
                return None
            vector = embedder_for(profile, self.embedder).embed([query])[0]
        if vector.shape != (view.file.dim,):
            raise InvalidArgument(
                f"The query's vector has shape {vector.shape}; {view.file.name} needs one of {view.file.dim} numbers.",
                file=view.file.name,
                expected=view.file.dim,
            )
        return np.ascontiguousarray(vector, dtype=np.float32)


def _one_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, which need not be there."""
    return one.resolve() == other.resolve() or (one.exists() and other.exists() and one.samefile(other))


def _allowed(view: LayerView, kinds: Sequence[str], live: bool) -> npt.NDArray[np.bool_]:
    """Which records are of these kinds, and no bookkeeping for a search of what is live, ``[records]``."""
    allowed = view.newest
    if kinds:
        allowed = allowed & view.file.records_of_kinds(set(kinds))
    return allowed & ~view.bookkeeping if live else allowed


def _retracted(views: Mapping[LayerName, LayerView], view: LayerView) -> npt.NDArray[np.bool_]:
    """Which of the newest records tombstones retract, ``[records]``."""
    marks = np.zeros(len(view.file), np.bool_)
    named = {chunk_id for other in views.values() for chunk_id in other.retractions}
    for record in (view.records[chunk_id] for chunk_id in named if chunk_id in view.records):
        marks[record] = bool(retractors(views, view, record))
    return marks


def _check(query: str, k: int, vector: npt.NDArray[np.float32] | None, metric: str) -> None:
    if vector is None and not query.strip():
        raise InvalidArgument("query is empty; say what to look for.", field="query", value=query)
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise InvalidArgument(f"k is {k!r}; give a whole number of 1 or more.", field="k", value=k, range="1..")
    if metric not in ("cosine", "dot"):
        raise InvalidArgument(f"metric is {metric!r}; give cosine or dot.", field="metric", value=metric)


def require_compatible(views: Sequence[LayerView]) -> None:
    """Refuse layers whose vectors cannot be compared.

    A schema is the format's major version, which opening has checked, and the length of the vectors. i8 and f32 are
    two ways to store the same numbers and are compared after the scale was applied. A layer without a profile fits
    any: its chunks are compared by their words.

    Raises:
        InvalidArgument: two layers differ; the message names both files and what differs.
    """
    if not views:
        return
    first = views[0].file
    for view in views[1:]:
        if view.file.dim != first.dim:
            raise InvalidArgument(
                f"{first.name} has vectors of {first.dim} numbers and {view.file.name} of {view.file.dim}: their "
                "schemas differ, so they cannot be searched together. Name layers that agree, or embed one anew.",
                files=[first.name, view.file.name],
                dims=[first.dim, view.file.dim],
            )
    profiles = [(view.file, view.file.profile) for view in views if view.file.profile is not None]
    for file, profile in profiles[1:]:
        one, its = profiles[0]
        if its is not None and profile is not None and its.space != profile.space:
            raise InvalidArgument(
                f"{one.name} was embedded by {its} and {file.name} by {profile}: their vectors cannot be "
                "compared. Name layers that agree, or embed one of them anew.",
                files=[one.name, file.name],
                profiles=[its.as_json(), profile.as_json()],
            )


def lacking_profiles(views: Iterable[LayerView]) -> tuple[str, ...]:
    """A note for each layer that does not say how its vectors were made."""
    return tuple(
        f"{view.file.name} carries no embedding profile: its chunks are compared by their words."
        for view in views
        if view.file.profile is None and len(view.file)
    )
