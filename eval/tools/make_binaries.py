"""Write the handbook's PDF and DOCX files from their Markdown sources.

    python eval/tools/make_binaries.py [--out DIR]

Nothing of today gets into the files: every date inside them comes from the front matter of the source.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from binary_source import load
from write_docx import write_docx
from write_pdf import write_pdf

TOOLS = Path(__file__).resolve().parent
SOURCES = TOOLS / "sources"
HANDBOOK = TOOLS.parent / "corpora" / "handbook"


def make_all(out: Path) -> list[Path]:
    """Write every source's file below ``out`` and return the paths written, sorted."""
    written = []
    for path in sorted(SOURCES.glob("*.md")):
        source = load(path)
        target = out / source.target
        target.parent.mkdir(parents=True, exist_ok=True)
        {".pdf": write_pdf, ".docx": write_docx}[target.suffix](source, target)
        written.append(target)
    return sorted(written)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description="Write the handbook's PDF and DOCX files from their sources.")
    parser.add_argument("--out", type=Path, default=HANDBOOK, help="folder to write below (the handbook)")
    for path in make_all(parser.parse_args().out):
        print(path)


if __name__ == "__main__":
    main()
