"""The separate process in which `pressroom plugins check` checks plugins.

The request on standard input is a JSON object: `plugins` (their ids), `config` (with the structure of the server's
configuration file) and `postgresql` (the URL of a database, or an empty text). Each line on standard output is an
event: `{"stage", "plugin"}` when a stage begins, the same with `"finding"` for each broken promise, and
`{"ended": true}` at the end.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from pressroom.config import Settings
from pressroom.host.loaded_app import LoadedApp
from pressroom.sdk import Models
from pressroom.storage.database import SqlDatabase
from pressroom.testing.conformance import check_plugin, check_records, without_limits
from pressroom.testing.contracts.backends import new_database
from pressroom.testing.contracts.outage import check_outages
from pressroom.testing.contracts.suite import Finding
from pressroom.testing.running import RunningHost, settings_for_test


def main() -> int:
    """Read the request, check the plugins, and write the events. Return the exit code."""
    request = json.load(sys.stdin)
    # Redirect output that plugins print to standard error; only events use the descriptor of standard output.
    events = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def report(event: Mapping[str, Any]) -> None:
        events.write(json.dumps(event) + "\n")

    for plugin in request["plugins"]:
        gc.freeze()  # the caches of earlier plugins' hosts are never freed
        for stage, findings in _stages(plugin, request["config"], request["postgresql"]):
            report({"stage": stage, "plugin": plugin})
            for finding in findings:
                report({"stage": stage, "plugin": plugin, "finding": asdict(finding)})
    report({"ended": True})
    events.flush()
    return 0


def _stages(plugin: str, config: Mapping[str, Any], postgresql: str) -> Iterator[tuple[str, Iterable[Finding]]]:
    findings: list[Finding] = []
    tables: list[Models] = []
    yield "contracts", _in_contracts(plugin, config, postgresql, findings)
    if any(finding.promise == "it loads and starts" for finding in findings):
        return
    yield "outages", _in_outages(plugin, config, tables)
    if postgresql and tables:
        yield "PostgreSQL", _on_postgresql(plugin, config, postgresql)


def _in_contracts(
    plugin: str, config: Mapping[str, Any], postgresql: str, findings: list[Finding]
) -> Iterator[Finding]:
    plugin_config = config.get("plugins", {}).get(plugin, {}).get("config", {})
    findings += check_plugin(plugin, plugin_config, host_config=config, postgresql=postgresql)
    yield from findings


def _in_outages(plugin: str, config: Mapping[str, Any], tables: list[Models]) -> Iterator[Finding]:
    with _host(plugin, config) as running:
        contributed = running.host.compiled.plugins.contributions.of(Models)
        tables += [contribution.record for contribution in contributed if contribution.plugin == plugin]
        yield from check_outages(running, plugin)


def _on_postgresql(plugin: str, config: Mapping[str, Any], server: str) -> Iterator[Finding]:
    with _new_database(server) as url:
        storage = {**config.get("storage", {}), "database": url}
        with _host(plugin, {**config, "storage": storage}) as running:
            for finding in check_records(running, plugin):
                yield replace(finding, promise=f"{finding.promise} (on PostgreSQL)")


@contextmanager
def _host(plugin: str, config: Mapping[str, Any]) -> Iterator[RunningHost]:
    with _settings(plugin, config) as settings:
        loaded = LoadedApp(settings)
        if settings.storage.database is not None:
            asyncio.run(_migrate(loaded))
        with RunningHost(without_limits(settings, plugin, loaded.plugins)) as running:
            yield running


@contextmanager
def _settings(plugin: str, config: Mapping[str, Any]) -> Iterator[Settings]:
    plugins = {plugin: {"enabled": True}, **config.get("plugins", {})}
    with tempfile.TemporaryDirectory(prefix="pressroom-") as folder:
        yield settings_for_test({**config, "plugins": plugins}, Path(folder))


async def _migrate(loaded: LoadedApp) -> None:
    database = SqlDatabase(loaded.settings)
    await database.open()
    try:
        await loaded.migrator(database).migrate()
    finally:
        await database.close()


@contextmanager
def _new_database(server: str) -> Iterator[str]:
    with asyncio.Runner() as runner:
        database = new_database(server)
        url = runner.run(database.__aenter__())
        try:
            yield url
        finally:
            runner.run(database.__aexit__(None, None, None))


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    # All events are written. A thread that a plugin left running would delay the exit of the interpreter.
    os._exit(code)
