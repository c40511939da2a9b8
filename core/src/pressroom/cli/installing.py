"""Install plugin packages into the server's environment with pip or uv."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from pressroom.errors import PressroomError
from pressroom.plugins.discovery import BUILTIN_DISTRIBUTIONS, HOST_ID, discover
from pressroom.version import VERSION

SAFE_PATH: Final = "-P"
"""Keeps Python from importing modules of the current folder, where anyone could have put a `pip.py`."""

SHOWN_LINES: Final = 12
"""Number of trailing lines of the installer's output to show when it fails."""

_LIST_PLUGINS: Final = """
import json
from pressroom.cli.installing import installed_packages
print(json.dumps({name: vars(one) for name, one in installed_packages().items()}))
"""
_SPECIFIER: Final = r"(?:[<>!~=]=|[<>])\s*[\w.*+!]+"
_DEMAND = re.compile(rf"(?<![\w.-])(pressroom(?:-[a-z-]+)?)(?:\[[^\]]*\])?\s*({_SPECIFIER}(?:\s*,\s*{_SPECIFIER})*)")
_GIT_SCHEMES: Final = ("git+", "git://", "ssh://")


class InstallFailed(PressroomError):
    """The installer failed. `output` holds its last lines."""

    code = "install_failed"

    def __init__(self, message: str, hint: str, output: Sequence[str] = ()) -> None:
        super().__init__(message, hint=hint)
        self.output = tuple(output)


@dataclass
class InstalledPackage:
    """A distribution with plugins. `changed` is its installation time in nanoseconds, or 0 if unknown."""

    version: str
    plugins: list[str]
    changed: int


def installed_packages() -> dict[str, InstalledPackage]:
    """Return the distributions with plugins that this process finds, keyed by normalised name."""
    packages: dict[str, InstalledPackage] = {}
    for candidate in discover():
        package = packages.setdefault(candidate.distribution, InstalledPackage(candidate.version, [], 0))
        package.plugins.append(candidate.id)
        package.changed = package.changed or _changed_at(candidate.distribution)
    return packages


def _changed_at(name: str) -> int:
    try:
        location = importlib.metadata.distribution(name).locate_file("")
        folders = Path(str(location)).glob("*.dist-info")
        # Not every build tool normalises the name, as in Foo.Bar-1.0.dist-info.
        metadata_folders = (folder for folder in folders if canonicalize_name(folder.name.partition("-")[0]) == name)
        return max(folder.stat().st_mtime_ns for folder in metadata_folders)
    except (importlib.metadata.PackageNotFoundError, OSError, ValueError):
        return 0


def packages_now() -> dict[str, InstalledPackage]:
    """Return the packages that a new process would find. This process does not see packages just installed."""
    completed = _run([sys.executable, SAFE_PATH, "-c", _LIST_PLUGINS])
    if completed.returncode != 0:
        raise InstallFailed(
            "the environment no longer works",
            "reinstall pressroom; the lines above say what is wrong",
            _last_lines(completed.stderr),
        )
    return {name: InstalledPackage(**values) for name, values in json.loads(completed.stdout).items()}


def requirement(text: str) -> str:
    """Return the installer's argument for a package name, a path or URL, or a name with a URL (`name @ URL`).

    Raises:
        PressroomError: `text` has another form, or names the server or a built-in plugin.
    """
    if text.startswith(_GIT_SCHEMES) or (urlsplit(text).scheme in ("http", "https") and _names_repository(text)):
        return text if text.startswith("git+") else f"git+{text}"
    if text.startswith(("http://", "https://", "file://")):
        return text
    path = Path(text).expanduser()
    if path.exists() and (os.sep in text or path.is_dir() or path.suffix in (".whl", ".gz", ".zip")):
        return str(path.absolute())
    try:
        parsed = Requirement(text)
    except InvalidRequirement:
        parsed = None
    direct = parsed is not None and "://" in (parsed.url or "")
    if not direct and (os.sep in text or text.endswith((".whl", ".tar.gz", ".zip"))):
        raise PressroomError(f"there is no file or folder {text}", hint="check the path")
    if parsed is None:
        raise PressroomError(
            f"{text!r} is not the name of a package", hint="give a name, a path, or the URL of a git repository"
        )
    _refuse_own(canonicalize_name(parsed.name))
    return text


def is_direct(argument: str) -> bool:
    """Return whether an argument of the installer is a path or a URL, or has one, rather than only a name."""
    return Path(argument).is_absolute() or "://" in argument


def _names_repository(url: str) -> bool:
    return urlsplit(url).path.partition("@")[0].removesuffix("/").endswith(".git")


def _refuse_own(name: str) -> None:
    if name == HOST_ID or name in BUILTIN_DISTRIBUTIONS:
        raise PressroomError(
            f"{name} is part of the server itself",
            hint="upgrade the server as you installed it; to switch a plugin off set enabled = false",
        )


def installer(action: str) -> list[str]:
    """Return the command that installs into, or uninstalls from, the environment of this interpreter.

    Raises:
        InstallFailed: neither pip nor uv is available, or the environment belongs to the operating system.
    """
    in_environment = sys.prefix != sys.base_prefix
    marker = Path(sysconfig.get_path("stdlib", sysconfig.get_default_scheme()), "EXTERNALLY-MANAGED")
    if not in_environment and marker.exists():
        raise InstallFailed(
            f"{sys.executable} belongs to the operating system, which installs packages in its own way",
            "run the server in a virtual environment: `python3 -m venv DIR`, then install it there with DIR/bin/pip",
        )
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, SAFE_PATH, "-m", "pip", action, "--disable-pip-version-check", "--no-input"]
    uv = shutil.which("uv")
    if uv is not None:
        return [uv, "pip", action, "--python", sys.executable]
    raise InstallFailed(
        f"the environment of {sys.executable} has no pip, and there is no uv on the PATH",
        f"run: {sys.executable} -m ensurepip; or install uv",
    )


def install(
    requirements: Sequence[str],
    *,
    files: Sequence[Path] = (),
    upgrade: bool = False,
    editable: bool = False,
    again: bool = False,
) -> None:
    """Install packages, keeping the versions of the server and its built-in plugins.

    `files` are requirement files with further packages. `again` reinstalls packages whose version is installed already,
    but not what they depend on.

    Raises:
        InstallFailed: the installer failed, or a package needs another version of the server.
    """
    command = installer("install")
    if upgrade:
        command.append("--upgrade")
    if again:
        command += ["--force-reinstall", "--no-deps"]
    for requirement in requirements:
        command += ["--editable", requirement] if editable else [requirement]
    for file in files:
        command += ["--requirement", str(file.absolute())]
    with tempfile.TemporaryDirectory(prefix="pressroom-") as folder:
        constraints = Path(folder, "constraints.txt")
        constraints.write_text("".join(f"{name}=={version}\n" for name, version in _own_versions().items()))
        completed = _run([*command, "--constraint", str(constraints)])
    if completed.returncode != 0:
        raise _failure("install", [*requirements, *map(str, files)], completed)


def names_in(file: Path) -> set[str]:
    """Return the normalised names of the packages in a requirement file. Lines of other kinds are ignored."""
    names = set()
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            names.add(str(canonicalize_name(Requirement(line.partition(" #")[0].strip()).name)))
        except InvalidRequirement:
            continue
    return names


def pinned(names: Sequence[str]) -> list[str]:
    """Return the lines of a requirement file that reproduces these installed distributions.

    Distributions installed from a URL, such as that of a git repository or a local folder, are pinned to that URL.
    """
    lines = []
    for name in sorted(names):
        distribution = importlib.metadata.distribution(name)
        direct_url = json.loads(distribution.read_text("direct_url.json") or "{}")
        version = direct_url.get("vcs_info") or {}
        url = f"{version['vcs']}+{direct_url['url']}@{version['commit_id']}" if version else direct_url.get("url", "")
        lines.append(f"{name} @ {url}" if url else f"{name}=={distribution.version}")
    return lines


def uninstall(names: Sequence[str]) -> None:
    """Uninstall distributions.

    Raises:
        PressroomError: one of them is a part of the server.
        InstallFailed: the installer failed.
    """
    for name in names:
        _refuse_own(canonicalize_name(name))
    command = installer("uninstall")
    completed = _run([*command, *(["--yes"] if "-m" in command else []), *names])
    if completed.returncode != 0:
        raise _failure("uninstall", names, completed)


def managed_by() -> str:
    """Return advice if uv or pipx manages this environment and would forget new packages; otherwise an empty string."""
    prefix = Path(sys.prefix)
    if (prefix / "uv-receipt.toml").exists():
        return "uv manages this environment, and would lose the plugin: use `uv tool install pressroom --with NAME`"
    if (prefix / "pipx_metadata.json").exists():
        return "pipx manages this environment, and would lose the plugin: use `pipx inject pressroom NAME`"
    return ""


def _own_versions() -> Mapping[str, str]:
    versions = {HOST_ID: VERSION}
    for name in sorted(BUILTIN_DISTRIBUTIONS):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - no shell; what people named is an argument of its own
        command, capture_output=True, text=True, errors="replace", check=False, stdin=subprocess.DEVNULL
    )


def _failure(action: str, names: Sequence[str], completed: subprocess.CompletedProcess[str]) -> InstallFailed:
    output = f"{completed.stdout}\n{completed.stderr}"
    lines = _last_lines(output)
    packages = " ".join(names)
    if action == "install" and _demands_other_version(output):
        return InstallFailed(
            f"{packages} does not work with Pressroom {VERSION}, which is installed here; nothing was changed",
            "install a version of the plugin that is made for this server, or upgrade the server first",
            lines,
        )
    if "No matching distribution" in output or "not found in the package registry" in output:
        return InstallFailed(
            f"there is no package {packages} that fits", "check the name, and your package index", lines
        )
    if "Permission denied" in output or "Read-only file system" in output:
        hint = f"run it as a user who can write to {sys.prefix}"
        return InstallFailed(f"cannot {action} {packages}: the environment cannot be written to", hint, lines)
    return InstallFailed(
        f"cannot {action} {packages}", "the lines above are the installer's; correct what they say", lines
    )


def _demands_other_version(output: str) -> bool:
    """Check whether the installer's output demands another version of the server or of a built-in plugin."""
    versions = _own_versions()
    for name, specifier in _DEMAND.findall(output):
        try:
            if name in versions and not SpecifierSet(specifier).contains(versions[name], prereleases=True):
                return True
        except InvalidSpecifier:
            continue
    return False


def _last_lines(output: str) -> list[str]:
    lines = [line.rstrip() for line in output.splitlines() if line.strip()]
    return lines[-SHOWN_LINES:]
