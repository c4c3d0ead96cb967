"""The four layers: their files, who may change them and which goes first (RFC section 6)."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal, get_args

from graphctx.errors import InvalidArgument

LayerName = Literal["base", "user", "delta", "local"]

LAYERS: Final[tuple[LayerName, ...]] = get_args(LayerName)
"""In the order of the tools' defaults."""

FILES: Final[dict[LayerName, str]] = {
    "base": "AGENTS.db",
    "user": "AGENTS.user.db",
    "delta": "AGENTS.delta.db",
    "local": "AGENTS.local.db",
}

PRECEDENCE: Final[tuple[LayerName, ...]] = ("local", "user", "delta", "base")
"""From the highest to the lowest."""

WRITABLE: Final[tuple[LayerName, ...]] = ("local", "delta")
"""Layers that a tool may append to. The user layer is for people, and the base layer is never changed."""

WRITABLE_BY_PEOPLE: Final[tuple[LayerName, ...]] = ("user", "delta", "local")


def rank(layer: LayerName) -> int:
    """0 for the layer that goes first."""
    return PRECEDENCE.index(layer)


def layer_named(value: str) -> LayerName:
    """Return a layer by its name.

    Raises:
        InvalidArgument: there is no such layer.
    """
    for layer in LAYERS:
        if layer == value:
            return layer
    raise InvalidArgument(
        f"There is no layer {value!r}; choose among {', '.join(LAYERS)}.",
        field="layers",
        value=value,
        known=list(LAYERS),
    )


def layer_of_file(path: Path | str) -> LayerName | None:
    """Return the layer whose standard file name this is, or ``None``."""
    name = Path(path).name
    return next((layer for layer, file in FILES.items() if file == name), None)
