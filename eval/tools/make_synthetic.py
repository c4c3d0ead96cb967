"""Write the synthetic question sets: ``python eval/tools/make_synthetic.py FOLDER [KIND…]``.

Each kind becomes a folder with ``questions.jsonl``, ``suite.toml`` and its corpus, for ``graphctx eval FOLDER/KIND``.
The same kind gives the same bytes on every machine. The kinds are described in eval/synthetic/README.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # so that the script runs from a checkout

from eval.synthetic import biographies, chat, long_documents, news, reference, whole
from eval.synthetic.writing import Collection

KINDS: dict[str, Callable[[str], Collection]] = {
    "biographies": lambda name: biographies.make(name, titled=True),
    "biographies-untitled": lambda name: biographies.make(name, titled=False),
    "news": news.make,
    "chat": chat.make,
    "reference": reference.make,
    "long-documents": long_documents.make,
}

WHOLE: dict[str, Callable[[str], Collection]] = {"news-whole": whole.make_news, "chat-whole": whole.make_chat}
"""Questions about the whole, with points, over the documents of the kinds before the hyphen; made if they are named."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the sets are written, one folder each")
    parser.add_argument(
        "kinds", nargs="*", metavar="KIND", help=f"by default {', '.join(KINDS)}; also {', '.join(WHOLE)}"
    )
    arguments = parser.parse_args()
    kinds = KINDS | WHOLE
    unknown = sorted(set(arguments.kinds) - set(kinds))
    if unknown:
        parser.error(f"there is no kind {unknown[0]!r}; take of: {', '.join(kinds)}")
    for kind in arguments.kinds or KINDS:
        made = kinds[kind](kind)
        made.write(arguments.folder / kind)
        words = sum(len(page.text.split()) for page in made.pages)
        print(f"{kind}: {len(made.pages)} documents, {words:,} words, {len(made.questions)} questions")


if __name__ == "__main__":
    main()
