"""`pressroom doctor`: report problems and how to fix them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from pressroom.cli.loading import compiled, print_safe_mode
from pressroom.cli.options import Invocation, command_options, plugin_options
from pressroom.cli.output import EXIT_PROBLEMS, FINE, Output
from pressroom.validation.echo import counted

if TYPE_CHECKING:
    from pressroom.cli.diagnosis import Diagnosis

MARKS = {"error": "ERROR", "warning": "WARNING", "ok": "ok"}
"""The label of each status, worst first."""


@click.command()
@click.option("-v", "--verbose", is_flag=True, help="List every check, including those without a problem.")
@plugin_options
@command_options
def doctor(invocation: Invocation, verbose: bool) -> int:
    """Check the configuration, the plugins and the stores. The exit code is 1 if something does not work.

    Lists the problems, errors first. With --json, lists every check.
    """
    import asyncio  # noqa: PLC0415 - takes longer to load than --help may take

    from pressroom.cli.diagnosis import diagnose  # noqa: PLC0415 - loads plugins, which takes time

    host = compiled(invocation)
    with invocation.output.progress("Checking") as progress:
        findings = asyncio.run(diagnose(host, progress.advance))
    failed = any(finding.result.status == "error" for finding in findings)
    if invocation.json:
        invocation.output.data(
            {
                "ok": not failed,
                "checks": [
                    {
                        "check": finding.check,
                        "status": finding.result.status,
                        "message": finding.result.message,
                        "hint": finding.result.hint,
                    }
                    for finding in findings
                ],
            }
        )
    else:
        _print_findings(invocation.output, findings, verbose=verbose)
        print_safe_mode(invocation.output, host)
    return EXIT_PROBLEMS if failed else FINE


def _print_findings(output: Output, findings: Sequence[Diagnosis], *, verbose: bool) -> None:
    visible = [finding for finding in findings if verbose or finding.result.status != "ok"]
    visible.sort(key=lambda finding: [*MARKS].index(finding.result.status))
    if visible:
        rows = [
            (MARKS[finding.result.status], finding.check, finding.brief or finding.result.message, finding.result.hint)
            for finding in visible
        ]
        output.table(["Status", "Check", "Finding", "What to do"], rows)
    else:
        output.line("No problems found.")
    if not verbose:
        for diagnosis in findings:
            # An installed but unused plugin requires no action.
            if diagnosis.result.status == "ok" and diagnosis.result.hint and not diagnosis.check.startswith("plugin "):
                output.line(f"{diagnosis.check}: {diagnosis.result.message}; {diagnosis.result.hint}")
    counts = Counter(finding.result.status for finding in findings)
    problems = f"{counted(counts['warning'], 'warning')}, {counted(counts['error'], 'error')}"
    hint = "" if verbose else " (--verbose lists every check)"
    output.note(f"{counts['ok']} fine, {problems}{hint}")
