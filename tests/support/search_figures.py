"""Insert search figures into the tables of a running host, as if they had been fetched."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from pressroom.sdk import PluginContext
from pressroom.testing import RunningHost
from pressroom_content.records import Website
from pressroom_content.websites.store import Websites
from pressroom_search_performance.connecting.store import SourceConnection, SourceConnections
from pressroom_search_performance.tables import DayRow, FigureRow
from sqlalchemy import insert

CONFIG: Final[Mapping[str, Any]] = {
    "builtin_plugins": False,
    "plugins": {"content": {}, "search_performance": {}},
}
LAG: Final = timedelta(days=3)


def last_day() -> date:
    """Return the last day with final figures."""
    return datetime.now(ZoneInfo("America/Los_Angeles")).date() - LAG


@dataclass
class Day:
    """The figures of a day; rows are (grain, keys, clicks, impressions, position)."""

    day: date
    final: bool = True
    truncated: bool = False
    rows: list[tuple[str, Mapping[str, str], int, int, float]] = field(default_factory=list)

    def add(self, grain: str, clicks: int, impressions: int, position: float, **keys: str) -> Day:
        """Add a row, and return the day."""
        self.rows.append((grain, keys, clicks, impressions, position))
        return self


def plugin_of(host: RunningHost) -> PluginContext:
    """Return the plugin's context."""
    return host.host.compiled.plugins.contexts["search_performance"]


def add_website(host: RunningHost, user_id: str, name: str = "The garden blog") -> Website:
    """Create a built-in site for an account."""
    websites = Websites(host.host.compiled.plugins.contexts["content"])
    return host.run(websites.add(user_id, "builtin", name=name, url="", credential={}))


def connect(host: RunningHost, user_id: str, website: Website, source: str = "google") -> SourceConnection:
    """Connect a website, without fetching anything."""
    connections = SourceConnections(plugin_of(host))
    return host.run(
        connections.connect(
            user_id,
            website.id,
            source,
            site_url=f"{website.url}/",
            credential={"refresh_token": "none"},
            fetched=False,
        )
    )


def write(host: RunningHost, connection: SourceConnection, days: Iterable[Day]) -> None:
    """Insert days into the tables."""
    host.run(_write(host, connection, [*days]))


async def _write(host: RunningHost, connection: SourceConnection, days: Sequence[Day]) -> None:
    common = {"connection_id": connection.id, "search_type": "web"}
    empty = {"page": "", "query": "", "country": "", "device": ""}
    rows = [
        {
            **common,
            **empty,
            **keys,
            "day": day.day,
            "grain": grain,
            "clicks": clicks,
            "impressions": impressions,
            "position": position,
        }
        for day in days
        for grain, keys, clicks, impressions, position in day.rows
    ]
    async with host.host.database.writing() as session:
        session.add_all(
            DayRow(**common, day=day.day, final=day.final, truncated=day.truncated, fetched_at=datetime.now(UTC))
            for day in days
        )
        await session.flush()
        for start in range(0, len(rows), 1000):
            await session.execute(insert(FigureRow), rows[start : start + 1000])


QUERIES: Final = (
    "how to make compost", "compost bin", "worm farm for beginners", "raised beds from old pallets", "leaf mould",
    "what not to put in compost", "hot composting temperature", "compost smells", "mulch or compost", "no dig garden",
    "composting in winter", "best time to sow carrots", "brown and green ratio", "rainwater barrel", "green manure",
)  # fmt: skip
COUNTRIES: Final = (("gbr", 40), ("usa", 27), ("irl", 12), ("deu", 9), ("aus", 7), ("nld", 4), ("zzz", 1))
DEVICES: Final = (("mobile", 62), ("desktop", 33), ("tablet", 5))


def lively(website: Website, count: int = 80, *, changing: int = 2) -> list[Day]:
    """Return days of growing figures with a weekly cycle and a long tail of queries; the last ones are not final."""
    days = []
    for number in range(count + changing):
        day = last_day() - timedelta(days=count - 1 - number)
        wave = 1 + 0.22 * math.sin(number / 7 * math.tau) + 0.12 * math.sin(number / 2.3)
        clicks = round((60 + 1.1 * number) * wave)
        impressions, position = round(clicks * (24 + 4 * math.cos(number / 9))), 9.4 - 3.1 * number / count + 0.5 * wave
        figures = Day(day, final=number < count)
        for country, share in COUNTRIES:
            for device, part in DEVICES:
                part_clicks = clicks * share * part // 10_000
                figures.add(
                    "day", part_clicks, max(part_clicks, impressions * share * part // 10_000), position,
                    country=country, device=device,
                )  # fmt: skip
        for rank, query in enumerate(QUERIES):
            weight = 1 / (rank + 2)
            figures.add(
                "query", round(clicks * weight / 3), round(impressions * weight / 3), position + rank / 3, query=query
            )
            page = f"{website.url}/{query.replace(' ', '-')}"
            figures.add(
                "page", round(clicks * weight / 3), round(impressions * weight / 3), position + rank / 4, page=page
            )
        days.append(figures)
    return days
