"""The MCP server: tools, resources and prompts over a knowledge base, on stdio or HTTP.

A request passes from its transport (`stdio`, `http`) to `app`, which has a method for each method of the protocol.
`dispatch` hands a tool call to a worker thread (`workers`), which parses it, finds its session (`sessions`), pins the
published snapshot (`warmup`) and runs the tool's handler (`tools`). The handler works with a `call_context`, and
returns an answer and its rendering.

- `scratch`: the passages that a session has seen; `resources`, `reading`: what clients read by URI.
- `tool`, `listing`, `schemas`, `names`: what a tool declares, and how clients list it; `prompts`, `completion`.
- `config`, `auth`, `process`: settings, bearer tokens, the log and the end of the process; `local`: tools without a
  server.

Nothing is imported here, and listing tools imports neither NumPy nor a model nor a table format, so that a
server answers its first ``tools/list`` at once.

```python
from graphctx.server.stdio import serve_stdio

serve_stdio("handbook/.graphctx")
```
"""
