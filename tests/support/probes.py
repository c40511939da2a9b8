"""Takes slipcover's probes out of lines that were passed, before Python 3.12: they cost a third of what code takes.

A plugin of pytest. Slipcover itself makes new code and looks for all functions that run the old one. That takes long,
and misses what it cannot find, such as decorated functions. Here the code is changed where it lies: slipcover puts a
`NOP` in front of each probe whose argument is the length of what follows, so that as a `JUMP_FORWARD` it skips the
probe.
"""

from __future__ import annotations

import ctypes
import dis
from collections import defaultdict
from itertools import islice
from types import CodeType
from typing import Any, Final

import pytest

from support.measuring import instance

_NOP: Final = dis.opmap["NOP"]
_SKIP: Final = dis.opmap["JUMP_FORWARD"]

_Label = int | tuple[int, int]
"""A line, or a branch from a line to another one."""


class Probes:
    """The probes in the code of this process. `measured` is slipcover's instance."""

    def __init__(self, measured: Any) -> None:
        self._measured = measured
        self._places: defaultdict[str, dict[_Label, list[int]]] = defaultdict(dict)
        self._known = 0

    def take_out(self) -> None:
        """Note what was passed since the last time, and have it pass no probe again."""
        self._add_new_code()
        measured = self._measured
        with measured.lock:
            for file, labels in measured._get_newly_seen().items():
                measured.all_seen[file] |= labels
                places = self._places[file]
                for label in labels:
                    for place in places.pop(label, ()):
                        ctypes.memset(place, _SKIP, 1)

    def _add_new_code(self) -> None:
        index: dict[CodeType, list[tuple[int, _Label]]] = self._measured.code2index
        if len(index) == self._known:
            return
        for code, found in islice(index.items(), self._known, None):
            places = self._places[code.co_filename]
            # Instructions follow what all code objects have (CPython 3.11, `PyCodeObject`).
            first = id(code) + CodeType.__basicsize__
            for offset, label in found:
                place = first + offset
                assert ctypes.c_ubyte.from_address(place).value == _NOP, "slipcover makes other probes than expected"
                places.setdefault(label, []).append(place)
        self._known = len(index)

    def pytest_runtest_logreport(self) -> None:
        self.take_out()


def pytest_configure(config: pytest.Config) -> None:
    measured = instance()
    # From Python 3.12 on the interpreter itself tells which lines were passed.
    if hasattr(measured, "deinstrument_seen"):
        config.pluginmanager.register(Probes(measured))
