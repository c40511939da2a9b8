"""Takes slipcover's probes out of lines that were passed, now and then: they cost a sixth of what code takes.

A plugin of pytest. Each time walks all modules, so it happens after some tests, after twice as many, and so on.
"""

from __future__ import annotations

from typing import Any, Final

import pytest

from support.measuring import instance

_FIRST: Final = 16
"""After how many tests it happens first."""


class _Probes:
    def __init__(self, measured: Any) -> None:
        self._measured = measured
        self._tests = 0
        self._next = _FIRST

    def pytest_runtest_logfinish(self) -> None:
        self._tests += 1
        if self._tests == self._next:
            self._next *= 2
            self._measured.deinstrument_seen()


def pytest_configure(config: pytest.Config) -> None:
    measured = instance()
    # From Python 3.12 on the interpreter itself tells which lines were passed.
    if hasattr(measured, "deinstrument_seen"):
        config.pluginmanager.register(_Probes(measured))
