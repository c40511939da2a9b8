"""The tests of `make check`: they need no browser, no other server, no network, and little time.

A pytest plugin. Tests are marked as `quick` depending on their location, the fixtures and services that they use, and
the duration of their module in `durations.json`. A quick test that requests a program or a service fails, in every run,
to keep `make check` free of them.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

import pytest

from support.needs import running_tests
from support.ordering import noted_seconds, unit_of

QUICK: Final = (
    "tests/accounts/",
    "tests/cli/",
    "tests/config/",
    "tests/dashboard/test_clients.py",
    "tests/dashboard/test_words.py",
    "tests/executors/",
    "tests/fetch/",
    "tests/http/test_return_path.py",
    "tests/http/test_sealed.py",
    "tests/jobs/",
    "tests/limits/",
    "tests/loading/",
    "tests/mcp/test_jsonrpc.py",
    "tests/mcp/test_schemas.py",
    "tests/oauth/domain/",
    "tests/observability/",
    "tests/pipeline/",
    "tests/sdk/",
    "tests/storage/",
    "tests/suite/test_downloads.py",
    "tests/testing/",
    "tests/tools_api/pages/",
    "tests/validation/",
)
"""Folders and modules whose tests are quick, except for those marked with `services`."""

MAX_SECONDS: Final = 8
"""Slower units of work, a module or tests with a shared setup, are left to `make test`."""

FIXTURES: Final = frozenset({"connection", "redis_url", "rclone", "server", "swift"})
"""Fixtures that start or use another server."""

SERVICES: Final = frozenset({"postgresql", "rclone", "redis", "swift"})
"""Parameters of tests and fixtures that select one."""


def is_quick(item: pytest.Item) -> bool:
    """Return whether a test belongs to `make check`."""
    if not item.nodeid.startswith(QUICK) or item.get_closest_marker("services") or item.get_closest_marker("browser"):
        return False
    if noted_seconds().get(unit_of(item.nodeid), 0) > MAX_SECONDS:
        return False
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    used = {value for value in parameters.values() if isinstance(value, str)}
    return not (used & SERVICES or set(getattr(item, "fixturenames", ())) & FIXTURES)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if is_quick(item):
            item.add_marker("quick")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    running_tests.append(item)
    try:
        return (yield)
    finally:
        running_tests.pop()
