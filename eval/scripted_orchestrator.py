"""An orchestrator without a language model, whose success depends on what its prompt tells: for `eval.iteration_ab`.

    python -m eval.scripted_orchestrator

A task is a row of obstacles, and of the approaches to each exactly one works. Every iteration begins with a fresh
prompt, as with agents whose context is reset: the script tries an approach at random, but none that the prompt says
has failed. With a memory (``GRAPHCTX_MEMORY__FOLDER``) the prompt has the block of relevant context, so that it
learns from its failures; without one it repeats them. It reads nothing but the prompt.
"""

from __future__ import annotations

import json
import os
import random
from dataclasses import dataclass, field
from typing import Any

from graphctx.memory import IterationClient, MemoryScope

OBSTACLES = {
    "Simple File Creation": [("write the file", ["open it for writing"])],
    "Bug Fix": [
        ("reproduce the 503", ["replay the access log", "raise the load", "shorten the timeout"]),
        ("keep uploads alive", ["retry with a backoff", "enlarge the pool", "send smaller chunks"]),
    ],
    "Feature Implementation": [
        ("find the orders of a customer", ["join on customer_id", "read the archive", "call the billing service"]),
        ("page the list", ["use a keyset cursor", "use offset and limit", "stream the rows"]),
        ("authorise the caller", ["check the session scope", "check the role table", "trust the gateway header"]),
        ("test the endpoint", ["use the seeded database", "record a cassette", "start the whole stack"]),
    ],
    "Multi-Step Refactoring": [
        ("break the import circle", ["move the models first", "import lazily", "invert the dependency"]),
        ("split the settings", ["copy the billing keys", "keep one file with two readers", "pass them as arguments"]),
        ("move the migrations", ["squash them", "replay them in place", "fake the first one"]),
        ("keep the callers", ["leave a shim", "rename with a codemod", "deprecate the old path"]),
        ("run the tests of both", ["use two environments", "share the fixtures", "pin the plugin"]),
    ],
    "Error Recovery": [
        ("install the compiler", ["use the system package", "build it", "use the container", "pin 12", "pin 13"]),
        ("warm the cache", ["restore by lockfile", "restore by branch", "mount a volume", "skip it", "prefetch"]),
    ],
}


@dataclass
class Outcome:
    """What `eval.iteration_ab` reads from the last line of the output."""

    success: bool = False
    iterations: int = 0
    tokens_used: int = 0
    retrievals: int = 0
    helpful: int = 0
    errors: int = 0
    errors_recovered: int = 0
    retrieval_ms: list[float] = field(default_factory=list)


def failed(approach: str, obstacle: str) -> str:
    """Return what is remembered of a failure, which is also what the prompt is searched for."""
    return f"Could not {obstacle}: to {approach} does not work here."


def attempt(obstacle: str, approaches: list[str], prompt: str, draw: random.Random) -> str:
    """Choose an approach that the prompt does not speak against."""
    open_to_try = [approach for approach in approaches if failed(approach, obstacle) not in prompt]
    return draw.choice(open_to_try or approaches)


def run(name: str, prompt: str, seed: str, max_iterations: int, client: IterationClient | None) -> Outcome:
    """Work on a task until it is done or the iterations are used up."""
    world, draw = random.Random(f"world {name} {seed}"), random.Random(f"agent {name} {seed}")
    works = [world.choice(approaches) for _, approaches in OBSTACLES[name]]
    outcome, done = Outcome(), 0
    if client is not None:
        client.health_check()  # loads the models, which is no part of a retrieval
    while done < len(works) and outcome.iterations < max_iterations:
        outcome.iterations += 1
        obstacle, approaches = OBSTACLES[name][done]
        found: dict[str, Any] = {"block": "", "items": []}
        if client is not None:
            found = client.get_context_block(f"{prompt} Now: {obstacle}.", iteration=outcome.iterations)
            outcome.retrieval_ms.append(found["stats"]["search_time_ms"])
        whole = f"{found['block']}\n\n{prompt}\nNow: {obstacle}."
        outcome.tokens_used += len(whole.split())
        approach = attempt(obstacle, approaches, whole, draw)
        success = approach == works[done]
        for item in found["items"]:
            outcome.retrievals += 1
            if obstacle in item["content"]:
                outcome.helpful += 1
        if client is not None:
            said = f"To {approach} did {'' if success else 'not '}{obstacle}."
            error = None if success else failed(approach, obstacle)
            client.store_iteration_result(outcome.iterations, said, success, error=error)
        if success:
            done += 1
            outcome.errors_recovered = outcome.errors
        else:
            outcome.errors += 1
    outcome.success = done == len(works)
    return outcome


def main() -> None:
    """Run the task that the environment names, and print the outcome as a line of JSON."""
    given = os.environ
    folder = given.get("GRAPHCTX_MEMORY__FOLDER")
    client = IterationClient(folder, MemoryScope(project=given["GRAPHCTX_AB_TASK"])) if folder else None
    try:
        outcome = run(
            given["GRAPHCTX_AB_TASK"],
            given["GRAPHCTX_AB_PROMPT"],
            given["GRAPHCTX_AB_SEED"],
            int(given["GRAPHCTX_AB_MAX_ITERATIONS"]),
            client,
        )
    finally:
        if client is not None:
            client.close()
    print(json.dumps(vars(outcome)))


if __name__ == "__main__":
    main()
