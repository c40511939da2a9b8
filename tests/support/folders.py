"""Finish fixtures of scope `package` after the last test of their folder.

A pytest plugin. If folders have no `__init__.py`, pytest alone finishes these fixtures at the end of the run: servers
started for different tests would then keep running, and looking for work, until the last test is done.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

_open: list[tuple[pytest.FixtureDef[Any], Any]] = []
"""Active fixtures with the requests that set them up, in order."""


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
