"""`pressroom plugins check`: check a plugin's contracts, from its package to its behaviour in an outage."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from pressroom.cli.options import Invocation, command_options
from pressroom.cli.output import EXIT_PROBLEMS, FINE
from pressroom.cli.plugin_check_report import CHECK_FOLDER, BrokenPromise, Stage, junit_report, print_report
from pressroom.cli.plugin_types import type_stages

if TYPE_CHECKING:
    from pressroom.cli.installing import InstallFailed
    from pressroom.cli.plugin_environment import BuiltPackage

_PROCESS: Final = "pressroom.testing.check_process"


@click.command("check")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--postgresql", metavar="URL", envvar="PRESSROOM_CHECK_POSTGRESQL", help="Also check on this server.")
@click.option("--junit", metavar="FILE", type=click.Path(path_type=Path), help="Write a JUnit report, for CI.")
@click.option("--timeout", type=click.FloatRange(1), default=900.0, help="Seconds for all checks.  [default: 900]")
@command_options
def check(
    invocation: Invocation, paths: tuple[Path, ...], postgresql: str | None, junit: Path | None, timeout: float
) -> int:
    """Check the plugin of a project, a wheel or a single file: its package, its types, and every record that it offers.

    PATH, by default the current folder, is built, installed into a clean environment, and started there. The exit code
    is 1 if it breaks a promise. The server is configured by the pressroom.toml next to it, or by --config. Several
    projects or wheels are installed together, so that a plugin may require another one of them.
    """
    if postgresql:
        _try_postgresql(postgresql)
    stages: list[Stage] = []
    with invocation.output.progress("Checking") as progress:

        def advance(stage: Stage) -> None:
            stages.append(stage)
            progress.advance()

        resolved = [path.resolve() for path in paths or (Path(),)]
        _check(resolved, invocation.config_file, postgresql or "", time.monotonic() + timeout, advance)
    if junit is not None:
        junit.write_text(junit_report(stages), encoding="utf-8")
    failed = any(stage.findings for stage in stages)
    if invocation.json:
        invocation.output.data(
            {"ok": not failed, "stages": [{**asdict(stage), "outcome": stage.outcome} for stage in stages]}
        )
    else:
        print_report(invocation.output, stages)
    return EXIT_PROBLEMS if failed else FINE


def _try_postgresql(url: str) -> None:
    """Connect once, because an unusable server is not a fault of the plugin and should be reported immediately.

    Raises:
        PressroomError: the server cannot be reached, or the URL is invalid.
    """
    import asyncio  # noqa: PLC0415 - not needed by --help

    from pydantic import ValidationError  # noqa: PLC0415

    from pressroom.config import Settings  # noqa: PLC0415
    from pressroom.errors import PressroomError  # noqa: PLC0415
    from pressroom.storage.database import SqlDatabase  # noqa: PLC0415

    async def connect(settings: Settings) -> None:
        database = SqlDatabase(settings)
        await database.open()
        await database.close()

    with tempfile.TemporaryDirectory(prefix=CHECK_FOLDER) as folder:
        try:
            asyncio.run(connect(Settings.model_validate({"storage": {"path": folder, "database": url}})))
        except ValidationError as error:
            reason, hint = error.errors()[0]["msg"], "give a URL such as postgresql://user@127.0.0.1/postgres"
            raise PressroomError(f"--postgresql: {reason}", hint=hint) from error
        except PressroomError as error:
            raise PressroomError(f"--postgresql: {error.message}", hint=error.hint) from error


def _check(
    paths: Sequence[Path], config_file: Path | None, postgresql: str, deadline: float, advance: Callable[[Stage], None]
) -> None:
    config = _config(paths[0], config_file)
    files = [path for path in paths if path.suffix == ".py"]
    for path in files:
        _check_file(path, config, postgresql, deadline, advance)
    if len(files) < len(paths):
        _check_packages([path for path in paths if path not in files], config, postgresql, deadline, advance)


def _check_packages(
    paths: Sequence[Path],
    config: Mapping[str, Any],
    postgresql: str,
    deadline: float,
    advance: Callable[[Stage], None],
) -> None:
    import importlib.metadata  # noqa: PLC0415 - not needed by --help

    from pressroom.cli.plugin_environment import source_paths  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix=CHECK_FOLDER) as name:
        folder = Path(name)
        providers = importlib.metadata.packages_distributions()
        built = {path: _built(path, folder / str(number), providers, deadline) for number, path in enumerate(paths)}
        python = _install(built, folder / "environment", deadline)
        for stage, _ in built.values():
            advance(stage)
        if python is None:
            return
        packages = {path: package for path, (_, package) in built.items() if package}
        sources = source_paths(packages, folder / "environment")
        for checked_stage in type_stages(packages, python, deadline):
            advance(checked_stage.named_after(sources))
        ids = [id_ for package in packages.values() for id_ in package.plugins]
        request = {"plugins": ids, "config": config, "postgresql": postgresql}
        for checked_stage in _run_contracts(python, request, deadline, folder):
            advance(checked_stage.named_after(sources))
        if not postgresql:
            advance(Stage("PostgreSQL", skipped=True, note="give the URL of a database with --postgresql"))


def _built(
    path: Path, folder: Path, providers: Mapping[str, Sequence[str]], deadline: float
) -> tuple[Stage, BuiltPackage | None]:
    """Build a package. Return its stage, and the package or `None` if the build failed."""
    from pressroom.cli.installing import InstallFailed  # noqa: PLC0415 - not needed by --help
    from pressroom.cli.plugin_environment import build  # noqa: PLC0415

    stage, started_at = Stage("package"), time.monotonic()
    package = None
    try:
        package = build(path, folder, deadline)
        stage.plugin = ", ".join(package.plugins)
        stage.note = f"{package.name} {package.version}"
        stage.findings += package_findings(package, providers)
    except InstallFailed as error:
        stage.findings.append(_uninstallable(str(path), error))
    stage.seconds = time.monotonic() - started_at
    return stage, package


def _install(built: Mapping[Path, tuple[Stage, BuiltPackage | None]], folder: Path, deadline: float) -> Path | None:
    """Install packages into a new environment, and record the outcome in the first stage.

    They are installed together, since one can depend on another. Returns the environment's Python, or `None` if a
    package could not be built or installed.
    """
    from pressroom.cli.installing import InstallFailed  # noqa: PLC0415 - not needed by --help
    from pressroom.cli.plugin_environment import PluginEnvironment  # noqa: PLC0415

    if any(package is None for _, package in built.values()):
        return None
    started_at = time.monotonic()
    environment = PluginEnvironment(folder, deadline)
    first = next(stage for stage, _ in built.values())
    try:
        dependencies = environment.install([package for _, package in built.values() if package])
    except InstallFailed as error:
        first.findings.append(_uninstallable(", ".join(map(str, built)), error))
        return None
    finally:
        first.seconds += time.monotonic() - started_at
    first.note += f", with {', '.join(dependencies)}" if dependencies else ""
    return environment.python


def _uninstallable(where: str, error: InstallFailed) -> BrokenPromise:
    observed = " | ".join((error.message, *error.output))
    return BrokenPromise("package", "it can be built and installed", where, observed, error.hint)


def _check_file(
    path: Path, config: Mapping[str, Any], postgresql: str, deadline: float, advance: Callable[[Stage], None]
) -> None:
    """Check a one-file plugin, which has no package."""
    from pressroom.config import Settings  # noqa: PLC0415 - pydantic takes longer to load than --help may take
    from pressroom.plugins.folder import discover_folder  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix=CHECK_FOLDER) as name:
        folder = Path(name, "plugins")
        folder.mkdir(mode=0o755)
        (folder / path.name).write_bytes(path.read_bytes())
        discovered = discover_folder(Settings(plugins_dir=folder))
        request = {
            "plugins": [plugin.id for plugin in discovered] or [path.stem],
            "config": {**config, "plugins_dir": str(folder)},
            "postgresql": postgresql,
        }
        for stage in _run_contracts(Path(sys.executable), request, deadline, Path(name)):
            advance(stage.named_after({str(folder): str(path.parent)}))


def _config(path: Path, config_file: Path | None) -> dict[str, Any]:
    """Return the values of the configuration file. Raises `InvalidConfig` if it is not valid TOML."""
    file = config_file or (path if path.is_dir() else path.parent) / "pressroom.toml"
    if config_file is None and not file.is_file():
        return {}
    from pressroom.config.toml_file import read_toml  # noqa: PLC0415 - not needed by --help

    return read_toml(file).values


def package_findings(package: BuiltPackage, providers: Mapping[str, Sequence[str]]) -> Iterator[BrokenPromise]:
    """Yield the problems of a package found without running it. `providers` are those of `undeclared_imports`."""
    from pressroom.cli.plugin_environment import undeclared_imports  # noqa: PLC0415 - not needed by --help

    where = f"{package.name} {package.version}"
    if not package.plugins:
        yield BrokenPromise(
            "package",
            "it announces a plugin",
            where,
            "no entry point in the group pressroom.plugins",
            'add [project.entry-points."pressroom.plugins"] with your_id = "your_package.plugin" to pyproject.toml',
        )
    host_requirements = [requirement for requirement in package.requirements if requirement.name == "pressroom"]
    if not any(
        specifier.operator in ("<", "<=", "==", "~=")
        for requirement in host_requirements
        for specifier in requirement.specifier
    ):
        yield BrokenPromise(
            "package",
            "it says which versions of the server it works with",
            where,
            str(host_requirements[0]) if host_requirements else "no requirement on pressroom",
            'add a floor and a ceiling to the dependencies, such as "pressroom>=0.1,<0.2"',
        )
    if not any(name in package.metadata for name in ("License-Expression", "License", "License-File")):
        yield BrokenPromise("package", "it names its licence", where, "none", 'add license = "Apache-2.0", or yours')
    if not any(file.endswith("/py.typed") for file in package.files):
        yield BrokenPromise(
            "package", "it is typed", where, "no py.typed", "put an empty file py.typed into the package"
        )
    for distribution, file in undeclared_imports(package, providers).items():
        yield BrokenPromise(
            "package",
            "it needs what it imports",
            file,
            f"{distribution} is imported, and not among the dependencies",
            f"add {distribution} to the dependencies",
        )


def _run_contracts(python: Path, request: Mapping[str, Any], deadline: float, folder: Path) -> Iterator[Stage]:
    """Check the plugins in a separate process, and yield each stage when it ends."""
    log = folder / "check.log"
    stage, started_at = Stage("contracts"), time.monotonic()
    with log.open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(  # noqa: S603 - no shell
            [str(python), "-m", _PROCESS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=folder,
            start_new_session=True,
        )
    late = threading.Timer(max(0.0, deadline - time.monotonic()), _kill, (process,))
    late.start()
    finished = False
    try:
        assert process.stdin is not None  # noqa: S101 - it is a pipe
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        with suppress(BrokenPipeError), process.stdin:
            json.dump(request, process.stdin)
        started = False
        for line in process.stdout:
            event = json.loads(line)
            if event.get("ended"):
                finished = True
            elif "finding" in event:
                stage.findings.append(BrokenPromise(**event["finding"]))
            else:
                if started:
                    stage.seconds = time.monotonic() - started_at
                    yield stage
                stage, started_at, started = Stage(event["stage"], event["plugin"]), time.monotonic(), True
        process.wait()
    finally:
        late.cancel()
        _kill(process)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    if not finished:
        last = log.read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2]
        if time.monotonic() >= deadline:
            observed = "not finished within --timeout" + (f"; the last line of its log: {last}" if last else "")
            fix = "raise --timeout, or see what it waits for"
        else:
            observed, fix = last or f"exit code {process.returncode}", "see its traceback"
        stage.findings.append(
            BrokenPromise("plugin", "the check of it ends", ", ".join(request["plugins"]), observed, fix)
        )
    stage.seconds = time.monotonic() - started_at
    yield stage


def _kill(process: subprocess.Popen[str]) -> None:
    """Kill a process and its process group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
