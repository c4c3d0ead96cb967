from __future__ import annotations

from typing import get_args

from pydantic import SecretStr

from graphctx.model.budgets import Limits
from graphctx.server.config import ServerConfig, Toolset
from graphctx.server.tools import DEFAULT_TOOLSETS, TOOLSETS
from graphctx.settings import ServerSettings


def test_the_servers_defaults_are_those_of_the_settings() -> None:
    assert ServerConfig.from_settings(ServerSettings()) == ServerConfig()


def test_toolsets_are_the_same_everywhere() -> None:
    setting = ServerSettings.model_fields["toolsets"]
    assert setting.default == DEFAULT_TOOLSETS == ServerConfig().toolsets
    assert set(get_args(get_args(setting.annotation)[0])) == set(get_args(Toolset)) == {"core", *TOOLSETS}


def test_settings_reach_the_server() -> None:
    settings = ServerSettings(max_tokens=900, max_bytes=5000, scratch_mb=1, tool_names="dotted")
    config = ServerConfig.from_settings(settings, "http")
    assert config.limits == Limits(900, 5000)
    assert config.scratch_bytes == 1024 * 1024
    assert (config.transport, config.tool_names) == ("http", "dotted")


def test_flags_and_secrets_reach_the_server() -> None:
    settings = ServerSettings(
        toolsets=("compat",),
        kb_v2=False,
        structured_output=False,
        cursor_key=SecretStr("between us"),
        tokens={"ana": SecretStr("a" * 20)},
    )
    config = ServerConfig.from_settings(settings)
    assert (config.toolsets, config.kb_v2, config.structured_output) == (("compat",), False, False)
    assert config.cursor_key == "between us"
    assert config.tokens["ana"].get_secret_value() == "a" * 20
