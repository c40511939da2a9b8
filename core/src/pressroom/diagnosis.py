"""What `pressroom doctor` checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

from pressroom.errors import PressroomError
from pressroom.host import Compiled, open_backends
from pressroom.plugins.records import PluginRecord
from pressroom.sdk import Check, CheckResult


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check came to."""

    check: str
    result: CheckResult


async def diagnose(compiled: Compiled, advance: Callable[[], None]) -> list[Finding]:
    """Return what every check found: the plugins', the configuration's, the stores', and those that plugins bring.

    `advance` is called after each check.
    """
    findings: list[Finding] = []

    def add(check: str, result: CheckResult) -> None:
        findings.append(Finding(check, result))
        advance()

    for record in compiled.plugins.records:
        add(f"plugin {record.id}", _plugin(record))
    for warning in compiled.catalog.warnings:
        add("configuration", CheckResult("warning", warning, "correct the name, or remove the entry"))
    for result in _combinations(compiled):
        add("configuration", result)
    add("tools", _tools(compiled))
    add("branding", _attempt_branding(compiled))
    add("stores", await _stores(compiled))
    for contribution in compiled.plugins.contributions.of(Check):
        add(f"{contribution.plugin}: {contribution.record.name}", await _run(contribution.record))
    return findings


def _plugin(record: PluginRecord) -> CheckResult:
    match record.status:
        case "active" if record.imported_slowly:
            message = f"active, but its import took {record.import_seconds:.1f} s"
            return CheckResult("warning", message, "heavy libraries belong inside functions; tell the plugin's authors")
        case "active":
            return CheckResult("ok", f"active: {', '.join(record.contributes) or 'contributes nothing'}")
        case "available":
            hint = f"add [plugins.{record.id}] to the configuration to use it"
            return CheckResult("ok", "installed, not named in the configuration", hint)
        case "disabled":
            if record.required:
                return CheckResult("error", "switched off, but required", "set enabled = true, or required = false")
            return CheckResult("ok", "switched off")
        case _:
            return CheckResult("error", f"{record.status} ({record.phase}): {record.error}", record.hint)


def _combinations(compiled: Compiled) -> Iterator[CheckResult]:
    settings = compiled.settings
    shared = settings.storage.redis is not None or settings.storage.files.startswith("s3://")
    if shared and settings.storage.files == "local":
        yield CheckResult(
            "warning",
            "Redis is shared, but files are kept in a folder of this host",
            'with several hosts set [storage] files = "s3://…"; with one host this is fine',
        )
    if shared and settings.storage.redis is None:
        yield CheckResult(
            "warning",
            "files are shared, but limits and the cache are kept in the memory of this process",
            'with several hosts set [storage] redis = "redis://…", or each counts for itself',
        )
    if settings.base_url is None and settings.server.host not in ("127.0.0.1", "localhost", "::1"):
        yield CheckResult(
            "warning",
            f"the server listens on {settings.server.host}, but base_url is not set",
            'set base_url = "https://…": signed addresses start with it',
        )


def _tools(compiled: Compiled) -> CheckResult:
    count = len(compiled.catalog.tools)
    if count == 0:
        return CheckResult("error", "there are no tools", "install and enable a plugin: `pressroom plugins list`")
    return CheckResult("ok", f"{count} tools, {len(compiled.catalog.plans)} plans")


def _attempt_branding(compiled: Compiled) -> CheckResult:
    try:
        compiled.brand_block()
    except Exception as error:  # noqa: BLE001 - a plugin's brander may raise anything
        return CheckResult("error", _message(error), getattr(error, "hint", ""))
    return CheckResult("ok", f"{compiled.branding.name}, key {compiled.branding.key!r}")


async def _stores(compiled: Compiled) -> CheckResult:
    try:
        async with AsyncExitStack() as stack:
            backends = await open_backends(compiled, stack)
            names = ", ".join(type(backend).__name__ for backend in backends)
    except PressroomError as error:
        return CheckResult("error", error.message, error.hint)
    return CheckResult("ok", names)


async def _run(check: Check) -> CheckResult:
    try:
        return await check.run()
    except Exception as error:  # noqa: BLE001 - a plugin's check may raise anything
        return CheckResult("error", f"the check itself failed: {_message(error)}", "tell the plugin's authors")


def _message(error: Exception) -> str:
    return error.message if isinstance(error, PressroomError) else f"{type(error).__name__}: {error}"
