"""The pytest plugin, with fixtures for a running host. It is only loaded in projects that enable it.

PYTEST_DONT_REWRITE: the module has no assertions, and pytest would warn if it was already imported.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from pressroom.testing.accounts import LOOPBACK_TLS, HostAccount, SignedInBrowser
from pressroom.testing.fake_site import FakeSite, fake_site
from pressroom.testing.recording import RecordedHttp, recorded_http
from pressroom.testing.running import PluginHost, RunningHost, settings_for_test

__all__ = [
    "account",
    "call_tool",
    "host",
    "http",
    "other_account",
    "plugin_host",
    "pressroom_config",
    "recording",
    "settings_for_test",
    "signed_in_browser",
    "website",
]


@pytest.fixture(scope="session")
def pressroom_config() -> dict[str, Any]:
    """Return the configuration of the host, with the same structure as the TOML file.

    Override it in your `conftest.py`, with the same scope, to enable your plugin: `{"plugins": {"my_tool": {}}}`. Tests
    that call a tool more often than it allows raise its limit: `{"tools": {"my-tool": {"rate_limit": "10000/hour"}}}`.
    """
    return {}


@pytest.fixture(scope="session")
def host(pressroom_config: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """Return a running host with its own data folder; all tests share it.

    If a plugin in the configuration does not work, the tests that use the host fail with the reason.
    """
    settings = settings_for_test(pressroom_config, tmp_path_factory.mktemp("pressroom"))
    with RunningHost(settings) as running:
        configured = settings.plugins.keys()
        broken = [record for record in running.host.compiled.plugins.failed if record.id in configured]
        if broken:
            reasons = [
                f"{record.id} is {record.status} ({record.phase}): {record.error}\n  {record.hint}" for record in broken
            ]
            pytest.fail("\n".join(reasons), pytrace=False)
        yield running


@pytest.fixture
def http(host: RunningHost) -> Iterator[httpx.Client]:
    """Return an HTTP client whose base URL is the host's."""
    with httpx.Client(base_url=host.url, timeout=30, verify=LOOPBACK_TLS) as client:
        yield client


@pytest.fixture
def call_tool(host: RunningHost) -> Callable[..., Any]:
    """Return a function that calls a tool by its MCP name: `call_tool("count_words", text="one two")`.

    It returns and raises the same as `RunningHost.call_tool`.
    """

    def call(name: str, /, **arguments: Any) -> Any:
        return host.call_tool(name, arguments)

    return call


@pytest.fixture
def account(host: RunningHost) -> HostAccount:
    """Return the account that `call_tool` uses."""
    return host.account()


@pytest.fixture
def other_account(host: RunningHost) -> HostAccount:
    """Return another account, which must not have access to data of the first one."""
    return host.account("other@example.org", name="Other")


@pytest.fixture
def signed_in_browser(account: HostAccount) -> Iterator[SignedInBrowser]:
    """Return a browser that is signed in to the account."""
    with account.browser() as browser:
        yield browser


@pytest.fixture
def website() -> Iterator[FakeSite]:
    """Return a website on 127.0.0.1 that returns the responses that the test sets.

    The server can reach it with `{"fetch": {"private_networks": ["127.0.0.0/8"]}}` in `pressroom_config`.
    """
    with fake_site() as site:
        yield site


@pytest.fixture
def plugin_host(tmp_path: Path) -> Iterator[Callable[..., PluginHost]]:
    """Return a function that runs a host with a plugin from source code until the test ends: `plugin_host(source)`.

    Keyword arguments are sections of the configuration, such as `limits={…}`. See `PluginHost`.
    """
    with ExitStack() as stack:

        def run(source: str, /, **config: Any) -> PluginHost:
            folder = tmp_path / f"host-{secrets.token_hex(4)}"
            return stack.enter_context(PluginHost(source, folder, config))

        yield run


@pytest.fixture
def recording(host: RunningHost, request: pytest.FixtureRequest) -> Iterator[RecordedHttp]:
    """Return recorded HTTP, which replays responses from `recorded/<module>/<test>.json` next to the test.

    With the environment variable `PRESSROOM_TEST_RECORD=1`, plugins use the real services, and the file is written.
    """
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", request.node.name).strip("-")
    with recorded_http(host, request.path.parent / "recorded" / request.path.stem / f"{name}.json") as recorded:
        yield recorded
