"""The dashboard pages with search figures, under `/dashboard/performance`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from pressroom.sdk import DashboardPage, HttpRequest, HttpResponse, NotFound, OverviewSection, PluginContext, Route
from pressroom_content.contract import Website, WebsiteRepository, content_services

from pressroom_search_performance.charts.drawing import (
    METRICS,
    country_name,
    day_text,
    draw_charts,
    legend,
    span_text,
    sparks,
)
from pressroom_search_performance.charts.figures import RANGES, USUAL, Board, Range, range_of
from pressroom_search_performance.connecting.ownership import owns
from pressroom_search_performance.connecting.store import SourceConnection, SourceConnections
from pressroom_search_performance.figures.queries import Dimension, DimensionFigures
from pressroom_search_performance.host import PAGE, root_of, sources_of, website_on_page
from pressroom_search_performance.sources import google
from pressroom_search_performance.tools.common import Period

PATH: Final = "/dashboard/performance"
WEBSITES: Final = 20
"""Number of websites on one page of the list."""

_OVERVIEW_ROWS: Final = 5

ROWS: Final = 50
"""Number of rows on one page of a full table."""

_SHOWN: Final = 10
_MAX_PAGES: Final = 1000
_TABLES: Final[Mapping[str, tuple[Dimension, str, str]]] = {
    "queries": ("query", "Queries", "Query"),
    "pages": ("page", "Pages", "Page"),
    "countries": ("country", "Countries", "Country"),
    "devices": ("device", "Devices", "Device"),
}


def routes(plugin: PluginContext) -> Sequence[Route]:
    """Return the routes of the pages."""
    pages = PerformancePages(plugin)
    page = DashboardPage("Search performance", group="Search")
    return [
        Route(PATH, pages.websites, page=page),
        Route(f"{PATH}/<website_id>", pages.website, page=page),
        Route(f"{PATH}/<website_id>/<table>", pages.table, page=page),
    ]


def sections(plugin: PluginContext) -> Sequence[OverviewSection]:
    """Return the overview section with the clicks of an account's websites."""
    return [OverviewSection("clicks", PerformancePages(plugin).overview, position=20)]


class PerformancePages:
    """Request handlers of the pages with search figures."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin

    async def websites(self, request: HttpRequest) -> HttpResponse:
        """List the websites with their clicks of the last four weeks. Raises `InvalidInput` for an invalid cursor."""
        connections = await SourceConnections(self._plugin).every(request.subject)
        rows, cursor = await self._rows(request.subject, connections, WEBSITES, request.query.get("cursor") or None)
        return self._fragment(request, "websites.html", rows=rows, next_cursor=cursor, older="cursor" in request.query)

    async def overview(self, subject: str) -> str:
        """Return the section with four weeks of clicks per website, or an empty string if no website has figures."""
        connections = await SourceConnections(self._plugin).every(subject)
        rows, _ = await self._rows(subject, connections, _OVERVIEW_ROWS) if connections else ([], None)
        visible = [row for row in rows if row["state"] in ("there", "broken") and "spark" in row]
        return self._render("overview.html", rows=visible) if visible else ""

    async def website(self, request: HttpRequest) -> HttpResponse:
        """Show a website's figures as charts and tables. Raises `NotFound`."""
        website, board, sources = await self._board_of(request)
        selected = range_of(request.query.get("days", ""))
        if board is None or board.site.last is None:
            return self._empty(request, website, board)
        report = await board.report(selected)
        link = self._link(website, board, sources)
        tables = [
            {
                "key": key,
                "title": title,
                "head": head,
                "rows": _ranked(dimension, rows[:_SHOWN], website),
                "more": link(selected, f"/{key}") if len(rows) > _SHOWN else "",
            }
            for key, (dimension, title, head) in _TABLES.items()
            if (rows := await self._dimension_rows(board, report.period, dimension, _SHOWN + 1))
        ]
        return self._fragment(
            request,
            "website.html",
            website=website,
            ranges=[(option.title, link(option), option is selected) for option in RANGES],
            sources=[
                (self._title(name), self._link(website, board, sources, name)(selected), name) for name in sources
            ],
            board=board,
            report=report,
            wanted=selected,
            drawn=draw_charts(report, selected),
            legend=legend(report, selected),
            metrics=METRICS,
            span_text=span_text,
            day_text=day_text,
            tables=tables,
            notes=_notes(board, report.missing, truncated=report.truncated, selected=selected),
            source=self._title(board.site.connection.source),
            connect=self._connect(website),
            californian=board.site.connection.source == google.NAME,
        )

    async def table(self, request: HttpRequest) -> HttpResponse:
        """Show one table with all its rows, paginated. Raises `NotFound`."""
        key = request.path_params["table"]
        if key not in _TABLES:
            raise NotFound("there is no such table; it may be queries, pages, countries or devices")
        dimension, title, head = _TABLES[key]
        website, board, sources = await self._board_of(request)
        selected = range_of(request.query.get("days", ""))
        if board is None or board.site.last is None:
            return self._empty(request, website, board)
        number, period = _number(request.query.get("page", "")), board.site.latest(selected.days)
        rows = await self._dimension_rows(board, period, dimension, ROWS + 1, (number - 1) * ROWS)
        link = self._link(website, board, sources)
        return self._fragment(
            request,
            "table.html",
            website=website,
            title=title,
            head=head,
            rows=_ranked(dimension, rows[:ROWS], website),
            metrics=METRICS,
            period=f"{day_text(period.start)} to {day_text(period.end)}",
            ranges=[(option.title, link(option, f"/{key}"), option is selected) for option in RANGES],
            back=link(selected),
            number=number,
            newer=link(selected, f"/{key}", number - 1) if number > 1 else "",
            further=link(selected, f"/{key}", number + 1) if len(rows) > ROWS and number < _MAX_PAGES else "",
        )

    async def _board_of(self, request: HttpRequest) -> tuple[Website, Board | None, Sequence[str]]:
        """Return the requested website, its figures or `None`, and the names of its connected sources."""
        website = await website_on_page(self._plugin, request, request.path_params["website_id"])
        connections = self._usable(website, await SourceConnections(self._plugin).of(request.subject, website.id))
        names = list(connections)
        if not names:
            return website, None, names
        requested = request.query.get("source", "")
        connection = connections[requested if requested in connections else names[0]]
        return website, await Board.open(self._plugin, website, connection), names

    @property
    def _websites(self) -> WebsiteRepository:
        return content_services(self._plugin).websites

    def _usable(self, website: Website, connections: Mapping[str, SourceConnection]) -> dict[str, SourceConnection]:
        """Return the connections whose source this server offers, in the order that the tools prefer.

        Figures fetched with the operator's credential are only for websites that have proven control of their URL.
        """
        order = [google.NAME, *sorted(sources_of(self._plugin))]
        offered = sources_of(self._plugin)
        usable = {name: connections[name] for name in order if name in connections and name in offered}
        return {
            name: connection
            for name, connection in usable.items()
            if not connection.uses_operators or owns(website, connection.property)
        }

    async def _rows(
        self, subject: str, every: Sequence[SourceConnection], limit: int, cursor: str | None = None
    ) -> tuple[list[dict[str, Any]], str | None]:
        websites, next_cursor = await self._websites.page(subject, limit=limit, cursor=cursor)
        rows = []
        for website in websites:
            connections = self._usable(
                website, {connection.source: connection for connection in every if connection.website_id == website.id}
            )
            rows.append(await self._row(website, next(iter(connections.values()), None)))
        return rows, next_cursor

    async def _row(self, website: Website, connection: SourceConnection | None) -> dict[str, Any]:
        row: dict[str, Any] = {"website": website, "state": "none", "connect": self._connect(website)}
        if connection is None:
            return row
        board = await Board.open(self._plugin, website, connection)
        if board.site.last is None:
            return {**row, "state": "broken" if connection.status == "error" else "waiting"}
        return {
            **row,
            **sparks(await board.latest(USUAL.days), compared=board.site.first),
            "state": "broken" if connection.status == "error" else "there",
            "last": day_text(board.site.last),
        }

    async def _dimension_rows(
        self, board: Board, period: Period, dimension: Dimension, limit: int, offset: int = 0
    ) -> Sequence[DimensionFigures]:
        rows = await board.rows(period, dimension, limit, offset)
        # A source without this dimension yields a single row with an empty key.
        return [] if not offset and all(not row.keys[dimension] for row in rows) else rows

    def _empty(self, request: HttpRequest, website: Website, board: Board | None) -> HttpResponse:
        return self._fragment(
            request,
            "empty.html",
            website=website,
            connect=self._connect(website),
            sources=[source.title for source in sources_of(self._plugin).values()],
            problem=board.site.connection.last_error if board else "",
            connected=board is not None,
            source=self._title(board.site.connection.source) if board else "",
        )

    def _title(self, source: str) -> str:
        return sources_of(self._plugin)[source].title

    def _connect(self, website: Website) -> str:
        return f"{root_of(self._plugin)}{PAGE}/{website.id}"

    def _link(self, website: Website, board: Board, sources: Sequence[str], source: str = "") -> Any:
        """Return a function that builds URLs of a website's pages, for the current source or another one."""
        source_name = source or board.site.connection.source

        def link(selected: Range, subpath: str = "", number: int = 1) -> str:
            query = {"days": selected.key}
            if sources and source_name != sources[0]:
                query["source"] = source_name
            if number > 1:
                query["page"] = str(number)
            return f"{root_of(self._plugin)}{PATH}/{website.id}{subpath}?{urlencode(query)}"

        return link

    def _fragment(self, request: HttpRequest, template: str, **values: Any) -> HttpResponse:
        text = self._render(template, owns=request.role == "owner", **values)
        return HttpResponse(text.encode("utf-8", "replace"), headers={"Cache-Control": "no-store"})

    def _render(self, template: str, **values: Any) -> str:
        values |= {"root": root_of(self._plugin), "path": root_of(self._plugin) + PATH}
        return self._plugin.templates.render(template, **values)


def _ranked(dimension: Dimension, rows: Sequence[DimensionFigures], website: Website) -> Sequence[dict[str, Any]]:
    """Return the rows for a table template, with display names, links and bar lengths."""
    max_clicks = max((row.figures.clicks for row in rows), default=0)
    entries = []
    for row in rows:
        key = row.keys[dimension]
        name, href = key, ""
        if dimension == "country":
            name = country_name(key)
        elif dimension == "device":
            name = key.capitalize()
        elif dimension == "page":
            name, href = _page_name(key, website.url), key if key.startswith(("https://", "http://")) else ""
        bar = row.figures.clicks if dimension in ("country", "device") else None
        entries.append(
            {"name": name or "(unknown)", "href": href, "figures": row.figures, "bar": bar, "most": max_clicks}
        )
    return entries


def _page_name(url: str, website_url: str) -> str:
    """Return the part of a page's URL after the URL of its website, or the whole URL if it is elsewhere."""
    path = url.removeprefix(website_url.rstrip("/"))
    return path if path.startswith("/") else url


def _notes(board: Board, missing: int, *, truncated: bool, selected: Range) -> Sequence[str]:
    site = board.site
    notes = [*site.notes(site.latest(selected.days))]
    before = site.latest(selected.days).before()
    if site.first is not None and before.start < site.first and not any("begin" in note for note in notes):
        notes.append(
            f"Figures start on {day_text(site.first)}, too late for a comparison with the {selected.title} before."
        )
    if missing and site.first is not None and site.first <= site.latest(selected.days).start:
        days = "1 day is" if missing == 1 else f"{missing} days are"
        notes.append(f"{days} missing; the charts have a gap until the figures are fetched.")
    if truncated:
        notes.append(
            "The source has more rows than are stored, so the tables leave out the rarest. Totals are complete."
        )
    return notes


def _number(text: str) -> int:
    return min(max(1, int(text)), _MAX_PAGES) if text.isascii() and text.isdigit() and len(text) < 6 else 1
