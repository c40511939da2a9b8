"""What plugins for tests are made from: their source, and what an operator must be told of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any, Final

from pressroom.plugins.discovery import Phase, Status

from support.installing import install

Words = str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Expected:
    """What the record of a plugin must say. `error` and `hint` are words that must be in it."""

    id: str
    status: Status
    phase: Phase
    error: tuple[str, ...]
    hint: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Distribution:
    """What was installed into `folder`, which has to stand on the path.

    `plugins` are the `[plugins.…]` tables that go with it, `packages` the names of its import packages.
    """

    folder: Path
    plugins: Mapping[str, Any]
    packages: tuple[str, ...] = ()
    expected: tuple[Expected, ...] = ()


Factory = Callable[[Path], Distribution]
Fault = tuple[str, Factory]

HEAD: Final = """\
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field
from pressroom.sdk import *

PLUGIN = Plugin(id="$id", title="The plugin $id", summary="For tests.")
"""

SHOUT: Final = """
class TextParams(Params):
    text: str = Field(min_length=1, max_length=200, description="The text.")


@generator(
    slug="$slug", name="Shout", summary="Text in capitals.", rate_limit=per_hour(60), produces=("text/plain",),
    executor="async", examples=(Example("Hello", {"text": "hello"}),),
)
async def shout(params: TextParams, call: Call) -> Artifact:
    \"\"\"Writes a text in capitals.\"\"\"
    return Artifact(params.text.upper().encode(), "text/plain")


@hookimpl
def pressroom_generators():
    return [shout]
"""

SOUND: Final = HEAD + SHOUT
"""A whole plugin that works; its generator's slug is `slug_of(id)`."""

REPORT: Final = ("report it to the authors of acme-", "enabled = false in [plugins.")
"""What an operator can do about a plugin that is broken by itself."""


def slug_of(id_: str) -> str:
    """Return the slug of the generator that a plugin made from `SOUND` offers."""
    return id_.replace("_", "-")


def filled(module: str, id_: str) -> str:
    """Return the source of a module, with $id and $slug replaced."""
    return Template(module).safe_substitute(id=id_, slug=slug_of(id_))


def install_plugin(
    folder: Path, id_: str, module: str | bytes = SOUND, *, name: str = "", requires: tuple[str, ...] = ()
) -> Distribution:
    """Install a plugin of one module. `name` is the distribution's; the package is called after it."""
    name = name or f"acme-{slug_of(id_)}"
    package = name.replace("-", "_")
    content = filled(module, id_) if isinstance(module, str) else module
    files = {f"{package}/__init__.py": "", f"{package}/helper.py": "", f"{package}/plugin.py": content}
    install(folder, name, files, {id_: f"{package}.plugin"}, requires=requires)
    return Distribution(folder, {id_: {}}, (package,))


def needing(folder: Path, id_: str, *needed: str, more: str = "") -> Distribution:
    """Install a plugin that works, and requires the plugins with the ids `needed`. `more` is more of its source."""
    return install_plugin(folder, id_, SOUND.replace('For tests."', f'For tests.", requires={needed!r}') + more)


def fault(
    id_: str,
    phase: Phase,
    error: Words,
    hint: Words,
    module: str | bytes,
    *,
    status: Status = "broken",
    config: Mapping[str, Any] | None = None,
    requires: tuple[str, ...] = (),
) -> Fault:
    """Return a fault: its name, which is the plugin's id, and what installs the plugin that has it.

    `config` is the plugin's configuration, `requires` what the distribution requires.
    """
    expected = Expected(id_, status, phase, words(error), words(hint))

    def factory(folder: Path) -> Distribution:
        installed = install_plugin(folder, id_, module, requires=requires)
        return Distribution(folder, {id_: {"config": config} if config else {}}, installed.packages, (expected,))

    return id_, factory


def words(given: Words) -> tuple[str, ...]:
    """Return one text or several as several."""
    return (given,) if isinstance(given, str) else given
