"""The dashboard's list of articles: `/dashboard/articles`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlencode

from pressroom.sdk import DashboardPage, HttpRequest, HttpResponse, PluginContext, Route

from pressroom_content.articles import listing
from pressroom_content.articles.analysis import scorer_of
from pressroom_content.pages.connect import fragment, root_of
from pressroom_content.pages.shown import moment, score_kind, state
from pressroom_content.publishing.overview import Placement, placements
from pressroom_content.websites.store import read_names

PATH: Final = "/dashboard/articles"
PAGE_SIZE: Final = 50
STATUSES: Final = (
    ("", "All except trash"),
    ("draft", "Drafts"),
    ("scheduled", "Scheduled"),
    ("published", "Published"),
    ("trashed", "Trash"),
)

_MAX_QUERY_LENGTH: Final = 300


class ArticleList:
    """Lists an account's articles."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin

    def routes(self) -> Sequence[Route]:
        """Return the route."""
        return [Route(PATH, self.articles, page=DashboardPage("Articles", group="Content"))]

    async def articles(self, request: HttpRequest) -> HttpResponse:
        """List the articles that match. Raises `InvalidInput` for an invalid cursor."""
        cursor = request.query.get("cursor", "")
        async with self._plugin.services.database.reading() as session:
            names = await read_names(session, request.subject)
            filters = _filters(request.query, names)
            entries, following = await listing.page(
                session,
                request.subject,
                listing.ArticleFilter(
                    website_id=filters["website"] or None, status=filters["status"] or None, query=filters["q"]
                ),
                limit=PAGE_SIZE,
                cursor=cursor or None,
            )
            by_article = await placements(session, request.subject, [entry.id for entry in entries])
        now = datetime.now(UTC)
        return fragment(
            "articles.html",
            self._plugin,
            request,
            rows=[_row(entry, by_article.get(entry.id, ()), names, now) for entry in entries],
            scored=scorer_of(self._plugin) is not None,
            path=root_of(self._plugin) + PATH,
            chosen=filters,
            filtered=any(filters.values()),
            statuses=STATUSES,
            websites=sorted(names.items(), key=lambda pair: pair[1].casefold()),
            newest="?" + urlencode(filters) if cursor else "",
            older="?" + urlencode({**filters, "cursor": following}) if following else "",
        )


def _filters(query: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """Return the search text and the filters; unknown values are ignored."""
    status, website = query.get("status", ""), query.get("website", "")
    return {
        "q": query.get("q", "").replace("\0", "").strip()[:_MAX_QUERY_LENGTH],
        "status": status if status in dict(STATUSES) else "",
        "website": website if website in names else "",
    }


def _row(
    entry: listing.ArticleEntry, article_placements: Sequence[Placement], names: Mapping[str, str], now: datetime
) -> Mapping[str, Any]:
    where = {placement.website_id: placement for placement in article_placements}
    if entry.website_id is not None:
        where.setdefault(entry.website_id, Placement(entry.website_id, "", ""))
    sites = [
        (names.get(placement.website_id, "a disconnected website"), _web_link(placement.link))
        for placement in where.values()
    ]
    return {
        "id": entry.id,
        "title": entry.title,
        "state": state(entry.status),
        "sites": sites,
        "score": entry.score,
        "score_kind": score_kind(entry.score) if entry.score is not None else "",
        "words": f"{entry.word_count:,}",
        "changed": moment(entry.updated_at, now),
    }


def _web_link(url: str) -> str:
    """Return a URL if it is safe in a link, or else an empty text: a site can return anything."""
    return url if url.startswith(("https://", "http://", "/")) and not url.startswith("//") else ""
