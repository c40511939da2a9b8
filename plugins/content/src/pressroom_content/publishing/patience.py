"""How long a site is waited for that is away, or does not answer."""

from __future__ import annotations

from typing import Final

PATIENCE: Final = (5.0, 30.0, 120.0, 600.0, 1800.0)
"""Seconds after which a site is tried again, each time; then it is not tried any more."""

MAX_RETRY_AFTER_SECONDS: Final = 3600.0
"""Seconds that a site may ask for with `Retry-After`; it is not waited for longer."""

SPREAD: Final = 0.25
"""The share of a pause that is added by chance, so that what failed together does not come back together."""


def pause(tries: int, chance: float) -> float | None:
    """Return the seconds to wait after so many tries before this one, or `None` where it was the last.

    `chance` is from 0 to 1.
    """
    if tries >= len(PATIENCE):
        return None
    return PATIENCE[tries] * (1 + SPREAD * chance)
