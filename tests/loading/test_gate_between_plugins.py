"""Contributions to another plugin that fail: the contributing plugin is blamed, not the caller."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import pytest
from pressroom.testing import RunningHost, ToolFailed
from pressroom.testing.plugin import settings_for_test
from support.installing import on_path
from support.plugin_source import SOUND, install_plugin

OFFERING: Final = """
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
import asyncio, pluggy

@dataclass(frozen=True)
class Station:
    name: str
    read: Callable[..., Awaitable[int]]
    reckon: Callable[[str], int] | None = None

class Specs:
    @pluggy.HookspecMarker("pressroom")
    def pressroom_weather_stations(self, plugin) -> Iterable[Station]: ...

PLUGIN = Plugin(id="$id", api="1", title="Weather", summary="Collects stations.", hookspecs=Specs)

class ReadParams(Params):
    station: str = Field(description="The station.")
    fault: str = Field(description="What goes wrong.")
    how: str = Field(description="How it is called.")

class Weather(BaseModel):
    told: str

async def checked(value):
    if value != 7:
        raise ValueError("the library says no")
    return value

@mcp_tool(name="read_weather", title="Weather", timeout=5)
async def weather(params: ReadParams, call: Call) -> Weather:
    \"\"\"Reads a station.\"\"\"
    ours = call.plugin.extensions
    station = next(one for _, one in ours.of("pressroom_weather_stations") if one.name == params.station)
    if params.how == "bare":
        return Weather(told=str(await station.read(params.fault)))
    record = station if params.how in ("record", "private") else None
    private = params.how == "private"
    try:
        with ours.calling(f"station {station.name}", record, passes=(KeyError,), private=private, seconds=0.5):
            return Weather(told=str(await station.read(params.fault)))
    except PluginError as error:
        late = isinstance(error.__cause__, TimeoutError)
        return Weather(told=f"{'late' if late else 'contained'}: {error.message}")
    except KeyError:
        return Weather(told="passed")

@mcp_tool(name="await_weather", title="Weather", timeout=0.5)
async def awaited(params: ReadParams, call: Call) -> Weather:
    \"\"\"Reads a station that takes its time.\"\"\"
    (_, station), *_ = call.plugin.extensions.of("pressroom_weather_stations")
    return Weather(told=str(await station.read(params.fault)))

def reckoned(owner, station, fault):
    try:
        with calling_in_worker(owner, "almanac", seconds=0.5):
            return str(station.reckon(fault))
    except PluginError as error:
        return f"contained: {error.message}"

@mcp_tool(name="reckon_weather", title="Weather", timeout=60)
async def reckon(params: ReadParams, call: Call) -> Weather:
    \"\"\"Reckons in a worker process.\"\"\"
    (owner, station), *_ = call.plugin.extensions.of("pressroom_weather_stations")
    try:
        seconds = 10 if params.fault == "deaf" else 20
        told = await call.plugin.services.workers.run(reckoned, owner, station, params.fault, seconds=seconds)
    except CallError as error:
        told = f"lost: {error.__cause__}"
    return Weather(told=told)

async def work(run):
    _, station = PLUGINS[0].extensions.of("pressroom_weather_stations")[0]
    await station.read(run.payload["fault"])

PLUGINS = []

@hookimpl
def pressroom_jobs(plugin):
    PLUGINS.append(plugin)
    return [Job("read", work, attempts=1, timeout=1)]

@hookimpl
def pressroom_mcp_tools(): return [weather, awaited, reckon]
"""

STATION: Final = """
import asyncio, os, signal, time
from acme_weather.plugin import Station, checked

PLUGIN = Plugin(id="$id", api="1", title="Station", summary="A station.", requires=("weather",))

class Panic(BaseException): ...

async def read(fault):
    match fault:
        case "panic": raise Panic("no way")
        case "exit": raise SystemExit(3)
        case "cancel": raise asyncio.CancelledError
        case "error": raise ZeroDivisionError("secret-token")
        case "told": raise NotFound("no such thing")
        case "key": raise KeyError("known")
        case "hang": await asyncio.Event().wait()
        case "swallow":
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return 8
        case "library": return await checked(8)
    return 7

def reckon(fault):
    match fault:
        case "panic": raise Panic("no way")
        case "exit": raise SystemExit(3)
        case "end": os._exit(3)
        case "error": raise ZeroDivisionError("no way")
        case "told": raise NotFound("no such thing")
        case "hang": time.sleep(600)
        case "kill": os.kill(os.getpid(), signal.SIGKILL)
        case "deaf":
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
            time.sleep(600)
    return 7

@hookimpl
def pressroom_weather_stations(): return [Station("$id", read, reckon), Station("$id none", None)]
"""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    folder = tmp_path_factory.mktemp("between")
    install_plugin(folder / "site", "weather", SOUND + OFFERING)
    install_plugin(folder / "site", "station", SOUND + STATION)
    config = {"plugins": {"weather": {}, "station": {}}, "builtin_plugins": False}
    with on_path(folder / "site"):
        importlib.invalidate_caches()
        with RunningHost(settings_for_test(config, folder / "data")) as running:
            assert not running.host.compiled.plugins.failed
            yield running


@pytest.fixture
def failures(host: RunningHost) -> Callable[[], Mapping[Any, int]]:
    """Return a function that counts the failures per plugin and extension point since the test began."""
    before = host.host.compiled.gate.failures.copy()
    return lambda: dict((host.host.compiled.gate.failures - before).items())


def read_weather(host: RunningHost, fault: str, how: str, station: str = "station") -> str:
    text: str = host.call_tool("read_weather", {"station": station, "fault": fault, "how": how})["told"]
    return text


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("panic", "Panic: no way"),
        ("exit", "SystemExit: 3"),
        ("cancel", "CancelledError"),
        ("error", "ZeroDivisionError: secret-token"),
        ("library", "ValueError: the library says no"),
    ],
)
@pytest.mark.parametrize("how", ["traceback", "record"])
def test_a_failing_contribution_is_contained_and_its_plugin_reported(
    host: RunningHost, failures: Any, fault: str, expected: str, how: str
) -> None:
    assert read_weather(host, fault, how).startswith(f"contained: {expected}")
    assert failures() == {("station", "extension", "failed"): 1}
    latest = host.host.compiled.gate.latest["station"]
    assert (str(latest.call), expected in latest.error) == ("the extension station station", True)


@pytest.mark.parametrize("how", ["traceback", "record", "private"])
def test_a_contribution_that_takes_too_long_is_cancelled_and_reported(
    host: RunningHost, failures: Any, how: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert read_weather(host, "hang", how) == "late: the extension station station did not end within 0.5 s"
    assert failures() == {("station", "extension", "timeout"): 1}
    (logged,) = (line for line in "".join(capfd.readouterr()).splitlines() if "a plugin failed" in line)
    assert "plugin=station" in logged
    assert read_weather(host, "swallow", how) == "8"
    assert read_weather(host, "", how) == "7"


def test_a_record_that_cannot_be_called_is_attributed_to_its_plugin(host: RunningHost, failures: Any) -> None:
    """None of the plugin's code runs, so no traceback would name it."""
    assert "TypeError" in read_weather(host, "", "record", "station none")
    assert failures() == {("station", "extension", "failed"): 1}


def test_possible_secrets_are_neither_stored_nor_logged(
    host: RunningHost, failures: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    capfd.readouterr()
    assert read_weather(host, "error", "private") == "contained: the extension station station raised ZeroDivisionError"
    assert failures() == {("station", "extension", "failed"): 1}
    assert "secret-token" not in host.host.compiled.gate.latest["station"].error
    logged = "".join(capfd.readouterr())
    assert "ZeroDivisionError" in logged
    assert "secret-token" not in logged


def test_deliberate_errors_are_raised_unchanged(host: RunningHost, failures: Any) -> None:
    assert read_weather(host, "key", "record") == "passed"
    with pytest.raises(ToolFailed, match="no such thing"):
        read_weather(host, "told", "record")
    assert read_weather(host, "", "record") == "7"
    assert failures() == {}


@pytest.mark.parametrize("fault", ["panic", "exit", "error", "library"])
def test_an_uncontained_failure_fails_the_call_and_is_attributed_correctly(
    host: RunningHost, failures: Any, fault: str
) -> None:
    with pytest.raises(ToolFailed):
        read_weather(host, fault, "bare")
    assert failures() == {("station", "tool", "failed"): 1}


@pytest.mark.parametrize(("fault", "reason"), [("error", "failed"), ("hang", "timeout")])
def test_a_job_failure_is_attributed_to_the_plugin_that_caused_it(
    host: RunningHost, failures: Any, fault: str, reason: str
) -> None:
    assert host.run_job("read", {"fault": fault}).state == "failed"
    assert failures() == {("station", "job", reason): 1}


def test_a_tool_timeout_is_attributed_to_the_plugin_that_caused_it(
    host: RunningHost, failures: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ToolFailed, match="timeout"):
        host.call_tool("await_weather", {"station": "station", "fault": "hang", "how": ""})
    assert failures() == {("station", "tool", "timeout"): 1}
    assert host.host.compiled.gate.latest["station"].error == "the tool await_weather did not end within 0.5 s"
    logged = [line for line in "".join(capfd.readouterr()).splitlines() if "a plugin failed" in line]
    assert ["plugin=station" in line for line in logged] == [True]


@pytest.mark.parametrize(
    ("fault", "reason", "outcome", "expected"),
    [
        ("error", "failed", "contained", "ZeroDivisionError: no way (plugin.py, line "),
        ("panic", "failed", "contained", "Panic: no way"),
        ("exit", "failed", "contained", "SystemExit: 3"),
        ("end", "failed", "contained", "it called os._exit(3)"),
        ("hang", "timeout", "contained", "almanac did not end within 0.5 s"),
        ("kill", "failed", "lost", "its worker process was lost: it ended with exit status -9"),
        ("deaf", "timeout", "lost", "it did not end within 10 s"),
    ],
)
def test_a_worker_process_failure_is_attributed_to_the_contributing_plugin(
    host: RunningHost,
    failures: Any,
    capfd: pytest.CaptureFixture[str],
    fault: str,
    reason: str,
    outcome: str,
    expected: str,
) -> None:
    capfd.readouterr()
    text = host.call_tool("reckon_weather", {"station": "station", "fault": fault, "how": ""})["told"]
    assert text.startswith(outcome)
    assert expected in text
    assert failures() == {("station", "extension", reason): 1}
    latest = host.host.compiled.gate.latest["station"]
    assert (latest.call.name, expected in latest.error) == ("almanac", True)
    logged = "".join(capfd.readouterr())
    assert "a plugin failed" in logged
    assert ("in reckon" in logged) == (outcome == "contained" and fault != "hang")


def test_success_or_a_deliberate_error_in_a_worker_process_is_not_a_failure(host: RunningHost, failures: Any) -> None:
    ask = {"station": "station", "how": ""}
    assert host.call_tool("reckon_weather", {**ask, "fault": ""})["told"] == "7"
    assert host.call_tool("reckon_weather", {**ask, "fault": "told"})["told"].startswith("lost: None")
    assert failures() == {}
