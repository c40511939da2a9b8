"""One run of the tests: its id, and how what outlives a process is named after it."""

from __future__ import annotations

import os
import secrets
from typing import Final

RUN_ID: Final = "TESTS_OF_PRESSROOM"
"""The environment variable with the id of the run."""

POSTGRESQL: Final = os.environ.get("PRESSROOM_TEST_POSTGRESQL", "postgresql://postgres@127.0.0.1:5432/test")
REDIS: Final = "redis://127.0.0.1:6379"
"""The servers that run on this machine already."""


def run_id() -> str:
    """Return the id of this run of the tests, which belongs into the name of whatever outlives a process."""
    return os.environ.setdefault(RUN_ID, secrets.token_hex(6))


def database_name(run: str, name: str) -> str:
    """Return the name of a database of a run."""
    return f"pressroom_test_{run}_{name}"


def key_prefix(run: str) -> str:
    """Return what the names of a run's keys in Redis begin with."""
    return f"test-{run}-"
