"""A host with a plugin from source text: its behaviour, failures and cleanup."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import httpx
import pytest
import structlog
from pressroom.testing import PluginHost
from support.polling import wait_until

HEAD = """
from pressroom.sdk import CallMiddleware, HttpResponse, Plugin, Route, hookimpl

PLUGIN = Plugin(id="inline_one", api="1", title="Inline", summary="For tests.")
"""


@pytest.mark.parametrize(
    ("source", "phase", "error"),
    [
        ("def :", "discover", "line 1"),
        ("raise SystemExit(3)" + HEAD, "import", "SystemExit"),
        (HEAD + "@hookimpl\ndef pressroom_routs():\n    return []\n", "register", "there is no hook pressroom_routs"),
        (HEAD + "@hookimpl\ndef pressroom_routes():\n    return 1 / 0\n", "collect", "ZeroDivisionError"),
    ],
)
def test_a_plugin_that_fails_at_the_start_is_reported_and_leaves_nothing(
    tmp_path: Path, source: str, phase: str, error: str
) -> None:
    path, modules, threads = list(sys.path), set(sys.modules), set(threading.enumerate())
    with PluginHost(source, tmp_path) as host:
        assert (host.plugin.status, host.plugin.phase) == ("broken", phase)
        assert error in host.plugin.error
        assert host.plugin.hint
        assert httpx.get(f"{host.url}/healthz").status_code == 200
    assert sys.path == path
    assert not [name for name in sys.modules.keys() - modules if name.startswith("inline_")]
    # A database driver's threads end shortly after they have closed their connections.
    wait_until(lambda: set(threading.enumerate()) <= threads)
    events = len(host.log)
    structlog.get_logger().info("what others log later")
    assert len(host.log) == events


def test_two_plugins_with_the_same_id_are_independent(tmp_path: Path) -> None:
    """Each text is a separate module, so the second does not reuse the first."""
    for number, text in enumerate(("one", "two")):
        route = '@hookimpl\ndef pressroom_routes():\n    return [Route("/text", text)]\n'
        handler = f'async def text(request):\n    return HttpResponse(b"{text}")\n'
        with PluginHost(HEAD + handler + route, tmp_path / str(number)) as host:
            assert httpx.get(f"{host.url}/text").text == text


def test_its_failures_are_counted_and_logged(tmp_path: Path) -> None:
    middleware = (
        "async def begin(call):\n    raise RuntimeError('no')\n"
        '@hookimpl\ndef pressroom_call_middleware():\n    return [CallMiddleware("broken", begin)]\n'
    )
    with PluginHost(HEAD + middleware, tmp_path) as host:
        response = httpx.post(f"{host.url}/tools/qr-code-generator/api/generate", json={"text": "hello"}, timeout=30)
        failures = dict(host.failures)
    assert response.status_code == 200
    assert failures == {("middleware", "failed"): 1}
    assert [event["plugin"] for event in host.log if event["event"] == "a plugin failed"] == ["inline_one"]


def test_the_configuration_is_that_of_the_host(tmp_path: Path) -> None:
    with PluginHost(HEAD, tmp_path, {"branding": {"name": "Shop"}}) as host:
        assert "Shop" in httpx.get(f"{host.url}/tools").text
