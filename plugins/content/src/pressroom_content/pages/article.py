"""The dashboard's pages of one article: the sanitised text as readers will see it, and its SEO score."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape, unescape
from typing import Any, Final
from urllib.parse import urlsplit

from pressroom.sdk import (
    CallError,
    DashboardPage,
    HttpRequest,
    HttpResponse,
    InvalidInput,
    NotFound,
    PluginContext,
    Route,
    sandboxed_frame,
)

from pressroom_content.articles import trash
from pressroom_content.articles.analysis import scorer_of
from pressroom_content.articles.exporting import Format, export
from pressroom_content.articles.store import Articles
from pressroom_content.config import ContentConfig
from pressroom_content.contract import ScoreCheck, SiteUnavailable
from pressroom_content.pages.articles import PATH
from pressroom_content.pages.connect import form_of, fragment, root_of, see_other
from pressroom_content.pages.shown import moment, score_kind, state
from pressroom_content.publishing.images import PostImage, inline_ids, placed, read_images
from pressroom_content.records import Article
from pressroom_content.rendering.sanitising import render
from pressroom_content.websites.store import Websites

_EMBEDDED: Final = re.compile(r'<(?:img|iframe)\b(?>(?:[^<>"]++|"[^"<>]*+")*)>(?:</iframe>)?')
"""An image or iframe in sanitised HTML, where attributes escape `<` and `>`, and iframes are empty."""

_ATTRIBUTE: Final = re.compile(r'\s(src|srcset|alt|title)="([^"]*)"')
_MAX_ALT_LENGTH: Final = 300

_NAMED_ARTICLE: Final = re.compile(r"article (a_[0-9A-Za-z]+): (.+)", re.DOTALL)
"""Another article in the evidence of a check, in the format for AI clients."""


@dataclass(frozen=True, slots=True)
class Cover:
    """The featured image. `src` is empty if it is on another server; `credit` is safe HTML, including the caption."""

    src: str
    url: str
    alt: str
    credit: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class ReadingView:
    """Safe HTML, descriptions of what sanitising removed, warnings, and the featured image."""

    html: str
    removed: tuple[str, ...]
    warnings: tuple[str, ...]
    cover: Cover | None


async def reading(plugin: PluginContext[ContentConfig], article: Article) -> ReadingView:
    """Return an article as its owner sees it. Raises `InvalidInput` if the body cannot be rendered."""
    run = plugin.services.workers.run
    rendered = await run(render, article.body, article.body_format, owner=article.user_id, what="the article")
    featured = [article.featured_media_id] if article.featured_media_id else []
    images: Mapping[str, PostImage] | None
    warnings: tuple[str, ...]
    try:
        images, image_warnings = await read_images(
            plugin,
            article.user_id,
            dict.fromkeys([*featured, *inline_ids(rendered.html)]),
            policy="hotlink",
            can_upload=False,
        )
        warnings = tuple(image_warnings)
    except SiteUnavailable as error:
        images, warnings = None, (error.message,)
    files = None if images is None else {name: image.without_content for name, image in images.items()}
    html = await run(_display_html, rendered.html, files, plugin.base_url, owner=article.user_id, what="the article")
    return ReadingView(
        html, rendered.removed, warnings, _cover((images or {}).get(article.featured_media_id), article, plugin)
    )


def _display_html(html: str, images: Mapping[str, PostImage] | None, base_url: str) -> str:
    """Return sanitised HTML with the images of the library, and other images replaced with notes."""
    if images is not None:
        html, _ = placed(html, "", images, {})
    return _without_foreign(html, base_url)


def _cover(image: PostImage | None, article: Article, plugin: PluginContext[ContentConfig]) -> Cover | None:
    if image is None:
        return None
    file = image.file
    local = is_own(file.url, plugin.base_url)
    return Cover(
        src=urlsplit(file.url).path if local else "",
        url=file.url if file.url.startswith(("https://", "http://")) else "",
        alt=article.featured_alt or file.alt,
        credit=" ".join(filter(None, [escape(image.caption), image.credit_html or escape(file.credit_text)])),
        width=file.width,
        height=file.height,
    )


def is_own(url: str, base_url: str) -> bool:
    """Return whether a URL is on this server."""
    return url.startswith(f"{base_url}/") or (url.startswith("/") and not url.startswith("//") and "\\" not in url)


def _without_foreign(html: str, base_url: str) -> str:
    """Replace images and iframes of other servers, which the pages' security policy blocks, with notes."""

    def shown(match: re.Match[str]) -> str:
        attributes = {name: unescape(value) for name, value in _ATTRIBUTE.findall(match[0])}
        src, is_image = attributes.get("src", ""), match[0].startswith("<img")
        if is_image and is_own(src, base_url):
            return re.sub(r'\ssrcset="[^"]*"', "", match[0])
        kind = "Image" if is_image else "Embedded page"
        description = (attributes.get("alt") or attributes.get("title") or "").strip()[:_MAX_ALT_LENGTH]
        host = _host(src)
        text = f"{kind}{f' from {host}' if host else ''}{f': {description}' if description else ''}"
        return f'<span class="outside" title="{escape(src)}">{escape(text)}</span>'

    return _EMBEDDED.sub(shown, html)


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


TABS: Final = (
    ("", "Preview"),
    ("edit", "Edit"),
    ("seo", "SEO"),
    ("versions", "Versions"),
    ("publications", "Publications"),
)
_LONG_TITLE: Final = 90
_FORMATS: Final[Mapping[str, Format]] = {"markdown": "markdown", "json": "json", "wxr": "wxr"}
_MESSAGES: Final = {
    "restored": "The article is back from the trash.",
    "trashed": "The article is in the trash. You can restore it here.",
}
_TOOLS: Final = {"export": "export_content", "trash": "delete_content", "restore": "restore_content"}
_RATINGS: Final = {"good": "Good to publish", "ok": "Fair: some things to fix", "poor": "Needs work"}
_GROUPS: Final = (
    ("bad", "Fix first", "The issues that lower the score most."),
    ("ok", "Could be better", "Fair, but worth a look."),
    ("good", "Good", "Nothing to do here."),
    ("skipped", "Not checked", "Does not apply to this article, or could not be checked."),
)


class ArticlePages:
    """Shows an article, and handles the buttons of its page."""

    def __init__(self, plugin: PluginContext[ContentConfig]) -> None:
        self._plugin = plugin

    def routes(self) -> Sequence[Route]:
        """Return the routes."""
        return [
            Route(f"{PATH}/<id>", self.article, ("GET", "POST"), DashboardPage("Article", _TOOLS)),
            Route(f"{PATH}/<id>/seo", self.seo, page=DashboardPage("SEO of an article")),
        ]

    async def article(self, request: HttpRequest) -> HttpResponse:
        """Show the text, export the article, or move it to the trash or back. Raises `NotFound`."""
        article = await requested_article(self._plugin, request)
        if request.method != "POST":
            return await self._text(request, article, _MESSAGES.get(request.query.get("done", ""), ""))
        typed = form_of(request)
        try:
            return await self._do(request.subject, article, typed)
        except NotFound:
            raise
        except CallError as error:
            return await self._text(request, article, problem=refusal(error), status=400)

    async def seo(self, request: HttpRequest) -> HttpResponse:
        """Show the article's score report. Raises `NotFound`."""
        article = await requested_article(self._plugin, request)
        scorer = scorer_of(self._plugin)
        report = await scorer.report(request.subject, article.id) if scorer and scorer.report else None
        if report is not None:
            article = await Articles(self._plugin).note_score(article, report.score, report.words)
        checks = sorted(report.checks, key=lambda check: -check.gain) if report else []
        return fragment(
            "article_seo.html",
            self._plugin,
            request,
            **await head(self._plugin, request, article, "seo"),
            report=report,
            rating=_RATINGS[report.rating] if report else "",
            kind=score_kind(report.score) if report else "",
            actions=[check for check in checks if check.fix and check.gain >= 0.05][:3],
            groups=[(key, title, note, _of(checks, key)) for key, title, note in _GROUPS],
            score_kind=score_kind,
            named_article=_named_article,
        )

    async def _text(
        self, request: HttpRequest, article: Article, message: str = "", problem: str = "", status: int = 200
    ) -> HttpResponse:
        try:
            view = await reading(self._plugin, article)
        except InvalidInput as error:
            view, problem = None, problem or f"The text cannot be shown: {error.problem}"
        return fragment(
            "article_text.html",
            self._plugin,
            request,
            status=status,
            **await head(self._plugin, request, article, ""),
            reading=view,
            frame=self._frame(article, view) if view else "",
            message=message,
            problem=problem,
            days=self._plugin.config.trash_days,
            facts=_facts(article),
        )

    def _frame(self, article: Article, view: ReadingView) -> str:
        """Return the text in a sandboxed frame: it comes from clients, and from pages that they import."""
        text = self._plugin.templates.render("article_frame.html", reading=view)
        title = f"The text of {article.title}"
        return sandboxed_frame(text, title=title, base_url=self._plugin.base_url, lang=article.language)

    async def _do(self, user_id: str, article: Article, typed: Mapping[str, str]) -> HttpResponse:
        match typed.get("do"):
            case "export" if typed.get("format") in _FORMATS:
                form = _FORMATS[typed["format"]]
                exported = await export(self._plugin, user_id, form, website_id=None, content_ids=[article.id])
                return see_other(self._plugin, exported.url.removeprefix(self._plugin.base_url))
            case "trash":
                await trash.trash(self._plugin, user_id, article.id, unpublish=False)
                return see_other(self._plugin, f"{PATH}/{article.id}?done=trashed")
            case "restore":
                await trash.restore(self._plugin, user_id, article.id)
                return see_other(self._plugin, f"{PATH}/{article.id}?done=restored")
            case _:
                raise InvalidInput("", "unknown button; reload the page")


async def head(
    plugin: PluginContext[ContentConfig], request: HttpRequest, article: Article, tab: str
) -> dict[str, Any]:
    """Return the template values for the head and the tabs of every page of an article."""
    names = await Websites(plugin).names(request.subject)
    path = f"{root_of(plugin)}{PATH}/{article.id}"
    return {
        "article": article,
        "path": path,
        "list_path": root_of(plugin) + PATH,
        "tabs": [
            (f"{path}/{name}" if name else path, title, name == tab)
            for name, title in TABS
            if name != "edit" or request.role != "reader"
        ],
        "state": state(article.status),
        "website": names.get(article.website_id or "", ""),
        "long_title": len(article.title) > _LONG_TITLE,
        "changed": moment(article.updated_at, datetime.now(UTC)),
        "article_score_kind": score_kind(article.score) if article.score is not None else "",
    }


async def requested_article(plugin: PluginContext[ContentConfig], request: HttpRequest) -> Article:
    """Return the requested article. Raises `NotFound` with a message for people."""
    try:
        return await Articles(plugin).get(request.subject, request.path_params["id"])
    except NotFound:
        raise NotFound(
            "This article is not in your account. It may have been deleted; Articles lists the ones you have."
        ) from None


_FIELD_PROBLEMS: Final = ("is ", "must ", "needs ", "may ", "does ")
"""Beginnings of problems that do not name their field."""


def refusal(error: CallError) -> str:
    """Return a sentence that explains why nothing was changed."""
    message = error.problem if isinstance(error, InvalidInput) else error.message
    if isinstance(error, InvalidInput) and error.field in ("at", "publish_at") and message.startswith(_FIELD_PROBLEMS):
        message = f"the time {message}"
    hint = "" if isinstance(error, InvalidInput) or not error.hint else f" {error.hint}"
    return f"Nothing was changed: {message.rstrip('.')}.{hint}"


def _of(checks: Sequence[ScoreCheck], status: str) -> list[ScoreCheck]:
    return [check for check in checks if check.status == status]


def _named_article(evidence: str) -> tuple[str, str]:
    """Return the id and title of an article in a check's evidence; the id is empty if it is something else."""
    match = _NAMED_ARTICLE.fullmatch(evidence)
    return (match[1], match[2]) if match else ("", evidence)


def _facts(article: Article) -> list[tuple[str, str]]:
    """Return the names and values of the fields that are not empty."""
    canonical = urlsplit(article.canonical_url).netloc and article.canonical_url
    rows = (
        ("Keyphrase", article.keyphrase),
        ("Synonyms", ", ".join(article.synonyms)),
        ("Title in search results", article.meta_title),
        ("Description in search results", article.meta_description),
        ("Excerpt", article.excerpt),
        ("Slug", article.slug),
        ("Categories", ", ".join(article.categories)),
        ("Tags", ", ".join(article.tags)),
        ("Author", article.author),
        ("Language", article.language),
        ("Original", canonical),
    )
    return [(name, value) for name, value in rows if value]
