"""``python -m graphctx.server KB``: serve on stdio without the command line's other parts."""

from __future__ import annotations

import sys

from graphctx.server.stdio import serve_stdio

if __name__ == "__main__":
    serve_stdio(sys.argv[1] if len(sys.argv) > 1 else ".graphctx")
