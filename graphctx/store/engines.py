"""The names of the graph engines."""

from __future__ import annotations

ENGINES = ("kuzu", "ladybug")
"""What ``[graph] engine`` may say; the first is the default. A process uses one of them."""
