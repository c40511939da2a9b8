"""Track the files that `pressroom serve --reload` watches.

Polling needs no dependency, and works in containers and on network drives, where file system events get lost.
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

from pressroom.plugins.discovery import BUILTIN_DISTRIBUTIONS, discover

State: TypeAlias = Mapping[str, tuple[int, int, int]]
"""Modification time in nanoseconds, size and inode of each file."""


@dataclass(frozen=True, slots=True)
class SourcePaths:
    """Paths of a server's sources.

    `watched` are the files and folders to watch. `shared` are those with Pressroom and its built-in plugins, which
    authors of other plugins do not edit. `foreign` are the packages of other plugins.
    """

    watched: tuple[Path, ...]
    shared: tuple[Path, ...] = field(default=())
    foreign: tuple[Path, ...] = field(default=())


def source_paths(config_file: Path | None, *further: Path | None) -> SourcePaths:
    """Return the sources of a server: its configuration, further files and folders, its plugins, and Pressroom itself.

    Packages in `site-packages` are not watched, since installers write them as a whole. That leaves clones, editable
    installations, and folders of `PYTHONPATH`.
    """
    importlib.invalidate_caches()
    builtin_packages = {"pressroom"}
    packages = {"pressroom"}
    for candidate in discover():
        package = candidate.module.partition(":")[0].partition(".")[0]
        packages.add(package)
        if candidate.distribution in BUILTIN_DISTRIBUTIONS:
            builtin_packages.add(package)
    watched = [path.absolute() for path in (config_file, *further) if path is not None]
    shared: list[Path] = []
    foreign: list[Path] = []
    for package in sorted(packages):
        for path in _package_paths(package):
            installed = any(path.is_relative_to(folder) for folder in installed_folders())
            if not installed:
                watched.append(path)
            if package not in builtin_packages:
                foreign.append(path)
            elif not installed:
                shared.append(path)
    return SourcePaths(tuple(watched), tuple(shared), tuple(foreign))


def state_of(paths: Iterable[Path]) -> State:
    """Return the state of these files, and of all files in these folders except caches and hidden files."""
    state: dict[str, tuple[int, int, int]] = {}
    for path in paths:
        if path.is_dir():
            _scan_folder(str(path), state, set())
            continue
        with suppress(OSError):  # removed, or not created yet
            _note(str(path), path.stat(), state)
    return state


def changed(before: State, after: State) -> list[Path]:
    """Return the files that were created, modified or removed."""
    return sorted(Path(path) for path in before.keys() | after.keys() if before.get(path) != after.get(path))


def syntax_errors(files: Iterable[Path]) -> Iterator[str]:
    """Yield a message with file and line for each of these Python files that cannot be parsed."""
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
    """Remove the cached bytecode of these files.

    Python validates bytecode by the source's size and modification time in seconds, which two quick edits can share.
    """
    for file in files:
        if file.suffix == ".py":
            for level in ("", 1, 2):
                with suppress(OSError):
                    Path(importlib.util.cache_from_source(file, optimization=level)).unlink()


@cache
def installed_folders() -> tuple[Path, ...]:
    """Return the folders of installed packages and of the standard library."""
    names = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), sysconfig.get_path("stdlib")]
    return tuple(Path(name).resolve() for name in {*names, *site.getsitepackages(), site.getusersitepackages()})


def installed_state() -> State:
    """Return the state of the installation folders, which changes when a package is installed or removed."""
    state: dict[str, tuple[int, int, int]] = {}
    for folder in installed_folders():
        with suppress(OSError):
            _note(str(folder), folder.stat(), state)
    return state


def _note(path: str, status: os.stat_result, state: dict[str, tuple[int, int, int]]) -> None:
    state[path] = (status.st_mtime_ns, status.st_size, status.st_ino)


def _scan_folder(folder: str, state: dict[str, tuple[int, int, int]], ancestors: set[tuple[int, int]]) -> None:
    """Note the files of a folder. Uses strings instead of `Path` for speed: this runs several times a second."""
    try:
        with os.scandir(folder) as entries:
            children = [entry for entry in entries if not entry.name.startswith(".")]
    except OSError:
        return
    for entry in children:
        name = entry.name
        with suppress(OSError):
            if entry.is_dir():
                identity = (entry.stat().st_dev, entry.stat().st_ino)
                if name != "__pycache__" and identity not in ancestors:  # a symbolic link can point to a parent folder
                    _scan_folder(entry.path, state, {*ancestors, identity})
            elif not name.endswith(("~", ".pyc")):
                _note(entry.path, entry.stat(), state)


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
