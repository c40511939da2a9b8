"""A running host in a test: it starts, responds and stops, and explains a failure to start."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from pressroom.errors import CallError, ConfigError
from pressroom.testing import RunningHost, ToolFailed, settings_for_test
from support.third_party import GENERATOR, HEAD

Install = Callable[..., str]


HostThreads = Callable[[], list[threading.Thread]]


@pytest.fixture
def host_threads() -> HostThreads:
    """Return a function that lists the threads of hosts started after this point, except hosts shared between tests."""
    existing = set(threading.enumerate())
    return lambda: [thread for thread in set(threading.enumerate()) - existing if thread.name == "pressroom-host"]


@pytest.fixture
def host(install: Install, tmp_path: Path) -> Iterator[RunningHost]:
    with RunningHost(settings_for_test({"plugins": {install(): {}}}, tmp_path / "data")) as running:
        yield running


def test_it_responds_inside_the_block_and_is_gone_after_it(tmp_path: Path, host_threads: HostThreads) -> None:
    with RunningHost(settings_for_test({}, tmp_path)) as host:
        assert httpx.get(f"{host.url}/readyz").status_code == 200
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{host.url}/readyz")
    assert host_threads() == []


def test_connections_opened_at_the_last_moment_are_closed(tmp_path: Path) -> None:
    async def connect_and_stop(host: RunningHost) -> list[socket.socket]:
        address = ("127.0.0.1", host.settings.server.port)
        connected = [socket.create_connection(address, timeout=10) for _ in range(20)]
        assert host._stop is not None
        await asyncio.sleep(0)
        host._stop.set()  # the loop accepts them in this iteration
        return connected

    with RunningHost(settings_for_test({}, tmp_path)) as host:
        connected = host.run(connect_and_stop(host))
    for connection in connected:
        with connection, suppress(ConnectionResetError):
            assert connection.recv(1) == b""


def test_it_can_be_started_again(tmp_path: Path) -> None:
    host = RunningHost(settings_for_test({}, tmp_path))
    for _ in range(2):
        with host:
            assert httpx.get(f"{host.url}/readyz").status_code == 200


def test_two_hosts_are_independent(tmp_path: Path) -> None:
    body = {"text": "hello"}
    with (
        RunningHost(settings_for_test({}, tmp_path / "one")) as first,
        RunningHost(settings_for_test({"branding": {"name": "Two"}}, tmp_path / "two")) as second,
    ):
        responses = [
            httpx.post(f"{host.url}/tools/qr-code-generator/api/generate", json=body) for host in (first, second)
        ]
    assert [response.json()["data"]["cached"] for response in responses] == [False, False]
    assert [response.json()["pressroom"]["name"] for response in responses] == ["Pressroom", "Two"]


def test_a_failed_start_raises_the_reason_and_leaves_nothing(tmp_path: Path, host_threads: HostThreads) -> None:
    host = RunningHost(settings_for_test({"branding": {"brander": "nobody"}}, tmp_path))
    with pytest.raises(ConfigError, match=r"branding\.brander"), host:
        pass
    assert host_threads() == []
    with pytest.raises(httpx.ConnectError):
        httpx.get(host.url)


def test_failures_while_it_stops_are_raised(install: Install, tmp_path: Path) -> None:
    failing = """
from contextlib import asynccontextmanager

@asynccontextmanager
async def door():
    yield
    raise OSError("the door is jammed")

@hookimpl
def pressroom_lifespan():
    return [Lifespan("door", door)]
"""
    settings = settings_for_test({"plugins": {install(HEAD + failing): {}}}, tmp_path / "data")
    with pytest.raises(OSError, match="the door is jammed"), RunningHost(settings):
        pass


def test_an_error_of_the_test_itself_is_passed_on(tmp_path: Path, host_threads: HostThreads) -> None:
    with pytest.raises(ZeroDivisionError), RunningHost(settings_for_test({}, tmp_path)):
        raise ZeroDivisionError
    assert host_threads() == []


def test_neither_environment_variables_nor_files_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pressroom.toml").write_text("[branding]\nname = 'From the file'\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PRESSROOM_BRANDING__NAME", "From the environment")
    assert settings_for_test({}, tmp_path / "data").branding.name == "Pressroom"


def test_the_configuration_of_a_test_overrides_the_defaults_for_tests(tmp_path: Path) -> None:
    settings = settings_for_test({"storage": {"retention": "3h"}, "executors": {"processes": 2}}, tmp_path)
    assert (settings.storage.path, settings.storage.retention, settings.executors.processes) == (tmp_path, 10_800, 2)


def test_an_mcp_tool_returns_its_data(host: RunningHost) -> None:
    assert host.call_tool("measure_volume", {"text": "hello"}) == {"letters": 5}


def test_a_generator_returns_the_same_as_over_http(host: RunningHost) -> None:
    called = host.call_tool("shout", {"text": "hello"})
    assert httpx.get(called["url"]).text == "HELLO!"
    over_http = httpx.post(f"{host.url}/tools/shout/api/generate", json={"text": "hello"}).json()["data"]
    assert called["cached"] is False
    assert over_http["cached"] is True
    assert called.keys() == over_http.keys() == {"id", "url", "expiresAt", "cached"}
    assert called["id"] == over_http["id"]


def test_warnings_of_a_generator_are_shown(install: Install, tmp_path: Path) -> None:
    hoarse = GENERATOR.replace('"text/plain")', '"text/plain", warnings=("The voice is hoarse.",))')
    with RunningHost(settings_for_test({"plugins": {install(HEAD + hoarse): {}}}, tmp_path / "data")) as host:
        assert host.call_tool("shout", {"text": "hello"})["warnings"] == ["The voice is hoarse."]


@pytest.mark.parametrize(
    ("name", "arguments", "code", "says"),
    [
        ("measure_volume", {}, "validation_error", "text"),
        ("measure_volume", {"text": "a", "marsk": 1}, "validation_error", "did you mean marks?"),
        ("mesure_volume", {"text": "a"}, "not_found", "did you mean measure_volume?"),
        ("shout", {"text": "a", "response": "binary"}, "validation_error", "response"),
    ],
)
def test_a_refused_call_fails_the_test_and_says_why(
    host: RunningHost, name: str, arguments: dict[str, object], code: str, says: str
) -> None:
    with pytest.raises(ToolFailed) as refused:
        host.call_tool(name, arguments)
    assert refused.value.code == code
    assert says in refused.value.message
    assert str(refused.value) == f"{code}: {refused.value.message}"
    assert isinstance(refused.value.__cause__, CallError)


def test_limits_apply_as_they_do_to_anyone(host: RunningHost) -> None:
    for text in ("a", "b"):
        host.call_tool("shout", {"text": text})
    with pytest.raises(ToolFailed, match="rate_limited"):
        host.call_tool("shout", {"text": "c"})


def test_a_coroutine_runs_on_the_loop_of_the_host(host: RunningHost) -> None:
    async def where() -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name

    assert host.run(where()) == "pressroom-host"


def test_a_coroutine_is_refused_if_no_host_is_running(tmp_path: Path) -> None:
    host = RunningHost(settings_for_test({}, tmp_path))
    with pytest.raises(RuntimeError, match="not running"):
        host.run(asyncio.sleep(0))
    with host:
        pass
    with pytest.raises(RuntimeError, match="not running"):
        host.run(asyncio.sleep(0))


async def test_it_can_be_used_from_an_asynchronous_test(install: Install, tmp_path: Path) -> None:
    settings = settings_for_test({"plugins": {install(HEAD + GENERATOR): {}}}, tmp_path / "data")
    with RunningHost(settings) as host:
        async with httpx.AsyncClient(base_url=host.url) as http:
            response = await http.post("/tools/shout/api/generate", json={"text": "hello", "response": "binary"})
    assert response.text == "HELLO!"
