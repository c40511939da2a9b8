"""Handling of missing programs and services."""

from __future__ import annotations

import fcntl
import os
import random
import shutil
import socket
import tempfile
from itertools import chain
from pathlib import Path
from typing import Final, NoReturn

import pytest

PROGRAMS: Final = dict(
    line.split() for line in Path(__file__).with_name("programs.txt").read_text("utf-8").splitlines()
)
"""The Debian package of every program and library that the tests run."""

_PORTS: Final = range(15_000, 30_000)
"""Below Linux's range of ephemeral ports (`ip_local_port_range`), any of which can be in use."""

_held: list[int] = []
"""File descriptors of locks on ports, held until this process ends."""


running_tests: list[pytest.Item] = []
"""The current test is the last item. Maintained by `support.quick`."""


def check_allowed(service: str) -> None:
    """Fail the current test if it is a quick one, because it uses a program or a service.

    Raises:
        pytest.fail.Exception: the current test is marked as quick.
    """
    if running_tests and running_tests[-1].get_closest_marker("quick"):
        pytest.fail(f"a test of `make check` uses {service}: mark it with `pytest.mark.services`")


def unavailable(reason: str) -> NoReturn:
    """Skip the test with a reason. Fail it in CI, where everything must be available."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def missing_package(package: str, what: str) -> NoReturn:
    """Skip the test (in CI, fail it) because of a missing Debian package; the run's summary shows how to install it."""
    unavailable(f"{what} is not installed (Debian package {package})")


def program(name: str) -> str:
    """Return the path of a program. If it is missing, the test is skipped, or fails in CI."""
    check_allowed(name)
    # Debian installs servers in folders that are not on every user's PATH.
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
    return shutil.which(name, path=path) or missing_package(PROGRAMS[name], name)


def headless_chromium() -> str:
    """Return the path of headless Chromium. If it is missing, the test is skipped, or fails in CI.

    The headless shell has the same engine, and starts with an eighth of the CPU time of the full browser.
    """
    check_allowed("Chromium")
    return shutil.which("chromium-headless-shell") or shutil.which("chromium") or program("chromium-headless-shell")


def free_port() -> int:
    """Return an unused port on 127.0.0.1 that no other test run can get.

    A lock reserves the port for this process, because some time passes between the check and the use of a port.
    """
    folder = Path(tempfile.gettempdir()) / "pressroom-tests-ports"
    folder.mkdir(exist_ok=True)
    first = random.SystemRandom().randrange(len(_PORTS))
    for port in chain(_PORTS[first:], _PORTS[:first]):
        lock = os.open(folder / str(port), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with socket.socket() as listener:
                listener.bind(("127.0.0.1", port))
        except OSError:
            os.close(lock)
            continue
        _held.append(lock)
        return port
    raise RuntimeError(f"no port is free from {_PORTS.start} to {_PORTS.stop - 1}")
