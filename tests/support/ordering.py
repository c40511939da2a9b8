"""Schedule tests on workers: tests with a shared, slow setup stay together, and the slowest start first.

A pytest plugin. With `--dist loadscope` a unit of work is a module, or one of `TOGETHER`. Units are ordered by their
duration in `durations.json`, longest first, so that all workers finish at about the same time. Rewrite that file with
`--note-durations` after a change of more than a few seconds.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

DURATIONS: Final = Path(__file__).parents[1] / "durations.json"

TOGETHER: Final = (
    "tests/storage/files/",
    "tests/mcp/clients/",
    "tests/mcp/conformance/",
    "tests/plugins/content/articles/",
    "tests/plugins/content/pages/",
    "tests/plugins/ghost/",
    "tests/plugins/images/",
    "tests/plugins/search_performance/",
    "tests/plugins/seo/tools/",
    "tests/plugins/wordpress/",
)
"""Folders whose tests share a setup that takes long to start."""

_NOTED_SECONDS: Final = 1.0
"""Minimum duration to be recorded. Shorter units run last, ordered by name."""


def unit_of(node_id: str) -> str:
    """Return the name of a test's unit of work: a folder or a module."""
    return next((folder for folder in TOGETHER if node_id.startswith(folder)), node_id.partition("::")[0])


@cache
def noted_seconds() -> Mapping[str, int]:
    """Return the duration of each unit of work in `durations.json`, in seconds. Fast units are not recorded."""
    durations: dict[str, int] = json.loads(DURATIONS.read_text()) if DURATIONS.exists() else {}
    return durations


class LongestFirst(LoadScopeScheduling):  # type: ignore[misc]
    """Distributes units of work in the order of collection."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)


class _Durations:
    """Sums the duration of each unit of work, and writes the file at the end of the session."""

    def __init__(self) -> None:
        self._seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[unit_of(report.nodeid)] += report.duration  # type: ignore[assignment]  # a Counter of float

    def pytest_sessionfinish(self) -> None:
        durations = {unit: round(seconds) for unit, seconds in self._seconds.items() if seconds >= _NOTED_SECONDS}
        DURATIONS.write_text(json.dumps(dict(sorted(durations.items())), indent=1) + "\n")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--note-durations", action="store_true", help=f"write {DURATIONS.name} anew from this run")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--note-durations") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Durations())


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LongestFirst | None:
    # xdist's default, reordering by the number of tests, would undo the order below.
    config.option.loadscopereorder = False
    return LongestFirst(config, log) if config.getoption("dist") == "loadscope" else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    seconds = noted_seconds()
    units = {item.nodeid: unit_of(item.nodeid) for item in items}
    items.sort(key=lambda item: (-seconds.get(units[item.nodeid], 0), units[item.nodeid]))
