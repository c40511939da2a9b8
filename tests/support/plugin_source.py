"""Building blocks of test plugins: their source, and the expected report to the operator."""

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
    """The expected record of a plugin. `error` and `hint` are parts of its texts."""

    id: str
    status: Status
    phase: Phase
    error: tuple[str, ...]
    hint: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution installed into `folder`, which must be on the path.

    `plugins` are the matching `[plugins.…]` tables, `packages` the names of its import packages.
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
"""The source of a complete, working plugin; its generator's slug is `slug_of(id)`."""

REPORT: Final = ("report it to the authors of acme-", "enabled = false in [plugins.")
"""The hint for a plugin that is broken on its own, without a conflict."""


def slug_of(id_: str) -> str:
    """Return the slug of the generator in a plugin made from `SOUND`."""
    return id_.replace("_", "-")


def filled(module: str, id_: str) -> str:
    """Return the source of a module, with $id and $slug replaced."""
    return Template(module).safe_substitute(id=id_, slug=slug_of(id_))


def install_plugin(
    folder: Path, id_: str, module: str | bytes = SOUND, *, name: str = "", requires: tuple[str, ...] = ()
) -> Distribution:
    """Install a plugin with one module. `name` is the distribution's, and determines the package's name."""
    name = name or f"acme-{slug_of(id_)}"
    package = name.replace("-", "_")
    content = filled(module, id_) if isinstance(module, str) else module
    files = {f"{package}/__init__.py": "", f"{package}/helper.py": "", f"{package}/plugin.py": content}
    install(folder, name, files, {id_: f"{package}.plugin"}, requires=requires)
    return Distribution(folder, {id_: {}}, (package,))


def needing(folder: Path, id_: str, *needed: str, more: str = "") -> Distribution:
    """Install a working plugin that requires the plugins with the ids `needed`. `more` is appended to its source."""
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
    """Return a fault: its name, which is the plugin's id, and a function that installs the faulty plugin.

    `config` is the plugin's configuration, `requires` are the distribution's requirements.
    """
    expected = Expected(id_, status, phase, words(error), words(hint))

    def factory(folder: Path) -> Distribution:
        installed = install_plugin(folder, id_, module, requires=requires)
        return Distribution(folder, {id_: {"config": config} if config else {}}, installed.packages, (expected,))

    return id_, factory


def words(given: Words) -> tuple[str, ...]:
    """Return a single text as a tuple, and a tuple unchanged."""
    return (given,) if isinstance(given, str) else given
