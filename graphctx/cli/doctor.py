"""``graphctx doctor``: does this installation work, and what to do where it does not."""

from __future__ import annotations

from dataclasses import asdict

import typer

from graphctx.cli.options import DEFAULT_KB, JsonOption, KbOption

_MARKS = {"ok": ("✓", "green"), "failed": ("✗", "red"), "skipped": ("–", "dim")}


def doctor(kb: KbOption = DEFAULT_KB, as_json: JsonOption = False) -> None:
    """Check the installation by using every part of it, and the knowledge base if there is one.

    Exits with 1 if something essential fails.
    """
    from graphctx.cli.checks import run_checks
    from graphctx.cli.console import output_console, print_json
    from graphctx.store.config import has_snapshots

    console = output_console()
    findings = []
    for finding in run_checks(kb):
        findings.append(finding)
        if as_json:
            continue
        mark, style = _MARKS[finding.outcome]
        console.print(f"{mark} {finding.name}: {finding.detail}", style=style, soft_wrap=True)
        if finding.remedy:
            console.print(f"  → {finding.remedy}", soft_wrap=True)
    failed = [finding.name for finding in findings if finding.outcome == "failed"]
    if not as_json and not ((kb / "kb.toml").exists() or has_snapshots(kb)):
        console.print(f"– knowledge base: there is none in {kb} (graphctx ingest FOLDER makes it)", style="dim")
    if as_json:
        print_json({"ok": not failed, "checks": [asdict(finding) for finding in findings]})
    else:
        verdict = f"{len(failed)} of {len(findings)} checks failed: {', '.join(failed)}" if failed else "All is well."
        console.print(verdict, style="bold", soft_wrap=True)
    if failed:
        raise typer.Exit(1)
