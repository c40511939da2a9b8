"""A host with a plugin that fails on demand, and one that works."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from pressroom.plugins import gated
from pressroom.server import plugin_requests
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test

from support.faulty_plugin import SOURCE
from support.installing import on_path
from support.plugin_source import SOUND, install_plugin
from support.polling import wait_until

RAISED: Final = ("panic", "exit", "interrupt", "cancel", "error")
WORDS: Final = {
    "panic": "Panic: no way",
    "exit": "SystemExit: 3",
    "close": "GeneratorExit",
    "interrupt": "KeyboardInterrupt",
    "cancel": "CancelledError",
    "error": "ValueError: no way",
    "unhandled": "no way of the website",
    "hang": "did not end within",
    "stubborn": "did not end within",
}


class Faulty:
    """A running host with a plugin that fails on demand, and one that works."""

    def __init__(self, host: RunningHost, module: Any) -> None:
        self.host = host
        self._module = module

    def fails(self, at: str, name: str) -> None:
        self._module.AT, self._module.FAULT = at, name

    def works(self) -> None:
        """Check that the other plugin works, and this one too once its fault is switched off."""
        self.fails("", "")
        response = httpx.post(f"{self.host.url}/tools/sound/api/generate", json={"text": "hello"}, timeout=30)
        assert response.status_code == 200
        assert httpx.get(f"{self.host.url}/healthz").status_code == 200
        assert self.host.call_tool("victim", {"fault": ""}) == {"fault": ""}

    def failures(self, point: str) -> int:
        counts = self.host.host.compiled.gate.failures
        return sum(count for (plugin, at, _), count in counts.items() if (plugin, at) == ("own", point))


@contextmanager
def faulty_host(folder: Path) -> Iterator[Faulty]:
    """Run the host in a folder until the block ends."""
    install_plugin(folder / "site", "own", SOUND + SOURCE)
    install_plugin(folder / "site", "sound")
    config = {
        "plugins": {"own": {}, "sound": {}},
        "cache": {"backend": "own"},
        "tools": {name: {"rate_limit": "100000/hour"} for name in ("own", "sound", "threaded", "prepared")},
        "builtin_plugins": False,
    }
    with pytest.MonkeyPatch.context() as patch, on_path(folder / "site"):
        for name in (
            "ACCESS_SECONDS",
            "OBSERVER_SECONDS",
            "INDEX_SECONDS",
            "CHECK_SECONDS",
            "TARGETS_SECONDS",
            "OVERVIEW_SECONDS",
            "STORAGE_SECONDS",
            "HOSTS_SECONDS",
        ):
            patch.setattr(gated, name, 0.3)
        patch.setattr(plugin_requests, "MAX_NAMES_AGE", 0.0)  # the plugin is queried again on each request
        patch.setattr(gated, "JOB_CANCEL_SECONDS", 1.0)
        with RunningHost(settings_for_test(config, folder / "data")) as host:
            module: Any = importlib.import_module("acme_own.plugin")
            yield Faulty(host, module)
            module.LET_GO = True


def call_over_mcp(faulty: Faulty, headers: dict[str, str] | None = None, fault: str = "") -> httpx.Response:
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "victim", "arguments": {"fault": fault}},
    }
    key = faulty.host.account().api_key()
    all_headers = {"Authorization": f"Bearer {key}", "Accept": "application/json, text/event-stream", **(headers or {})}
    return httpx.post(f"{faulty.host.url}/api/mcp", json=message, headers=all_headers, timeout=30)


def call_generator(faulty: Faulty, name: str) -> None:
    response = httpx.post(f"{faulty.host.url}/tools/threaded/api/generate", json={"fault": name}, timeout=30)
    assert response.status_code == 500


def run_job(faulty: Faulty, name: str) -> None:
    jobs = faulty.host.host.jobs
    job = faulty.host.run(jobs.enqueue("own", {"fault": name}))
    wait_until(lambda: faulty.host.run(jobs.status(job)).finished_at is not None)
    assert faulty.host.run(jobs.status(job)).state == "failed"
