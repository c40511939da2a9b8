"""`pressroom doctor`: what works, what does not, and what to do."""

from __future__ import annotations

from collections import Counter

import click

from pressroom.cli.compiled import compiled
from pressroom.cli.options import Invocation, command_options
from pressroom.cli.output import FINE, FOUND_WRONG
from pressroom.wire.echo import counted

MARKS = {"ok": "ok", "warning": "WARNING", "error": "ERROR"}


@click.command()
@command_options
def doctor(invocation: Invocation) -> int:
    """Check the configuration, the plugins and the stores. The exit code is 1 where something does not work."""
    import asyncio  # noqa: PLC0415 - takes longer to load than --help may take

    from pressroom.diagnosis import diagnose  # noqa: PLC0415 - loads plugins, which takes time

    host = compiled(invocation)
    with invocation.output.progress("Checking") as progress:
        findings = asyncio.run(diagnose(host, progress.advance))
    wrong = any(finding.result.status == "error" for finding in findings)
    if invocation.json:
        invocation.output.data(
            {
                "ok": not wrong,
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
        rows = [
            (MARKS[finding.result.status], finding.check, finding.result.message, finding.result.hint)
            for finding in findings
        ]
        invocation.output.table(["Status", "Check", "Finding", "What to do"], rows)
        counts = Counter(finding.result.status for finding in findings)
        wrong_ones = f"{counted(counts['warning'], 'warning')}, {counted(counts['error'], 'error')}"
        invocation.output.note(f"{counts['ok']} fine, {wrong_ones}")
    return FOUND_WRONG if wrong else FINE
