"""The MCP server: five tools over a knowledge base, on stdio or HTTP.

- ``stdio``: ``serve_stdio(kb_path, config)``; ``http``: ``serve_http(kb_path, config, host, port)``, ``http_app``.
- ``app``: ``build_server(warmup, config)``, for any other transport of the SDK.
- ``config``: ``ServerConfig``, from the ``[server]`` settings.
- ``backend``: ``Source`` and ``Backend``, all that the server wants of a knowledge base.
- ``warmup``: ``Warmup``, ``Engine``, ``open_engine``: opened in the background, and tried again.
- ``tools``: ``TOOLS``, one file each; ``tool``: ``Tool``, ``Description``, ``Reply``; ``schemas``: ``tool_schema``.
- ``desk``: ``Desk``, where one call is served; ``scratch``: ``ScratchStore``; ``resources``, ``sessions``, ``names``.

Nothing is imported here, so that listing settings or schemas does not load the SDK.
"""
