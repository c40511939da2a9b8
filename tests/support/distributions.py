"""Building what is published, and installing it where nothing else is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uv import find_uv_bin

from support.needs import program
from support.server import announced

REPOSITORY = Path(__file__).parents[2]

Done = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Built:
    """What was built: a wheel and a source distribution of each distribution, by the folder that it came from."""

    wheels: dict[str, Path]
    sdists: dict[str, Path]


def clean_environment(**variables: str) -> dict[str, str]:
    """Return the environment without anything that would let a process see more than its own installation."""
    mine = ("PRESSROOM_", "PYTHON", "VIRTUAL_ENV", "PYTEST_", "COVERAGE_", "COV_", "MYPY", "UV_PROJECT", "CONDA")
    return {**{name: value for name, value in os.environ.items() if not name.startswith(mine)}, **variables}


def run(command: Sequence[str | Path], cwd: Path, *, check: bool = True, **variables: str) -> Done:
    """Run a command and return what came of it; one that fails shows what it wrote."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=clean_environment(**variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done


def copy_repository(into: Path) -> Path:
    """Copy what a fresh clone would hold, and what is about to be committed; nothing that is ignored."""
    git = program("git")
    listed = run([git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], REPOSITORY).stdout
    for name in filter(None, listed.split("\0")):
        source = REPOSITORY / name
        if source.is_file():
            target = into / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    return into


def projects(repository: Path) -> list[str]:
    """Return the folders of the distributions, the meta-distribution's first."""
    return [
        ".",
        "core",
        *(f"plugins/{path.parent.name}" for path in sorted(repository.glob("plugins/*/pyproject.toml"))),
    ]


def build(project: Path, into: Path, *targets: str) -> list[Path]:
    """Build a project's wheel, source distribution or both (returned in this order), with the tools that are here."""
    into.mkdir(parents=True, exist_ok=True)
    before = set(into.iterdir())
    options = [option for target in targets for option in ("-t", target)]
    run([sys.executable, "-m", "hatchling", "build", *options, "-d", into], project)
    return sorted(set(into.iterdir()) - before, key=lambda path: path.suffix != ".whl")


def build_all(repository: Path, into: Path) -> Built:
    """Build everything that a repository publishes."""
    wheels, sdists = {}, {}
    for project in projects(repository):
        wheels[project], sdists[project] = build(repository / project, into / Path(project).name, "sdist", "wheel")
    return Built(wheels, sdists)


def unpack(sdist: Path, into: Path) -> Path:
    """Unpack a source distribution and return its folder."""
    with tarfile.open(sdist) as archive:
        archive.extractall(into, filter="data")
    return into / sdist.name.removesuffix(".tar.gz")


class Environment:
    """A virtual environment that holds nothing but what is installed into it."""

    def __init__(self, folder: Path, *, with_pip: bool = False) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.data = folder / "data"
        venv.create(folder, with_pip=with_pip, symlinks=True)

    def install(self, *packages: str | Path) -> None:
        """Install packages with uv, which takes them from its cache where it can."""
        self.run_tool(find_uv_bin(), "pip", "install", "--quiet", "--python", self.bin / "python", *packages)

    def run_tool(self, *command: str | Path, cwd: Path | None = None, check: bool = True, **variables: str) -> Done:
        """Run a command with this environment's programs first on the path, and data in a folder of its own."""
        path = f"{self.bin}{os.pathsep}{os.environ['PATH']}"
        variables = {"PATH": path, "PRESSROOM_STORAGE__PATH": str(self.data), **variables}
        return run(command, cwd or self.folder, check=check, **variables)

    def pressroom(self, *arguments: str | Path, cwd: Path | None = None, check: bool = True) -> Done:
        """Run the command that was installed."""
        return self.run_tool(self.bin / "pressroom", *arguments, cwd=cwd, check=check)

    @contextmanager
    def serving(self, config: Path | None = None) -> Iterator[str]:
        """Run the installed server until the block ends; yields its address."""
        named = ["--config", str(config)] if config else []
        log_file = self.folder / "server.log"
        with log_file.open("w") as log:
            process = subprocess.Popen(
                [str(self.bin / "pressroom"), "serve", "--port", "0", "--json", *named],
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
            process.wait(40)
            if process.stdout:
                process.stdout.close()
