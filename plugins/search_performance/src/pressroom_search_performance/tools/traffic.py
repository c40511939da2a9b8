"""Tool for the visits of a website."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final, Literal

import structlog
from pressroom.sdk import (
    Annotations,
    BackendError,
    Call,
    CallError,
    Integer,
    InvalidInput,
    Params,
    PluginContext,
    PluginError,
    Rejected,
    ToolResult,
    mcp_tool,
)
from pressroom_content.contract import SiteError
from pydantic import BaseModel, Field

from pressroom_search_performance.connecting.store import SourceConnection, SourceConnections
from pressroom_search_performance.contract import AnalyticsSource, By, TrafficQuestion, Visits
from pressroom_search_performance.host import analytics_of, page_of, plugin_of, website_of
from pressroom_search_performance.tools.common import FigureSourceUnavailable, NotConnected, WebsiteId, percent, spoken

log = structlog.get_logger()

TIMEOUT_SECONDS: Final = 15.0
"""Timeout for the visits in an article's figures, in seconds."""

_DAYS: Final[Mapping[str, int]] = {"7d": 7, "28d": 28, "90d": 90, "12mo": 365}


class TrafficParams(Params):
    """Which visits."""

    website_id: WebsiteId
    period: Literal["7d", "28d", "90d", "12mo"] = Field(
        default="28d", description="Days until yesterday; 12mo: 365 days, dates by month."
    )
    by: By = Field(default="page", description="How rows are grouped.")
    limit: Integer = Field(default=50, ge=1, le=200, description="Maximum number.")


class TrafficOut(BaseModel):
    """What was counted; null where the analytics does not tell."""

    visitors: int | None
    visits: int | None
    pageviews: int | None


class Totals(TrafficOut):
    """All visits of the period."""

    bounce_rate: float | None = Field(description="Share of visits with one page, 0 to 1.")
    visit_seconds: float | None = Field(description="How long a visit took on average.")


class TrafficRow(TrafficOut):
    """Visits of one page, source, country, device or date."""

    key: str = Field(description="Path, source, country (ISO 3166-1), device or date. May be empty: not known.")


class TrafficFreshness(BaseModel):
    """Which days these are, and how recent."""

    start_date: str
    end_date: str = Field(description="Yesterday in UTC: today is left out, since it has not ended.")
    asked_at: datetime = Field(description="When the analytics service was queried; its figures are not stored here.")


class TrafficResult(BaseModel):
    """The result of `get_traffic_stats`."""

    totals: Totals
    rows: list[TrafficRow] = Field(description="Most visitors first; dates with the newest first.")
    truncated: bool = Field(description="Whether there are more rows.")
    provider: str
    freshness: TrafficFreshness


@mcp_tool(
    name="get_traffic_stats",
    title="Visits",
    description=(
        "Returns visitors, visits and page views of a website from its connected analytics, such as Plausible, from "
        "all sources; for clicks in Google or Bing call get_search_performance. Unknown values are null; do not "
        "compare figures from different sources."
    ),
    result=TrafficResult,
    annotations=Annotations(read_only=True, idempotent=True, open_world=True),
    toolsets=("performance",),
    timeout=130,
)
async def get_traffic_stats(params: TrafficParams, call: Call) -> ToolResult:
    """Return visits."""
    plugin = plugin_of(call)
    website = await website_of(call, params.website_id)
    connections = SourceConnections(plugin)
    connected = await connections.of(call.caller.subject, website.id)
    kind = next((source for name, source in analytics_of(plugin).items() if name in connected), None)
    if kind is None:
        titles = ", ".join(source.title for source in analytics_of(plugin).values())
        raise NotConnected(
            f"{website.url} is not connected with analytics ({titles}). Ask the user to connect it at "
            f"{page_of(plugin, website.id)}, then call this tool again"
        )
    connection = connected[kind.name]
    now = datetime.now(UTC)
    end = now.date() - timedelta(days=1)
    question = TrafficQuestion(
        start=end - timedelta(days=_DAYS[params.period] - 1),
        end=end,
        by=params.by,
        limit=params.limit,
        monthly=params.period == "12mo",
    )
    seconds = plugin.config.source_seconds
    with spoken(plugin, website):
        try:
            credential = await connections.credential(connection)
            with plugin.extensions.calling(f"analytics {kind.name}", kind, seconds=seconds):
                traffic = await kind.analytics.traffic(
                    connection.property, credential, question, plugin.services.fetcher
                )
        except (Rejected, SiteError) as error:
            await connections.note(connection, error.message)
            raise
        except (CallError, BackendError):
            raise
        except PluginError as error:
            if isinstance(error.__cause__, TimeoutError):
                raise FigureSourceUnavailable(f"{kind.title} did not respond within {seconds:g} seconds") from None
            raise FigureSourceUnavailable(f"{kind.title} failed; the log of the server says why") from None
        except Exception:
            log.exception("analytics failed", source=kind.name)  # the source may belong to another plugin
            raise FigureSourceUnavailable(f"{kind.title} failed; the log of the server says why") from None
    await connections.note(connection, "")
    result = TrafficResult(
        totals=_totals(traffic.totals),
        rows=[
            TrafficRow(key=key, visitors=visits.visitors, visits=visits.visits, pageviews=visits.pageviews)
            for key, visits in traffic.rows
        ],
        truncated=traffic.truncated,
        provider=kind.title,
        freshness=TrafficFreshness(
            start_date=question.start.isoformat(), end_date=question.end.isoformat(), asked_at=now
        ),
    )
    return ToolResult(_text(website.url, traffic.totals, result), result)


TOOLS: Final = (get_traffic_stats,)


@dataclass(frozen=True, slots=True)
class PageVisits:
    """Total visits of pages by metric, and the URLs that the totals leave out, each with the reason."""

    sums: dict[str, int]
    unknown: list[str]


async def visits_of_pages(
    plugin: PluginContext, user_id: str, pages: Sequence[tuple[str, str]], days: int
) -> PageVisits:
    """Return the total visits of pages over this many days until yesterday. `pages` are pairs of website ID and URL.

    Pages of websites without analytics are left out. The visits of a page whose analytics fails, or does not respond in
    time, are unknown: the caller has other figures to return.
    """
    connections, offered = SourceConnections(plugin), analytics_of(plugin)
    targets: list[tuple[str, AnalyticsSource, SourceConnection]] = []
    for website_id, url in pages:
        connected = await connections.of(user_id, website_id)
        targets += [(url, kind, connected[name]) for name, kind in offered.items() if name in connected][:1]
    end = datetime.now(UTC).date() - timedelta(days=1)
    start = end - timedelta(days=days - 1)
    sums: dict[str, int] = {}
    problems = {url: f"{kind.title} did not respond in time" for url, kind, _ in targets}
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            for url, kind, connection in targets:
                visits = await _visits_of(plugin, kind, connection, url, start, end)
                if isinstance(visits, str):
                    problems[url] = visits
                    continue
                del problems[url]
                metrics = {"visitors": visits.visitors, "visits": visits.visits, "pageviews": visits.pageviews}
                for name, value in metrics.items():
                    if value is not None:
                        sums[name] = sums.get(name, 0) + value
    except TimeoutError:
        log.info("no time left to ask analytics", pages=len(problems))
    return PageVisits(sums, [f"{url}: {problem}" for url, problem in problems.items()])


async def _visits_of(
    plugin: PluginContext, kind: AnalyticsSource, connection: SourceConnection, url: str, start: date, end: date
) -> Visits | str:
    """Return the visits of a page, or why they are unknown."""
    try:
        credential = await SourceConnections(plugin).credential(connection)
        with plugin.extensions.calling(f"analytics {kind.name}", kind, seconds=TIMEOUT_SECONDS):
            return await kind.analytics.page(connection.property, credential, url, start, end, plugin.services.fetcher)
    except (BackendError, Rejected, SiteError, InvalidInput) as error:
        return error.message
    except Exception as error:
        if isinstance(error.__cause__, TimeoutError):
            return f"{kind.title} did not respond in time"
        log.exception("analytics failed", source=kind.name)  # a failure must not affect the other figures
        return f"{kind.title} failed"


def _totals(visits: Visits) -> Totals:
    return Totals(
        visitors=visits.visitors,
        visits=visits.visits,
        pageviews=visits.pageviews,
        bounce_rate=visits.bounce_rate,
        visit_seconds=visits.seconds,
    )


def line(visits: Visits | TrafficOut) -> str:
    """Format visits as a line of text."""
    metrics = (("visitors", visits.visitors), ("visits", visits.visits), ("page views", visits.pageviews))
    return ", ".join(f"{value} {name}" for name, value in metrics if value is not None) or "nothing is known"


def _text(url: str, totals: Visits, result: TrafficResult) -> str:
    days = f"{result.freshness.start_date} to {result.freshness.end_date}"
    lines = [f"{url} in {result.provider}, {days}: {line(totals)}"]
    if totals.bounce_rate is not None:
        lines[0] += f", {percent(totals.bounce_rate)} bounced"
    lines += [f"{row.key or '(not known)'}: {line(row)}" for row in result.rows]
    if result.truncated:
        lines.append("There are more rows: raise limit, or take a shorter period.")
    return "\n".join(lines)
