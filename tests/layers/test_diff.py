"""What one layer says that another does not."""

from __future__ import annotations

from hypothesis import given

from graphctx.layers import LayerContent, LayerFile, LayerView, diff, to_bytes

from .world import content, contents, note


def view(made: LayerContent) -> LayerView:
    return LayerView("delta", LayerFile.parse(to_bytes(made), "AGENTS.delta.db"))


def test_added_removed_changed_moved_and_same_are_reported() -> None:
    old = content(note(1, "kept"), note(2, "gone"), note(3, "before"), note(4, "moved"))
    new = content(
        note(1, "kept"), note(3, "draft"), note(3, "after", confidence=0.5), note(9, "moved"), note(10, "new")
    )
    found = diff(view(old), view(new))
    assert [chunk.id for chunk in found.added] == [10]
    assert [chunk.id for chunk in found.removed] == [2]
    assert [(c.old.content, c.new.content, c.fields) for c in found.changed] == [
        ("before", "after", ("content", "confidence"))
    ]
    assert found.moved == ((4, 9),)
    assert found.same == 1


@given(contents())
def test_a_layer_differs_in_nothing_from_itself(made: LayerContent) -> None:
    found = diff(view(made), view(made))
    assert (found.added, found.removed, found.changed, found.moved) == ((), (), (), ())
    assert found.same == len({chunk.id for chunk in made.chunks})
