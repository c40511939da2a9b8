"""What tests install from package registries: once, for every worker and every checkout of the project."""

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
"""Where mypy keeps what it found out about packages: for the first of many projects that takes most of its time.

Each worker has its own: runs of mypy at the same time can read what another one is just writing, and crash.
"""

STRICT: Final = ("--strict", "--config-file", "", "--cache-dir", str(MYPY_CACHE / "strict"))
"""Options of mypy for code without a configuration; what other options found out is of no use to these."""

SECONDS: Final = 600
"""How long one command of an installation may take; from a cold cache most take less than half a minute."""

_REMEDY: Final = "free space there, or let XDG_CACHE_HOME name a folder that can be written"

_NOT_WRITABLE: Final = (errno.EACCES, errno.EDQUOT, errno.ENOSPC, errno.EPERM, errno.EROFS)

_FULL: Final = ("ENOSPC", "No space left on device", "EDQUOT", "Disk quota exceeded")
"""What programs say when there is no space."""


def installed(name: str, pins: str, install: Callable[[Path], None]) -> Path:
    """Return a folder that `install` has filled, once for these pins, whoever else asks for it meanwhile.

    `name` tells people what is in it; `pins` are the versions, in any form. Where it cannot be filled, nothing stays
    of it, and the test cannot run.
    """
    folder = CACHE / f"{name}-{hashlib.sha256(pins.encode()).hexdigest()[:12]}"
    whole = folder / "installed"
    try:
        if not whole.exists():
            _install(folder, whole, install)
    except OSError as error:
        if error.errno not in _NOT_WRITABLE:
            raise
        unavailable(f"{name} cannot be installed in {CACHE}: {error.strerror}; {_REMEDY}")
    return folder


def _install(folder: Path, whole: Path, install: Callable[[Path], None]) -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if whole.exists():
            return
        shutil.rmtree(folder, ignore_errors=True)
        try:
            folder.mkdir()
            install(folder)
            whole.touch()
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


def npm_packages(name: str, manifest: Path) -> Path:
    """Return the folder `node_modules` with what a `package.json` names; the packages' own scripts were not run."""

    def install(folder: Path) -> None:
        shutil.copy(manifest, folder)
        options = ["--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"]
        run([program("npm"), "install", *options], folder)

    return installed(name, manifest.read_text(), install) / "node_modules"


def npm_package(name: str, version: str) -> Path:
    """Return the folder of a package; its scripts were not run."""

    def install(folder: Path) -> None:
        options = ["--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"]
        run([program("npm"), "install", *options, "--prefix", str(folder), f"{name}@{version}"])

    return installed(name, version, install) / "node_modules" / name


def run(command: Sequence[str], folder: Path | None = None, environment: Mapping[str, str] | None = None) -> None:
    """Run a command of an installation; where it fails, the test cannot run."""
    try:
        subprocess.run(
            command, cwd=folder, env=environment, check=True, capture_output=True, text=True, timeout=SECONDS
        )
    except (subprocess.SubprocessError, OSError) as error:
        said = f"{getattr(error, 'stdout', '') or ''}{getattr(error, 'stderr', '') or error}"
        remedy = f"\n{CACHE} or the temporary folder is full: {_REMEDY}" if any(word in said for word in _FULL) else ""
        unavailable(f"{' '.join(command)[:80]} failed: {said.strip()[-600:]}{remedy}")
