"""The folder of a knowledge base: found, made, and held to what its opener expects of it."""

from __future__ import annotations

from pathlib import Path

from graphctx.errors import InvalidArgument, ScopeViolation
from graphctx.model.arguments import parse_arguments
from graphctx.store.config import MAX_PROJECT_CHARS, KbConfig, has_snapshots, read_config, restore_config, write_config
from graphctx.store.replica import local_folder


def open_folder(
    path: str | Path, create: bool, project_id: str | None, engine: str | None, embedder: str | None
) -> tuple[Path, KbConfig]:
    """Return the folder and its configuration; arguments and errors are those of `graphctx.KnowledgeBase.open`."""
    folder = local_folder(path)
    if folder.exists() and not folder.is_dir():
        raise InvalidArgument(f"{folder.name} is a file; a knowledge base is a folder.", path=folder.name)
    if create and not (folder / "kb.toml").exists():
        if has_snapshots(folder):
            restore_config(folder)
        else:
            _create(folder, project_id, engine, embedder)
    config = read_config(folder)
    if project_id is not None and project_id != config.project_id:
        raise ScopeViolation(
            f"This knowledge base belongs to project {config.project_id!r}, not to {project_id!r}. "
            "Leave the project out, or use another folder for the other project.",
            value=project_id,
            allowed=config.project_id,
        )
    for name, asked, own in (("engine", engine, config.engine), ("embedder", embedder, config.embedder)):
        if asked is not None and asked != (own or "minilm-int8"):
            raise InvalidArgument(
                f"This knowledge base has {name} {own or 'minilm-int8'!r}, not {asked!r}. Change it in kb.toml and "
                "ingest again, or use another folder.",
                **{name: asked},
            )
    return folder, config


def _create(folder: Path, project_id: str | None, engine: str | None, embedder: str | None) -> None:
    from graphctx.nlp.embedders import make_embedder
    from graphctx.store.graph import graph_engine

    if embedder is not None:
        make_embedder(embedder)
    if engine is not None:
        graph_engine(engine)
    place = folder.resolve()
    name = place.parent.name if place.name == ".graphctx" else place.name
    chosen = {
        "project_id": (name or "default")[:MAX_PROJECT_CHARS] if project_id is None else project_id,
        "engine": engine,
        "embedder": embedder,
    }
    write_config(folder, parse_arguments(KbConfig, chosen))
