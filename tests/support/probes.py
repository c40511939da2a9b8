"""Disable slipcover's probes in executed lines before Python 3.12, where they take a third of the run time.

A pytest plugin. Slipcover itself creates new code and replaces the old in all functions. That is slow, and misses
functions that it cannot find, such as decorated ones. This plugin patches the bytecode in place: slipcover puts a `NOP`
in front of each probe, with the probe's length as its argument, so changing it to a `JUMP_FORWARD` skips the probe.
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
"""A line, or a branch from one line to another."""


class Probes:
    """The probes in the code of this process. `measured` is slipcover's instance."""

    def __init__(self, measured: Any) -> None:
        self._measured = measured
        self._places: defaultdict[str, dict[_Label, list[int]]] = defaultdict(dict)
        self._known = 0

    def take_out(self) -> None:
        """Record the lines executed since the last call, and disable their probes."""
        self._add_new_code()
        measured = self._measured
        with measured.lock:
            for file, labels in measured._get_newly_seen().items():
                measured.all_seen[file] |= labels
                addresses = self._places[file]
                for label in labels:
                    for address in addresses.pop(label, ()):
                        ctypes.memset(address, _SKIP, 1)

    def _add_new_code(self) -> None:
        index: dict[CodeType, list[tuple[int, _Label]]] = self._measured.code2index
        if len(index) == self._known:
            return
        for code, probes in islice(index.items(), self._known, None):
            addresses = self._places[code.co_filename]
            # Instructions follow the fixed part of the code object (CPython 3.11, `PyCodeObject`).
            first = id(code) + CodeType.__basicsize__
            for offset, label in probes:
                address = first + offset
                assert ctypes.c_ubyte.from_address(address).value == _NOP, "slipcover makes other probes than expected"
                addresses.setdefault(label, []).append(address)
        self._known = len(index)

    def pytest_runtest_logreport(self) -> None:
        self.take_out()


def pytest_configure(config: pytest.Config) -> None:
    measured = instance()
    # From Python 3.12 on the interpreter reports executed lines itself.
    if hasattr(measured, "deinstrument_seen"):
        config.pluginmanager.register(Probes(measured))
