"""A month as a grid of weeks, in a time zone."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, Self
from zoneinfo import ZoneInfo

from pressroom_content.ideas.store import Idea
from pressroom_content.publishing.overview import ScheduleEntry

WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
FIRST_YEAR: Final = 1970
LAST_YEAR: Final = 2999

_MONTH = re.compile(r"(\d{4})-(\d{2})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Month:
    """A month of a year."""

    year: int
    number: int

    @classmethod
    def read(cls, text: str, today: date) -> Self:
        """Return the month of a text such as `2026-12`, this month if it is invalid."""
        match = _MONTH.fullmatch(text)
        year, number = (int(match[1]), int(match[2])) if match else (today.year, today.month)
        if not (FIRST_YEAR <= year <= LAST_YEAR and 1 <= number <= 12):
            year, number = today.year, today.month
        return cls(year, number)

    @property
    def first(self) -> date:
        """Its first day."""
        return date(self.year, self.number, 1)

    @property
    def title(self) -> str:
        """Its name: `December 2026`."""
        return f"{self.first:%B %Y}"

    def __str__(self) -> str:
        return f"{self.year:04}-{self.number:02}"

    def moved(self, months: int) -> Month | None:
        """Return the month this many months later, or earlier; `None` beyond the years that are shown."""
        index = self.year * 12 + self.number - 1 + months
        year = index // 12
        return Month(year, index % 12 + 1) if FIRST_YEAR <= year <= LAST_YEAR else None

    @property
    def days(self) -> Sequence[date]:
        """The days of its weeks, from a Monday to a Sunday, those of its neighbours among them."""
        begin = self.first - timedelta(days=self.first.weekday())
        last = date(self.year + self.number // 12, self.number % 12 + 1, 1) - timedelta(days=1)
        end = last + timedelta(days=6 - last.weekday())
        return [begin + timedelta(days=number) for number in range((end - begin).days + 1)]

    def bounds(self, zone: ZoneInfo) -> tuple[datetime, datetime]:
        """Return when the first of its days begins, and when the last one is over, in UTC."""
        days = self.days
        begin = datetime.combine(days[0], time(), zone)
        return begin.astimezone(UTC), datetime.combine(days[-1] + timedelta(days=1), time(), zone).astimezone(UTC)


@dataclass(frozen=True, slots=True)
class Day:
    """A day with what is on it. `inside` tells that it belongs to the month rather than to its neighbours."""

    date: date
    inside: bool
    today: bool
    entries: Sequence[ScheduleEntry]
    ideas: Sequence[Idea]

    @property
    def empty(self) -> bool:
        """Whether nothing is on it."""
        return not self.entries and not self.ideas


def weeks(
    month: Month, zone: ZoneInfo, today: date, entries: Iterable[ScheduleEntry], ideas: Iterable[Idea]
) -> Sequence[Sequence[Day]]:
    """Return the weeks of a month, each with seven days."""
    by_day: dict[date, list[ScheduleEntry]] = defaultdict(list)
    due: dict[date, list[Idea]] = defaultdict(list)
    for entry in entries:
        by_day[entry.at.astimezone(zone).date()].append(entry)
    for idea in ideas:
        if idea.due is not None:
            due[idea.due].append(idea)
    days = [
        Day(day, day.month == month.number, day == today, by_day.get(day, ()), due.get(day, ())) for day in month.days
    ]
    return [days[start : start + 7] for start in range(0, len(days), 7)]
