"""`pressroom plugins install` and `uninstall`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pressroom.cli.options import Invocation, command_options
from pressroom.cli.output import EXIT_PROBLEMS, FINE, Output
from pressroom.errors import NotFound

if TYPE_CHECKING:
    from pressroom.cli.installing import InstalledPackage, InstallFailed


@click.command("install")
@click.argument("package", nargs=-1)
@click.option(
    "-r",
    "--requirement",
    "files",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Install what a requirement file names, such as that of `plugins list --requirements`.",
)
@click.option("-U", "--upgrade", is_flag=True, help="Upgrade the packages to the newest version that fits this server.")
@click.option("-e", "--editable", is_flag=True, help="Install from a folder so that changes in it take effect.")
@command_options
def install_packages(
    invocation: Invocation, package: tuple[str, ...], files: tuple[Path, ...], upgrade: bool, editable: bool
) -> int:
    """Install plugins into the environment that this command runs in.

    PACKAGE is a name, the path of a wheel or a folder, or the URL of a wheel or a git repository; a name can come with
    a URL, as in "NAME @ URL". The server and its built-in plugins keep their versions: a package that needs other ones
    is refused.
    """
    from pressroom.cli import installing  # noqa: PLC0415 - most commands do without

    if not (package or files):
        raise click.UsageError("name a package, or a file with --requirement")
    before = installing.packages_now()
    requirements = [installing.requirement(text) for text in package]
    try:
        with invocation.output.progress("Installing"):
            installing.install(requirements, files=files, upgrade=upgrade, editable=editable)
            after = installing.packages_now()
            direct = [] if editable else [one for one in requirements if installing.is_direct(one)]
            if sum(before.get(name) != one for name, one in after.items()) < len(direct):
                # Installers skip a file whose version is installed, even if it was built anew.
                installing.install(direct, again=True)
                after = installing.packages_now()
    except installing.InstallFailed as error:
        return _print_failure(invocation.output, error)
    requested = {_normalised(text) for text in package}.union(*map(installing.names_in, files))
    installed = {
        name: distribution
        for name, distribution in after.items()
        if name in requested or before.get(name) != distribution
    }
    advice = installing.managed_by()
    if invocation.json:
        plugins = [_described(invocation, id_) for distribution in installed.values() for id_ in distribution.plugins]
        packages = [
            {"name": name, "version": distribution.version, "plugins": distribution.plugins}
            for name, distribution in installed.items()
        ]
        invocation.output.data({"packages": packages, "plugins": plugins, "advice": advice})
        return FINE if installed else EXIT_PROBLEMS
    if not installed:
        names = " ".join((*package, *map(str, files)))
        hint = "install the package that does; uninstall this one with pip"
        invocation.output.problem(f"{names} is installed, but offers no plugin of Pressroom", hint=hint)
        return EXIT_PROBLEMS
    _print_installed(invocation, installed, advice)
    return FINE


@click.command("uninstall")
@click.argument("plugin", nargs=-1, required=True)
@command_options
def uninstall_packages(invocation: Invocation, plugin: tuple[str, ...]) -> int:
    """Uninstall plugins, named by their IDs or by the names of their packages. What they stored stays."""
    from pressroom.cli import installing  # noqa: PLC0415 - most commands do without

    packages = installing.packages_now()
    names = [_package_of(name, packages) for name in plugin]
    try:
        installing.uninstall(names)
    except installing.InstallFailed as error:
        return _print_failure(invocation.output, error)
    ids = [id_ for name in names for id_ in packages[name].plugins]
    if invocation.json:
        invocation.output.data({"packages": names, "plugins": ids})
        return FINE
    invocation.output.line(f"Uninstalled {', '.join(names)}. Tables and files of the plugin stay.")
    tables = ", ".join(f"[plugins.{id_}]" for id_ in ids)
    invocation.output.line(f"Remove {tables} from the configuration if it has that, and restart the server.")
    return FINE


def _package_of(name: str, packages: Mapping[str, InstalledPackage]) -> str:
    normalised = _normalised(name)
    if normalised in packages:
        return normalised
    providers = [package for package, distribution in packages.items() if name in distribution.plugins]
    if len(providers) == 1:
        return providers[0]
    if providers:
        raise NotFound(f"several packages offer the plugin {name!r}", hint=f"name one of {', '.join(providers)}")
    raise NotFound(f"{name!r} is not an installed plugin", hint="`pressroom plugins list` shows those that are")


def _normalised(name: str) -> str:
    from packaging.requirements import InvalidRequirement, Requirement  # noqa: PLC0415
    from packaging.utils import canonicalize_name  # noqa: PLC0415

    try:
        return str(canonicalize_name(Requirement(name).name))
    except InvalidRequirement:
        return name


def _print_installed(invocation: Invocation, packages: Mapping[str, InstalledPackage], advice: str) -> None:
    output = invocation.output
    for name, package in packages.items():
        output.line(f"{name} {package.version} is installed. It offers:")
        for id_ in package.plugins:
            plugin = _described(invocation, id_)
            offers = ", ".join(plugin["contributes"]) or "nothing that this server knows"
            if plugin["error"]:
                offers = f"nothing yet, since it is {plugin['status']}: {plugin['error']}"
            output.line(f"  {id_}: {offers}")
    output.line("To use it, add to the configuration, and restart the server:")
    for package in packages.values():
        for id_ in package.plugins:
            output.line(f"  [plugins.{id_}]")
    if advice:
        output.note(advice)


def _described(invocation: Invocation, id_: str) -> dict[str, Any]:
    """Return the status of the plugin when enabled, as reported by a new process."""
    from pressroom.cli.installing import SAFE_PATH  # noqa: PLC0415 - most commands do without

    config = ["--config", str(invocation.config_file)] if invocation.config_file else []
    completed = subprocess.run(  # noqa: S603 - no shell, and an id is a word
        [sys.executable, SAFE_PATH, "-m", "pressroom", "plugins", "show", id_, "--json", *config],
        env={**os.environ, f"PRESSROOM_PLUGINS__{id_.upper()}__ENABLED": "true"},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    try:
        records = json.loads(completed.stdout)
    except ValueError:
        records = []
    record = records[0] if isinstance(records, list) and records else {}
    values = {name: record.get(name, "") for name in ("title", "status", "error", "hint")}
    return {"id": id_, **values, "contributes": record.get("contributes", []), "configuration": f"[plugins.{id_}]"}


def _print_failure(output: Output, error: InstallFailed) -> int:
    lines: Sequence[str] = error.output
    for line in lines:
        output.note(f"  {line}")
    hint = error.hint
    if output.json and lines:
        hint = "\n".join([hint, *lines])
    output.problem(error.message, hint=hint, code=error.code)
    return EXIT_PROBLEMS
