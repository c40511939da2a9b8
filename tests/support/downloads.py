"""Packages that tests install from registries: once, for every worker and every checkout of the project."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from support.needs import program, unavailable

CACHE: Final = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pressroom-tests"

MYPY_CACHE: Final = CACHE / "mypy" / os.environ.get("PYTEST_XDIST_WORKER", "main")
"""mypy's cache of package analysis, which otherwise takes most of mypy's time in the first of many projects.

Each worker has its own cache: concurrent runs of mypy can read files that another run is writing, and crash.
"""

STRICT: Final = ("--strict", "--config-file", "", "--cache-dir", str(MYPY_CACHE / "strict"))
"""mypy options for code without a configuration. Runs with other options cannot share this cache."""

SECONDS: Final = 600
"""Timeout of one installation command; from a cold cache most take less than half a minute."""

_REMEDY: Final = "free space there, or let XDG_CACHE_HOME name a folder that can be written"

_NOT_WRITABLE: Final = (errno.EACCES, errno.EDQUOT, errno.ENOSPC, errno.EPERM, errno.EROFS)

_FULL: Final = ("ENOSPC", "No space left on device", "EDQUOT", "Disk quota exceeded")
"""Messages of programs that run out of space."""


def installed(name: str, pins: str, install: Callable[[Path], None]) -> Path:
    """Return a folder filled by `install`, once for these pins, even with concurrent callers.

    `name` describes the contents; `pins` are the versions, in any form. If installation fails, the folder is removed
    and the test cannot run.
    """
    folder = CACHE / f"{name}-{hashlib.sha256(pins.encode()).hexdigest()[:12]}"
    marker = folder / "installed"
    try:
        if not marker.exists():
            _install(folder, marker, install)
    except OSError as error:
        if error.errno not in _NOT_WRITABLE:
            raise
        unavailable(f"{name} cannot be installed in {CACHE}: {error.strerror}; {_REMEDY}")
    return folder


def _install(folder: Path, marker: Path, install: Callable[[Path], None]) -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if marker.exists():
            return
        shutil.rmtree(folder, ignore_errors=True)
        try:
            folder.mkdir()
            install(folder)
            marker.touch()
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


def npm_packages(name: str, manifest: Path) -> Path:
    """Return the `node_modules` folder with the dependencies of a `package.json`. Install scripts are not run."""

    def install(folder: Path) -> None:
        shutil.copy(manifest, folder)
        options = ["--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"]
        run([program("npm"), "install", *options], folder)

    return installed(name, manifest.read_text(), install) / "node_modules"


def npm_package(name: str, version: str) -> Path:
    """Return the folder of a package. Install scripts are not run."""

    def install(folder: Path) -> None:
        options = ["--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"]
        run([program("npm"), "install", *options, "--prefix", str(folder), f"{name}@{version}"])

    return installed(name, version, install) / "node_modules" / name


def run(command: Sequence[str], folder: Path | None = None, environment: Mapping[str, str] | None = None) -> None:
    """Run an installation command. If it fails, the test cannot run."""
    try:
        subprocess.run(
            command, cwd=folder, env=environment, check=True, capture_output=True, text=True, timeout=SECONDS
        )
    except (subprocess.SubprocessError, OSError) as error:
        output = f"{getattr(error, 'stdout', '') or ''}{getattr(error, 'stderr', '') or error}"
        remedy = (
            f"\n{CACHE} or the temporary folder is full: {_REMEDY}" if any(word in output for word in _FULL) else ""
        )
        unavailable(f"{' '.join(command)[:80]} failed: {output.strip()[-600:]}{remedy}")
