"""The dashboard's page on which a person publishes an article on a website: at once, at a time, or as a draft there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import Final

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

from pressroom_content.pages.article import asked_for, head, refusal
from pressroom_content.pages.articles import PATH
from pressroom_content.pages.connect import form_of, fragment, root_of, see_other
from pressroom_content.pages.shown import moment, state
from pressroom_content.publishing.asking import Mode, PublishRequest
from pressroom_content.publishing.bringing import DryRun, bring, dry_run, look_again
from pressroom_content.publishing.posts import capabilities_of
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.schedule import moment as moment_of
from pressroom_content.records import Article, Publication, Website
from pressroom_content.websites.connectors import connector_of
from pressroom_content.websites.settings import zone_of
from pressroom_content.websites.store import Websites

_MODES: Final[Mapping[str, Mode]] = {"publish": "publish", "schedule": "schedule", "draft": "draft"}
_TOOLS: Final = dict.fromkeys(_MODES, "publish_content")
_MORNING: Final = 8


class PublishPages:
    """Shows what a website would get of an article, and sends it."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin

    def routes(self) -> Sequence[Route]:
        """Return the URL."""
        page = DashboardPage("Publish an article", _TOOLS, sees="editor")
        return [Route(f"{PATH}/<id>/publications/<website>", self.publish, ("GET", "POST"), page)]

    async def publish(self, request: HttpRequest) -> HttpResponse:
        """Show what would be sent, or begin to send it. Raises `NotFound`."""
        article = await asked_for(self._plugin, request)
        try:
            website = await Websites(self._plugin).get(request.subject, request.path_params["website"])
        except NotFound:
            raise NotFound("That website is not connected any more. Websites lists the ones that are.") from None
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
            raise InvalidInput("", "that button is not known; reload the page")
        mode = _MODES[typed["do"]]
        at = None
        if mode == "schedule":
            if not typed.get("at", "").strip():
                raise InvalidInput("at", "choose a day and a time first")
            at = moment_of(typed["at"].strip(), zone_of(website.settings), now=datetime.now(UTC), name="at")
        asked = PublishRequest(mode, at, force=typed.get("force") == "yes")
        async with AsyncExitStack() as stack:
            known = await Publications(self._plugin).of_pair(request.subject, article.id, website.id)
            is_free = None
            if known is None:  # as with the tool, only what is new on a website counts
                is_free = await stack.enter_async_context(request.charge("publish_content"))
            found = await bring(self._plugin, request.subject, article.id, website.id, asked)
            if is_free is not None and not found.new:
                is_free()
        found, seen = await look_again(self._plugin, request.subject, found, asked)
        if seen is not None and seen.edits:
            told = f"Nothing was sent: {seen.edits.rstrip('.')}. The article has nothing newer."
            return await self._page(request, article, website, problem=told, edited=True, status=400)
        done = "begun" if seen is None else "there"
        return see_other(self._plugin, f"{PATH}/{article.id}/publications?done={done}")

    async def _dry_run(self, request: HttpRequest, article: Article, website: Website) -> tuple[DryRun | None, str]:
        """Return what would be sent, or why it cannot be."""
        try:
            return await dry_run(self._plugin, request.subject, article.id, website.id, PublishRequest()), ""
        except PressroomError as error:
            told = error.problem if isinstance(error, InvalidInput) else error.message
            return None, f"It cannot be published like this: {told.rstrip('.')}."

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
        known = await publications.of_pair(request.subject, article.id, website.id)
        conflict = known is not None and await publications.problem(known) == "remote_changed"
        able = capabilities_of(website, connector_of(self._plugin, website.platform))
        now, zone = datetime.now(UTC), zone_of(website.settings)
        return fragment(
            "article_publish.html",
            self._plugin,
            request,
            status=status,
            **await head(self._plugin, request, article, "publications"),
            target=website,
            target_path=f"{root_of(self._plugin)}/dashboard/websites/{website.id}",
            known=known,
            known_state=state(known.status) if known else None,
            known_at=moment(known.publish_at, now, zone) if known and known.publish_at else None,
            live=known is not None and known.status == "published",
            newest=known is not None and known.article_version == article.version,
            conflict=edited or conflict,
            run=run,
            images=len(run.manuscript.uploads) if run else 0,
            can_draft=able.draft and not (known is not None and known.status == "published"),
            at=(typed or {}).get("at") or _proposed(known, now.astimezone(zone)),
            zone=zone.key,
            problem=problem or wrong,
        )


def _proposed(known: Publication | None, now: datetime) -> str:
    """Return the time that the form begins with: the planned one, else tomorrow morning, as browsers write it."""
    if known is not None and known.publish_at is not None and known.publish_at > now:
        at = known.publish_at.astimezone(now.tzinfo)
    else:
        at = (now + timedelta(days=1)).replace(hour=_MORNING, minute=0)
    return f"{at:%Y-%m-%dT%H:%M}"
