"""Hook wrappers: a plugin changes, adds or drops contributions of other plugins."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest
from pressroom.host.loaded_app import LoadedApp
from pressroom.sdk import Generator
from pressroom.testing import RunningHost, ToolFailed
from pressroom.testing.plugin import settings_for_test
from support.compiling import Compile, record_of, statuses
from support.installing import on_path
from support.plugin_source import HEAD, SOUND, install_plugin, needing

OFFERING: Final = (
    SOUND
    + """
from collections.abc import Iterable
from dataclasses import dataclass
import pluggy

@dataclass(frozen=True)
class Station:
    name: str

class Specs:
    @pluggy.HookspecMarker("pressroom")
    def pressroom_weather_stations(self, plugin) -> Iterable[Station]: ...

PLUGIN = Plugin(
    id="$id", title="T", summary="S", hookspecs=Specs, unique={"pressroom_weather_stations": "name"},
    api="1",
)
"""
)

STATION: Final = """
@hookimpl
def pressroom_weather_stations():
    from acme_weather.plugin import Station
    return [Station("$id")]
"""


def wrapping(body: str, hook: str = "pressroom_generators", arguments: str = "owner, plugin") -> str:
    """Return the source of a plugin that only wraps a hook."""
    return f"""{HEAD}
from dataclasses import replace

@hookimpl(wrapper=True)
def {hook}({arguments}):
    {body}
"""


def name_of(compiled: LoadedApp, slug: str) -> str:
    generator = compiled.catalog.tools[slug].declaration
    assert isinstance(generator, Generator)
    return generator.name


RENAMING: Final = wrapping("return [replace(one, name=f'{one.name} by {plugin.id} for {owner}') for one in (yield)]")


def test_a_wrapper_changes_what_another_plugin_offers(tmp_path: Path, compile_with: Compile) -> None:
    compiled = compile_with(install_plugin(tmp_path, "sound"), install_plugin(tmp_path, "house", RENAMING))

    assert name_of(compiled, "sound") == "Shout by house for sound"
    assert name_of(compiled, "qr-code-generator").endswith(" by house for qr_code_generator")
    assert statuses(compiled) == {"house": "active", "sound": "active"}
    house = record_of(compiled, "house")
    assert house.contributes == (
        "wrapper of pressroom_generators",
        "change to generator qr-code-generator of qr_code_generator",
        "change to generator sound of sound",
    )
    assert house.brief == "changes to other plugins"
    assert record_of(compiled, "sound").contributes == ("generator sound",)
    assert record_of(compiled, "sound").wrapped_by == ("house",)
    assert house.wrapped_by == ()


def test_wrappers_run_in_order_of_plugin_id_regardless_of_installation(tmp_path: Path, compile_with: Compile) -> None:
    compiled = compile_with(
        install_plugin(tmp_path, "zurich", RENAMING),
        install_plugin(tmp_path, "athens", RENAMING),
        install_plugin(tmp_path, "sound"),
    )
    assert name_of(compiled, "sound") == "Shout by athens for sound by zurich for sound"


def test_a_wrapper_removes_a_tool_of_another_plugin(tmp_path: Path, compile_with: Compile) -> None:
    omitting = wrapping("return [one for one in (yield) if one.slug != 'sound']", arguments="")
    compiled = compile_with(install_plugin(tmp_path, "sound"), install_plugin(tmp_path, "house", omitting))

    assert "sound" not in compiled.catalog.tools
    assert "qr-code-generator" in compiled.catalog.tools
    assert record_of(compiled, "house").contributes == (
        "wrapper of pressroom_generators",
        "removal of generator sound of sound",
    )
    assert record_of(compiled, "sound").contributes == ()


def test_a_wrapper_that_changes_nothing_is_listed_too(tmp_path: Path, compile_with: Compile) -> None:
    looking = wrapping("seen = yield\n    return tuple(seen)", arguments="")
    compiled = compile_with(install_plugin(tmp_path, "sound"), install_plugin(tmp_path, "house", looking))
    assert record_of(compiled, "house").contributes == ("wrapper of pressroom_generators",)
    assert name_of(compiled, "sound") == "Shout"


def test_a_wrapper_does_not_get_records_of_its_own_plugin_or_the_host(tmp_path: Path, compile_with: Compile) -> None:
    source = (
        SOUND
        + """
SEEN = []

@hookimpl(wrapper=True, specname="pressroom_generators")
def wrap_generators(owner):
    SEEN.append(owner)
    return (yield)

@hookimpl(wrapper=True)
def pressroom_rate_limits(owner):
    SEEN.append(owner)
    return (yield)
"""
    )
    compiled = compile_with(install_plugin(tmp_path, "house", source), install_plugin(tmp_path, "sound"))
    assert sys.modules["acme_house.plugin"].SEEN == ["qr_code_generator", "sound"]
    assert {"house", "sound"} <= compiled.catalog.tools.keys()


def test_changes_by_a_failing_wrapper_are_undone_and_those_of_others_preserved(
    tmp_path: Path, compile_with: Compile
) -> None:
    failing = wrapping(
        """found = yield
    if owner == 'sound':
        raise SystemExit(3)
    return [replace(one, name='X') for one in found]
"""
    )
    compiled = compile_with(
        install_plugin(tmp_path, "athens", RENAMING),
        install_plugin(tmp_path, "broken", failing),
        needing(tmp_path, "dependent", "broken", more=RENAMING.replace(HEAD, "")),
        install_plugin(tmp_path, "sound"),
        install_plugin(tmp_path, "zurich", RENAMING),
    )

    assert statuses(compiled) == {
        "athens": "active",
        "broken": "broken",
        "dependent": "broken",
        "sound": "active",
        "zurich": "active",
    }
    assert (record_of(compiled, "broken").phase, record_of(compiled, "broken").contributes) == ("wrap", ())
    assert "SystemExit: 3" in record_of(compiled, "broken").error
    assert name_of(compiled, "sound") == "Shout by athens for sound by zurich for sound"
    assert "qr-code-generator" in compiled.catalog.tools


def test_an_endless_wrapper_is_reported_with_the_plugin_it_was_wrapping(tmp_path: Path, compile_with: Compile) -> None:
    endless = wrapping(
        """found = yield
    while owner == 'sound':
        pass
    return found
"""
    )
    compiled = compile_with(
        install_plugin(tmp_path, "endless", endless), install_plugin(tmp_path, "sound"), server={"start_timeout": 0.2}
    )

    record = record_of(compiled, "endless")
    assert (record.status, record.phase) == ("broken", "wrap")
    assert record.error == "its wrapper of pressroom_generators, with what sound contributes, did not end within 0.2 s"
    assert "sound" in compiled.catalog.tools


def test_a_cached_result_from_before_a_wrapper_is_not_served_with_it(tmp_path: Path, compile_with: Compile) -> None:
    sound, house = install_plugin(tmp_path, "sound"), install_plugin(tmp_path, "house", RENAMING)
    with_wrapper, without_wrapper = compile_with(sound, house), compile_with(sound, house, plugins={"house": None})
    assert with_wrapper.catalog.tools["sound"].content_salt != without_wrapper.catalog.tools["sound"].content_salt


def test_the_hook_that_another_plugin_offers_is_wrapped_too(tmp_path: Path, compile_with: Compile) -> None:
    body = "return [replace(one, name=one.name.title()) for one in (yield)]"
    compiled = compile_with(
        install_plugin(tmp_path, "weather", OFFERING),
        install_plugin(tmp_path, "zurich", SOUND + STATION),
        install_plugin(tmp_path, "house", wrapping(body, "pressroom_weather_stations", "")),
    )
    stations = compiled.plugins.contexts["weather"].extensions.of("pressroom_weather_stations")
    assert [(plugin, station.name) for plugin, station in stations] == [("zurich", "Zurich")]
    assert record_of(compiled, "house").contributes == (
        "wrapper of pressroom_weather_stations",
        "addition of pressroom_weather_stations Zurich of zurich",
        "removal of pressroom_weather_stations zurich of zurich",
    )


def test_a_wrapper_cannot_break_the_uniqueness_of_names(tmp_path: Path, compile_with: Compile) -> None:
    body = "return [replace(one, name='here') for one in (yield)]"
    compiled = compile_with(
        install_plugin(tmp_path, "weather", OFFERING),
        install_plugin(tmp_path, "zurich", SOUND + STATION),
        install_plugin(tmp_path, "athens", SOUND + STATION),
        install_plugin(tmp_path, "house", wrapping(body, "pressroom_weather_stations", "")),
    )
    house = record_of(compiled, "house")
    assert (house.status, house.phase) == ("broken", "wrap")
    assert house.error == "its wrappers offer the name here in pressroom_weather_stations twice"
    stations = compiled.plugins.contexts["weather"].extensions.of("pressroom_weather_stations")
    assert [station.name for _, station in stations] == ["athens", "zurich"]


TOOL: Final = (
    HEAD
    + """
class TextParams(Params):
    text: str = Field(description="The text.")

class Counted(BaseModel):
    words: int

@mcp_tool(name="count_words", title="Count words")
async def count_words(params: TextParams, call: Call) -> Counted:
    \"\"\"Counts words.\"\"\"
    if params.text == "own fault":
        raise ValueError("the counter is broken")
    return Counted(words=len(params.text.split()))
"""
)

AROUND: Final = wrapping(
    """tools = yield
    return [replace(one, function=around(one), description=f"{one.description} Twice.") for one in tools]

def around(tool):
    async def twice(params, call):
        if params.text == "fault":
            raise SystemExit("the wrapper is broken")
        if params.text == "nonsense":
            return {"words": 2}
        counted = await tool(params, call)
        return counted.model_copy(update={"words": 2 * counted.words})
    return twice
""",
    "pressroom_mcp_tools",
    "",
)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    folder = tmp_path_factory.mktemp("wrapping")
    install_plugin(folder / "own", "counter", TOOL)
    install_plugin(folder / "own", "doubling", AROUND)
    config = {"plugins": {"counter": {}, "doubling": {}}, "builtin_plugins": False}
    with ExitStack() as stack:
        # Only during startup: the other tests of this module must not find these plugins.
        with on_path(folder / "own"):
            running = stack.enter_context(RunningHost(settings_for_test(config, folder / "data")))
        assert not running.host.compiled.plugins.failed
        yield running


def test_a_call_of_a_wrapped_tool_goes_through_its_wrapper(host: RunningHost) -> None:
    assert host.call_tool("count_words", {"text": "one two"}) == {"words": 4}


@pytest.mark.parametrize(
    ("text", "plugin"), [("fault", "doubling"), ("nonsense", "doubling"), ("own fault", "counter")]
)
def test_a_failure_in_a_call_is_attributed_to_the_right_plugin(
    host: RunningHost, text: str, plugin: str, capfd: pytest.CaptureFixture[str]
) -> None:
    failures = host.host.compiled.gate.failures
    before = failures.copy()
    with pytest.raises(ToolFailed):
        host.call_tool("count_words", {"text": text})
    assert dict((failures - before).items()) == {(plugin, "tool", "failed"): 1}
    assert f"plugin={plugin}" in "".join(capfd.readouterr())
    assert host.call_tool("count_words", {"text": "one"}) == {"words": 2}
