"""Time that stands still until a test moves it."""


class Clock:
    """A clock of whole microseconds; `seconds` reads it as seconds."""

    def __init__(self, micros: int = 1_700_000_000_000_000) -> None:
        self._micros = micros

    def micros(self) -> int:
        return self._micros

    def seconds(self) -> float:
        return self._micros / 1_000_000

    def advance(self, seconds: float) -> None:
        self._micros += round(seconds * 1_000_000)

    def advance_to(self, seconds: float) -> None:
        """Move to a time that `seconds` or a sum of it gave."""
        self._micros = max(self._micros, round(seconds * 1_000_000))
