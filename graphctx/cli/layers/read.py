"""``graphctx layers validate``, ``inspect``, ``list``, ``search`` and ``diff``: what layers hold."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from graphctx.cli.console import counted, errors_console, output_console, print_json, print_table, warn
from graphctx.cli.guard import EXIT_ERROR
from graphctx.cli.layers.shared import (
    DirOption,
    FilesArgument,
    KindOption,
    LiveOption,
    chunk_json,
    conflict_json,
    conflict_text,
    file_of,
    files_of,
    folder_of,
    incompatibility,
    moment,
    remarks,
    retractions_json,
    show_chunk,
    source_text,
    stack_of,
    title_of,
)
from graphctx.cli.options import JsonOption
from graphctx.cli.places import shown_path
from graphctx.errors import InvalidArgument
from graphctx.text.printable import one_line, visible

if TYPE_CHECKING:
    from graphctx.layers import Change, Chunk, FileFinding, LayerStack, LayerView

_MAX_CONFLICTS = 20
"""Conflicts that are printed; the JSON object has all."""

_HIT_LINES = 12
"""Lines that are printed of a hit's content."""


def validate(files: FilesArgument = [], dir_: DirOption = None, as_json: JsonOption = False) -> None:
    """Check files against the rules of the format, and whether they can be searched together.

    Exits with 1 if a file breaks a rule, and lists all findings, each with its rule and the byte where it is. Warnings
    do no harm. The JSON object has files (path, layer, valid, findings), valid and together.
    """
    from graphctx import layers

    found = {path: layers.validate(path) for path in files_of(files, folder_of(dir_))}
    valid = {path: all(one.severity != "error" for one in findings) for path, findings in found.items()}
    together = incompatibility(list(found)) if all(valid.values()) else None
    if as_json:
        listed: list[dict[str, Any]] = [
            {
                "path": str(path),
                "layer": layers.layer_of_file(path),
                "valid": valid[path],
                "findings": [asdict(finding) for finding in findings],
            }
            for path, findings in found.items()
        ]
        print_json({"valid": all(valid.values()), "files": listed, "together": together})
    else:
        for path, findings in found.items():
            _show_findings(path, findings)
        if together:
            warn(f"These layers cannot be searched together: {together}")
    if not all(valid.values()):
        raise typer.Exit(EXIT_ERROR)


def _show_findings(path: Path, findings: list[FileFinding]) -> None:
    from graphctx.layers import LayerFile

    console = output_console()
    errors = sum(finding.severity == "error" for finding in findings)
    if errors:
        console.print(f"✗ {shown_path(path)}: {counted(errors, 'errors')}", style="bold red")
    else:
        with LayerFile.open(path) as layer:
            console.print(f"✓ {shown_path(path)}: valid, {counted(len(layer), 'records')}", style="green")
    for finding in findings:
        line = f"  {finding.severity} at byte {finding.offset:,}: {finding.message} ({finding.rule})"
        console.print(line, style="red" if finding.severity == "error" else "yellow")
    if findings and not path.read_bytes().startswith(b"AGDB"):
        warn(f"{shown_path(path)} is not a layer: layers begin with the letters AGDB.")
    elif errors:
        warn("Restore the file from version control or a backup: a damaged layer is not repaired in place.")


def inspect(
    files: FilesArgument = [],
    id_: Annotated[
        int | None, typer.Option("--id", metavar="ID", help="Show this chunk, in each layer that has it.")
    ] = None,
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how layers are made up and where they disagree, or a chunk whole, with its provenance and its revisions.

    The JSON object has layers and conflicts; with --id it has chunks and conflicts.
    """
    stack = stack_of(files, folder_of(dir_))
    if id_ is not None:
        _inspect_chunk(stack, id_, as_json=as_json)
    else:
        _inspect_layers(stack, as_json=as_json)


def _inspect_layers(stack: LayerStack, *, as_json: bool) -> None:
    layers = [_details(view, stack.path(name)) for name, view in stack.views().items()]
    conflicts = stack.conflicts()
    if as_json:
        print_json({"layers": layers, "conflicts": [conflict_json(conflict) for conflict in conflicts]})
        return
    console = output_console()
    for layer in layers:
        console.print(f"{layer['layer']}  {shown_path(Path(layer['path']))}", style="bold")
        for name, value in _detail_lines(layer).items():
            console.print(f"  {name:<10} {value}")
    if conflicts:
        console.print(f"\n{counted(len(conflicts), 'conflicts')}:", style="yellow")
        for conflict in conflicts[:_MAX_CONFLICTS]:
            console.print(f"  {conflict_text(conflict)}")
        if len(conflicts) > _MAX_CONFLICTS:
            console.print(f"  and {len(conflicts) - _MAX_CONFLICTS:,} more (all of them with --json)")


def _details(view: LayerView, path: Path) -> dict[str, Any]:
    from graphctx.layers.format import SECTION_NAMES
    from graphctx.store.files import sha256_of

    file, newest = view.file, view.newest.nonzero()[0].tolist()
    sections = {SECTION_NAMES[kind]: section.end - section.start for kind, section in file.layout.sections.items()}
    kinds = Counter(file.kind(record) for record in newest)
    authors = Counter(file.string(int(file.layout.records["author_str_id"][record])) for record in newest)
    return {
        **_summary(view),
        "path": str(path),
        "bytes": path.stat().st_size,
        "sha256": sha256_of(path),
        "version": f"1.{file.layout.minor}",
        "scale": file.scale,
        "sections": sections,
        "kinds": dict(sorted(kinds.items())),
        "authors": dict(sorted(authors.items())),
        "retracted": len(view.retractions),
        "profile": file.profile.as_json() if file.profile else None,
        "metadata": file.metadata,
        "signature": Path(f"{path}.sig").is_file(),
    }


def _detail_lines(layer: dict[str, Any]) -> dict[str, str]:
    older = layer["records"] - layer["chunks"]
    counts = f"{layer['chunks']:,}" + (f", {older:,} older records" if older else "")
    counts += f", {layer['retracted']:,} retracted" if layer["retracted"] else ""
    profile = "none: chunks are compared by their words"
    if fields := layer["profile"]:
        parts = (fields["backend"], fields["model"], fields["revision"], f"norm {fields['output_norm']}")
        profile = one_line(" ".join(part for part in parts if part))
    return {
        "chunks": counts,
        "kinds": ", ".join(f"{one_line(kind)} {count:,}" for kind, count in layer["kinds"].items()) or "none",
        "authors": ", ".join(f"{author} {count:,}" for author, count in layer["authors"].items()) or "none",
        "vectors": f"{layer['dim']} numbers of {layer['element_type']}",
        "profile": profile,
        "sections": ", ".join(f"{name} {size:,} B" for name, size in layer["sections"].items()),
        "file": f"{layer['bytes']:,} B, format {layer['version']}, sha256 {layer['sha256'][:16]}…",
        "signature": "present; graphctx layers verify checks it" if layer["signature"] else "none",
    }


def _inspect_chunk(stack: LayerStack, chunk_id: int, *, as_json: bool) -> None:
    views = stack.views()
    entries = [entry for entry in stack.entries() if entry.chunk.id == chunk_id]
    if not entries:
        names = ", ".join(view.file.name for view in views.values())
        raise InvalidArgument(
            f"There is no chunk {chunk_id} in {names}; graphctx layers list shows the ids.", field="id", value=chunk_id
        )
    older = {}
    for e in entries:
        file = views[e.layer].file
        records: list[int] = (file.ids == chunk_id).nonzero()[0].tolist()
        older[e.layer] = [file.chunk(record) for record in records if record != e.record]
    conflicts = list(dict.fromkeys(c for layer in older for c in stack.conflicts_of(layer, chunk_id)[0]))
    if as_json:
        chunks = [
            {
                "layer": e.layer,
                **chunk_json(e.chunk),
                "retracted_by": retractions_json(e.retracted_by),
                "older": [chunk_json(chunk) for chunk in older[e.layer]],
            }
            for e in entries
        ]
        print_json({"chunks": chunks, "conflicts": [conflict_json(conflict) for conflict in conflicts]})
        return
    for e in entries:
        show_chunk(e.layer, e.chunk, note=remarks(e.revisions, e.retracted_by))
        for chunk in reversed(older[e.layer]):
            show_chunk(e.layer, chunk, note="an older record, no longer in effect")
    for conflict in conflicts:
        output_console().print(conflict_text(conflict), style="yellow")


def list_chunks(
    files: FilesArgument = [],
    kind: KindOption = [],
    live: LiveOption = False,
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the chunks of layers: of each id the newest record, by precedence of the layers and then by id.

    The JSON object has layers (layer, path, records, chunks, dim, element_type) and chunks.
    """
    stack = stack_of(files, folder_of(dir_))
    views = stack.views()
    entries = [
        e for e in stack.entries(kinds=kind) if not live or not (e.retracted_by or views[e.layer].bookkeeping[e.record])
    ]
    if as_json:
        chunks = [
            {
                "layer": e.layer,
                **chunk_json(e.chunk, content=False),
                "revisions": e.revisions,
                "retracted_by": retractions_json(e.retracted_by),
            }
            for e in entries
        ]
        layers = [_summary(view) | {"path": str(stack.path(name))} for name, view in views.items()]
        print_json({"layers": layers, "chunks": chunks})
        return
    if not entries:
        output_console().print(f"No chunks of kind {', '.join(kind)}." if kind else "No chunks.", style="yellow")
        return
    print_table(
        ("layer", "id", "kind", "author", "confidence", "created", "sources", "", "content"),
        [
            (
                e.layer,
                str(e.chunk.id),
                one_line(e.chunk.kind),
                e.chunk.author,
                f"{e.chunk.confidence:.2f}",
                moment(e.chunk.created_at_unix_ms),
                str(len(e.chunk.sources)),
                remarks(e.revisions, e.retracted_by),
                title_of(e.chunk.content),
            )
            for e in entries
        ],
    )
    total = ", ".join(f"{name} {len(view.records):,}" for name, view in views.items())
    errors_console().print(f"{counted(len(entries), 'chunks')} shown; in all: {total}", style="dim")


def _summary(view: LayerView) -> dict[str, Any]:
    return {
        "layer": view.name,
        "file": view.file.name,
        "records": len(view.file),
        "chunks": len(view.records),
        "dim": view.file.dim,
        "element_type": view.file.element_type,
    }


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for, in quotes.")],
    layers: Annotated[
        list[str],
        typer.Option(
            "--layer",
            metavar="LAYER|FILE",
            help="Search this layer (base, user, delta, local), this file, or user=FILE; may be repeated.",
        ),
    ] = [],
    k: Annotated[int, typer.Option("-k", "--k", metavar="N", min=1, help="Most chunks in all.")] = 5,
    kind: KindOption = [],
    live: LiveOption = False,
    metric: Annotated[
        str, typer.Option("--metric", metavar="cosine|dot", help="How vectors are compared; dot compares no words.")
    ] = "cosine",
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Search layers together: by the vectors that their profile allows, by the words of the query, and for its text.

    Conflicts between layers are reported and not resolved. The JSON object has the fields of the tool agents_search:
    chunks, each with its whole content, layers_searched, layers_absent, conflicts and notes.
    """
    stack = stack_of(layers, folder_of(dir_))
    answer = stack.search(query, k, kinds=kind, layers=list(stack.paths), live=live, metric=cast(Any, metric))
    if as_json:
        hits = [
            {
                "rank": rank,
                "layer": hit.layer,
                **chunk_json(hit.chunk),
                "score": hit.score,
                "similarity": hit.similarity,
                "coverage": hit.coverage,
                "verbatim": hit.verbatim,
                "revisions": hit.revisions,
                "retracted_by": retractions_json(hit.retracted_by),
            }
            for rank, hit in enumerate(answer.hits, start=1)
        ]
        print_json(
            {
                "query": query,
                "chunks": hits,
                "layers_searched": list(answer.searched),
                "layers_absent": list(answer.absent),
                "conflicts": [conflict_json(conflict) for conflict in answer.conflicts],
                "notes": list(answer.notes),
            }
        )
        return
    console = output_console()
    console.print(f"Query: {query}\n", style="bold")
    for hit in answer.hits:
        note = ", ".join(part for part in (f"score {hit.score:.3f}", remarks(hit.revisions, hit.retracted_by)) if part)
        show_chunk(hit.layer, hit.chunk, note=note, lines=_HIT_LINES)
    if not answer.hits:
        of_kinds = f" of kind {', '.join(kind)}" if kind else ""
        console.print(f"There are no chunks{of_kinds} in {', '.join(answer.searched)}.", style="yellow")
    for conflict in answer.conflicts:
        console.print(f"conflict: {conflict_text(conflict)}", style="yellow")
    for note in answer.notes:
        errors_console().print(note, style="dim")


def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help="A layer, or a file.")] = "base",
    new: Annotated[str, typer.Argument(metavar="NEW", help="A layer, or a file.")] = "delta",
    dir_: DirOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare two layers, by default the delta layer with the base layer, by the newest record of each id.

    The JSON object has old, new, added, removed, changed (old, new, fields), moved (the same text under another id)
    and same.
    """
    from graphctx import layers

    folder = folder_of(dir_)
    before, after = file_of(old, folder), file_of(new, folder)
    with layers.LayerFile.open(before) as first, layers.LayerFile.open(after) as second:
        found = layers.diff(layers.LayerView("base", first), layers.LayerView("base", second))
    if as_json:
        changed = [
            {"old": chunk_json(c.old), "new": chunk_json(c.new), "fields": list(c.fields)} for c in found.changed
        ]
        print_json(
            {
                "old": str(before),
                "new": str(after),
                "added": [chunk_json(chunk) for chunk in found.added],
                "removed": [chunk_json(chunk) for chunk in found.removed],
                "changed": changed,
                "moved": [{"old_id": old_id, "new_id": new_id} for old_id, new_id in found.moved],
                "same": found.same,
            }
        )
        return
    console = output_console()
    console.print(f"{shown_path(before)} → {shown_path(after)}", style="bold")
    for sign, style, chunks in (("+", "green", found.added), ("-", "red", found.removed)):
        for chunk in chunks:
            console.print(f"{sign} {_chunk_line(chunk)}", style=style)
    for change in found.changed:
        _show_change(change)
    for old_id, new_id in found.moved:
        console.print(f"= {old_id} is {new_id} there, with the same text", style="dim")
    counts = {
        "added": len(found.added),
        "removed": len(found.removed),
        "changed": len(found.changed),
        "under another id": len(found.moved),
        "the same": found.same,
    }
    console.print(", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or "Both are empty.")


def _show_change(change: Change) -> None:
    from difflib import unified_diff

    console = output_console()
    console.print(f"~ {change.new.id} {', '.join(change.fields)}", style="yellow")
    for field in change.fields:
        before, after = getattr(change.old, field), getattr(change.new, field)
        if field == "content":
            old, new = (visible(text).split("\n") for text in (before, after))
            for line in list(unified_diff(old, new, lineterm="", n=1))[2:]:
                console.print(f"    {line}", style={"+": "green", "-": "red"}.get(line[:1], "dim"))
            continue
        if field == "sources":
            before, after = (", ".join(map(source_text, sources)) or "none" for sources in (before, after))
        console.print(f"    {field}: {one_line(str(before))} → {one_line(str(after))}")


def _chunk_line(chunk: Chunk) -> str:
    provenance = f"{one_line(chunk.kind)} by {chunk.author}, confidence {chunk.confidence:.2f}"
    return f"{chunk.id} {provenance}: {title_of(chunk.content)}"
