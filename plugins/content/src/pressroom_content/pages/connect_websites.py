"""The dashboard's pages of websites: `/dashboard/websites`, and one for each, with the form for its appearance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from pressroom.sdk import DashboardPage, HttpRequest, HttpResponse, InvalidInput, NotFound, PluginContext, Route

from pressroom_content.builtin_site.summaries import spoken_languages
from pressroom_content.config import ContentConfig
from pressroom_content.contract import BUILTIN, MediaChoice, control_of, media_libraries
from pressroom_content.contract.control import FILE_NAME, META_NAME
from pressroom_content.language import language_pack, supported
from pressroom_content.pages.connect import WEBSITES, form_of, fragment, root_of, see_other
from pressroom_content.pages.shown import moment, sentence
from pressroom_content.pages.website_look import look_changes, look_names, look_view, moved
from pressroom_content.records import Website
from pressroom_content.websites import settings as site_settings
from pressroom_content.websites.connecting import ConnectionLinks, check_website
from pressroom_content.websites.connectors import ABILITIES, connectors
from pressroom_content.websites.control import Controls
from pressroom_content.websites.domains import Domains
from pressroom_content.websites.store import Websites

_MESSAGES: Mapping[str, str] = {
    "connected": "The website is connected.",
    "checked": "The website was checked just now.",
    "verified": "The website is proven to control its URL.",
    "unverified": "Neither the file nor the meta tag is there yet. Caches may still show older pages.",
    "saved": "The settings are saved.",
    "domain_proven": "The domain points here: the site is now served there.",
    "domain_waiting": "The domain does not point here yet. The site's page says what to do.",
    "domain_saved": "The domain is saved. Now point it here, then check it.",
    "domain_removed": "The site no longer has a custom domain.",
    "paused": "Paused: nothing is published there until you resume it.",
    "resumed": "Publishing is resumed.",
    "disconnected": "The website is disconnected; its credential is deleted.",
    "closed": "The website is disconnected.",
}

_MOVED: Final = "The link is moved. Save the appearance to keep the order."

_CHANGED: Final = (
    "The website was changed in the meantime, so nothing was saved. Check what you entered below, then save again."
)

_TOOLS: Mapping[str, str] = {
    "check": "get_website",
    "settings": "update_website_settings",
    "look": "update_website_settings",
    "domain": "update_website_settings",
    "domain_check": "update_website_settings",
    "resume": "update_website_settings",
    "reconnect": "connect_website",
}
"""The tools that a plan must include. Pausing and disconnecting need none: the credential stays under its owner's
control."""

_OFFERED_IMAGES: Final = 50


class WebsitePages:
    """Shows websites, and changes them."""

    def __init__(self, plugin: PluginContext[ContentConfig]) -> None:
        self._plugin = plugin

    def routes(self) -> Sequence[Route]:
        """Return the routes."""
        # Their forms change credentials, and what readers find under the owner's name.
        websites = DashboardPage("Websites", {"": "connect_website"}, "Content", posts="owner")
        website = DashboardPage("Website", _TOOLS, posts="owner")
        return [
            Route(WEBSITES, self.websites, ("GET", "POST"), websites),
            Route(f"{WEBSITES}/<website>", self.website, ("GET", "POST"), website),
        ]

    async def websites(self, request: HttpRequest) -> HttpResponse:
        """List the websites, or start to connect one."""
        if request.method != "POST":
            return await self._list(request)
        typed = form_of(request)
        platform, name = typed.get("platform", ""), typed.get("name", "").strip()[:200]
        try:
            if platform == BUILTIN:
                created = await Websites(self._plugin).add(
                    request.subject, BUILTIN, name=name or "My site", url="", credential={}
                )
                return see_other(self._plugin, f"{WEBSITES}/{created.id}?connected=1")
            link, _ = await ConnectionLinks(self._plugin).begin(request.subject, platform, name=name)
        except InvalidInput as error:
            return await self._list(request, problem=sentence(error.problem), name=name, status=400)
        return see_other(self._plugin, link.removeprefix(self._plugin.base_url))

    async def website(self, request: HttpRequest) -> HttpResponse:
        """Show a website, or handle a button. Raises `NotFound`."""
        try:
            website = await Websites(self._plugin).get(request.subject, request.path_params["website"])
        except NotFound:
            raise NotFound("That website is no longer connected. Websites lists the connected ones.") from None
        if request.method != "POST":
            return await self._one(request, website)
        typed = form_of(request)
        if (reordered := moved(typed)) is not None:
            return await self._one(request, website, typed=reordered, message=_MOVED)
        try:
            done = await self._do(request.subject, website, typed)
        except InvalidInput as error:
            field = error.field.removeprefix("settings.")
            problem = _CHANGED if field == "expected_version" else sentence(error.problem)
            return await self._one(request, website, errors={field: problem}, typed=typed, status=400)
        if isinstance(done, HttpResponse):
            return done
        path = WEBSITES if done in ("closed", "disconnected") else f"{WEBSITES}/{website.id}"
        return see_other(self._plugin, f"{path}?{done}=1")

    async def _do(self, user_id: str, website: Website, typed: Mapping[str, str]) -> str | HttpResponse:
        websites = Websites(self._plugin)
        match typed.get("do"):
            case "check":
                await check_website(self._plugin, user_id, website.id)
                return "checked"
            case "verify":
                control = await Controls(self._plugin).prove(user_id, website.id, look=True)
                return "verified" if control.proven else "unverified"
            case "pause":
                await websites.pause(user_id, website.id, paused=True)
                return "paused"
            case "resume":
                await websites.pause(user_id, website.id, paused=False)
                # Whether it had an error is unknown: the status said that it was paused.
                await check_website(self._plugin, user_id, website.id)
                return "resumed"
            case "disconnect":
                await websites.disconnect(user_id, website.id, delete_posts=typed.get("delete_posts") == "true")
                return "closed" if website.platform == BUILTIN else "disconnected"
            case "reconnect":
                link, _ = await ConnectionLinks(self._plugin).begin(
                    user_id, website.platform, url=website.url, name=website.name, website_id=website.id
                )
                return see_other(self._plugin, link.removeprefix(self._plugin.base_url))
            case "settings":
                await websites.update_settings(user_id, website.id, _changes(typed), _version(typed))
                return "saved"
            case "domain" | "domain_check" | "domain_remove" as action:
                return await self._do_domain(user_id, website, action, typed)
            case "look":
                changes = look_changes(typed, self._plugin.base_url)
                await websites.update_settings(user_id, website.id, changes, _version(typed))
                return "saved"
            case _:
                raise InvalidInput("", "unknown button; reload the page")

    async def _do_domain(self, user_id: str, website: Website, action: str, typed: Mapping[str, str]) -> str:
        if action == "domain_check":
            state = await Domains(self._plugin).check(user_id, website.id)
            return "domain_proven" if state and state.status == "proven" else "domain_waiting"
        name = typed.get("domain", "") if action == "domain" else ""
        saved = await Websites(self._plugin).update_settings(user_id, website.id, {"domain": name}, _version(typed))
        if not saved.domain:
            return "domain_removed"
        return "domain_proven" if saved.url != saved.server_url else "domain_saved"

    async def _list(
        self, request: HttpRequest, *, problem: str = "", name: str = "", status: int = 200
    ) -> HttpResponse:
        store = Websites(self._plugin)
        websites, cursor = await store.page(request.subject, limit=50, cursor=request.query.get("cursor") or None)
        available = connectors(self._plugin)
        return fragment(
            "connect_websites.html",
            self._plugin,
            request,
            status=status,
            websites=websites,
            next_cursor=cursor,
            total=await store.count(request.subject),
            most=self._plugin.config.max_websites,
            titles={platform: connector.title for platform, connector in available.items()},
            platforms=[(platform, connector.title) for platform, connector in available.items()],
            message=_message(request),
            problem=problem,
            name=name,
        )

    async def _one(
        self,
        request: HttpRequest,
        website: Website,
        *,
        errors: Mapping[str, str] | None = None,
        typed: Mapping[str, str] | None = None,
        message: str = "",
        status: int = 200,
    ) -> HttpResponse:
        errors = errors or {}
        connector = connectors(self._plugin).get(website.platform)
        packs = {code: pack.name for code in supported() if (pack := language_pack(code))}
        settings: dict[str, Any] = {"name": website.name, **site_settings.read(website.settings).model_dump()}
        if typed and typed.get("do") == "settings":
            settings |= {name: typed[name] for name in settings if name in typed}
            settings["indexnow"] = typed.get("indexnow") == "true"
        look = look_view(website, typed or {}, errors)
        form_fields = {"name", "description", "timezone", "language", "domain"} | (
            look_names() if look else frozenset()
        )
        control, controls = control_of(website), Controls(self._plugin)
        unproven = bool(website.url) and not control.proven
        now, zone = datetime.now(UTC), site_settings.zone_of(website.settings)
        return fragment(
            "connect_website.html",
            self._plugin,
            request,
            status=status,
            website=website,
            settings=settings,
            languages=", ".join(sorted(packs.values())),
            offered_languages=sorted((spoken_languages() | packs).items()),
            control=control,
            verification_line=await controls.token(website.id) if unproven else "",
            verification_file=f"{website.url}/{FILE_NAME}",
            verification_meta=META_NAME,
            checked=moment(website.checked_at, now, zone) if website.checked_at else None,
            published=moment(website.last_published_at, now, zone) if website.last_published_at else None,
            works=[words for name, words in ABILITIES.items() if website.capabilities.get(name)],
            lacks=[words for name, words in ABILITIES.items() if website.capabilities.get(name) is False],
            takes_credential=connector is not None and bool(connector.fields),
            action=f"{root_of(self._plugin)}{WEBSITES}/{website.id}",
            errors=dict(errors),
            message=message or _message(request),
            look=look,
            images=await self._images(request.subject) if look else [],
            domain=await Domains(self._plugin).state(website.user_id, website.id),
            domain_typed=typed.get("domain", website.domain) if typed else website.domain,
            domain_moment=lambda at: moment(at, now, zone),
            problem=" ".join(text for name, text in errors.items() if name.partition(".")[0] not in form_fields),
        )

    async def _images(self, user_id: str) -> Sequence[MediaChoice]:
        """Return the account's images that a site can use."""
        choices: list[MediaChoice] = []
        for _, library in media_libraries(self._plugin):
            if library.recent is not None:
                choices += await library.recent(self._plugin, user_id, _OFFERED_IMAGES)
        return [choice for choice in choices if choice.path]


def _changes(typed: Mapping[str, str]) -> dict[str, Any]:
    names = ("name", "description", "default_status", "author", "category", "timezone", "language", "image_policy")
    changes: dict[str, Any] = {name: typed[name].strip() for name in names if name in typed}
    if "indexnow" in typed:
        changes["indexnow"] = typed["indexnow"] == "true"
    return changes


def _version(typed: Mapping[str, str]) -> int:
    version = typed.get("version", "")
    return int(version) if version.isascii() and version.isdecimal() and len(version) < 10 else 0


def _message(request: HttpRequest) -> str:
    return next((text for name, text in _MESSAGES.items() if name in request.query), "")
