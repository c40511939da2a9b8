"""Wait for changes that raise no event: files, processes, threads, rows and responses of another server."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_PAUSE_SECONDS = 0.01


def wait_until(read: Callable[[], T], *, seconds: float = 30) -> T:
    """Poll a function until it returns something truthy, and return that. The test fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while not (value := read()):
        assert time.monotonic() < deadline, f"after {seconds} seconds it was still {value!r}"
        time.sleep(_PAUSE_SECONDS)
    return value
