"""How many of those who see a result click it, by its position.

Positions 1 to 4 and 10 are those of the study of SISTRIX (July 2020, 80 million keywords): 28.5, 15.7, 11.0, 8.0 and
2.5 percent, and below one percent on the second page. What is between them, and the values from position 11 on, is
interpolated here so that the logarithm is a straight line. The share depends much on what else a page of results
shows: use it to compare opportunities, not to forecast.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Final

_SHARES: Final = ((1.0, 0.285), (2.0, 0.157), (3.0, 0.110), (4.0, 0.080), (10.0, 0.025), (11.0, 0.009), (20.0, 0.004))
_MIN_RATE: Final = 0.001

TARGET: Final = 3.0
"""The position that what could be won is computed for."""


def expected_ctr(position: float) -> float:
    """Return the share of impressions (0 to 1) that is usually clicked at a mean position, from 1."""
    if position <= _SHARES[0][0]:
        return _SHARES[0][1]
    for (low, high_share), (high, low_share) in pairwise(_SHARES):
        if position <= high:
            part = (position - low) / (high - low)
            return math.exp((1 - part) * math.log(high_share) + part * math.log(low_share))
    return max(_MIN_RATE, _SHARES[-1][1] * _SHARES[-1][0] / position)


def potential_clicks(impressions: int, clicks: int, position: float) -> int:
    """Return how many more clicks the same impressions would bring at position 3, or at the present one if better."""
    return max(0, round(impressions * expected_ctr(min(position, TARGET)) - clicks))
