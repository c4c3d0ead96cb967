"""Whether layers can be searched together (RFC sections 8.3 and 8.4.8)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graphctx.errors import InvalidArgument
from graphctx.layers.effective import LayerView
from graphctx.layers.embedders import told


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
                f"{one.name} was embedded by {told(its)} and {file.name} by {told(profile)}: their vectors cannot be "
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
