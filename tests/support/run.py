"""One run of the tests: its id, and the names derived from it for resources that outlive a process."""

from __future__ import annotations

import os
import secrets
from typing import Final

RUN_ID: Final = "TESTS_OF_PRESSROOM"
"""The environment variable with the id of the run."""

POSTGRESQL: Final = os.environ.get("PRESSROOM_TEST_POSTGRESQL", "postgresql://postgres@127.0.0.1:5432/test")
REDIS: Final = "redis://127.0.0.1:6379"
"""Servers that already run on this machine."""


def run_id() -> str:
    """Return the id of this test run, to be part of the name of every resource that outlives a process."""
    return os.environ.setdefault(RUN_ID, secrets.token_hex(6))


def database_name(run: str, name: str) -> str:
    """Return the name of a database of a run."""
    return f"pressroom_test_{run}_{name}"


def key_prefix(run: str) -> str:
    """Return the prefix of a run's keys in Redis."""
    return f"test-{run}-"
