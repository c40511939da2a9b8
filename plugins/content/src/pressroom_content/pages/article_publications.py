"""The dashboard's pages of an article's publications, and of publishing it.

The first shows status, steps and warnings, with the available actions. On the second, a person publishes an article
on a website: immediately, at a time, or as a draft there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast

from pressroom.sdk import (
    CallError,
    DashboardPage,
    HttpRequest,
    HttpResponse,
    InvalidInput,
    NotFound,
    PluginContext,
    PressroomError,
    Route,
)

from pressroom_content.contract import BUILTIN, Capabilities
from pressroom_content.pages.article import head, refusal, requested_article
from pressroom_content.pages.articles import PATH
from pressroom_content.pages.connect import form_of, fragment, root_of, see_other
from pressroom_content.pages.shown import Badge, moment, state
from pressroom_content.publishing.operations import DownMode, DryRun, bring, cancel, dry_run, recheck, unpublish
from pressroom_content.publishing.posts import capabilities_of
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.publish_requests import UNDER_WAY, Mode, PublishRequest
from pressroom_content.publishing.publish_requests import moment as moment_of
from pressroom_content.publishing.store import STEPS, PublicationStep
from pressroom_content.records import Article, Publication, Website
from pressroom_content.websites.connectors import connector_of, connectors
from pressroom_content.websites.settings import zone_of
from pressroom_content.websites.store import Websites

SHOWN: Final = 100
SAVED: Final = ("created", "saved", "same")
"""Results of saving that the editor passes in `done` when it redirects here."""

WAIT_SECONDS: Final = 5.0
"""Maximum wait for a publication that a page started; publishing continues afterwards."""

_STEPS: Final[Mapping[str, str]] = {
    "terms": "Categories and tags",
    "media": "Images",
    "draft": "Draft",
    "read_back": "Verified on the site",
    "live": "Live",
    "verify": "Live page checked",
}
_STEP_STATES: Final[Mapping[str, str]] = {
    "pending": "to do",
    "running": "under way",
    "done": "done",
    "failed": "failed",
    "unknown": "no response",
}
_TOOLS: Final = {
    "retry": "publish_content",
    "update": "publish_content",
    "cancel": "publish_content",
    "down": "unpublish_content",
}
_GONE: Final = "This article has no such publication. Reload the page."
_DOWN: Final[Mapping[str, DownMode]] = {"draft": "draft", "trash": "trash", "delete": "delete"}
_MESSAGES: Final = {
    **dict.fromkeys(SAVED, "The article is saved. Publish it when it is ready."),
    "begun": "Publishing has started. The steps below show the progress.",
    "there": "Nothing was sent: the newest version is there already.",
    "retried": "Tried again. The status below is up to date.",
    "updated": "The newest version was sent. The status below is up to date.",
    "down": "The post is unpublished. The article itself stays here.",
    "cancelled": "The schedule is cancelled.",
}

_MODES: Final[Mapping[str, Mode]] = {"publish": "publish", "schedule": "schedule", "draft": "draft"}
_PUBLISHING_TOOLS: Final = dict.fromkeys(_MODES, "publish_content")
_MORNING: Final = 8


class PublicationPages:
    """Shows and changes an article's publications."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin

    def routes(self) -> Sequence[Route]:
        """Return the route."""
        page = DashboardPage("Publications of an article", _TOOLS)
        return [Route(f"{PATH}/<id>/publications", self.publications, ("GET", "POST"), page)]

    async def publications(self, request: HttpRequest) -> HttpResponse:
        """List the publications, or handle a button. Raises `NotFound`."""
        article = await requested_article(self._plugin, request)
        if request.method != "POST":
            return await self._list(request, article, _MESSAGES.get(request.query.get("done", ""), ""))
        try:
            done = await self._do(request.subject, article, form_of(request))
        except NotFound:
            raise
        except CallError as error:
            return await self._list(request, article, problem=refusal(error), status=400)
        return see_other(self._plugin, f"{PATH}/{article.id}/publications?done={done}")

    async def _do(self, user_id: str, article: Article, typed: Mapping[str, str]) -> str:
        publications = Publications(self._plugin)
        try:
            publication = await publications.get(user_id, typed.get("publication", ""))
        except NotFound:
            raise NotFound(_GONE) from None
        if publication.article_id != article.id:
            raise NotFound(_GONE)
        match typed.get("do"):
            case "retry":
                await publications.wait(await publications.retry(user_id, publication.id), WAIT_SECONDS)
                return "retried"
            case "update":
                updated = await publications.update(user_id, publication.id, force=typed.get("force") == "yes")
                await publications.wait(updated, WAIT_SECONDS)
                return "updated"
            case "cancel":
                await cancel(self._plugin, user_id, publication.id)
                return "cancelled"
            case "down" if typed.get("mode") in _DOWN:
                await unpublish(self._plugin, user_id, publication.id, _DOWN[typed["mode"]])
                return "down"
            case _:
                raise InvalidInput("", "unknown button; reload the page")

    async def _list(
        self, request: HttpRequest, article: Article, message: str = "", problem: str = "", status: int = 200
    ) -> HttpResponse:
        store = Publications(self._plugin)
        publications, _ = await store.page(request.subject, article_id=article.id, limit=SHOWN)
        names = await Websites(self._plugin).names(request.subject)
        connected, _ = await Websites(self._plugin).page(request.subject, limit=SHOWN)
        rows = []
        for publication in publications:
            website = await self._website(request.subject, publication.website_id)
            conflict = await store.problem(publication) == "remote_changed"
            row = self._row(publication, await store.steps(publication.id), website, article, conflict=conflict)
            rows.append({**row, "name": names.get(publication.website_id, "a disconnected website")})
        return fragment(
            "article_publications.html",
            self._plugin,
            request,
            status=status,
            **await head(self._plugin, request, article, "publications"),
            rows=rows,
            targets=[website for website in connected if website.id not in {row["website_id"] for row in rows}],
            under_way=any(row["under_way"] for row in rows),
            begun=request.query.get("done") == "begun",
            saved=request.method != "POST" and request.query.get("done") in SAVED,
            message=message,
            problem=problem,
        )

    async def _website(self, user_id: str, website_id: str) -> Website | None:
        try:
            return await Websites(self._plugin).get(user_id, website_id)
        except NotFound:  # it was disconnected
            return None

    def _row(
        self,
        publication: Publication,
        steps: Sequence[PublicationStep],
        website: Website | None,
        article: Article,
        *,
        conflict: bool,
    ) -> dict[str, Any]:
        """Return the template values of a publication. Without a connected website, no action is available."""
        now = datetime.now(UTC)
        connected, newest = website is not None, publication.article_version == article.version
        unavailable = publication.status == "queued" and bool(publication.error)
        zone = zone_of(website.settings) if website else UTC
        capabilities = self._capabilities(website)
        on_site = bool(publication.external_id) and publication.status in ("published", "draft", "scheduled", "failed")
        return {
            "id": publication.id,
            "website_id": publication.website_id if website else "",
            "state": state(publication.status),
            "url": publication.url if publication.url.startswith(("https://", "http://")) else "",
            "live": publication.status == "published",
            "twin": publication.path if publication.status == "published" else "",
            "version": publication.article_version,
            "newest": newest,
            "publish_at": moment(publication.publish_at, now, zone)
            if publication.publish_at and publication.mode == "schedule"
            else None,
            "published_at": moment(publication.published_at, now, zone) if publication.published_at else None,
            "due_at": moment(publication.due_at, now, zone)
            if publication.due_at and publication.status in UNDER_WAY
            else None,
            "attempt": publication.attempt,
            "steps": _step_rows(steps),
            "warnings": publication.warnings,
            "error": publication.error,
            "facts": _facts(publication.verified),
            "conflict": conflict,
            "under_way": publication.status in UNDER_WAY and not unavailable,
            "can_publish": connected and publication.status in ("scheduled", "draft", "unpublished", "published"),
            "can_retry": connected and (publication.status in ("failed", "unknown") or unavailable),
            "can_update": connected and capabilities.update and on_site and (conflict or not newest),
            "can_cancel": connected and publication.status == "scheduled",
            "can_take_down": connected
            and on_site
            and (publication.status != "scheduled" or publication.published_at is not None),
            "down_modes": _down_modes(capabilities),
        }

    def _capabilities(self, website: Website | None) -> Capabilities:
        connector = connectors(self._plugin).get(website.platform) if website else None
        return capabilities_of(website, connector) if website and connector else Capabilities()


def _step_rows(steps: Sequence[PublicationStep]) -> list[tuple[str, str, str]]:
    """Return the steps in order: CSS class, name and state."""
    states = {step.name: step.state for step in steps}
    return [(states[name], _STEPS[name], _STEP_STATES[states[name]]) for name in STEPS if name in states]


def _down_modes(capabilities: Capabilities) -> list[tuple[str, str]]:
    modes = [("draft", "keep it there as a draft")] if capabilities.unpublish else []
    modes += [("trash", "move it to the trash there")] if capabilities.delete and capabilities.trash else []
    modes += [("delete", "delete it there for good")] if capabilities.delete else []
    return modes or [("draft", "keep it there as a draft")]


def _facts(verified: Mapping[str, Any]) -> list[Badge]:
    """Return the results of checking the live page."""
    badges = []
    if "http_status" in verified:
        status = verified["http_status"]
        text = f"responds with {status}" if status else "could not be reached"
        badges.append(Badge(text, "good" if status == 200 else "bad"))
    for name, yes, no in (
        ("title_found", "shows the title", "does not show the title"),
        ("indexable", "may be indexed", "blocks indexing"),
    ):
        if name in verified:
            right = cast("bool", verified[name])
            badges.append(Badge(yes if right else no, "good" if right else "bad"))
    return badges


class PublishPages:
    """Shows what would be sent to a website, and publishes it."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin

    def routes(self) -> Sequence[Route]:
        """Return the route."""
        page = DashboardPage("Publish an article", _PUBLISHING_TOOLS, sees="editor")
        return [Route(f"{PATH}/<id>/publications/<website>", self.publish, ("GET", "POST"), page)]

    async def publish(self, request: HttpRequest) -> HttpResponse:
        """Show what would be sent, or start to publish it. Raises `NotFound`."""
        article = await requested_article(self._plugin, request)
        try:
            website = await Websites(self._plugin).get(request.subject, request.path_params["website"])
        except NotFound:
            raise NotFound("That website is no longer connected. Websites lists the connected ones.") from None
        if request.method != "POST":
            return await self._page(request, article, website)
        typed = form_of(request)
        try:
            return await self._send(request, article, website, typed)
        except CallError as error:
            return await self._page(request, article, website, typed=typed, problem=refusal(error), status=400)

    async def _send(
        self, request: HttpRequest, article: Article, website: Website, typed: Mapping[str, str]
    ) -> HttpResponse:
        if typed.get("do") not in _MODES:
            raise InvalidInput("", "unknown button; reload the page")
        mode = _MODES[typed["do"]]
        at = None
        if mode == "schedule":
            if not typed.get("at", "").strip():
                raise InvalidInput("at", "choose a day and a time first")
            at = moment_of(typed["at"].strip(), zone_of(website.settings), now=datetime.now(UTC), name="at")
        async with AsyncExitStack() as stack:
            publications = Publications(self._plugin)
            existing = await publications.of_pair(request.subject, article.id, website.id)
            if existing is not None:
                # An earlier request may still be running, and accepts no change until it has ended.
                existing = await publications.wait(existing, WAIT_SECONDS)
            options = _options(existing, typed) if website.platform == BUILTIN else None
            publish_request = PublishRequest(mode, at, options, force=typed.get("force") == "yes")
            is_free = None
            if existing is None:  # as with the tool, only articles new on a website count
                is_free = await stack.enter_async_context(request.charge("publish_content"))
            result = await bring(self._plugin, request.subject, article.id, website.id, publish_request)
            if is_free is not None and not result.new:
                is_free()
        result, remote_state = await recheck(self._plugin, request.subject, result, publish_request)
        if remote_state is not None and remote_state.edits:
            message = f"Nothing was sent: {remote_state.edits.rstrip('.')}. The article has nothing newer."
            return await self._page(request, article, website, problem=message, edited=True, status=400)
        done = "begun" if remote_state is None else "there"
        return see_other(self._plugin, f"{PATH}/{article.id}/publications?done={done}")

    async def _dry_run(self, request: HttpRequest, article: Article, website: Website) -> tuple[DryRun | None, str]:
        """Return what would be sent, or why publishing is not possible."""
        try:
            return await dry_run(self._plugin, request.subject, article.id, website.id, PublishRequest()), ""
        except PressroomError as error:
            message = error.problem if isinstance(error, InvalidInput) else error.message
            return None, f"It cannot be published like this: {message.rstrip('.')}."

    async def _page(
        self,
        request: HttpRequest,
        article: Article,
        website: Website,
        *,
        typed: Mapping[str, str] | None = None,
        problem: str = "",
        edited: bool = False,
        status: int = 200,
    ) -> HttpResponse:
        publications = Publications(self._plugin)
        run, wrong = await self._dry_run(request, article, website)
        existing = await publications.of_pair(request.subject, article.id, website.id)
        conflict = existing is not None and await publications.problem(existing) == "remote_changed"
        capabilities = capabilities_of(website, connector_of(self._plugin, website.platform))
        now, zone = datetime.now(UTC), zone_of(website.settings)
        return fragment(
            "article_publish.html",
            self._plugin,
            request,
            status=status,
            **await head(self._plugin, request, article, "publications"),
            target=website,
            target_path=f"{root_of(self._plugin)}/dashboard/websites/{website.id}",
            known=existing,
            known_state=state(existing.status) if existing else None,
            known_at=moment(existing.publish_at, now, zone) if existing and existing.publish_at else None,
            saved=request.method != "POST" and request.query.get("done") in SAVED,
            live=existing is not None and existing.status == "published",
            newest=existing is not None and existing.article_version == article.version,
            conflict=edited or conflict,
            run=run,
            images=len(run.manuscript.uploads) if run else 0,
            kind=(typed or {}).get("kind") or _kind(existing) if website.platform == BUILTIN else "",
            can_draft=capabilities.draft and not (existing is not None and existing.status == "published"),
            at=(typed or {}).get("at") or _proposed(existing, now.astimezone(zone)),
            zone=zone.key,
            problem=problem or wrong,
        )


def _kind(existing: Publication | None) -> str:
    return str((existing.options if existing else {}).get("kind", "post"))


def _options(existing: Publication | None, typed: Mapping[str, str]) -> Mapping[str, Any] | None:
    """Return the options with the chosen kind, or `None` if that changes nothing."""
    kind = typed.get("kind") or _kind(existing)
    return None if kind == _kind(existing) else {**(existing.options if existing else {}), "kind": kind}


def _proposed(existing: Publication | None, now: datetime) -> str:
    """Return the initial time of the form for browsers: the scheduled time, or else tomorrow morning."""
    if existing is not None and existing.publish_at is not None and existing.publish_at > now:
        at = existing.publish_at.astimezone(now.tzinfo)
    else:
        at = (now + timedelta(days=1)).replace(hour=_MORNING, minute=0)
    return f"{at:%Y-%m-%dT%H:%M}"
