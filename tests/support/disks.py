"""Run a scenario on a separate disk, which can be full or read-only even for root."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from support.needs import check_allowed, missing_package, unavailable

_MOUNT = 'mount -t tmpfs -o "size=$1" tmpfs "$2"'


def run_on_small_disk(scenario: str, folder: Path, *, size: str) -> None:
    """Run a function of `support.disk_scenarios` in a process for which `folder` is a disk of `size` (such as `256k`).

    The process has its own mount namespace, so nothing stays mounted. A failed assertion in the scenario fails the
    test.
    """
    check_allowed("unshare")
    folder.mkdir()
    enter = namespace(folder)
    command = [*enter, f'{_MOUNT} && exec "$3" -m support.disk_scenarios "$4" "$2"', "sh"]
    result = subprocess.run(
        [*command, size, str(folder), sys.executable, scenario],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr


def namespace(folder: Path) -> list[str]:
    """Return the prefix of a command that runs a line of shell in a namespace where mounting is allowed."""
    if shutil.which("unshare") is None:
        missing_package("util-linux", "unshare")
    for options in (["--mount"], ["--mount", "--map-root-user"]):
        command = ["unshare", *options, "sh", "-c"]
        trial = subprocess.run([*command, _MOUNT, "sh", "64k", str(folder)], capture_output=True, check=False)
        if trial.returncode == 0:
            return command
    return unavailable("no disk can be mounted here: neither as root nor in a user namespace")
