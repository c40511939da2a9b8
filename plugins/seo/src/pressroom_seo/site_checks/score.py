"""What a site's health is as a number.

Every address starts with 1 and loses 0.3 for each critical check that finds something there, 0.05 for each warning and
0.01 for each notice, down to 0. The health of the site is the mean over its addresses. The score is 100 times that,
rounded; a check counts once for an address, however much it finds there. Addresses that only redirect, ones that
robots.txt disallows and files such as robots.txt itself count only where something was found. A site none of whose
pages was read has a score of 0.

Some things make the rest worthless, and cap the score: a first page that cannot be reached (10), search engines that
are kept out by robots.txt or by a robots.txt that fails (20), a first page with noindex (30).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from pressroom_seo.site_checks.model import Severity

LOSS: Final[Mapping[Severity, float]] = {"critical": 0.3, "warning": 0.05, "notice": 0.01}
"""What one check costs an address."""

CAPS: Final[Mapping[str, int]] = {
    "home_unreachable": 10,
    "robots_blocks_site": 20,
    "robots_txt_failing": 20,
    "home_noindex": 30,
}
"""The highest score of a site at which these checks find something."""


def health(severities: Iterable[Severity]) -> float:
    """Return what is left of an address's 1, given the severities of the checks that found something there."""
    return max(0.0, 1.0 - sum(LOSS[severity] for severity in severities))


def score(healths: Iterable[float], failed: Iterable[str]) -> int:
    """Return the score of a site, 0 to 100.

    Args:
        healths: of its addresses; a site without any has a score of 0.
        failed: ids of the checks that found something anywhere.
    """
    known = list(healths)
    whole = round(100 * sum(known) / len(known)) if known else 0
    return min([whole, *(CAPS[check] for check in failed if check in CAPS)])
