"""Fixtures of the scope `package` end with the folder that they are for.

A plugin of pytest. By itself it ends them with the run where folders have no `__init__.py`: whatever one test after the
other had started would then run, and look for work, until the last test is done.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

_open: list[tuple[pytest.FixtureDef[Any], Any]] = []
"""What was started, and by which request, in this order."""


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any], request: Any) -> Generator[None, object, object]:
    try:
        return (yield)
    finally:
        if fixturedef.scope == "package":
            _open.append((fixturedef, request))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Generator[None, object, object]:
    try:
        return (yield)
    finally:
        for fixture, request in reversed(_open):
            if nextitem is None or not nextitem.nodeid.startswith(f"{fixture.baseid}/"):
                _open.remove((fixture, request))
                fixture.finish(request)
