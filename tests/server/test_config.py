from __future__ import annotations

from graphctx.model.budgets import Limits
from graphctx.server.config import ServerConfig
from graphctx.settings import ServerSettings


def test_the_servers_defaults_are_those_of_the_settings() -> None:
    assert ServerConfig.from_settings(ServerSettings()) == ServerConfig()


def test_settings_reach_the_server() -> None:
    settings = ServerSettings(max_tokens=900, max_bytes=5000, scratch_mb=1, doc_tags=("ops",))
    config = ServerConfig.from_settings(settings, "http", "underscore")
    assert config.limits == Limits(900, 5000)
    assert (config.scratch_bytes, config.doc_tags) == (1024 * 1024, ("ops",))
    assert (config.transport, config.tool_names) == ("http", "underscore")
