"""The dashboard's pages of an article's versions: what each one changed, two of them side by side, and the way back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from pressroom.sdk import DashboardPage, HttpRequest, HttpResponse, InvalidInput, PluginContext, Route

from pressroom_content.articles import trash
from pressroom_content.articles.store import Articles
from pressroom_content.articles.versions import Version
from pressroom_content.pages.article import asked_for, head, refusal
from pressroom_content.pages.articles import PATH
from pressroom_content.pages.connect_frame import form_of, fragment, see_other
from pressroom_content.pages.shown import moment
from pressroom_content.pages.word_diff import VersionDiff, compare
from pressroom_content.records import Article

FIELD_NAMES: Final = {
    "title": "Title",
    "body": "Text",
    "body_format": "Format of the text",
    "website_id": "Website",
    "slug": "Slug",
    "excerpt": "Excerpt",
    "keyphrase": "Keyphrase",
    "synonyms": "Synonyms",
    "meta_title": "Title in search results",
    "meta_description": "Description in search results",
    "tags": "Tags",
    "categories": "Categories",
    "language": "Language",
    "canonical_url": "Original",
    "author": "Author",
    "featured_media_id": "Featured image",
    "featured_alt": "Alt text of the featured image",
}
ORIGIN: Final = "the dashboard"


class VersionPages:
    """Shows versions of articles, and brings older ones back."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin

    def routes(self) -> Sequence[Route]:
        """Return the URLs."""
        return [
            Route(f"{PATH}/<id>/versions", self.versions, page=DashboardPage("Versions of an article")),
            Route(
                f"{PATH}/<id>/versions/<version>",
                self.version,
                ("GET", "POST"),
                DashboardPage("Restore a version", {"": "restore_content"}),
            ),
        ]

    async def versions(self, request: HttpRequest) -> HttpResponse:
        """List the versions, and show what differs between two of them. Raises `NotFound`."""
        article = await asked_for(self._plugin, request)
        found = await trash.listed_versions(self._plugin, request.subject, article.id)
        kept = [one.version for one in found]
        b = _number(request.query.get("b"), kept, article.version)
        a = _number(request.query.get("a"), kept, max([one for one in kept if one < b], default=b))
        a, b = min(a, b), max(a, b)
        now = datetime.now(UTC)
        comparison = await self._compared(article, a, b) if a != b else None
        return fragment(
            "article_versions.html",
            self._plugin,
            request,
            **await head(self._plugin, request, article, "versions"),
            versions=[
                {
                    "version": one.version,
                    "at": moment(one.created_at, now),
                    "by": one.origin,
                    "note": _note(one, is_first=one.version == kept[-1]),
                    "lines": (one.added, one.removed),
                }
                for one in found
            ],
            a=a,
            b=b,
            comparison=comparison,
            field_names=FIELD_NAMES,
            message=_done(request.query, kept),
        )

    async def version(self, request: HttpRequest) -> HttpResponse:
        """Show what restoring a version would change, and restore it. Raises `NotFound`."""
        articles = Articles(self._plugin)
        article = await asked_for(self._plugin, request)
        found = await trash.listed_versions(self._plugin, request.subject, article.id)
        number = _number(request.path_params["version"], [one.version for one in found], 0)
        older = await articles.get(request.subject, article.id, number)
        problem = ""
        if request.method == "POST":
            try:
                made = await self._restore(article, older, form_of(request).get("newest", ""))
            except InvalidInput as error:
                problem = refusal(error)
            else:
                back = f"{PATH}/{article.id}/versions?restored={older.version}&a={article.version}&b={made.version}"
                return see_other(self._plugin, back)
        return fragment(
            "article_restore.html",
            self._plugin,
            request,
            status=400 if problem else 200,
            **await head(self._plugin, request, article, "versions"),
            older=older,
            at=next(moment(one.created_at, datetime.now(UTC)) for one in found if one.version == number),
            comparison=await self._compared(article, article.version, older.version),
            field_names=FIELD_NAMES,
            problem=problem,
        )

    async def _restore(self, article: Article, older: Article, newest: str) -> Article:
        """Restore a version, unless there is a newer one than the person saw. Raises `InvalidInput`."""
        if newest != str(article.version):
            raise InvalidInput("", "the article was changed meanwhile; look at the differences again")
        return await trash.restore(self._plugin, article.user_id, article.id, older.version, origin=ORIGIN)

    async def _compared(self, article: Article, a: int, b: int) -> VersionDiff:
        articles = Articles(self._plugin)
        before = await articles.get(article.user_id, article.id, a)
        after = await articles.get(article.user_id, article.id, b)
        run = self._plugin.services.workers.run
        return await run(compare, before, after, owner=article.user_id, what="the comparison")


def _number(text: str | None, kept: Sequence[int], otherwise: int) -> int:
    """Return the number of a version that is kept, whatever a URL says."""
    known = {str(number): number for number in kept}
    return known.get(text or "", otherwise)


def _note(one: Version, *, is_first: bool) -> str:
    """Return what a version changed, in words."""
    if not one.changed:
        return "First version" if is_first else "No field changed"
    names = [FIELD_NAMES.get(name, name) for name in one.changed]
    return f"Changed: {', '.join([names[0], *(name[:1].lower() + name[1:] for name in names[1:])])}"


def _done(query: Mapping[str, str], kept: Sequence[int]) -> str:
    restored = query.get("restored", "")
    if not restored.isascii() or not restored.isdecimal() or len(restored) > 9:
        return ""
    return f"Version {restored} is back as version {kept[0]}. Live posts stay as they are until you update them."
