"""The MCP server: tools, resources and prompts over a knowledge base, on stdio or HTTP.

- ``stdio``: `serve_stdio`; ``http``: `serve_http`, `http_app`, `Door`; ``auth``: `Tokens`, `read_token_file`.
- ``app``: `build_server`, for any other transport of the SDK; ``config``: `ServerConfig`, made from settings.
- ``warmup``: `Warmup` opens an `Engine` in the background, and tries again after a failure.
- ``calls``: a call from its arguments to its result; ``workers``: its thread; ``failures``: its errors.
- ``call_context``: `CallContext`, what the handler of a tool works with; ``sessions``, ``scratch``: its session.
- ``tools``: `TOOLS` and `serve`; ``tool``: `Tool`, `Description`, `Reply`; ``schemas``: `tool_schema`.
- ``listing``, ``names``: the listed form of tools; ``prompts``, ``completion``; ``resources``, ``reading``.

Nothing is imported here, and listing tools imports neither NumPy nor a model nor a table format, so that a
server answers its first ``tools/list`` at once.

```python
from graphctx.server.stdio import serve_stdio

serve_stdio("handbook/.graphctx")
```
"""
