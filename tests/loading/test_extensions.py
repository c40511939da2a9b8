"""Extension points: hooks that a plugin offers to other plugins, and how it reads their contributions."""

from pathlib import Path

import pytest
from support.compiling import Compile, record_of, statuses
from support.plugin_source import SOUND, install_plugin

OFFERING = (
    SOUND
    + """
from collections.abc import Iterable
import pluggy
from pressroom.sdk import IndexEntry

class Specs:
    @pluggy.HookspecMarker("pressroom")
    def pressroom_weather_stations(self, plugin) -> Iterable[IndexEntry]: ...

PLUGIN = Plugin(id="$id", title="Weather", summary="Collects stations.", hookspecs=Specs)
"""
)


def implementing(body: str) -> str:
    hook = f"@hookimpl\ndef pressroom_weather_stations(plugin):\n    {body}\n"
    return f"{SOUND}\nfrom pressroom.sdk import IndexEntry\n{hook}"


def test_contributions_are_read_in_order_of_plugin_id(tmp_path: Path, compile_with: Compile) -> None:
    compiled = compile_with(
        install_plugin(tmp_path, "weather", OFFERING),
        install_plugin(tmp_path, "zurich", implementing("return [IndexEntry(plugin.id, '/z')]")),
        install_plugin(
            tmp_path, "athens", implementing("yield IndexEntry('one', '/a'); yield IndexEntry('two', '/b')")
        ),
    )

    stations = compiled.plugins.contexts["weather"].extensions.of("pressroom_weather_stations")

    assert [(plugin, station.title) for plugin, station in stations] == [
        ("athens", "one"),
        ("athens", "two"),
        ("zurich", "zurich"),
    ]
    assert "pressroom_weather_stations" in record_of(compiled, "athens").contributes
    assert "weather stations" in record_of(compiled, "athens").brief
    with pytest.raises(KeyError):
        compiled.plugins.contexts["weather"].extensions.of("no_such_hook")


def test_a_record_of_the_wrong_type_breaks_the_plugin_that_yields_it(tmp_path: Path, compile_with: Compile) -> None:
    compiled = compile_with(
        install_plugin(tmp_path, "weather", OFFERING),
        install_plugin(tmp_path, "rainy", implementing("return ['not a record']")),
    )

    record = record_of(compiled, "rainy")
    assert (record.status, record.phase) == ("broken", "collect")
    assert "an iterable of IndexEntry" in record.error
    assert compiled.plugins.contexts["weather"].extensions.of("pressroom_weather_stations") == ()


def test_record_types_are_resolved_despite_type_checking_imports(tmp_path: Path, compile_with: Compile) -> None:
    imports = "from collections.abc import Iterable\n"
    for_checkers = (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pressroom.sdk import PluginContext\n    "
    )
    offering = OFFERING.replace(imports, for_checkers + imports).replace("plugin)", "plugin: PluginContext)")
    compiled = compile_with(
        install_plugin(tmp_path, "weather", f"from __future__ import annotations\n{offering}"),
        install_plugin(tmp_path, "rainy", implementing("return ['not a record']")),
    )
    assert statuses(compiled)["weather"] == "active"
    assert "an iterable of IndexEntry" in record_of(compiled, "rainy").error


def test_a_record_without_its_unique_field_is_reported(tmp_path: Path, compile_with: Compile) -> None:
    offering = OFFERING.replace("Iterable[IndexEntry]", "Iterable").replace(
        "hookspecs=Specs", "hookspecs=Specs, unique={'pressroom_weather_stations': 'path'}"
    )
    compiled = compile_with(
        install_plugin(tmp_path, "weather", offering),
        install_plugin(tmp_path, "rainy", implementing("return ['not a record']")),
    )
    assert "pressroom_weather_stations: path must be a text that is not empty" in record_of(compiled, "rainy").error


def test_a_plugin_can_reach_those_it_requires(tmp_path: Path, compile_with: Compile) -> None:
    needing = SOUND + '\nPLUGIN = Plugin(id="$id", title="T", summary="S", requires=("weather",))\n'
    compiled = compile_with(
        install_plugin(tmp_path, "weather", OFFERING),
        install_plugin(tmp_path, "zurich", implementing("return [IndexEntry(plugin.id, '/z')]")),
        install_plugin(tmp_path, "map", needing),
    )
    contexts = compiled.plugins.contexts

    assert contexts["map"].required == {"weather": contexts["weather"]}
    assert len(contexts["map"].extensions.of("pressroom_weather_stations")) == 1
    assert contexts["zurich"].required == {}
    with pytest.raises(KeyError):
        contexts["zurich"].extensions.of("pressroom_weather_stations")


def test_contributions_of_a_plugin_dropped_later_are_removed(tmp_path: Path, compile_with: Compile) -> None:
    compiled = compile_with(
        install_plugin(tmp_path, "weather", OFFERING),
        install_plugin(tmp_path, "stormy", implementing("return [IndexEntry('storm', '/s')]")),
    )
    extensions = compiled.plugins.contexts["weather"].extensions
    assert len(extensions.of("pressroom_weather_stations")) == 1

    compiled.drop("stormy", RuntimeError("struck by lightning"))

    assert statuses(compiled)["stormy"] == "broken"
    assert extensions.of("pressroom_weather_stations") == ()


def test_extensions_cannot_be_read_while_plugins_are_still_loading(tmp_path: Path, compile_with: Compile) -> None:
    hasty = (
        "\n@hookimpl\ndef pressroom_checks(plugin):\n    return plugin.extensions.of('pressroom_weather_stations')\n"
    )
    compiled = compile_with(install_plugin(tmp_path, "weather", OFFERING + hasty))

    assert "once all plugins are loaded" in record_of(compiled, "weather").error
