"""Functions that tests run in worker processes."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from pressroom.errors import InvalidInput


def doubled(number: int) -> int:
    return 2 * number


def process_id() -> int:
    return os.getpid()


def refused() -> None:
    raise InvalidInput("body", "is too long")


def failing() -> None:
    raise RuntimeError("no")


def endless() -> None:
    while True:
        pass


def large() -> int:
    return len(bytearray(1 << 30))


def leaving() -> None:
    os._exit(3)


def dying() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def until(path: Path) -> str:
    while not path.exists():
        time.sleep(0.01)
    return path.name


def noted(path: Path, line: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


_LOADED: list[int] = []


def load() -> None:
    _LOADED.append(os.getpid())


def loaded_by() -> list[int]:
    return _LOADED
