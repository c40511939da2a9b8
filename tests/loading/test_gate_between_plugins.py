"""What a plugin contributes to another one fails: whose code it is answers for it, not the one that called."""

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
    try:
        with ours.calling(f"station {station.name}", record, passes=(KeyError,), private=params.how == "private"):
            async with asyncio.timeout(3):
                return Weather(told=str(await station.read(params.fault)))
    except PluginError as error:
        return Weather(told=f"contained: {error.message}")
    except KeyError:
        return Weather(told="passed")

async def work(run):
    _, station = PLUGINS[0].extensions.of("pressroom_weather_stations")[0]
    await station.read(run.payload["fault"])

PLUGINS = []

@hookimpl
def pressroom_jobs(plugin):
    PLUGINS.append(plugin)
    return [Job("read", work, attempts=1, timeout=1)]

@hookimpl
def pressroom_mcp_tools(): return [weather]
"""

STATION: Final = """
import asyncio
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
        case "library": return await checked(8)
    return 7

@hookimpl
def pressroom_weather_stations(): return [Station("$id", read), Station("$id none", None)]
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
    """Return a function that tells how many failures of each plugin and extension point came since the test began."""
    before = host.host.compiled.gate.failures.copy()
    return lambda: dict((host.host.compiled.gate.failures - before).items())


def asked(host: RunningHost, fault: str, how: str, station: str = "station") -> str:
    told: str = host.call_tool("read_weather", {"station": station, "fault": fault, "how": how})["told"]
    return told


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("panic", "Panic: no way"),
        ("exit", "SystemExit: 3"),
        ("cancel", "CancelledError"),
        ("error", "ZeroDivisionError: secret-token"),
        ("library", "ValueError: the library says no"),
    ],
)
@pytest.mark.parametrize("how", ["traceback", "record"])
def test_what_was_contributed_is_contained_and_its_plugin_is_named(
    host: RunningHost, failures: Any, fault: str, said: str, how: str
) -> None:
    assert asked(host, fault, how).startswith(f"contained: {said}")
    assert failures() == {("station", "extension", "failed"): 1}
    latest = host.host.compiled.gate.latest["station"]
    assert (str(latest.call), said in latest.error) == ("the extension station station", True)


def test_a_record_that_cannot_be_called_is_its_plugins_fault(host: RunningHost, failures: Any) -> None:
    """No code of the plugin runs then, so that no traceback would name it."""
    assert "TypeError" in asked(host, "", "record", "station none")
    assert failures() == {("station", "extension", "failed"): 1}


def test_what_may_hold_a_secret_is_neither_kept_nor_logged(
    host: RunningHost, failures: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    capfd.readouterr()
    assert asked(host, "error", "private") == "contained: the extension station station raised ZeroDivisionError"
    assert failures() == {("station", "extension", "failed"): 1}
    assert "secret-token" not in host.host.compiled.gate.latest["station"].error
    logged = "".join(capfd.readouterr())
    assert "ZeroDivisionError" in logged
    assert "secret-token" not in logged


def test_errors_that_are_meant_for_somebody_pass(host: RunningHost, failures: Any) -> None:
    assert asked(host, "key", "record") == "passed"
    with pytest.raises(ToolFailed, match="no such thing"):
        asked(host, "told", "record")
    assert asked(host, "", "record") == "7"
    assert failures() == {}


@pytest.mark.parametrize("fault", ["panic", "exit", "error", "library"])
def test_where_nobody_contains_it_the_call_fails_and_the_right_plugin_is_named(
    host: RunningHost, failures: Any, fault: str
) -> None:
    with pytest.raises(ToolFailed):
        asked(host, fault, "bare")
    assert failures() == {("station", "tool", "failed"): 1}


@pytest.mark.parametrize(("fault", "reason"), [("error", "failed"), ("hang", "timeout")])
def test_a_job_that_fails_for_the_sake_of_another_plugin_names_that_one(
    host: RunningHost, failures: Any, fault: str, reason: str
) -> None:
    assert host.run_job("read", {"fault": fault}).state == "failed"
    assert failures() == {("station", "job", reason): 1}
