"""The MCP server: tools, resources and prompts over a knowledge base, on stdio or HTTP.

- ``stdio``: ``serve_stdio(kb_path, config)``; ``http``: ``serve_http(kb_path, config, door)``, ``http_app``, ``Door``.
- ``app``: ``build_server(warmup, config)``, for any other transport of the SDK.
- ``config``: ``ServerConfig``, from the ``[server]`` settings; ``auth``: ``Tokens``, ``read_token_file``.
- ``warmup``: ``Warmup``, ``Engine``, ``open_engine``: opened in the background, and tried again.
- ``calls``: one call from its arguments to its result; ``workers``: its thread; ``failures``: what is told of a fault.
- ``sessions``: whose call it is; ``scratch``: ``ScratchStore``; ``call_context``: what a tool works with.
- ``tools``: ``TOOLS`` and ``serve``; ``tool``: ``Tool``, ``Description``, ``Reply``; ``schemas``: ``tool_schema``.
- ``listing``, ``names``: what clients are told of the tools; ``prompts``, ``completion``; ``resources``, ``reading``.

Nothing is imported here, so that listing settings or schemas does not load the SDK.
"""
