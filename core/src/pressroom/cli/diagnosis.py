"""The checks of `pressroom doctor`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Awaitable, Callable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import AsyncExitStack
from dataclasses import dataclass

from pressroom.cli.row_checks import row_checks
from pressroom.cli.weak_settings import weaknesses
from pressroom.errors import BackendError, ConfigError, PressroomError
from pressroom.gate import PluginFailed
from pressroom.host.loaded_app import LoadedApp
from pressroom.host.server_status import RunningServer, running_servers
from pressroom.host.stores import key_state, open_backends
from pressroom.plugins.contributions import Contribution
from pressroom.plugins.discovery import HOST_ID, PluginRecord
from pressroom.plugins.gated import class_name
from pressroom.sdk import API, Check, CheckResult, SharedKeys, per_hour
from pressroom.storage.data_folder import changeable_by_others, open_to_others
from pressroom.storage.database import Migrator, SqlDatabase
from pressroom.validation.echo import counted

_NO_CONTENT = "0" * 32


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The result of one check. `brief`, if set, is a shorter message for people."""

    check: str
    result: CheckResult
    brief: str = ""


async def diagnose(compiled: LoadedApp, advance: Callable[[], None]) -> list[Diagnosis]:
    """Run all checks of the plugins, the configuration and the stores, then those that plugins contribute.

    `advance` is called after each check.
    """
    findings: list[Diagnosis] = []

    def add(check: str, result: CheckResult, brief: str = "") -> None:
        findings.append(Diagnosis(check, result, brief))
        advance()

    for record in compiled.plugins.records:
        result = _plugin(record)
        fine = record.status == "active" and result.status == "ok"
        brief = f"active: {_with_wrappers(record, record.brief)}" if fine else ""
        add(f"plugin {record.id}", result, brief)
    for name, result in (*_running_servers(compiled), *_configuration(compiled)):
        add(name, result)
    add("data folder", _data_folder(compiled))
    add("accounts", _accounts(compiled))
    add("tools", _tools(compiled))
    add("authentication", _attempt_authenticators(compiled))
    add("branding", _attempt_branding(compiled))
    add("choices", _attempt_choices(compiled))
    for name, result in await _database(compiled):
        add(name, result)
    for store, result in await _stores(compiled):
        add(store, result)
    for contribution in compiled.plugins.contributions.of(Check):
        add(f"{contribution.plugin}: {contribution.record.name}", await _run(contribution.record))
    return findings


def _with_wrappers(record: PluginRecord, contributes: str) -> str:
    wrappers = f"changed by {', '.join(record.wrapped_by)}" if record.wrapped_by else ""
    return "; ".join(filter(None, (contributes, wrappers)))


def _plugin(record: PluginRecord) -> CheckResult:
    match record.status:
        case "active" if record.imported_slowly:
            message = f"active, but its import took {record.import_seconds:.1f} s"
            return CheckResult("warning", message, "heavy libraries belong inside functions; tell the plugin's authors")
        case "active" if record.api != API:
            message = f"active, but written for plugin API {record.api}; this host offers {API}, and the next drops it"
            message = "; ".join((message, *record.warnings))
            return CheckResult("warning", message, "upgrade the plugin, or tell its authors")
        case "active" if record.warnings:
            message = f"active, but {'; '.join(record.warnings)}"
            return CheckResult("warning", message, "upgrade the plugin, or tell its authors")
        case "active":
            contributes = ", ".join(record.contributes) or "contributes nothing"
            return CheckResult("ok", f"active: {_with_wrappers(record, contributes)}")
        case "available":
            hint = f"add [plugins.{record.id}] to the configuration to use it"
            return CheckResult("ok", "installed, not named in the configuration", hint)
        case "disabled":
            if record.required:
                message = f"required, but {record.error or 'switched off'}"
                return CheckResult("error", message, record.hint or "set enabled = true, or required = false")
            return CheckResult("ok", record.error or "switched off", record.hint)
        case _:
            return CheckResult("error", f"{record.status} ({record.phase}): {record.error}", record.hint)


def _configuration(compiled: LoadedApp) -> Iterator[tuple[str, CheckResult]]:
    for warning in compiled.catalog.warnings:
        yield "configuration", CheckResult("warning", warning, "correct the name, or remove the entry")
    for result in _combinations(compiled):
        yield "configuration", result
    for problem in compiled.templates.problems:
        yield "templates", CheckResult("warning", f"not used: {problem}", problem.hint)
    for path, template in compiled.templates.changed:
        message = f"{path} is a copy of {template}, which has changed since"
        yield (
            "templates",
            CheckResult("warning", message, "compare it with `pressroom templates show`"),
        )
    for result in weaknesses(compiled.settings):
        yield "security", result


def _running_servers(compiled: LoadedApp) -> Iterator[tuple[str, CheckResult]]:
    reported = {(record.id, record.status, record.phase, record.error) for record in compiled.plugins.records}
    for server in running_servers(compiled.settings.storage.path):
        yield from _running(server, reported)


def _running(server: RunningServer, reported: AbstractSet[tuple[str, ...]]) -> Iterator[tuple[str, CheckResult]]:
    """Yield the status of a running server and of each plugin that failed in it.

    `reported` holds the ID, status, phase and error of each plugin as loaded here; those failures are not repeated.
    """
    yield "running server", CheckResult("ok", f"process {server.pid} at {server.url}, since {server.started_at}")
    for plugin in server.plugins.values():
        name = f"plugin {plugin.id} in process {server.pid}"
        if plugin.status in ("broken", "conflict", "incompatible"):
            if (plugin.id, plugin.status, plugin.phase, plugin.error) not in reported:
                yield name, CheckResult("error", f"{plugin.status} ({plugin.phase}): {plugin.error}", plugin.hint)
        elif plugin.failures:
            message = f"{counted(plugin.failures, 'failure')} since the start, the last: {plugin.latest}"
            yield name, CheckResult("warning", message, "see the log for the details; tell the plugin's authors")


def _combinations(compiled: LoadedApp) -> Iterator[CheckResult]:
    settings = compiled.settings
    storage = settings.storage
    server_database = SqlDatabase(settings).dialect == "postgresql"
    parts = {
        "Redis": storage.redis is not None,
        "files": storage.files_backend == "s3",
        "the database": server_database,
    }
    shared = " and ".join(name for name, is_shared in parts.items() if is_shared)
    verb = "is" if shared in ("Redis", "the database") else "are"
    if shared and storage.files == "local":
        yield CheckResult(
            "warning",
            f"{shared} {verb} shared, but files are kept in a folder of this host",
            'with several hosts set [storage] files = "s3://…"; with one host this is fine',
        )
    if shared and storage.redis is None:
        yield CheckResult(
            "warning",
            f"{shared} {verb} shared, but limits and the cache are kept in the memory of this process",
            'with several hosts set [storage] redis = "redis://…", otherwise each one counts separately',
        )
    if shared and not server_database:
        yield CheckResult(
            "warning",
            f"{shared} {verb} shared, but accounts and jobs are kept in an SQLite file of this host",
            'with several hosts set [storage] database = "postgresql://…"; with one host this is fine',
        )
    for keys in (contribution.record for contribution in compiled.plugins.contributions.of(SharedKeys)):
        if shared and not keys.configured:
            yield CheckResult(
                "warning",
                f"{shared} {verb} shared, but {keys.name} is not set, so this host generates its own",
                f"with several hosts set the same {keys.setting} on each; with one host this is fine",
            )
    if settings.base_url is None and settings.server.host not in ("127.0.0.1", "localhost", "::1"):
        yield CheckResult(
            "warning",
            f"the server listens on {settings.server.host}, but base_url is not set",
            'set base_url = "https://…": signed URLs start with it',
        )


def _accounts(compiled: LoadedApp) -> CheckResult:
    operators = len(compiled.settings.accounts.operators)
    if operators == 0:
        # Not a hint: a single-user server needs no operators.
        return CheckResult(
            "ok", "no operators: nobody can manage users on the dashboard; [accounts] operators names them"
        )
    return CheckResult("ok", counted(operators, "operator"))


def _tools(compiled: LoadedApp) -> CheckResult:
    count = len(compiled.catalog.tools)
    if count == 0:
        return CheckResult("error", "there are no tools", "install and enable a plugin: `pressroom plugins list`")
    return CheckResult("ok", f"{counted(count, 'tool')}, {counted(len(compiled.catalog.plans), 'plan')}")


def _data_folder(compiled: LoadedApp) -> CheckResult:
    folder = compiled.settings.storage.path
    try:
        is_open, is_changeable = open_to_others(folder), changeable_by_others(folder)
    except FileNotFoundError:
        return CheckResult("ok", f"{folder} does not exist yet; `pressroom serve` creates it")
    except OSError as error:
        return CheckResult(
            "error", f"{folder} cannot be read: {error.strerror}", "check [storage] path and its permissions"
        )
    if is_changeable:
        quoted = shlex.quote(str(folder))
        return CheckResult(
            "warning",
            f"other users of this machine can replace files in {folder}, which holds the database and keys",
            f"run as root: chown {os.geteuid()} {quoted} && chmod o= {quoted}",
        )
    if is_open:
        return CheckResult(
            "warning",
            f"every user of this machine can look into {folder}, which holds the database and keys",
            f"run: chmod o= {shlex.quote(str(folder))}",
        )
    return CheckResult("ok", str(folder))


def _attempt_authenticators(compiled: LoadedApp) -> CheckResult:
    try:
        names = [authenticator.name for authenticator in compiled.authenticators()]
    except ConfigError as error:
        return CheckResult("error", error.message, error.hint)
    return CheckResult("ok", ", then ".join(names) or "no authenticators: every caller is anonymous")


def _attempt_branding(compiled: LoadedApp) -> CheckResult:
    try:
        compiled.brand_block()
    except PressroomError as error:
        return CheckResult("error", error.message, error.hint)
    return CheckResult("ok", f"{compiled.branding.name}, key {compiled.branding.key!r}")


def _attempt_choices(compiled: LoadedApp) -> CheckResult:
    try:
        compiled.check_choices()
    except ConfigError as error:
        return CheckResult("error", error.message, error.hint)
    settings = compiled.settings
    return CheckResult("ok", f"rate limit {settings.limits.default_limit}, cache rule {settings.cache.default_rule}")


async def _database(compiled: LoadedApp) -> list[tuple[str, CheckResult]]:
    database = SqlDatabase(compiled.settings)
    if database.missing:
        return [("database", CheckResult("ok", f"{database.name} does not exist yet; `pressroom serve` creates it"))]
    try:
        await database.open()
    except BackendError as error:
        return [("database", CheckResult("error", error.message, error.hint))]
    try:
        migrator = compiled.migrator(database)
        findings = {plugin: await _schema(migrator, plugin) for plugin in migrator.plugins}
        unusable = {plugin for plugin, (_, current) in findings.items() if not current}
        keys = [
            (contribution.record.name, await _keys(database, contribution))
            for contribution in compiled.plugins.contributions.of(SharedKeys)
            if not unusable & {HOST_ID, contribution.plugin}
        ]
        rows = [] if HOST_ID in unusable else await row_checks(database, compiled)
    finally:
        await database.close()
    schemas = [(f"tables of {plugin}", result) for plugin, (result, _) in findings.items()]
    return [("database", CheckResult("ok", database.name)), *schemas, *keys, *rows]


async def _schema(migrator: Migrator, plugin: str) -> tuple[CheckResult, bool]:
    """Return the result, and whether the tables match this version."""
    try:
        state = await migrator.state(plugin)
    except BackendError as error:
        return CheckResult("error", error.message, error.hint), False
    if not state.behind:
        return CheckResult("ok", f"up to date, revision {state.current}"), True
    message = f"at revision {state.current or 'none'}, this version needs {state.wanted}"
    if migrator.embedded:
        return CheckResult("ok", message, "`pressroom serve` migrates it when it starts"), False
    return CheckResult("error", message, "run `pressroom migrate`"), False


async def _keys(database: SqlDatabase, contribution: Contribution[SharedKeys]) -> CheckResult:
    try:
        state = await key_state(database, contribution)
    except Exception as error:  # noqa: BLE001 - a plugin's keys may raise anything
        return CheckResult("error", f"cannot be checked: {_message(error)}", getattr(error, "hint", ""))
    if state.fits and not state.problem:
        message = f"fits the database, fingerprint {state.recorded}"
        return CheckResult(
            "ok", message if state.recorded else "not used yet: `pressroom serve` records its fingerprint"
        )
    if state.fits or database.embedded:
        return CheckResult("warning", state.problem, state.advice)
    return CheckResult("error", state.problem, state.advice)


async def _stores(compiled: LoadedApp) -> list[tuple[str, CheckResult]]:
    try:
        async with AsyncExitStack() as stack:
            files, cache, limiter = await open_backends(compiled, stack)
            return [
                ("files", CheckResult("ok", class_name(files))),
                ("cache", await _connection_check(cache, cache.get(_NO_CONTENT))),
                ("limits", await _connection_check(limiter, limiter.peek(per_hour(1), "doctor"))),
            ]
    except PressroomError as error:
        return [("stores", CheckResult("error", error.message, error.hint))]


async def _connection_check(store: object, call: Awaitable[object]) -> CheckResult:
    try:
        await call
    except BackendError as error:
        return CheckResult("error", f"{class_name(store)}: {error.message}", error.hint)
    return CheckResult("ok", class_name(store))


async def _run(check: Check) -> CheckResult:
    try:
        result: object = await check.run()
    except PluginFailed as failure:
        problem = f"the check itself failed: {failure.message}" if failure.reason == "failed" else failure.message
        return CheckResult("error", problem, "tell the plugin's authors")
    except PressroomError as error:
        return CheckResult("error", f"the check itself failed: {error.message}", error.hint)
    if isinstance(result, CheckResult):
        return result
    return CheckResult("error", f"the check returned {type(result).__name__}", "tell the plugin's authors")


def _message(error: Exception) -> str:
    return error.message if isinstance(error, PressroomError) else f"{type(error).__name__}: {error}"
