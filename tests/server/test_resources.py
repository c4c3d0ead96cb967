from __future__ import annotations

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from .conftest import Connect
from .library import Library

pytestmark = pytest.mark.anyio
QUESTION = "Who is the duty officer for the ledger?"


async def test_scratch_passages_are_resources(connect: Connect, library: Library) -> None:
    async with connect() as client:
        found = (await client.call_tool("kb.search", {"query": "ledger"})).structured_content["results"]
        template = (await client.list_resource_templates()).resource_templates[0]
        assert template.uri_template == "graphctx://scratch/{session_id}/{passage_id}"
        assert template.annotations is not None
        assert template.annotations.audience == ["assistant"]
        listed = {resource.uri: resource for resource in (await client.list_resources()).resources}
        for result in found:
            resource = listed[result["scratch_uri"]]
            assert resource.size == result["size_bytes"]
            assert resource.mime_type == "text/plain"
            assert resource.annotations is not None
            assert resource.annotations.last_modified
            contents = (await client.read_resource(result["scratch_uri"])).contents[0]
            assert contents.text == library.units[result["section_id"]].text  # type: ignore[union-attr]


async def test_a_resource_of_another_session_or_of_no_session_cannot_be_read(connect: Connect) -> None:
    async with connect() as client:
        uri = (await client.call_tool("kb.search", {"query": "ledger"})).structured_content["results"][0]["scratch_uri"]
    async with connect() as client:
        for wrong in (
            uri,
            "graphctx://scratch/x_aaaaaaaaaaaaaaaa/../p",
            "file:///etc/passwd",
            "graphctx://scratch/",
        ):
            with pytest.raises(MCPError) as caught:
                await client.read_resource(wrong)
            assert caught.value.error.code == INVALID_PARAMS
            assert caught.value.error.data["error"]["code"] in ("SCOPE_VIOLATION", "INVALID_ARGUMENT")
