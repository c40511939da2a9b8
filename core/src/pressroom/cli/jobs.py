"""`pressroom jobs`: list and discard background jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from pressroom.cli.lazy import LazyGroup
from pressroom.cli.options import Invocation, command_options, common_options
from pressroom.errors import NotFound, PressroomError

if TYPE_CHECKING:
    from pressroom.host.loaded_app import LoadedApp
    from pressroom.jobs.unfinished import UnfinishedJobs


@click.group(cls=LazyGroup)
@common_options
def jobs() -> None:
    """List background jobs, and discard those that wait."""


@jobs.command("list")
@command_options
def list_jobs(invocation: Invocation) -> None:
    """List the unfinished jobs by kind, and the active plugins that run them."""
    import asyncio  # noqa: PLC0415 - takes longer to load than --help may take

    unfinished, runners = asyncio.run(_list(invocation))
    if invocation.json:
        invocation.output.data({"jobs": [_as_data(kind, runners.get(kind.kind)) for kind in unfinished]})
    elif not unfinished:
        invocation.output.line("No job is waiting or running.")
    else:
        rows = [
            (
                kind.kind,
                kind.waiting,
                kind.running,
                f"{kind.first_due_at:%Y-%m-%d %H:%M} UTC" if kind.first_due_at else "",
                runners.get(kind.kind, "none"),
            )
            for kind in unfinished
        ]
        invocation.output.table(["Kind", "Waiting", "Running", "First due", "Run by"], rows)


@jobs.command()
@click.argument("kind")
@click.option("--force", is_flag=True, help="Also if an active plugin runs jobs of this kind.")
@command_options
def discard(invocation: Invocation, kind: str, force: bool) -> None:
    """Cancel all waiting jobs of KIND, such as those of a plugin that you no longer use.

    Running jobs are left alone. Discarded jobs cannot be restored: what they were to do does not happen, even if the
    plugin is enabled again. A scheduled post, for example, stays scheduled until its author schedules it again.
    """
    import asyncio  # noqa: PLC0415 - takes longer to load than --help may take

    discarded, running = asyncio.run(_discard(invocation, kind, force=force))
    if invocation.json:
        invocation.output.data({"kind": kind, "discarded": discarded, "running": running})
        return
    from pressroom.validation.echo import counted  # noqa: PLC0415 - only this command needs it

    left = f"; {counted(running, 'running job')} left alone" if running else ""
    invocation.output.line(f"Discarded {counted(discarded, 'job')} of {kind}{left}.")


async def _list(invocation: Invocation) -> tuple[Sequence[UnfinishedJobs], dict[str, str]]:
    from pressroom.cli.loading import open_accounts  # noqa: PLC0415 - loads SQLAlchemy, which takes time
    from pressroom.jobs.unfinished import unfinished_jobs  # noqa: PLC0415

    async with open_accounts(invocation) as (compiled, database, _), database.reading() as session:
        return await unfinished_jobs(session), _runners(compiled)


async def _discard(invocation: Invocation, kind: str, *, force: bool) -> tuple[int, int]:
    from pressroom.cli.loading import open_accounts  # noqa: PLC0415 - loads SQLAlchemy, which takes time
    from pressroom.jobs.unfinished import discard_jobs, unfinished_jobs  # noqa: PLC0415

    async with open_accounts(invocation) as (compiled, database, _), database.writing() as session:
        running = {jobs.kind: jobs.running for jobs in await unfinished_jobs(session)}
        if kind not in running:
            raise NotFound(f"there is no unfinished job of the kind {kind!r}", hint="`pressroom jobs list` shows them")
        runner = _runners(compiled).get(kind)
        if runner is not None and not force:
            raise PressroomError(
                f"jobs of the kind {kind!r} are not discarded, since the active plugin {runner} runs them",
                hint="if what they were to do should not happen, discard them with --force",
            )
        return await discard_jobs(session, kind, compiled.settings.jobs.retention), running[kind]


def _runners(compiled: LoadedApp) -> dict[str, str]:
    """Return the ID of the active plugin that runs each kind of job."""
    from pressroom.sdk import Job  # noqa: PLC0415 - pydantic

    return {contribution.record.kind: contribution.plugin for contribution in compiled.plugins.contributions.of(Job)}


def _as_data(jobs: UnfinishedJobs, runner: str | None) -> dict[str, object]:
    return {
        "kind": jobs.kind,
        "waiting": jobs.waiting,
        "running": jobs.running,
        "firstDueAt": jobs.first_due_at.isoformat() if jobs.first_due_at else None,
        "plugin": runner,
    }
