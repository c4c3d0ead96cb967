"""No regular expression of the package takes longer than linear time: the worst texts of each end soon.

A pattern with a quadratic search takes many seconds for a text of this size, one that is linear a few milliseconds; so
it is enough that it ends at all within a limit of processor time that is generous for the latter.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from graphctx.ingest.read.code import MAX_LINE_CHARS
from graphctx.text.prose import MAX_CHARS
from graphctx.text.readable import MAX_TITLE_CHARS
from tests.conftest import EFFORT

SIZE = 100_000
SECONDS = 5.0

SHORT = {
    "text/prose.py": MAX_CHARS,  # longer sentences are not weighed
    "text/sentences.py:_LAST_WORD": 40,  # is looked for in a window
    "ingest/defined_terms.py:_IDENTIFIER": 120,  # the longest name
    "ingest/read/code.py": MAX_LINE_CHARS,  # longer lines are not looked at
    "ingest/read/html.py:_CHARSET": 1024,  # is looked for at the start of a page
    "ingest/read/rst.py:_TARGETED": 1000,  # the longest phrase of a link
    "text/readable.py:_TITLE_MARKUP": MAX_TITLE_CHARS,
    "retrieve/question.py": 4000,  # the longest question
}
"""The longest text that a pattern is given, where that is what holds its time."""

OF_ARGUMENTS = {
    "eval/entities_gold.py",
    "eval/golden.py",
    "eval/report.py",
    "export/target.py",
    "ingest/read/code.py",
    "nlp/entities.py",
    "server/names.py",
    "store/files.py",
}
"""Where a pattern is made of arguments, each of them escaped: what is added to a pattern is text and no repetition."""


def faults(*, first: int = 0, step: int = 1, attacks: int, worst: int) -> tuple[dict[str, Any], list[str]]:
    """What is known of the patterns, and which of them do not end, with the text that shows it."""
    found: list[str] = []
    about: dict[str, Any] = {}
    while True:
        arguments: dict[str, Any] = {"first": first, "step": step, "attacks": attacks, "worst": worst}
        arguments |= {"size": SIZE, "seconds": SECONDS, "short": SHORT}
        done = subprocess.run(
            [sys.executable, "-m", "patterns.probe", json.dumps(arguments)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])},
            capture_output=True,
            text=True,
            check=False,
        )
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        about = lines[0] if lines else about
        if done.returncode == 0:
            return about, found
        assert done.returncode == -signal.SIGVTALRM, done.stderr
        found.append(f"{lines[-1]['pattern']} on {lines[-1].get('attack', 'a text of 1000 characters')}")
        first = lines[-1]["number"] + step


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_every_pattern_of_the_package_is_linear_in_the_text() -> None:
    about, found = faults(attacks=80, worst=1)
    assert not found, "\n".join(found)
    assert about["patterns"] > 250
    assert {place.partition(":")[0] for place in about["unknown"]} == OF_ARGUMENTS


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.skipif(EFFORT < 2, reason="a search of hours: GRAPHCTX_TEST_EFFORT=2 runs it")
@pytest.mark.parametrize("shard", range(4))
def test_no_text_made_from_a_pattern_is_too_much_for_it(shard: int) -> None:
    _, found = faults(first=shard, step=4, attacks=4000, worst=5)
    assert not found, "\n".join(found)
