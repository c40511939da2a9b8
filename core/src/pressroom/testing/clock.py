"""A clock that only advances when a test moves it."""

from __future__ import annotations


class FrozenClock:
    """A clock with microsecond resolution that a test moves. Pass its methods to code that takes a clock function.

    The server itself always runs on real time: its limits, sessions and jobs do not read this clock.
    """

    def __init__(self, micros: int = 1_700_000_000_000_000) -> None:
        self._micros = micros

    def micros(self) -> int:
        """Return the Unix time in microseconds."""
        return self._micros

    def seconds(self) -> float:
        """Return the Unix time in seconds."""
        return self._micros / 1_000_000

    def advance(self, seconds: float) -> None:
        """Move the clock forward."""
        self._micros += round(seconds * 1_000_000)

    def advance_to(self, seconds: float) -> None:
        """Move the clock forward to a Unix time in seconds, such as one derived from `seconds`; never backwards."""
        self._micros = max(self._micros, round(seconds * 1_000_000))
