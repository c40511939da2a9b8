"""At level `debug`, the log lists every call into a plugin: what runs, in which order, and for how long."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
import structlog
from pressroom.testing import RunningHost
from pressroom.testing.plugin import settings_for_test
from support.installing import on_path
from support.plugin_source import SOUND, install_plugin

SOURCE = """
async def authenticate(credentials):
    return None

async def enter(info):
    return None

def observe(record):
    raise ValueError("no way")

@hookimpl
def pressroom_authenticators(): return [Authenticator("own", authenticate)]

@hookimpl
def pressroom_call_middleware(): return [CallMiddleware("own", enter)]

@hookimpl
def pressroom_observers(): return [Observer("own", observe)]
"""


def calls(folder: Path, level: str) -> list[tuple[str, str, str]]:
    """Return point, name and end of each call into the plugin over a host's lifetime."""
    install_plugin(folder / "site", "traced", SOUND + SOURCE)
    config = {"builtin_plugins": False, "plugins": {"traced": {}}, "logging": {"level": level}}
    running = RunningHost(settings_for_test(config, folder / "data"))
    with on_path(folder / "site"), structlog.testing.capture_logs() as logs, running as host:
        response = httpx.post(f"{host.url}/tools/traced/api/generate", json={"text": "hello"})
        assert response.status_code == 200
    lines = [line for line in logs if line["event"] == "a plugin was called" and line["plugin"] == "traced"]
    assert all(line["log_level"] == "debug" and line["seconds"] >= 0 for line in lines)
    return [(line["point"], line["name"], line["end"]) for line in lines]


def test_every_call_is_traced_in_order(tmp_path: Path) -> None:
    assert calls(tmp_path, "debug") == [
        ("import", "", "returned"),
        ("config", "", "returned"),
        ("register", "", "returned"),
        ("collect", "", "returned"),
        ("validate", "", "returned"),
        ("tool", "Shout", "returned"),
        ("authenticator", "own", "returned"),
        ("middleware", "own (enter)", "returned"),
        ("tool", "traced", "returned"),
        ("observer", "own", "raised ValueError"),
    ]


@pytest.mark.parametrize("level", ["info", "error"])
def test_nothing_is_traced_at_other_levels(tmp_path: Path, level: str) -> None:
    assert calls(tmp_path, level) == []
