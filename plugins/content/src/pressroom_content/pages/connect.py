"""The page for entering a site's credential, `/dashboard/connect/<token>`, and helpers for dashboard pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from pressroom.sdk import (
    CallError,
    DashboardPage,
    HttpRequest,
    HttpResponse,
    InvalidInput,
    PluginContext,
    PressroomError,
    Route,
)

from pressroom_content.contract import ConnectionCheck, CredentialField
from pressroom_content.pages.shown import sentence
from pressroom_content.websites.bounded_site import opening
from pressroom_content.websites.connecting import Connect, ConnectionLinks, website_url
from pressroom_content.websites.connectors import connectors

WEBSITES = "/dashboard/websites"


def root_of(plugin: PluginContext) -> str:
    """Return the path prefix of this server's URL, which is usually empty."""
    return urlsplit(plugin.base_url).path.rstrip("/")


def form_of(request: HttpRequest) -> Mapping[str, str]:
    """Return the fields of a submitted form; of a repeated field, the last value."""
    fields = parse_qs(request.body.decode("utf-8", "replace"), keep_blank_values=True)
    return {name: values[-1].replace("\0", "") for name, values in fields.items()}


def fragment(
    template: str, plugin: PluginContext, request: HttpRequest, *, status: int = 200, **values: Any
) -> HttpResponse:
    """Render a template as the content of a dashboard page."""
    values |= {
        "root": root_of(plugin),
        "token": request.csrf_token,
        "writes": request.role != "reader",
        "owns": request.role == "owner",
    }
    text = plugin.templates.render(template, **values)
    return HttpResponse(text.encode("utf-8", "replace"), status, headers={"Cache-Control": "no-store"})


def see_other(plugin: PluginContext, path: str) -> HttpResponse:
    """Return a 303 redirect to a path of this server."""
    return HttpResponse(b"", 303, headers={"Location": root_of(plugin) + path})


_MAX_PROBLEM_LENGTH = 300


class ConnectPages:
    """Accepts credentials through links that `connect_website` created."""

    def __init__(self, plugin: PluginContext) -> None:
        self._plugin = plugin

    def routes(self) -> Sequence[Route]:
        """Return the routes."""
        page = DashboardPage("Connect a website", {"": "connect_website"}, sees="owner", posts="owner")
        return [
            Route("/dashboard/connect/<token>", self.connect, ("GET", "POST"), page),
            Route("/dashboard/connect/<token>/approved", self.approved, ("GET",), page),
        ]

    async def connect(self, request: HttpRequest) -> HttpResponse:
        """Show the form, check the submitted values, or link to the site's own approval page.

        Raises:
            NotFound: the link has expired.
            Forbidden: another account created it.
        """
        token = request.path_params["token"]
        connect = await ConnectionLinks(self._plugin).open(token, request.subject)
        if connect.used:
            return see_other(self._plugin, WEBSITES)
        if request.method != "POST":
            return self._form(
                request, connect, problem=sentence(request.query.get("problem", "")[:_MAX_PROBLEM_LENGTH])
            )
        typed = form_of(request)
        try:
            if typed.get("do") == "approve":
                return await self._approve(request, token, connect, typed)
            return await self._finish(request, token, connect, typed)
        except InvalidInput as error:
            return self._form(request, connect, typed=typed, errors={error.field: sentence(error.problem)}, status=400)

    async def approved(self, request: HttpRequest) -> HttpResponse:
        """Store the credential in a site's redirect, and redirect at once, so that it leaves the URL bar."""
        token = request.path_params["token"]
        connecting = ConnectionLinks(self._plugin)
        connect = await connecting.open(token, request.subject)
        connector = connecting.connector(connect)
        back = f"/dashboard/connect/{quote(token)}"
        if connect.used or connector.approved is None:
            return see_other(self._plugin, back)
        try:
            with opening(self._plugin, connector):
                credential = connector.approved(request.query)
            website, finding = await connecting.finish(
                token, connect, url=connect.url, name=connect.name, credential=credential
            )
        except CallError as error:
            return see_other(self._plugin, f"{back}?problem={quote(error.message[:_MAX_PROBLEM_LENGTH])}")
        if website is None:
            problem = "; ".join(check.message for check in finding.checks if check.status == "error")
            return see_other(self._plugin, f"{back}?problem={quote(problem[:_MAX_PROBLEM_LENGTH])}")
        return see_other(self._plugin, f"{WEBSITES}/{website.id}?connected=1")

    async def _finish(
        self, request: HttpRequest, token: str, connect: Connect, typed: Mapping[str, str]
    ) -> HttpResponse:
        website, finding = await ConnectionLinks(self._plugin).finish(
            token, connect, url=typed.get("url", ""), name=typed.get("name", ""), credential=typed
        )
        if website is None:
            return self._form(request, connect, typed=typed, checks=finding.checks, status=400)
        return fragment("connect_done.html", self._plugin, request, website=website, found=finding.checks)

    async def _approve(
        self, request: HttpRequest, token: str, connect: Connect, typed: Mapping[str, str]
    ) -> HttpResponse:
        connecting = ConnectionLinks(self._plugin)
        connector = connecting.connector(connect)
        if connector.approval is None:
            raise InvalidInput("url", "this platform cannot issue credentials here")
        url = website_url(typed.get("url", ""))
        return_to = f"{self._plugin.base_url}/dashboard/connect/{quote(token)}/approved"
        try:
            link = await connector.approval(url, return_to, self._plugin.services.fetcher)
        except PressroomError as error:
            raise InvalidInput("url", error.message) from error
        if link is None or urlsplit(link).scheme not in ("http", "https"):
            raise InvalidInput("url", "this site cannot issue credentials here; enter one below")
        await connecting.remember(token, url=url, name=typed.get("name", ""))
        return self._form(request, connect, typed=typed, approval_link=link)

    def _form(
        self,
        request: HttpRequest,
        connect: Connect,
        *,
        typed: Mapping[str, str] | None = None,
        errors: Mapping[str, str] | None = None,
        checks: Sequence[ConnectionCheck] = (),
        approval_link: str = "",
        problem: str = "",
        status: int = 200,
    ) -> HttpResponse:
        """Show the form. Secret values are never shown again, not even to the person who typed them."""
        connector = connectors(self._plugin).get(connect.platform)
        if connector is None:
            raise InvalidInput("platform", "its connector is no longer on this server")
        typed, errors = typed or {}, errors or {}
        url = typed.get("url", connect.url)
        fields = [_field(field, url) for field in connector.fields]
        values = {field.name: typed.get(field.name, "") for field in connector.fields if not field.secret}
        known = {"url", *(field.name for field in connector.fields)}
        general = [text for name, text in errors.items() if name not in known]
        return fragment(
            "connect.html",
            self._plugin,
            request,
            status=status,
            title=connector.title,
            summary=connector.summary,
            renews=connect.website_id is not None,
            action=f"{root_of(self._plugin)}{request.path}",
            needs_url=connector.needs_url,
            offers_approval=connector.approval is not None,
            url=url,
            name=typed.get("name", connect.name),
            fields=fields,
            values=values,
            errors=dict(errors),
            found=checks,
            approval_link=approval_link,
            approval_host=urlsplit(approval_link).netloc,
            problem=problem or " ".join(general),
        )


def _field(field: CredentialField, url: str) -> dict[str, Any]:
    try:
        link = f"{website_url(url)}/{field.page}" if field.page else ""
    except InvalidInput:
        link = ""
    return {
        "link": link,
        "page": field.page,
        "name": field.name,
        "label": field.label,
        "hint": field.hint,
        "secret": field.secret,
        "required": field.required,
        "multiline": field.multiline,
        "options": [(option, option) for option in field.options],
    }
