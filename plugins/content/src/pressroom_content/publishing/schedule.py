"""What goes out when: clashes, and stretches without anything."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Final

from pressroom_content.records import Publication

CLASH: Final = timedelta(hours=1)
"""Publications of one website that are closer to each other than this take each other's readers."""

GAP_DAYS: Final = 7
"""So many days without anything are a gap."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Days on which nothing goes out; both ends belong to it."""

    begin: date
    end: date

    @property
    def days(self) -> int:
        """How many days it has."""
        return (self.end - self.begin).days + 1


def clashes(publications: Sequence[Publication]) -> dict[str, list[str]]:
    """Return, by id, the publications of the same website that go out within an hour of it."""
    found: dict[str, list[str]] = defaultdict(list)
    by_site: dict[str, list[tuple[datetime, str]]] = defaultdict(list)
    for one in publications:
        if one.publish_at is not None:
            by_site[one.website_id].append((one.publish_at, one.id))
    for moments in by_site.values():
        moments.sort()
        for (at, first), (following, second) in pairwise(moments):
            if following - at < CLASH:
                found[first].append(second)
                found[second].append(first)
    return dict(found)


def gaps(days: Sequence[date], begin: date, end: date) -> list[Gap]:
    """Return the stretches of a week and more, between two days, on which nothing goes out."""
    found: list[Gap] = []
    free_from = begin
    for day in [*sorted(set(days)), end + timedelta(days=1)]:
        if (day - free_from).days >= GAP_DAYS:
            found.append(Gap(free_from, day - timedelta(days=1)))
        free_from = max(free_from, day + timedelta(days=1))
    return found
