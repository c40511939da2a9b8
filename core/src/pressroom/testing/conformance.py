"""The conformance check of plugins, which checks their records against contracts."""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import click

from pressroom.config import Settings
from pressroom.config.call_models import ToolSettings
from pressroom.host.loaded_app import LoadedApp
from pressroom.plugins.load import LoadedPlugins
from pressroom.sdk import (
    Authenticator,
    Authorizer,
    Backend,
    Brander,
    Check,
    Generator,
    IndexEntries,
    Job,
    McpTool,
    Models,
    Observer,
    OverviewSection,
    PublishingTargets,
    Route,
    StorageKind,
    VirtualHosts,
)
from pressroom.testing.contracts.cache_index import check_cache_index
from pressroom.testing.contracts.callers import AUTHENTICATOR, AUTHORIZER, KnownCredentials
from pressroom.testing.contracts.file_store import check_file_store
from pressroom.testing.contracts.functions import (
    BRANDER,
    COMMAND,
    DOCTOR_CHECK,
    INDEX_ENTRIES,
    OBSERVER,
    OVERVIEW_SECTION,
    PUBLISHING_TARGETS,
    STORAGE_KIND,
    VIRTUAL_HOSTS,
)
from pressroom.testing.contracts.generator import GENERATOR
from pressroom.testing.contracts.job import JOB
from pressroom.testing.contracts.limiter import check_limiter
from pressroom.testing.contracts.mcp_tool import MCP_TOOL
from pressroom.testing.contracts.migrations import check_migrations
from pressroom.testing.contracts.page import PAGE, ROUTE
from pressroom.testing.contracts.records import check_record
from pressroom.testing.contracts.suite import ContractSuite, Finding
from pressroom.testing.running import RunningHost, settings_for_test

HEAVY_MODULES: Final = frozenset(
    {
        "PIL", "aiohttp", "bokeh", "boto3", "botocore", "cairosvg", "cv2", "fitz", "httpx", "jax", "lxml", "matplotlib",
        "numpy", "openai", "pandas", "playwright", "plotly", "polars", "pyarrow", "pygments", "redis", "reportlab",
        "requests", "resvg_py", "s3fs", "sanic", "scipy", "segno", "selenium", "skia", "sklearn", "sqlalchemy",
        "tensorflow", "thorvg_python", "torch", "transformers", "uharfbuzz", "weasyprint",
    }
)  # fmt: skip
"""Modules that discovery must not import, since the server starts only after it has imported every plugin."""

NO_LIMIT: Final = "100000000/hour"
IMPORT_SECONDS: Final = 60


def assert_plugin_conforms(
    plugin_id: str,
    config: Mapping[str, Any] | None = None,
    *,
    host_config: Mapping[str, Any] | None = None,
    postgresql: str = "",
) -> None:
    """Assert that an installed plugin conforms to the contract.

    The arguments are those of `check_plugin`.

    Raises:
        AssertionError: the plugin breaks the contract; the message lists every violation.
    """
    findings = check_plugin(plugin_id, config, host_config=host_config, postgresql=postgresql)
    if findings:
        problems = "\n".join(f"- {' '.join(str(finding).split())}" for finding in findings)
        raise AssertionError(f"{plugin_id} does not conform:\n{problems}")


def check_plugin(
    plugin_id: str,
    config: Mapping[str, Any] | None = None,
    *,
    host_config: Mapping[str, Any] | None = None,
    postgresql: str = "",
) -> list[Finding]:
    """Check an installed plugin against the contract, and return the violations. The list is empty if it conforms.

    The plugin must load and contribute something, and its module must not import heavy libraries. Its migrations must
    create the tables that its models describe. The plugin must also start in a host that this function starts, and each
    record that it contributes is checked against the contract of its kind, if there is one; see
    `pressroom.testing.contracts`.

    Args:
        plugin_id: the plugin's id.
        config: the plugin's own configuration.
        host_config: the rest of the configuration, such as the plugins that this one requires.
        postgresql: the URL of a database on a PostgreSQL server, to run the migrations there too. Its user must be
            allowed to create databases.
    """
    base_config = dict(host_config or {})
    plugins = {**base_config.get("plugins", {}), plugin_id: {"enabled": True, "config": dict(config or {})}}
    with tempfile.TemporaryDirectory(prefix="pressroom-") as folder:
        settings = settings_for_test({**base_config, "plugins": plugins}, Path(folder))
        return list(_findings(plugin_id, settings, postgresql))


def _findings(plugin_id: str, settings: Settings, postgresql: str) -> Iterator[Finding]:
    loaded = LoadedApp(settings).plugins
    if reason := _why_not_active(plugin_id, loaded):
        yield reason
        return
    (record,) = (record for record in loaded.records if record.id == plugin_id and record.status == "active")
    promise = "it states its plugin API, and uses nothing that is deprecated"
    yield from (Finding("plugin", promise, plugin_id, warning) for warning in record.warnings)
    if not record.contributes:
        fix = "yield a record from one of the hooks, in a function that is marked with @hookimpl"
        yield Finding("plugin", "it contributes something", "", "it contributes nothing: no hook yields a record", fix)
    yield from _heavy_imports(record.module)
    with RunningHost(without_limits(settings, plugin_id, loaded)) as running:
        if reason := _why_not_active(plugin_id, running.host.compiled.plugins):
            yield reason
            return
        yield from check_records(running, plugin_id, postgresql=postgresql)


def _why_not_active(plugin_id: str, loaded: LoadedPlugins) -> Finding | None:
    records = [record for record in loaded.records if record.id == plugin_id]
    if any(record.status == "active" for record in records):
        return None
    seen = "; ".join(f"it is {record.status} (phase {record.phase}): {record.error}" for record in records)
    hint = "; ".join(record.hint for record in records)
    return Finding("plugin", "it loads and starts", plugin_id, seen, hint)


def _heavy_imports(module: str) -> Iterator[Finding]:
    code = (
        "import importlib, json, sys, pressroom.sdk; before = set(sys.modules); "
        f"importlib.import_module({module.partition(':')[0]!r}); "
        "print(json.dumps(sorted({name.partition('.')[0] for name in set(sys.modules) - before})))"
    )
    try:
        run = subprocess.run(  # noqa: S603 - the code above
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            check=False,
            timeout=IMPORT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        seen = f"a process that only imports it has not ended after {IMPORT_SECONDS:g} seconds"
        fix = "start no thread and wait for nothing while it is imported"
        yield Finding("plugin", "its module can be imported by itself", module, seen, fix)
        return
    if run.returncode != 0:
        seen = run.stderr.strip().rpartition("\n")[2]
        yield Finding("plugin", "its module can be imported by itself", module, seen, "import what it needs, in order")
        return
    heavy = sorted(HEAVY_MODULES.intersection(json.loads(run.stdout.splitlines()[-1])))
    if heavy:
        seen = f"its module imports {', '.join(heavy)}"
        fix = "import it inside the function that needs it"
        yield Finding("plugin", "discovery imports no heavy library", module, seen, fix)


def without_limits(settings: Settings, plugin_id: str, loaded: LoadedPlugins) -> Settings:
    """Return the settings with rate limits for the plugin's tools that are too high to affect the check."""
    tools = dict(settings.tools)
    generators = [
        contribution.record.slug
        for contribution in loaded.contributions.of(Generator)
        if contribution.plugin == plugin_id
    ]
    mcp_tools = [
        contribution.record.name
        for contribution in loaded.contributions.of(McpTool)
        if contribution.plugin == plugin_id
    ]
    for name in [*generators, *mcp_tools]:
        tool_settings = tools.get(name, ToolSettings())
        tools[name] = tool_settings.model_copy(update={"rate_limit": NO_LIMIT})
    return settings.model_copy(update={"tools": tools})


_SUITES: Final[Mapping[type[Any], tuple[ContractSuite[Any], Callable[[Any], str]]]] = {
    Generator: (GENERATOR, lambda record: record.slug),
    McpTool: (MCP_TOOL, lambda record: record.name),
    Authorizer: (AUTHORIZER, lambda record: f"authorizer {record.name}"),
    Brander: (BRANDER, lambda record: f"brander {record.name}"),
    Observer: (OBSERVER, lambda record: f"observer {record.name}"),
    IndexEntries: (INDEX_ENTRIES, lambda record: f"index {record.section}"),
    Check: (DOCTOR_CHECK, lambda record: f"check {record.name}"),
    StorageKind: (STORAGE_KIND, lambda record: f"storage {record.name}"),
    VirtualHosts: (VIRTUAL_HOSTS, lambda record: f"virtual hosts {record.name}"),
    OverviewSection: (OVERVIEW_SECTION, lambda record: f"overview section {record.name}"),
    PublishingTargets: (PUBLISHING_TARGETS, lambda record: f"publishing targets {record.name}"),
    click.Command: (COMMAND, lambda record: f"command {record.name}"),
}
"""For each kind of record that needs no special handling: its contract, and its name in findings."""


def check_records(running: RunningHost, plugin: str, *, postgresql: str = "") -> Iterator[Finding]:
    """Check the records that a plugin contributes to a running host, and yield the findings.

    Records of other plugins that its wrappers changed are checked too, except tables. Kinds without a contract, such as
    `RateLimit` and `Lifespan`, are not checked. Only periodic jobs are run, since their payload is known to be empty.
    Authenticators are only checked with credentials of other kinds. Pass payloads and credentials to `check_job` and
    `check_authenticator` for complete checks.
    """
    # Check migrations first: they are the cause if other checks fail because of a missing column.
    yield from _check_migrations(running, plugin, postgresql)
    for kind, (suite, name) in _SUITES.items():
        for record in _records(running, plugin, kind):
            yield from check_record(suite, running, plugin, record, name(record))
    yield from _check_remaining_records(running, plugin)
    yield from _check_extensions(running, plugin)


def _check_extensions(running: RunningHost, plugin: str) -> Iterator[Finding]:
    """Check a plugin's records for hooks of other plugins, with the contracts in their `testing` packages."""
    plugins = running.host.compiled.plugins
    for owner in plugins.records:
        package = owner.module.partition(":")[0].partition(".")[0]
        if owner.status != "active" or not package:
            continue
        for hook, check in _contracts_in(package).items():
            for contributor, record in plugins.contexts[owner.id].extensions.of(hook):
                if contributor == plugin:
                    yield from check(running, record)


def _contracts_in(package: str) -> Mapping[str, Callable[[RunningHost, Any], list[Finding]]]:
    """Return a plugin's `<package>.testing.CHECKS`: a function for each hook that checks a record in a running host."""
    try:
        if importlib.util.find_spec(f"{package}.testing") is None:
            return {}
    except ImportError:  # a single-file plugin
        return {}
    checks: Mapping[str, Any] = getattr(importlib.import_module(f"{package}.testing"), "CHECKS", {})
    return checks


def _check_migrations(running: RunningHost, plugin: str, postgresql: str) -> Iterator[Finding]:
    for contribution in running.host.compiled.plugins.contributions.of(Models):
        if contribution.plugin == plugin:
            yield from check_migrations(plugin, contribution.record, postgresql=postgresql)


def _check_remaining_records(running: RunningHost, plugin: str) -> Iterator[Finding]:
    """Check the records whose contract needs more than the record, or depends on the record."""
    no_payload: Mapping[str, Any] = {}
    for record in _records(running, plugin, Route, Authenticator, Job, Backend):
        match record:
            case Route():
                yield from check_record(PAGE if record.page else ROUTE, running, plugin, record, record.path)
            case Authenticator():
                known = (record, KnownCredentials())
                yield from check_record(AUTHENTICATOR, running, plugin, known, f"authenticator {record.name}")
            case Job(every=float() | int()):
                yield from check_record(JOB, running, plugin, (record, no_payload, ""), f"job {record.kind}")
            case Backend():
                yield from check_backend(running, record)


def _records(running: RunningHost, plugin: str, *kinds: type[Any]) -> Iterator[Any]:
    """Yield the records of these kinds that the plugin contributes, or changes with a wrapper."""
    contributions = running.host.compiled.plugins.contributions
    for kind in kinds:
        yield from (
            contribution.record
            for contribution in contributions.of(kind)
            if plugin in (contribution.plugin, *contribution.wrapped_by)
        )


def check_backend(running: RunningHost, backend: Backend) -> list[Finding]:
    """Check a backend, created with the host's settings, against the contract of its kind, and return the findings."""
    where, settings = f"{backend.kind} backend {backend.name}", running.settings
    match backend.kind:
        case "files":
            return check_file_store(lambda: backend.factory(settings), where=where)
        case "cache":
            return check_cache_index(lambda: backend.factory(settings), remembers=False, where=where)
        case "limits":
            return check_limiter(lambda _: backend.factory(settings), real_time=True, where=where)
