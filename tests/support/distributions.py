"""Build the published distributions and install them into clean environments."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import struct
import subprocess
import sys
import sysconfig
import tarfile
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, Final

import pytest
from uv import find_uv_bin

from support.downloads import MYPY_CACHE
from support.needs import program
from support.server import announced

REPOSITORY = Path(__file__).parents[2]

_BUILD: Final = """
import json, os, sys
from hatchling import build
for project, (folder, *targets) in json.loads(sys.argv[1]).items():
    os.chdir(project)
    for target in targets:
        getattr(build, f"build_{target}")(folder)
"""
"""Build several projects through the PEP 517 hooks, as pip does, in one process."""

Done = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Built:
    """The wheel and source distribution of each project, keyed by project folder."""

    wheels: dict[str, Path]
    sdists: dict[str, Path]


def clean_environment(**variables: str) -> dict[str, str]:
    """Return the environment without variables that would let a process see beyond its own installation."""
    prefixes = ("PRESSROOM_", "PYTHON", "VIRTUAL_ENV", "PYTEST_", "COVERAGE_", "COV_", "MYPY", "UV_PROJECT", "CONDA")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}
    return {**inherited, "MYPY_CACHE_DIR": str(MYPY_CACHE), **variables}


def run(
    command: Sequence[str | Path], cwd: Path, *, check: bool = True, timeout: float = 240, **variables: str
) -> Done:
    """Run a command. Raises `AssertionError` with its output if it fails and `check` is set."""
    result = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=clean_environment(**variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )
    if check and result.returncode != 0:
        raise AssertionError(
            f"{' '.join(map(str, command))} ended with {result.returncode}:\n{result.stdout}{result.stderr}"
        )
    return result


def copy_repository(into: Path) -> Path:
    """Copy tracked and untracked files of the working tree, except for ignored ones."""
    git = program("git")
    listing = run([git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], REPOSITORY).stdout
    for name in filter(None, listing.split("\0")):
        source = REPOSITORY / name
        if source.is_file():
            target = into / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    return into


def projects(repository: Path) -> list[str]:
    """Return the project folders of the distributions, the meta-distribution first."""
    return [
        ".",
        "core",
        *(f"plugins/{path.parent.name}" for path in sorted(repository.glob("plugins/*/pyproject.toml"))),
    ]


def build(project: Path, into: Path, *targets: str) -> list[Path]:
    """Build a project's wheel, source distribution or both with the local tools. The wheel is returned first."""
    return build_many({project: into}, *targets)[project]


def build_many(folders: Mapping[Path, Path], *targets: str) -> dict[Path, list[Path]]:
    """Build several projects, each into its own folder. Return for each what `build` returns."""
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    orders = {str(project): [str(folder), *targets] for project, folder in folders.items()}
    before = {project: set(folder.iterdir()) for project, folder in folders.items()}
    run([sys.executable, "-c", _BUILD, json.dumps(orders)], REPOSITORY)
    return {
        project: sorted(set(folder.iterdir()) - before[project], key=lambda path: path.suffix != ".whl")
        for project, folder in folders.items()
    }


def build_all(repository: Path, into: Path) -> Built:
    """Build everything that a repository publishes."""
    folders = {project: into / Path(project).name for project in projects(repository)}
    built = build_many({repository / project: folder for project, folder in folders.items()}, "sdist", "wheel")
    wheels, sdists = {}, {}
    for project in folders:
        wheels[project], sdists[project] = built[repository / project]
    return Built(wheels, sdists)


def built_once(factory: pytest.TempPathFactory) -> tuple[Path, Built]:
    """Return a copy of the repository and its distributions, built once per test run by the first worker to ask.

    All workers share the copy: do not write to it.
    """
    base = factory.getbasetemp()
    # An xdist worker's folder is inside the run's folder.
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "built"
    folder.mkdir(exist_ok=True)
    repository, dist, marker = folder / "repository", folder / "dist", folder / "whole"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not marker.exists():
            for partial in (repository, dist):
                shutil.rmtree(partial, ignore_errors=True)
            build_all(copy_repository(repository), dist)
            marker.touch()
    folders = {project: dist / Path(project).name for project in projects(repository)}
    wheels = {project: next(path.glob("*.whl")) for project, path in folders.items()}
    return repository, Built(wheels, {project: next(path.glob("*.tar.gz")) for project, path in folders.items()})


def unpack(sdist: Path, into: Path) -> Path:
    """Unpack a source distribution and return its folder."""
    with tarfile.open(sdist) as archive:
        safely: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # Python 3.11.4
        archive.extractall(into, **safely)
    return into / sdist.name.removesuffix(".tar.gz")


def _copy_pip(environment: Path) -> None:
    """Copy the local pip into an environment; `ensurepip` would take four seconds."""
    pip = distribution("pip")
    purelib = Path(sysconfig.get_path("purelib", vars={"base": str(environment)}))
    for file in pip.files or ():
        if file.parts[0].startswith("pip") and file.suffix != ".pyc":
            target = purelib / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(str(file.locate()), target)


_compiled: list[Path] = [
    Path(sysconfig.get_path("purelib")),
    REPOSITORY / "core/src",
    *sorted(REPOSITORY.glob("plugins/*/src")),
]
"""Folders of packages with bytecode: those of this process, and of environments that were populated earlier."""


def _copy_bytecode(packages: Path) -> None:
    """Copy existing bytecode into packages with the same source files.

    Otherwise each environment would recompile everything that the server imports.
    """
    for compiled in reversed(_compiled):  # environments first: uv hard-links their files to its cache
        for bytecode in compiled.glob("**/__pycache__/*.pyc"):
            module = bytecode.relative_to(compiled).parents[1] / f"{bytecode.name.partition('.')[0]}.py"
            source, copy = compiled / module, packages / module
            target = copy.parent / "__pycache__" / bytecode.name
            with suppress(OSError):
                if target.exists():
                    continue
                if copy.samefile(source):
                    target.parent.mkdir(exist_ok=True)
                    target.hardlink_to(bytecode)
                elif content := _bytecode_of(source, bytecode, copy):
                    target.parent.mkdir(exist_ok=True)
                    target.write_bytes(content)


def _bytecode_of(source: Path, bytecode: Path, copy: Path) -> bytes:
    """Return the bytecode of a source file for a copy of it, or nothing if they differ or the bytecode is out of date.

    Bytecode begins with its version, flags, and the time and size of the file that it belongs to. Python corrects the
    path in it on import.
    """
    original, copied = source.stat(), copy.stat()
    same = original.st_size == copied.st_size and source.read_bytes() == copy.read_bytes()
    content = bytecode.read_bytes() if same else b""
    if content[4:16] != _state(original):
        return b""
    return content[:4] + _state(copied) + content[16:]


def _state(file: os.stat_result) -> bytes:
    return struct.pack("<3L", 0, int(file.st_mtime) & 0xFFFFFFFF, file.st_size)


class Environment:
    """A virtual environment that contains only what is installed into it."""

    def __init__(self, folder: Path, *, with_pip: bool = False) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.data = folder / "data"
        venv.create(folder, symlinks=True)
        if with_pip:
            _copy_pip(folder)

    def install(self, *packages: str | Path) -> None:
        """Install packages with uv, from its cache if possible."""
        self.run_tool(find_uv_bin(), "pip", "install", "--quiet", "--python", self.bin / "python", *packages)
        site_packages = Path(sysconfig.get_path("purelib", vars={"base": str(self.folder)}))
        _copy_bytecode(site_packages)
        if site_packages not in _compiled:
            _compiled.append(site_packages)

    def run_tool(
        self,
        *command: str | Path,
        cwd: Path | None = None,
        check: bool = True,
        timeout: float = 240,
        **variables: str,
    ) -> Done:
        """Run a command with this environment's programs first on the path, and a separate data folder."""
        path = os.pathsep.join([str(self.bin), os.environ["PATH"], str(Path(find_uv_bin()).parent)])
        variables = {"PATH": path, "PRESSROOM_STORAGE__PATH": str(self.data), **variables}
        return run(command, cwd or self.folder, check=check, timeout=timeout, **variables)

    def pressroom(self, *arguments: str | Path, cwd: Path | None = None, check: bool = True) -> Done:
        """Run the installed `pressroom` command."""
        return self.run_tool(self.bin / "pressroom", *arguments, cwd=cwd, check=check)

    @contextmanager
    def serving(self, config: Path | None = None) -> Iterator[str]:
        """Run the installed server until the block ends, and yield its URL."""
        options = ["--config", str(config)] if config else []
        log_file = self.folder / "server.log"
        with log_file.open("w") as log:
            process = subprocess.Popen(
                [str(self.bin / "pressroom"), "serve", "--port", "0", "--json", *options],
                cwd=self.folder,
                env=clean_environment(PRESSROOM_STORAGE__PATH=str(self.data)),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        try:
            document: dict[str, Any] = announced(process, log_file)
            yield document["url"]
        finally:
            process.terminate()
            process.wait(120)
            if process.stdout:
                process.stdout.close()
