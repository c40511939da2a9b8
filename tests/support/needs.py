"""What a test does when something that it needs is not there."""

import os
import shutil
import socket
from typing import NoReturn

import pytest


def unavailable(reason: str) -> NoReturn:
    """Skip the test and say why; in CI, where everything must be there, fail it."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def program(name: str, package: str) -> str:
    """Return the path of a program; without it the test is skipped, or fails in CI."""
    return shutil.which(name) or unavailable(f"{name} is not installed (Debian package {package})")


def free_port() -> int:
    """Return a port on 127.0.0.1 that nothing listens on now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
