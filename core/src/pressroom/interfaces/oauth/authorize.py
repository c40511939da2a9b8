"""`/oauth/authorize`: the consent page for programs that request access (RFC 6749, section 4.1)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import structlog
from sanic import HTTPResponse, Request

from pressroom.accounts.records import PRESELECTED, User
from pressroom.catalog.tool import default_toolsets
from pressroom.errors import (
    AccessDenied,
    BackendError,
    CallError,
    Forbidden,
    InvalidClient,
    InvalidInput,
    InvalidRequest,
    OAuthError,
    RateLimited,
)
from pressroom.host.host import Host
from pressroom.http.access_form import level_options, publishing_targets, read_choice, toolset_options
from pressroom.http.browser_sessions import MAX_FORM_BYTES, BrowserSessions, sign_in_path
from pressroom.http.errors import error_headers
from pressroom.http.page_frame import Head, PageFrame, clip, private_page, see_other, sentence
from pressroom.http.responses import Endpoint, Handler
from pressroom.interfaces.oauth.registration import RegistrationLimit
from pressroom.interfaces.oauth.responses import description
from pressroom.oauth.clients import is_document_url
from pressroom.oauth.metadata import destination, is_loopback, with_parameters
from pressroom.oauth.records import AUTHORIZE_PATH, AuthorizationRequest, Client
from pressroom.oauth.requests import Parameters, RedirectedError, read_authorization_request

_MAX_NAME_LENGTH: Final = 60


@dataclass(frozen=True, slots=True)
class ConsentFacts:
    """A client, as shown on the consent page.

    `destination` is where the response goes, and `kind` its type: `site`, `computer` or `app`. `publisher` is the host
    of a metadata document, which the client's name is at least tied to. `other_site` is true if the response goes to a
    site on another host than `publisher`.
    """

    name: str
    destination: str
    kind: str
    publisher: str
    other_site: bool


def consent_facts(request: AuthorizationRequest) -> ConsentFacts:
    """Return what the consent page shows about a request's client."""
    client, uri = request.client, request.redirect_uri
    publisher = urlsplit(client.id).hostname or "" if client.from_document else ""
    scheme = urlsplit(uri).scheme
    kind = "site" if scheme == "https" else "computer" if is_loopback(uri) else "app"
    return ConsentFacts(
        name=clip(client.metadata.name, _MAX_NAME_LENGTH),
        destination=destination(uri),
        kind=kind,
        publisher=publisher,
        other_site=bool(publisher) and kind == "site" and urlsplit(uri).hostname != publisher,
    )


log = structlog.get_logger()

ALLOW: Final = "allow"
DENY: Final = "deny"
_RETRY_SECONDS: Final = 5
_CANNOT_BE_USED: Final = "Invalid request"


class SignInNeeded(Exception):
    """The person has to sign in before the request can be processed."""


class AuthorizationEndpoint:
    """Shows the consent page for every request, and returns the person's decision to the client.

    The form is posted to its own URL, so that the whole request is validated again.
    """

    def __init__(self, host: Host, site: PageFrame, browser: BrowserSessions, limit: RegistrationLimit) -> None:
        self._server = host.authorization_server
        self._catalog = host.services.catalog
        self._mcp = host.settings.mcp
        self._contributions = host.compiled.plugins.contributions
        self._admit = host.pipeline.admit
        self._site = site
        self._browser = browser
        self._limit = limit
        self._templates = site.templates("pressroom.interfaces.oauth")

    def endpoints(self) -> Iterator[Endpoint]:
        """Yield the routes to serve."""
        yield Endpoint(AUTHORIZE_PATH, ("GET",), self._for_people(self.show))
        yield Endpoint(AUTHORIZE_PATH, ("POST",), self._for_people(self.decide), max_body_bytes=MAX_FORM_BYTES)

    async def show(self, request: Request) -> HTTPResponse:
        """Show the consent page."""
        authorization = await self._read(request)
        user = await self._user(request)
        return await self._consent(request, authorization, user)

    async def decide(self, request: Request) -> HTTPResponse:
        """Process the person's decision."""
        authorization = await self._read(request)
        user = await self._user(request)
        form = self._browser.form(request, lambda _: _query(request))
        decision = form.get("decision", [""])
        if decision == [DENY]:
            denied = _error_of(AccessDenied("the user did not allow it"))
            return self._redirect(authorization.redirect_uri, denied, authorization.state)
        if decision != [ALLOW]:
            raise InvalidInput("decision", f"must be {ALLOW} or {DENY}")
        current = await self._server.grants.choice(user.id, authorization.client.id)
        choice = read_choice(form, current or PRESELECTED, self._default_toolsets(user))
        code = await self._server.grants.approve(user.id, authorization, choice)
        return self._redirect(authorization.redirect_uri, {"code": code}, authorization.state)

    async def _read(self, request: Request) -> AuthorizationRequest:
        parameters = Parameters.parse(_query(request))
        client = await self._client(request, parameters.required("client_id"))
        return read_authorization_request(parameters, client, self._server.urls)

    async def _client(self, request: Request, client_id: str) -> Client:
        documents = self._server.documents
        if documents is None or not is_document_url(client_id):
            client = await self._server.clients.find(client_id)
            if client is None or client.from_document:
                raise InvalidClient("this client is not registered on this server")
            return client
        cached = await documents.known(client_id)
        if cached is not None:
            return cached
        # Only signed-in people can make the server fetch a document.
        user = await self._user(request)
        await self._limit.take_document(user.id)
        return await documents.fetch(client_id)

    async def _user(self, request: Request) -> User:
        session = await self._browser.session(request)
        if session is None:
            raise SignInNeeded
        # Always the person's own account, even if they work in someone else's: clients get access to no other.
        return session.person

    async def _consent(self, request: Request, authorization: AuthorizationRequest, user: User) -> HTTPResponse:
        name = self._site.branding.name
        view = self._catalog.plans[user.plan]
        current = await self._server.grants.choice(user.id, authorization.client.id)
        choice = current or PRESELECTED
        targets = await publishing_targets(self._contributions, user.id)
        session = await self._browser.session(request)
        other_email = session.user.email if session is not None and session.role != "owner" else ""
        body = self._templates.render(
            "consent.html",
            Head(f"Allow a program · {name}", "A program requests access to your account."),
            # The request is in the query, so its CSRF token is not valid for any other request.
            csrf=self._browser.csrf_token(request, AUTHORIZE_PATH, _query(request)),
            sign_out_csrf=self._browser.csrf_token(request, "/sign-out"),
            action=f"{self._site.root}{AUTHORIZE_PATH}?{_query(request)}",
            return_to=f"{AUTHORIZE_PATH}?{_query(request)}",
            user=user,
            other=other_email,
            plan=view.title,
            again=current is not None,
            levels=level_options(view, choice.access, targets),
            sets=toolset_options(view, choice.toolsets, self._default_toolsets(user)),
            facts=consent_facts(authorization),
            allow=ALLOW,
            deny=DENY,
        )
        return private_page(body, self._site.redirecting_security_policy)

    def _default_toolsets(self, user: User) -> frozenset[str]:
        return default_toolsets(self._catalog.plans[user.plan], self._mcp)

    def _redirect(self, redirect_uri: str, parameters: dict[str, str], state: str) -> HTTPResponse:
        """Redirect the browser back to the client."""
        return see_other(self._response_url(redirect_uri, parameters, state))

    def _response_url(self, redirect_uri: str, parameters: dict[str, str], state: str) -> str:
        """Return the URL of an authorization response (RFC 6749, section 4.1.2; RFC 9207, section 2)."""
        response_parameters = {
            **parameters,
            **({"state": state} if state else {}),
            "iss": self._server.urls.issuer,
        }
        return with_parameters(redirect_uri, response_parameters)

    async def _error_response(self, request: Request, refused: RedirectedError) -> HTTPResponse:
        """Return an error to the client if the person has approved it before; otherwise, let the person decide.

        Without this check, anyone who registers a client could use this server as an open redirector (RFC 9700, section
        4.11.2). Raises `SignInNeeded`.
        """
        user = await self._user(request)
        response_url = self._response_url(refused.redirect_uri, _error_of(refused.error), refused.state)
        if await self._server.grants.has_approved(user.id, refused.client.id):
            return see_other(response_url)
        message = (
            f"A program without access to your account sent you here with an invalid request: "
            f"{sentence(refused.error.message)} You can close this page, or go back if you trust where that leads"
        )
        return self._refused(
            400, _CANNOT_BE_USED, message, back=response_url, destination=destination(refused.redirect_uri)
        )

    def _refused(
        self,
        status: int,
        title: str,
        message: str,
        *,
        back: str = "",
        destination: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> HTTPResponse:
        head = Head(f"{title} · {self._site.branding.name}", sentence(message))
        body = self._templates.render(
            "refused.html", head, title=title, status=status, back=back, destination=destination
        )
        response = private_page(body, self._site.redirecting_security_policy, status)
        response.headers.update(headers or {})
        return response

    def _for_people(self, handler: Callable[[Request], Awaitable[HTTPResponse]]) -> Handler:
        """Return a handler that shows errors as pages, or redirects them to the client if that is safe."""

        async def handle(request: Request, **_path: Any) -> HTTPResponse:
            request.ctx.client_ip = self._admit(request.ip, request.headers).client_ip
            try:
                try:
                    response = await handler(request)
                except RedirectedError as refused:
                    response = await self._error_response(request, refused)
            except SignInNeeded:
                response = see_other(self._site.root + sign_in_path(f"{request.path}?{_query(request)}"))
            except OAuthError as error:
                message = f"{sentence(error.message)} Start again in the program that sent you here"
                response = self._refused(400, _CANNOT_BE_USED, message)
            except RateLimited as error:
                response = self._refused(429, "Too many programs at once", error.message, headers=error_headers(error))
            except CallError as error:
                status = 403 if isinstance(error, Forbidden) else 400
                response = self._refused(status, "That didn't work", error.message)
            except BackendError as error:
                log.warning("a client could not be approved", error=str(error))
                message = "your account is not available right now; nothing was changed. Try again in a few seconds"
                response = self._refused(503, "Back in a moment", message, headers={"Retry-After": str(_RETRY_SECONDS)})
            return self._browser.finish(request, response)

        return handle


def _error_of(error: OAuthError) -> dict[str, str]:
    return {"error": error.code, "error_description": description(error)}


def _query(request: Request) -> str:
    """Return the raw query string. Raises `InvalidRequest` if it is not UTF-8."""
    try:
        return request.query_string
    except UnicodeDecodeError:
        raise InvalidRequest("the URL is not UTF-8") from None
