"""Warnings of `pressroom doctor` about rows of the host's tables that do not fit the configuration."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from sqlalchemy import func, select

from pressroom.errors import BackendError
from pressroom.host.loaded_app import LoadedApp
from pressroom.jobs.queries import jobs_of_other_kinds
from pressroom.plugins.discovery import PluginRecord
from pressroom.sdk import CheckResult, Job
from pressroom.storage.database import SqlDatabase
from pressroom.storage.database.tables import UserRow
from pressroom.validation.echo import counted


async def row_checks(database: SqlDatabase, compiled: LoadedApp) -> list[tuple[str, CheckResult]]:
    """Return a warning for each plan that only accounts name, and for each plugin whose jobs wait for it."""
    kinds = {contribution.record.kind for contribution in compiled.plugins.contributions.of(Job)}
    on_other_plans = select(UserRow.plan, func.count()).where(UserRow.plan.not_in(compiled.catalog.plans))
    try:
        async with database.reading() as session:
            plans = dict((await session.execute(on_other_plans.group_by(UserRow.plan).order_by(UserRow.plan))).all())
            jobs = await jobs_of_other_kinds(session, kinds)
    except BackendError as error:
        return [("database", CheckResult("error", error.message, error.hint))]
    return [
        *(("accounts", _undefined_plan(plan, number)) for plan, number in plans.items()),
        *(("jobs", result) for result in _waiting_jobs(jobs, compiled)),
    ]


def _undefined_plan(plan: str, number: int) -> CheckResult:
    return CheckResult(
        "warning",
        f"the plan {plan!r} of {counted(number, 'account')} is not defined, so it has only what anonymous callers have",
        f"define [plans.{plan}], or run `pressroom users set-plan` for each",
    )


def _waiting_jobs(counts: Mapping[str, int], compiled: LoadedApp) -> Iterator[CheckResult]:
    of_plugins: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for kind, number in counts.items():
        of_plugins[kind.partition(".")[0]][kind] = number
    records = {record.id: record for record in compiled.plugins.records}
    for plugin, of_plugin in of_plugins.items():
        yield _waiting(of_plugin, records.get(plugin))


def _waiting(jobs: Counter[str], record: PluginRecord | None) -> CheckResult:
    """Return the warning about jobs, counted by kind, that wait for one plugin."""
    unless = "unless another server runs them; `pressroom jobs discard KIND` discards those that you do not need"
    cannot_run, kinds = f"{counted(jobs.total(), 'job')} cannot run", ", ".join(jobs)
    if record is None:
        return CheckResult(
            "warning", f"{cannot_run}: no active plugin runs {kinds}", f"install and enable the plugin, {unless}"
        )
    if record.status == "active":
        message = f"{cannot_run}: {record.id} {record.version} does not run {kinds}"
        return CheckResult("warning", message, f"install the version of {record.id} that queued them, {unless}")
    message = f"{cannot_run}, since the plugin {record.id} is not active: {kinds}"
    enabling = {
        "available": f"add [plugins.{record.id}] to the configuration",
        "disabled": record.hint or f"set enabled = true in [plugins.{record.id}]",
    }
    return CheckResult("warning", message, f"{enabling.get(record.status, 'fix the plugin')}, {unless}")
