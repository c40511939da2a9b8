"""The thickness of what frames a box."""

from __future__ import annotations

from typing import Final, NamedTuple


class Edges(NamedTuple):
    """The thickness of a frame on its four sides, in pixels."""

    top: float = 0.0
    right: float = 0.0
    bottom: float = 0.0
    left: float = 0.0

    @property
    def across(self) -> float:
        """Left and right together."""
        return self.left + self.right

    @property
    def down(self) -> float:
        """Top and bottom together."""
        return self.top + self.bottom

    def plus(self, other: Edges) -> Edges:
        """Return both frames together."""
        return Edges(self.top + other.top, self.right + other.right, self.bottom + other.bottom, self.left + other.left)


NO_EDGES: Final = Edges()
