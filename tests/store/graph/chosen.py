"""The engine of this run, and what the tests of this folder know of the small world."""

from __future__ import annotations

import os

from graphctx.store.graph import DEFAULT_ENGINE, ENGINES

from ..world import TOPICS, entity_id

ENGINE = os.environ.get("GRAPHCTX_TEST_ENGINE", DEFAULT_ENGINE)
OTHERS = [name for name in ENGINES if name != ENGINE]
CHAIN = [entity_id(topic) for topic in TOPICS]
"""Entities in a row, each related to the next."""
