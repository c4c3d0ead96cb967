"""The web page: ask, see the evidence in its document, walk the graph.

The page is static files and a JSON interface below ``/api``, served beside MCP by the same process. An operation of the
interface is an input model and a function, declared in a file of this package and listed in `operations.OPERATIONS`;
``/api/tools/NAME`` runs any tool of the server with the same arguments, limits and scope as over MCP.

```python
from graphctx.server.http import serve_http
from graphctx.ui import page_routes

serve_http("handbook/.graphctx", pages=page_routes("handbook/.graphctx"))
```
"""

from graphctx.ui.routes import page_routes

__all__ = ["page_routes"]
