"""Deprecations: use of a deprecated name warns the plugin that uses it, once, and nobody else."""

from __future__ import annotations

import importlib
import itertools
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from pressroom.sdk import Deprecation, deprecated_names
from pressroom.sdk.deprecation import uses_of, watch

_NUMBERS = itertools.count()

CONTRACT = """
from dataclasses import dataclass

from pressroom.sdk import Deprecation, deprecated_names


@Deprecation("acme.old()", "acme.new()", "3")
def old(text: str) -> str:
    return text.upper()


@Deprecation("acme.OldRecord", "acme.Record", "3")
@dataclass(frozen=True)
class OldRecord:
    name: str


_COLOUR = Deprecation("paint(colour=…)", "paint(color=…)", "2")


def paint(color: str = "", colour: str = "") -> str:
    if colour:
        _COLOUR.note()
    return color or colour


_SIZE = Deprecation("Record.size", "Record.length", "2")


@dataclass(frozen=True)
class Record:
    length: int

    @property
    def size(self) -> int:
        _SIZE.note()
        return self.length


__getattr__ = deprecated_names(__name__, {"LIMIT": (7, Deprecation("acme.LIMIT", "acme.MAXIMUM", "2"))})
"""

USES = {
    "CONTRACT.old('a') == 'A'": "acme.old()",
    "CONTRACT.OldRecord('a').name == 'a'": "acme.OldRecord",
    "CONTRACT.paint(colour='red') == 'red'": "paint(colour=…)",
    "CONTRACT.Record(3).size == 3": "Record.size",
    "CONTRACT.LIMIT == 7": "acme.LIMIT",
}


class World:
    """A contract with deprecated names, and plugins that use it. `warnings` collects the log's warnings."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.contract = f"deprecating_contract_{next(_NUMBERS)}"
        (folder / f"{self.contract}.py").write_text(CONTRACT)
        self.warnings: list[tuple[str, str]] = []

    def plugin(self, use: str) -> tuple[str, ModuleType]:
        id_ = f"user_{next(_NUMBERS)}"
        source = f"import {self.contract} as CONTRACT\n\n\ndef run():\n    assert {use}\n"
        (self._folder / f"{id_}_module.py").write_text(source)
        importlib.invalidate_caches()
        watch(f"{id_}_module", id_, lambda plugin, deprecation: self.warnings.append((plugin, deprecation.what)))
        return id_, importlib.import_module(f"{id_}_module")


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield World(tmp_path)
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.mark.parametrize(("use", "what"), USES.items(), ids=USES.values())
def test_each_use_warns_its_plugin_once(world: World, use: str, what: str) -> None:
    first, module = world.plugin(use)
    second, other = world.plugin(use)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for plugin_module in (module, module, other, module, other):
            plugin_module.run()

    assert world.warnings == [(first, what), (second, what)]
    assert [deprecated.what for deprecated in uses_of(first)] == [what]
    assert [Path(warning.filename).stem for warning in caught] == [f"{first}_module", f"{second}_module"]
    assert {warning.category for warning in caught} == {DeprecationWarning}
    assert f"{what} is deprecated and ends with plugin API" in str(caught[0].message)


def test_a_plugin_that_uses_nothing_deprecated_gets_no_warnings(world: World) -> None:
    id_, module = world.plugin("CONTRACT.paint(color='red') == 'red' and CONTRACT.Record(3).length == 3")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        module.run()
    assert (world.warnings, uses_of(id_)) == ([], ())


def test_deprecated_names_used_by_a_contract_itself_do_not_warn_its_users(world: World) -> None:
    contract = importlib.import_module(world.contract)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec("inner = old('a')", vars(contract))
    assert vars(contract)["inner"] == "A"
    assert [warning for warning in caught if Path(warning.filename).stem == world.contract] == []


def test_a_missing_name_raises_the_usual_error() -> None:
    get = deprecated_names("acme", {})
    with pytest.raises(AttributeError, match="module 'acme' has no attribute 'nothing'"):
        get("nothing")


def test_the_message_names_the_replacement_and_the_end() -> None:
    message = Deprecation("acme.old()", "acme.new()", "3").message
    assert message == "acme.old() is deprecated and ends with plugin API 3: use acme.new()"
