"""Write or check the generated files of this work tree."""

from __future__ import annotations

import sys
from pathlib import Path

from graphctx.cli.reference.files import check, write

ROOT = Path(__file__).parents[3]

if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        stale = check(ROOT)
        for name in stale:
            print(f"{name} is not up to date: run `make generate`", file=sys.stderr)
        sys.exit(1 if stale else 0)
    for name in write(ROOT):
        print(name)
