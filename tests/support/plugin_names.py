"""Generate the names of the built-in plugins in build files from the folders of `plugins/`.

Run `python tests/support/plugin_names.py` after adding or removing a plugin.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
_DISCOVERY: Final = ROOT / "core/src/pressroom/plugins/discovery.py"

_PACKAGE: Final = re.compile(r'^  "pressroom_\w+",\n', re.MULTILINE)
_ALL_BUT_CONTENT: Final = re.compile(
    r'((?<=source_modules = \[\n  "pressroom",\n)|(?<=type = "independence"\nmodules = \[\n))(?:  "pressroom_\w+",\n)+'
)
_DISTRIBUTION: Final = re.compile(r'^        "pressroom-[\w-]+",\n', re.MULTILINE)
_DEPENDENCY: Final = re.compile(r'^  "(pressroom-[\w-]+)(\[[\w,]+\])? @ \{root:uri\}/plugins/\w+",\n', re.MULTILINE)
_SOURCE: Final = re.compile(r"^pressroom-[\w-]+ = \{ workspace = true \}\n", re.MULTILINE)
_MYPY_PATH: Final = re.compile(r'^mypy_path = ".*"\n', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PluginNames:
    """The names of one plugin: its folder, which is its id, its distribution and its package."""

    folder: str
    distribution: str
    package: str


def plugins() -> list[PluginNames]:
    """Return the plugins, ordered by id."""
    plugin_names = []
    for path in sorted(ROOT.glob("plugins/*/pyproject.toml")):
        project = tomllib.loads(path.read_text("utf-8"))["project"]
        package = next(path.parent.glob("src/*/__init__.py")).parent.name
        plugin_names.append(PluginNames(path.parent.name, project["name"], package))
    return plugin_names


def _with_block(text: str, line: re.Pattern[str], new: str) -> str:
    """Replace each run of matching lines by `new`."""
    return re.sub(f"(?:{line.pattern})+", lambda _: new, text, flags=re.MULTILINE)


def _project_file(text: str, names: list[PluginNames]) -> str:
    extras = {match[1]: match[2] or "" for match in _DEPENDENCY.finditer(text)}
    text = _with_block(
        text,
        _DEPENDENCY,
        "".join(
            f'  "{plugin.distribution}{extras.get(plugin.distribution, "")} @ {{root:uri}}/plugins/{plugin.folder}",\n'
            for plugin in names
        ),
    )
    text = _with_block(text, _SOURCE, "".join(f"{plugin.distribution} = {{ workspace = true }}\n" for plugin in names))
    text = _with_block(text, _PACKAGE, "".join(f'  "{plugin.package}",\n' for plugin in names))
    other_packages = "".join(f'  "{plugin.package}",\n' for plugin in names if plugin.folder != "content")
    text = _ALL_BUT_CONTENT.sub(other_packages, text)
    folders = ":".join(["core/src", *(f"plugins/{plugin.folder}/src" for plugin in names), "tests"])
    return _MYPY_PATH.sub(f'mypy_path = "{folders}"\n', text)


def _selection(text: str, names: list[PluginNames]) -> str:
    return _with_block(text, _DISTRIBUTION, "".join(f'        "{plugin.distribution}",\n' for plugin in names))


def build_files() -> Iterator[tuple[Path, str, str]]:
    """Yield each file with its current text and its expected text."""
    names = plugins()
    for path, write in ((ROOT / "pyproject.toml", _project_file), (_DISCOVERY, _selection)):
        text = path.read_text("utf-8")
        yield path, text, write(text, names)


if __name__ == "__main__":
    for path, _, wanted in build_files():
        path.write_text(wanted, "utf-8")
