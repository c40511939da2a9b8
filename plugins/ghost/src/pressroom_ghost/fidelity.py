"""What readers on Ghost do not get as it was written. The tests of fidelity write this module."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

FIDELITY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "task_lists": "converted: boxes are characters",
        "details": "converted: a toggle of Ghost",
    }
)
