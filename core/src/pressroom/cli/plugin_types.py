"""Type checks for `pressroom plugins check`: mypy with the project's configuration, or in strict mode without one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pressroom.cli.plugin_check_report import CHECK_FOLDER, BrokenPromise, Stage

if TYPE_CHECKING:
    from pressroom.cli.plugin_environment import BuiltPackage

_MAX_ERRORS: Final = 20
_CRASH: Final = "error: INTERNAL ERROR"
_TYPES_CHECKABLE: Final = "mypy can check its types"


def type_stages(packages: Mapping[Path, BuiltPackage], python: Path, deadline: float) -> Iterator[Stage]:
    """Check the types of packages with mypy, using the project's configuration, or strict mode if it has none.

    Packages in strict mode are first checked together, which takes little longer than checking one. If that finds
    errors, each is checked separately to attribute them to its own stage. Nothing is left in a project's folder; mypy
    keeps a cache only if `MYPY_CACHE_DIR` is set. Mypy is killed at the `deadline`, a time of `time.monotonic`.
    """
    import importlib.util  # noqa: PLC0415 - not needed by --help

    if importlib.util.find_spec("mypy") is None:
        for package in packages.values():
            note = "install mypy beside the server to check them"
            yield Stage("types", ", ".join(package.plugins), skipped=True, note=note)
        return
    strict = {path: package for path, package in packages.items() if _project_of(path) is None}
    started_at = time.monotonic()
    fine = len(strict) > 1 and not any(_type_errors(_strict(strict.values(), python), None, deadline))
    share = (time.monotonic() - started_at) / max(1, len(strict))
    for path, package in packages.items():
        stage, started_at = Stage("types", ", ".join(package.plugins)), time.monotonic()
        project = _project_of(path)
        if project is not None:
            source = [str(path / "src")] if (path / "src").is_dir() else []
            names = [] if source else _named(package)
            arguments = ["--config-file", str(project), "--python-executable", str(python), *source, *names]
            stage.findings += _type_errors(arguments, path if source else None, deadline)
        elif not fine:
            errors = _type_errors(_strict([package], python), None, deadline)
            stage.findings += _in_environment(errors, python.parents[1])
        stage.seconds = time.monotonic() - started_at + (share if project is None else 0)
        yield stage


def _project_of(path: Path) -> Path | None:
    """Return the project's `pyproject.toml` if it configures mypy, otherwise `None`."""
    project = path / "pyproject.toml"
    configured = path.is_dir() and project.is_file() and "[tool.mypy]" in project.read_text(encoding="utf-8")
    return project if configured else None


def _strict(packages: Iterable[BuiltPackage], python: Path) -> list[str]:
    names = [argument for package in packages for argument in _named(package)]
    return ["--strict", "--show-absolute-path", "--python-executable", str(python), *names]


def _in_environment(findings: Iterable[BrokenPromise], environment: Path) -> Iterator[BrokenPromise]:
    """Correct paths of findings that mypy's cache recorded in the environment of an earlier check."""
    for finding in findings:
        folder, _, file = finding.where.rpartition(f"{os.sep}{environment.name}{os.sep}")
        if CHECK_FOLDER in folder:
            finding.where = f"{environment}{os.sep}{file}"
        yield finding


def _named(package: BuiltPackage) -> list[str]:
    return [argument for name in package.packages for argument in ("-p", name)]


def _type_errors(arguments: Sequence[str], folder: Path | None, deadline: float) -> Iterator[BrokenPromise]:
    """Yield mypy's errors.

    Concurrent runs of mypy that share a cache can read a half-written entry and crash. A crash is therefore retried
    once without the cache and reported only if it recurs.
    """
    cache = os.environ.get("MYPY_CACHE_DIR") or os.devnull
    try:
        completed, crash = _run_mypy(arguments, folder, cache, deadline)
        if crash and cache != os.devnull:
            completed, crash = _run_mypy(arguments, folder, os.devnull, deadline)
    except subprocess.TimeoutExpired:
        fix = "raise --timeout, or see what mypy or one of its plugins waits for"
        yield BrokenPromise("types", _TYPES_CHECKABLE, "", "it did not finish within --timeout", fix)
        return
    if completed.returncode == 0:
        return
    if crash:
        fix = "run mypy with --show-traceback, and report the crash to mypy; `# type: ignore` at the place may avoid it"
        yield BrokenPromise("types", _TYPES_CHECKABLE, crash.partition(": error:")[0], crash, fix)
        return
    lines = [line for line in completed.stdout.splitlines() if _ERROR.match(line)]
    for line in lines[:_MAX_ERRORS] or [" ".join((completed.stdout + completed.stderr).split())]:
        parts = _ERROR.match(line)
        location, message = (parts[1] or "", parts[2]) if parts else ("", line)
        fix = advice_on(message)
        yield BrokenPromise("types", "its types are right in mypy's strict mode", location, message, fix)


_ERROR: Final = re.compile(r"(?:(.*?): )?error: (.*)")
_UNTYPED: Final = re.compile(
    r'"([\w.]+)": module is installed, but missing library stubs|stubs not installed for "([\w.]+)"'
)


def advice_on(message: str) -> str:
    """Return a fix for packages or libraries without types; an empty string for other messages of mypy."""
    if "missing py.typed marker" in message and "cannot be type checked" in message:
        return "add an empty file py.typed to the package"
    library = _UNTYPED.search(message)
    if library is None:
        return ""
    top = (library[1] or library[2]).partition(".")[0]
    return (
        "install a package of stubs for the library, or put this into pyproject.toml: "
        f'[[tool.mypy.overrides]] module = ["{top}", "{top}.*"] ignore_missing_imports = true'
    )


def _run_mypy(
    arguments: Sequence[str], folder: Path | None, cache: str, deadline: float
) -> tuple[subprocess.CompletedProcess[str], str]:
    """Run mypy once. Return the completed process, and the line that reports a crash or an empty string."""
    command = [sys.executable, "-P", "-m", "mypy", "--no-error-summary", "--no-pretty", "--hide-error-context"]
    command += ["--cache-dir", cache, *arguments]
    completed = subprocess.run(  # noqa: S603 - no shell
        command,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=max(0.0, deadline - time.monotonic()),
    )
    lines = (completed.stdout + completed.stderr).splitlines()
    return completed, next((line for line in lines if _CRASH in line), "")
