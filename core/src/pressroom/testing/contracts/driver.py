"""Checks every record that a plugin contributes against the contract of its kind."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import click

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
from pressroom.testing.running import RunningHost

_SUITES: Final[Mapping[type[Any], tuple[ContractSuite[Any], Callable[[Any], str]]]] = {
    Generator: (GENERATOR, lambda one: one.slug),
    McpTool: (MCP_TOOL, lambda one: one.name),
    Authorizer: (AUTHORIZER, lambda one: f"authorizer {one.name}"),
    Brander: (BRANDER, lambda one: f"brander {one.name}"),
    Observer: (OBSERVER, lambda one: f"observer {one.name}"),
    IndexEntries: (INDEX_ENTRIES, lambda one: f"index {one.section}"),
    Check: (DOCTOR_CHECK, lambda one: f"check {one.name}"),
    StorageKind: (STORAGE_KIND, lambda one: f"storage {one.name}"),
    VirtualHosts: (VIRTUAL_HOSTS, lambda one: f"virtual hosts {one.name}"),
    OverviewSection: (OVERVIEW_SECTION, lambda one: f"overview section {one.name}"),
    PublishingTargets: (PUBLISHING_TARGETS, lambda one: f"publishing targets {one.name}"),
    click.Command: (COMMAND, lambda one: f"command {one.name}"),
}
"""The contracts that are checked on a record as it is, and how it is called in findings."""


def check_records(running: RunningHost, plugin: str, *, postgresql: str = "") -> Iterator[Finding]:
    """Check every record that a plugin contributes to a running host, and yield what they break.

    Of jobs those with a period are run, since their payload is known: it is empty. Authenticators are asked about
    credentials of other kinds only. `check_job` and `check_authenticator` take what this cannot know.
    """
    contributions = running.host.compiled.plugins.contributions
    # First: what fails for want of a column has its reason there.
    yield from _check_migrations(running, plugin, postgresql)
    for kind, (suite, name) in _SUITES.items():
        for one in contributions.of(kind):
            if one.plugin == plugin:
                yield from check_record(suite, running, plugin, one.record, name(one.record))
    yield from _check_others(running, plugin)
    yield from _check_extensions(running, plugin)


def _check_extensions(running: RunningHost, plugin: str) -> Iterator[Finding]:
    """Check what a plugin yields from hooks of other plugins, which bring the contracts in their package `testing`."""
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
    """Return what a plugin has in `<package>.testing.CHECKS`: by hook, what checks one record in a running host."""
    try:
        if importlib.util.find_spec(f"{package}.testing") is None:
            return {}
    except ImportError:  # a plugin of one file
        return {}
    found: Mapping[str, Any] = getattr(importlib.import_module(f"{package}.testing"), "CHECKS", {})
    return found


def _check_migrations(running: RunningHost, plugin: str, postgresql: str) -> Iterator[Finding]:
    for one in running.host.compiled.plugins.contributions.of(Models):
        if one.plugin == plugin:
            yield from check_migrations(plugin, one.record, postgresql=postgresql)


def _check_others(running: RunningHost, plugin: str) -> Iterator[Finding]:
    """Check the records whose contract needs more than the record, or depends on it."""
    nothing: Mapping[str, Any] = {}
    for record in _records(running, plugin):
        match record:
            case Route():
                yield from check_record(PAGE if record.page else ROUTE, running, plugin, record, record.path)
            case Authenticator():
                known = (record, KnownCredentials())
                yield from check_record(AUTHENTICATOR, running, plugin, known, f"authenticator {record.name}")
            case Job(every=float() | int()):
                yield from check_record(JOB, running, plugin, (record, nothing, ""), f"job {record.kind}")
            case Backend():
                yield from check_backend(running, record)


def _records(running: RunningHost, plugin: str) -> Iterator[Any]:
    contributions = running.host.compiled.plugins.contributions
    for kind in (Route, Authenticator, Job, Backend):
        yield from (one.record for one in contributions.of(kind) if one.plugin == plugin)


def check_backend(running: RunningHost, backend: Backend) -> list[Finding]:
    """Check a backend against the contract of its kind, as the host makes it, and return what it breaks."""
    where, settings = f"{backend.kind} backend {backend.name}", running.settings
    match backend.kind:
        case "files":
            return check_file_store(lambda: backend.factory(settings), where=where)
        case "cache":
            return check_cache_index(lambda: backend.factory(settings), remembers=False, where=where)
        case "limits":
            return check_limiter(lambda _: backend.factory(settings), real_time=True, where=where)
