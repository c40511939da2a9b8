"""Which worker runs what, and when: tests that share something stay together, and what takes longest comes first.

A plugin of pytest. With `--dist loadscope` a unit of work is a module, or one of `TOGETHER`. Units are handed out in
the order of what they took when `durations.json` was written, longest first, so that no worker ends long before the
others. Write that file again with `--note-durations`, after a change of more than a few seconds.
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
"""Folders whose tests share what takes long to start."""

_NOTED_SECONDS: Final = 1.0
"""What takes less goes last, in any order."""


def unit_of(node_id: str) -> str:
    """Return the name of the unit of work that a test belongs to: a folder or a module."""
    return next((folder for folder in TOGETHER if node_id.startswith(folder)), node_id.partition("::")[0])


@cache
def noted_seconds() -> Mapping[str, int]:
    """Return what each unit of work took when `durations.json` was written, in seconds; it leaves out the quickest."""
    noted: dict[str, int] = json.loads(DURATIONS.read_text()) if DURATIONS.exists() else {}
    return noted


class LongestFirst(LoadScopeScheduling):  # type: ignore[misc]
    """Hands out units of work in the order in which they were collected."""

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)


class _Durations:
    """Adds up what each unit of work takes, and writes it down in the end."""

    def __init__(self) -> None:
        self._seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[unit_of(report.nodeid)] += report.duration  # type: ignore[assignment]  # a Counter of float

    def pytest_sessionfinish(self) -> None:
        noted = {unit: round(seconds) for unit, seconds in self._seconds.items() if seconds >= _NOTED_SECONDS}
        DURATIONS.write_text(json.dumps(dict(sorted(noted.items())), indent=1) + "\n")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--note-durations", action="store_true", help=f"write {DURATIONS.name} anew from this run")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--note-durations") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Durations())


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LongestFirst | None:
    # Reordering by the number of tests, xdist's default, would undo the order below.
    config.option.loadscopereorder = False
    return LongestFirst(config, log) if config.getoption("dist") == "loadscope" else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    seconds = noted_seconds()
    units = {item.nodeid: unit_of(item.nodeid) for item in items}
    items.sort(key=lambda item: (-seconds.get(units[item.nodeid], 0), units[item.nodeid]))
