"""A clean environment for checking plugins: only their packages and the server are installed."""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import os
import shlex
import shutil
import site
import subprocess
import sys
import sysconfig
import time
import venv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from configparser import ConfigParser
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path
from typing import Final
from zipfile import BadZipFile, ZipFile

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import NormalizedName, canonicalize_name

from pressroom.cli.installing import SAFE_PATH, SHOWN_LINES, InstallFailed

ENTRY_POINTS: Final = "pressroom.plugins"


@dataclass(frozen=True, slots=True)
class BuiltPackage:
    """A wheel with its metadata, plugins, import packages and files."""

    wheel: Path
    name: str
    version: str
    metadata: Mapping[str, tuple[str, ...]]
    plugins: Mapping[str, str]
    packages: tuple[str, ...]
    files: tuple[str, ...]

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """Requirements without extras. Invalid ones are left out."""
        return tuple(_applying(self.metadata.get("Requires-Dist", ())))


def build(project: Path, folder: Path, deadline: float) -> BuiltPackage:
    """Build the wheel of a project into a folder. If `project` is already a wheel, read that.

    Raises:
        InstallFailed: the build failed, or did not end before `deadline`, a time of `time.monotonic`.
    """
    if project.suffix == ".whl":
        return read_wheel(project)
    command = _build_command(project, folder)
    completed = _run(command, deadline)
    wheels = sorted(folder.glob("*.whl"))
    if completed.returncode != 0 or not wheels:
        raise InstallFailed(f"{project} cannot be built", "correct what the lines above say", _last_lines(completed))
    return read_wheel(wheels[0])


def read_wheel(wheel: Path) -> BuiltPackage:
    """Read the metadata and file names of a wheel.

    Raises:
        InstallFailed: the file is not a wheel.
    """
    try:
        with ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/")]
            folder = next((name.partition("/")[0] for name in names if ".dist-info/" in name), "")
            if f"{folder}/METADATA" not in names:
                raise _not_a_wheel(wheel)
            headers = HeaderParser().parsestr(archive.read(f"{folder}/METADATA").decode())
            declares = f"{folder}/entry_points.txt" in names
            declared = archive.read(f"{folder}/entry_points.txt").decode() if declares else ""
    except BadZipFile as error:
        raise _not_a_wheel(wheel) from error
    metadata = {key: tuple(str(value) for value in headers.get_all(key) or ()) for key in set(headers.keys())}
    files = [name for name in names if not name.startswith(folder)]
    packages = {name.partition("/")[0].removesuffix(".py") for name in files if name.endswith(".py")}
    return BuiltPackage(
        wheel,
        headers["Name"] or wheel.stem,
        headers["Version"] or "",
        metadata,
        _entry_points(declared),
        tuple(sorted(packages)),
        tuple(files),
    )


def _not_a_wheel(file: Path) -> InstallFailed:
    return InstallFailed(f"{file} is not a wheel", "name a project's folder, or a wheel that was built from one")


def _entry_points(text: str) -> dict[str, str]:
    parser = ConfigParser(delimiters=("=",), interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign] # names keep their case
    parser.read_string(text)
    return dict(parser[ENTRY_POINTS]) if parser.has_section(ENTRY_POINTS) else {}


class PluginEnvironment:
    """A virtual environment that shares this process's server and installs the built plugins."""

    def __init__(self, folder: Path, deadline: float) -> None:
        self._folder = folder
        self._deadline = deadline
        venv.create(folder, with_pip=False, symlinks=os.name != "nt")
        scripts = sysconfig.get_path("scripts", "venv", vars={"base": str(folder)})
        self.python = Path(scripts, "python")
        packages = Path(sysconfig.get_path("purelib", "venv", vars={"base": str(folder)}))
        # `addsitedir` also processes the .pth files there, such as those of editable installations.
        lines = [f"import site; site.addsitedir({path!r})" for path in _own_packages()]
        (packages / "server_of_this_process.pth").write_text("\n".join(lines) + "\n")

    def install(self, packages: Sequence[BuiltPackage]) -> list[str]:
        """Install plugins and those of their dependencies that this server lacks. Return these dependencies.

        Raises:
            InstallFailed: a package cannot be installed, or not before the deadline.
        """
        plugin_names = {canonicalize_name(package.name) for package in packages}
        needed = [requirement for package in packages for requirement in package.requirements]
        missing = [
            str(requirement)
            for requirement in needed
            if canonicalize_name(requirement.name) not in plugin_names and not _is_here(requirement)
        ]
        self._install([str(package.wheel) for package in packages], "--no-deps")
        if missing:
            self._install(missing)
        return missing

    def _install(self, requirements: Sequence[str], *options: str) -> None:
        completed = _run([*_installer(self.python), *options, *requirements], self._deadline)
        if completed.returncode != 0:
            names = ", ".join(Path(requirement).name for requirement in requirements)
            raise InstallFailed(
                f"{names} cannot be installed", "correct what the lines above say", _last_lines(completed)
            )


def undeclared_imports(package: BuiltPackage, providers: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return distributions that a package imports but does not depend on, each with the first importing module.

    `providers` maps the import packages installed here to the distributions that provide them.
    """
    first = {name: file for name, file in _first_imports(package).items() if name not in package.packages}
    candidates = {
        name: {canonicalize_name(distribution) for distribution in providers.get(name, ())}
        for name in first
        if name not in sys.stdlib_module_names
    }
    allowed = {canonicalize_name(requirement.name) for requirement in package.requirements}
    if any(distributions and not distributions & allowed for distributions in candidates.values()):
        allowed = _closure(package)  # takes longer than everything else
    undeclared: dict[str, str] = {}
    for name, distributions in candidates.items():
        if distributions and not distributions & allowed:
            undeclared.setdefault(min(distributions), first[name])
    return undeclared


def _first_imports(package: BuiltPackage) -> dict[str, str]:
    """Return the top-level packages that a package imports, each with the first file that does."""
    first_files: dict[str, str] = {}
    with ZipFile(package.wheel) as archive:
        for file in package.files:
            if file.endswith(".py"):
                for name in _imports(archive.read(file)):
                    first_files.setdefault(name, file)
    return first_files


def _closure(package: BuiltPackage) -> set[NormalizedName]:
    """Return the transitive dependencies of a package, as far as they are installed here."""
    pending = list(package.requirements)
    visited: set[tuple[NormalizedName, frozenset[str]]] = set()
    while pending:
        requirement = pending.pop()
        key = (canonicalize_name(requirement.name), frozenset(requirement.extras))
        if key in visited:
            continue
        visited.add(key)
        try:
            pending += _applying(importlib.metadata.requires(requirement.name) or (), requirement.extras)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {name for name, _ in visited}


def _imports(source: bytes) -> Iterator[str]:
    """Yield the top-level packages of all absolute imports in a module, including those inside functions."""
    try:
        pending: list[ast.AST] = [ast.parse(source)]
    except SyntaxError:
        return  # the contract checks report it
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.module and not node.level:
                yield node.module.partition(".")[0]
        else:  # an expression holds no import, and most nodes are in one
            pending += (child for field in _STATEMENTS for child in getattr(node, field, ()))


_STATEMENTS: Final = ("body", "orelse", "finalbody", "handlers", "cases")
"""The fields of syntax nodes that hold statements, or handlers and cases with statements."""


def _applying(requirements: Iterable[str], extras: Iterable[str] = ()) -> Iterator[Requirement]:
    for text in requirements:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield requirement


def _is_here(requirement: Requirement) -> bool:
    try:
        return requirement.specifier.contains(importlib.metadata.version(requirement.name), prereleases=True)
    except importlib.metadata.PackageNotFoundError:
        return False


def source_paths(packages: Mapping[Path, BuiltPackage], environment: Path) -> dict[str, str]:
    """Map path prefixes of packages in an environment to their paths in the source projects.

    Files of packages without a source folder map to their paths in the wheel.
    """
    paths: dict[str, str] = {}
    for installed in environment.glob("lib*/python*/site-packages"):
        for path, package in packages.items():
            for name in package.packages:
                source = next(
                    (candidate for candidate in (path / "src" / name, path / name) if candidate.is_dir()), None
                )
                paths[f"{installed}/{name}/"] = f"{source or name}/"
        paths[f"{installed}/"] = ""
    return paths


def _own_packages() -> list[str]:
    paths = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()]
    return list(dict.fromkeys(path for path in paths if path and os.path.isdir(path)))  # noqa: PTH112 - as site itself


def _build_command(project: Path, folder: Path) -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        pip = [sys.executable, SAFE_PATH, "-m", "pip", "wheel", "--disable-pip-version-check", "--no-input"]
        return [*pip, "--no-deps", "--wheel-dir", str(folder), str(project)]
    uv = _uv()
    if uv is not None:
        return [uv, "build", "--wheel", "--out-dir", str(folder), str(project)]
    raise _no_installer()


def _installer(python: Path) -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        pip = [sys.executable, SAFE_PATH, "-m", "pip", "--python", str(python)]
        return [*pip, "install", "--disable-pip-version-check", "--no-input"]
    uv = _uv()
    if uv is not None:
        return [uv, "pip", "install", "--python", str(python)]
    raise _no_installer()


def _uv() -> str | None:
    return shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))


def _no_installer() -> InstallFailed:
    return InstallFailed(
        f"the environment of {sys.executable} has no pip, and there is no uv on the PATH",
        f"run: {sys.executable} -m ensurepip; or install uv",
    )


def _last_lines(completed: subprocess.CompletedProcess[str]) -> tuple[str, ...]:
    """Return the last lines of an installer's output, without its remarks."""
    lines = [line.strip() for line in f"{completed.stdout}\n{completed.stderr}".splitlines()]
    return tuple(line for line in lines if line and not line.startswith(_REMARKS))[-SHOWN_LINES:]


_REMARKS: Final = ("note: ", "[end of output]", "╰─>", "\u00d7", "hint: See above")
"""Prefixes of lines in which pip and uv merely refer to an error above."""


def _run(command: Sequence[str], deadline: float) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(  # noqa: S603 - no shell; what people named is an argument of its own
            command,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            stdin=subprocess.DEVNULL,
            timeout=max(0.0, deadline - time.monotonic()),
        )
    except subprocess.TimeoutExpired as error:
        hint = "raise --timeout, or run the command by hand to see what it waits for"
        raise InstallFailed(f"{shlex.join(command)} did not finish within --timeout", hint, ()) from error
