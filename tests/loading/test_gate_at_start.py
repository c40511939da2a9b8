"""Plugins that hang or raise uncaught exceptions in any phase of loading: the server still starts."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from support.commands import run_process
from support.plugin_source import HEAD, SOUND, install_plugin
from support.server import Server, command_environment, serving

FAULTS: Final = {
    "hang": "time.sleep(600)",
    "loop": "while True: pass",
    "stubborn": "stubbornly()",
    "lock": "threading.Lock().acquire() and threading.Event().wait()",
    "panic": "raise Panic('no way')",
    "exit": "sys.exit(3)",
    "hard_exit": "os._exit(3)",
    "interrupt": "raise KeyboardInterrupt",
    "cancel": "raise asyncio.CancelledError",
}
"""Faulty code that `except Exception` does not catch, or that never returns."""

TOOLS: Final = """
import asyncio, os, sys, threading, time

class Panic(BaseException): ...

def stubbornly():
    for _ in range(2):
        try:
            time.sleep(600)
        except BaseException:
            pass

def fault():
    FAULT
"""

CONFIG: Final = """
class Config(PluginConfig):
    @classmethod
    def __get_validators__(cls): ...
    def model_post_init(self, context):
        fault()

PLUGIN = Plugin(id="$id", api="1", title="$id", summary="For tests.", config=Config)
"""

WORDS: Final = {
    "hang": ("did not end within", "blocked the event loop"),
    "loop": ("did not end within", "blocked the event loop"),
    "stubborn": ("did not end within", "blocked the event loop", "did not start within"),
    "lock": ("did not end within", "blocked the event loop"),
    "panic": ("Panic: no way",),
    "exit": ("SystemExit: 3",),
    "hard_exit": ("it called os._exit(3)", "os._exit"),
    "interrupt": ("KeyboardInterrupt",),
    "cancel": ("CancelledError",),
}
"""Words that the operator must see for each fault."""

POINTS: Final = {
    "import": ("import", HEAD + "{tools}\nfault()\n"),
    "config": ("config", HEAD + "{tools}\n" + CONFIG),
    "hook": ("collect", SOUND + "{tools}\n@hookimpl\ndef pressroom_checks():\n    fault()\n"),
    "records": ("collect", SOUND + "{tools}\n@hookimpl\ndef pressroom_checks():\n    yield fault()\n"),
    "wrapper": (
        "wrap",
        SOUND
        + """{tools}
@hookimpl(wrapper=True, specname="pressroom_generators")
def wrap_generators():
    yield
    fault()
""",
    ),
    "rate_rule": (
        "validate",
        SOUND + "{tools}\n@hookimpl\ndef pressroom_rate_limits():\n    return [RateLimit('own', lambda *_: fault())]\n",
    ),
    "cache_rule": (
        "validate",
        SOUND + "{tools}\n@hookimpl\ndef pressroom_cache_rules():\n    return [CacheRule('own', lambda *_: fault())]\n",
    ),
    "lifespan": (
        "lifespan",
        SOUND
        + """{tools}
class Opened:
    async def __aenter__(self): fault()
    async def __aexit__(self, *error): ...

@hookimpl
def pressroom_lifespan():
    return [Lifespan('own', Opened)]
""",
    ),
    "keys": (
        "lifespan",
        SOUND
        + """{tools}
@hookimpl
def pressroom_shared_keys():
    return [SharedKeys('own_$id', 'own', read=fault, configured=False, lost='nothing')]
""",
    ),
    "migration": (
        "lifespan",
        SOUND
        + """{tools}
@hookimpl
def pressroom_models():
    from sqlalchemy import MetaData
    return [Models(MetaData(), 'acme_$id.migrations')]
""",
    ),
}
"""Where the faulty code runs: the phase in the plugin's record, and its source."""

_LATE: Final = frozenset({"hang", "loop", "stubborn", "lock"})
_CASES: Final = [
    (point, name) for point in POINTS for name in FAULTS if point != "migration" or name == "hang" or name not in _LATE
]
MIGRATION: Final = "revision = '0001'\ndown_revision = None\n{tools}\ndef upgrade():\n    fault()\n"


def id_of(point: str, name: str) -> str:
    return f"{point}_{name}"


def config() -> str:
    tables = "".join(f"[plugins.{id_of(*case)}]\n" for case in _CASES)
    head = "builtin_plugins = false\n[server]\nstart_timeout = 1\nshutdown_timeout = 1\n[metrics]\ntoken = 'abcdef'\n"
    return f"{head}[logging]\nformat = 'json'\n[plugins.sound]\n{tables}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a faulty plugin installed for each case, and one that works."""
    folder = tmp_path_factory.mktemp("gates")
    for point, name in _CASES:
        source = POINTS[point][1].replace("{tools}", TOOLS.replace("FAULT", FAULTS[name]))
        install_plugin(folder / "own", id_of(point, name), source)
        if point == "migration":
            migrations = folder / "own" / f"acme_{id_of(point, name)}" / "migrations"
            (migrations / "versions").mkdir(parents=True)
            (migrations / "__init__.py").touch()
            upgrade = MIGRATION.replace("{tools}", TOOLS.replace("FAULT", FAULTS[name]))
            (migrations / "versions" / "0001.py").write_text(upgrade)
    install_plugin(folder / "own", "sound")
    return folder


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    """Return a server with all these plugins, which must shut down in time after all tests."""
    with serving(folder, config(), {"PYTHONPATH": str(folder / "own")}) as running:
        yield running
        began = time.monotonic()
        assert running.terminate() == 0
        assert time.monotonic() - began < 1 + 5 + 2  # allowance for the process itself to exit on a busy machine


def run(folder: Path, *arguments: str) -> Any:
    """Return the JSON output of a command run alongside the server; its timeout per plugin is shorter."""
    environment = command_environment(folder, PYTHONPATH=str(folder / "own"), PRESSROOM_SERVER__START_TIMEOUT="0.2")
    return json.loads(run_process([*arguments, "--json"], cwd=folder, env=environment).stdout)


@pytest.fixture(scope="module")
def listed(folder: Path, server: Server) -> dict[str, Any]:
    return {record["id"]: record for record in run(folder, "plugins", "list")}


@pytest.fixture(scope="module")
def diagnosed(folder: Path, server: Server) -> dict[str, Any]:
    return {check["check"]: check for check in run(folder, "doctor")["checks"]}


@pytest.fixture(scope="module")
def metrics(server: Server) -> str:
    return httpx.get(f"{server.url}/metrics", headers={"Authorization": "Bearer abcdef"}).text


def test_other_plugins_still_work(server: Server) -> None:
    response = httpx.post(f"{server.url}/tools/sound/api/generate", json={"text": "hello"})
    assert response.status_code == 200
    assert [plugin["id"] for plugin in server.announced["plugins"] if plugin["status"] == "active"] == ["sound"]


def test_doctor_reports_a_fault_once(diagnosed: dict[str, Any]) -> None:
    faults = [
        (check.partition(" in process ")[0], row["message"])
        for check, row in diagnosed.items()
        if row["status"] == "error"
    ]
    assert len(faults) >= len(_CASES)
    assert len(set(faults)) == len(faults)


@pytest.mark.parametrize(("point", "name"), _CASES)
def test_a_fault_is_reported_everywhere(
    point: str, name: str, server: Server, listed: dict[str, Any], diagnosed: dict[str, Any], metrics: str
) -> None:
    id_, phase = id_of(point, name), POINTS[point][0]
    (running,) = listed[id_]["running"]
    assert (running["pid"], running["status"], running["phase"]) == (server.process.pid, "broken", phase)
    assert any(words in running["error"] for words in WORDS[name]), running["error"]
    assert running["hint"]
    logged = [json.loads(line) for line in server.log.splitlines() if f'"plugin":"{id_}"' in line]
    message = running["error"].partition(" (plugin.py")[0]
    assert any(line["level"] == "error" and message in line["error"] for line in logged), logged
    assert f'pressroom_plugin_active{{plugin="{id_}"}} 0.0' in metrics
    reason = "failed" if name not in _LATE else "(timeout|blocked)"
    assert re.search(f'pressroom_plugin_failures_total{{plugin="{id_}",point="[^"]+",reason="{reason}"}} 1.0', metrics)
    rows = [row for check, row in diagnosed.items() if check.startswith(f"plugin {id_}")]
    assert "error" in {row["status"] for row in rows}
