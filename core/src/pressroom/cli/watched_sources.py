"""The files that `pressroom serve --reload` watches, and which of them have changed.

Polling needs no dependency, and it works in containers and on network drives, where events of the file system get lost.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import site
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TypeAlias

State: TypeAlias = Mapping[str, tuple[int, int, int]]
"""Each file with what changes when it is written: the time, the size and the inode."""


@dataclass(frozen=True, slots=True)
class SourcePaths:
    """Where the sources of a server are.

    `watched` are files and folders. `shared` are those of them that hold Pressroom and its built-in plugins, which an
    author of other plugins does not edit. `foreign` are the installed packages of other plugins: not watched.
    """

    watched: tuple[Path, ...]
    shared: tuple[Path, ...] = field(default=())
    foreign: tuple[Path, ...] = field(default=())


def source_paths(config_file: Path | None, *further: Path | None) -> SourcePaths:
    """Return the sources of a server: its configuration, further files and folders, its plugins, and Pressroom itself.

    Packages in `site-packages` are not watched: an installer puts them there as a whole. What remains are clones,
    packages that are installed as editable, and folders of `PYTHONPATH`.
    """
    from pressroom.plugins.discovery import discover  # noqa: PLC0415 - reads the metadata of all packages
    from pressroom.plugins.select import BUILTIN_DISTRIBUTIONS  # noqa: PLC0415 - pydantic

    importlib.invalidate_caches()
    own = {"pressroom"}
    packages = {"pressroom"}
    for candidate in discover():
        package = candidate.module.partition(":")[0].partition(".")[0]
        packages.add(package)
        if candidate.distribution in BUILTIN_DISTRIBUTIONS:
            own.add(package)
    watched = [path.absolute() for path in (config_file, *further) if path is not None]
    shared: list[Path] = []
    foreign: list[Path] = []
    for package in sorted(packages):
        for path in _package_paths(package):
            installed = any(path.is_relative_to(folder) for folder in installed_folders())
            if not installed:
                watched.append(path)
            if package not in own:
                foreign.append(path)
            elif not installed:
                shared.append(path)
    return SourcePaths(tuple(watched), tuple(shared), tuple(foreign))


def state_of(paths: Iterable[Path]) -> State:
    """Return the state of these files, and of all files in these folders but caches and hidden ones."""
    found: dict[str, tuple[int, int, int]] = {}
    for path in paths:
        if path.is_dir():
            _look_into(str(path), found, set())
            continue
        with suppress(OSError):  # it was removed, or is not there yet
            _note(str(path), path.stat(), found)
    return found


def changed(before: State, after: State) -> list[Path]:
    """Return the files that were made, written or removed."""
    return sorted(Path(path) for path in before.keys() | after.keys() if before.get(path) != after.get(path))


def syntax_errors(files: Iterable[Path]) -> Iterator[str]:
    """Yield a sentence for each of these Python files that cannot be parsed, with the file and the line."""
    for file in files:
        if file.suffix != ".py":
            continue
        try:
            ast.parse(file.read_bytes(), filename=str(file))
        except OSError:
            continue
        except SyntaxError as error:
            yield f"{file}, line {error.lineno or 1}: {error.msg}"
        except (ValueError, RecursionError, MemoryError) as error:
            yield f"{file}: {str(error) or type(error).__name__}"


def drop_bytecode(files: Iterable[Path]) -> None:
    """Remove what Python has cached of these files.

    It tells sources apart by their size and the second in which they were written, which two quick changes may share.
    """
    for file in files:
        if file.suffix == ".py":
            for level in ("", 1, 2):
                with suppress(OSError):
                    Path(importlib.util.cache_from_source(file, optimization=level)).unlink()


@cache
def installed_folders() -> tuple[Path, ...]:
    """Return the folders in which installers put packages, and that of the standard library."""
    names = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), sysconfig.get_path("stdlib")]
    return tuple(Path(name).resolve() for name in {*names, *site.getsitepackages(), site.getusersitepackages()})


def installed_state() -> State:
    """Return what changes when a package is installed or removed."""
    found: dict[str, tuple[int, int, int]] = {}
    for folder in installed_folders():
        with suppress(OSError):
            _note(str(folder), folder.stat(), found)
    return found


def _note(path: str, status: os.stat_result, found: dict[str, tuple[int, int, int]]) -> None:
    found[path] = (status.st_mtime_ns, status.st_size, status.st_ino)


def _look_into(folder: str, found: dict[str, tuple[int, int, int]], above: set[tuple[int, int]]) -> None:
    """Note the files of a folder, in texts rather than paths: this runs several times in a second."""
    try:
        with os.scandir(folder) as entries:
            inside = [entry for entry in entries if not entry.name.startswith(".")]
    except OSError:
        return
    for entry in inside:
        name = entry.name
        with suppress(OSError):
            if entry.is_dir():
                identity = (entry.stat().st_dev, entry.stat().st_ino)
                if name != "__pycache__" and identity not in above:  # a link may lead to a folder above
                    _look_into(entry.path, found, {*above, identity})
            elif not name.endswith(("~", ".pyc")):
                _note(entry.path, entry.stat(), found)


def _package_paths(package: str) -> list[Path]:
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return []
    if spec is None:
        return []
    if spec.submodule_search_locations is not None:
        return [Path(folder).resolve() for folder in spec.submodule_search_locations]
    return [Path(spec.origin).resolve()] if spec.has_location and spec.origin else []
