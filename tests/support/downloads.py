"""What tests install from package registries: once, for every worker and every checkout of the project."""

from __future__ import annotations

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

SECONDS: Final = 600
"""How long one command of an installation may take; from a cold cache most take less than half a minute."""


def installed(name: str, pins: str, install: Callable[[Path], None]) -> Path:
    """Return a folder that `install` has filled, once for these pins, whoever else asks for it meanwhile.

    `name` tells people what is in it; `pins` are the versions, in any form.
    """
    folder = CACHE / f"{name}-{hashlib.sha256(pins.encode()).hexdigest()[:12]}"
    whole = folder / "installed"
    if whole.exists():
        return folder
    CACHE.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not whole.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            install(folder)
            whole.touch()
    return folder


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
        unavailable(f"{' '.join(command)[:80]} failed: {said.strip()[-600:]}")
