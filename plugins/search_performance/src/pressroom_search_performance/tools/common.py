"""Shared by the tools: parameters, figures in results, and error handling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from urllib.parse import urlsplit

from pressroom.sdk import BackendError, Call, CallError, Day, InvalidInput, PluginContext, Rejected
from pressroom_content.contract import SearchLimited, SiteError, Website, WebsiteId, is_below
from pydantic import BaseModel, Field

from pressroom_search_performance.connecting.store import SourceConnection, SourceConnections
from pressroom_search_performance.figures.queries import Figures
from pressroom_search_performance.figures.store import freshness
from pressroom_search_performance.host import page_of, plugin_of, sources_of, website_of
from pressroom_search_performance.sources import google
from pressroom_search_performance.sources.requesting import SourceRefused

__all__ = [
    "Count",
    "Day",
    "FigureSourceUnavailable",
    "NotConnected",
    "Period",
    "SiteFigures",
    "WebsiteId",
    "check_is_own_url",
    "connected",
    "count",
    "line",
    "percent",
    "position_of",
    "position_text",
    "searched",
    "spoken",
    "table",
]


class NotConnected(CallError):
    """The website has no connection that provides the figures; the message contains the URL to connect it at."""

    code = "not_connected"


class FigureSourceUnavailable(CallError):
    """A source of figures is unavailable, or its response is malformed."""

    code = "provider_unavailable"


class Count(BaseModel):
    """Figures."""

    clicks: int
    impressions: int
    ctr: float | None = Field(description="Clicks per impression, 0 to 1; null without impressions.")
    position: float | None = Field(
        description="Mean position from 1, weighted by impressions, to one decimal; null without impressions, or where "
        "the source has no positions."
    )


def count(figures: Figures) -> Count:
    """Return figures for a tool's result."""
    return Count(
        clicks=figures.clicks,
        impressions=figures.impressions,
        ctr=round(figures.ctr, 4) if figures.impressions else None,
        position=position_of(figures),
    )


def position_of(figures: Figures) -> float | None:
    """Return the mean position to one decimal; `None` without impressions or if the source has no positions.

    Every tool and page shows this value. Rounding it a second time could show another one.
    """
    return round(figures.position, 1) if figures.impressions and figures.position else None


def line(figures: Figures, name: str = "") -> str:
    """Format figures as a line of text."""
    text = f"{figures.clicks} clicks, {figures.impressions} impressions"
    if figures.impressions:
        text += f", CTR {percent(figures.ctr)}, position {position_text(position_of(figures))}"
    return f"{name}: {text}" if name else text


def position_text(position: float | None) -> str:
    """Format a mean position; `unknown` for `None`."""
    return "unknown" if position is None else f"{position:.1f}"


def percent(share: float) -> str:
    """Format a share (0 to 1) as a percentage."""
    return f"{share * 100:.1f} %"


@dataclass(frozen=True, slots=True)
class Period:
    """A period of days, inclusive."""

    start: date
    end: date

    @property
    def days(self) -> int:
        """Number of days."""
        return (self.end - self.start).days + 1

    def before(self) -> Period:
        """Return the preceding period of the same length."""
        return Period(self.start - timedelta(days=self.days), self.start - timedelta(days=1))

    def __str__(self) -> str:
        return f"{self.start.isoformat()} to {self.end.isoformat()}"


@dataclass(frozen=True, slots=True)
class SiteFigures:
    """A website with its search figures. `first` is the first fetched day, `last` the last final one."""

    plugin: PluginContext
    website: Website
    connection: SourceConnection
    first: date | None
    last: date | None
    incomplete: date | None

    def latest(self, days: int) -> Period:
        """Return the latest final days. Raises `NotConnected` if nothing has been fetched yet."""
        if self.last is None:
            raise NotConnected(self.waiting())
        return Period(self.last - timedelta(days=days - 1), self.last)

    def waiting(self) -> str:
        """Return the reason why there are no figures yet."""
        if self.connection.last_error:
            return (
                f"there are no figures of {self.website.url} yet: {self.connection.last_error}. "
                f"Look at {page_of(self.plugin, self.website.id)}"
            )
        return f"the figures of {self.website.url} are being fetched; call again in a few minutes"

    def notes(self, period: Period) -> list[str]:
        """Return the limitations of a period's figures, one sentence each."""
        source = sources_of(self.plugin).get(self.connection.source)
        notes = [source.note] if source is not None and source.note else []
        if self.first is not None and period.start < self.first:
            notes.append(f"Figures start on {self.first.isoformat()}.")
        if self.connection.status == "error":
            notes.append(f"Nothing new is fetched: {self.connection.last_error}")
        return notes


async def connected(call: Call, website_id: str, source: str) -> tuple[Website, SourceConnection]:
    """Return a website and its connection to a source. Raises `NotFound` and `NotConnected`."""
    website = await website_of(call, website_id)
    connection = (await SourceConnections(plugin_of(call)).of(call.caller.subject, website.id)).get(source)
    if connection is None:
        raise _missing(call, website, source)
    return website, connection


async def searched(call: Call, website_id: str, provider: str = "auto", search_type: str = "web") -> SiteFigures:
    """Return a website with its search figures, preferring Google's.

    Raises `NotFound`, `NotConnected`, `InvalidInput`, and `FigureSourceUnavailable` if the operator's credential is
    used and the website has not proven control of its URL.
    """
    plugin = plugin_of(call)
    sources = sources_of(plugin)
    website = await website_of(call, website_id)
    if provider not in ("auto", *sources):
        raise InvalidInput(
            "provider", f"this server does not read {provider}; it has auto, {', '.join(sorted(sources))}"
        )
    connections = await SourceConnections(plugin).of(call.caller.subject, website.id)
    order = [google.NAME, *sorted(sources)] if provider == "auto" else [provider]
    connection = next((connections[name] for name in order if name in connections and name in sources), None)
    if connection is None:
        raise _missing(call, website, google.NAME if provider == "auto" else provider)
    if connection.uses_operators:
        with spoken(plugin, website):
            await SourceConnections(plugin).credential(connection)  # also protects stored figures
    first, last, incomplete = await freshness(plugin, connection.id, search_type)
    return SiteFigures(plugin, website, connection, first, last, incomplete)


def _missing(call: Call, website: Website, source: str) -> NotConnected:
    plugin = plugin_of(call)
    title = sources_of(plugin)[source].title if source in sources_of(plugin) else source.capitalize()
    return NotConnected(
        f"{website.url} is not connected with {title}. Ask the user to connect it at "
        f"{page_of(plugin, website.id)}, then call this tool again"
    )


def check_is_own_url(field: str, url: str, website_url: str, connection: SourceConnection) -> None:
    """Check that a URL is on the website's host, and with the operator's credential below its URL."""
    try:
        parts = urlsplit(url)
        is_own = parts.hostname == urlsplit(website_url).hostname and parts.scheme in ("http", "https")
    except ValueError:
        is_own = False
    if connection.uses_operators:
        is_own = is_own and is_below(url, website_url)
    if not is_own or not url.isprintable():
        raise InvalidInput(field, f"must be a URL of the website {website_url}")


@contextmanager
def spoken(plugin: PluginContext, website: Website) -> Iterator[None]:
    """Turn errors of a source into errors of the call.

    Raises `InvalidInput` if the source refuses the request, else `FigureSourceUnavailable`.
    """
    try:
        yield
    except SourceRefused as error:
        raise InvalidInput("", error.message) from None
    except SearchLimited as error:
        raise FigureSourceUnavailable(f"{error.message}; call again in {error.retry_after} seconds") from None
    except (Rejected, SiteError) as error:
        message = f"{error.message}. Renew the connection at {page_of(plugin, website.id)}"
        raise FigureSourceUnavailable(message) from None
    except BackendError as error:
        raise FigureSourceUnavailable(f"{error.message}; call again later") from None


def table(rows: Sequence[tuple[Mapping[str, str], Figures]]) -> str:
    """Format rows as lines of text."""
    return "\n".join(line(figures, " | ".join(keys.values())) for keys, figures in rows)
