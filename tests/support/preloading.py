"""Plugins' worker processes in the tests' own process: each has imported what those of any built-in plugin need.

A pytest plugin. A process has one fork server for them, which imports the modules of the first host that needs it. The
workers of later hosts with other plugins would import theirs for themselves, most of a second for each host.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from functools import cache

import pytest
from pressroom.pipeline.executors.forkserver import PluginWorkerProcess
from pressroom.sdk import Plugin

from support.plugin_names import plugins


@cache
def _built_in() -> frozenset[str]:
    declared: list[Plugin] = [importlib.import_module(f"{plugin.package}.plugin").PLUGIN for plugin in plugins()]
    return frozenset(module for plugin in declared for module in plugin.worker_modules)


@pytest.fixture(scope="session", autouse=True)
def _workers_of_all_plugins() -> Iterator[None]:
    server = PluginWorkerProcess.fork_server
    of_one_host = server.preload

    def preload(modules: Sequence[str]) -> None:
        of_one_host(sorted({*modules, *_built_in()}) if modules else modules)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "preload", preload)
        yield
