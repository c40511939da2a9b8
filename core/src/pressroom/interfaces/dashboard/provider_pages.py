"""`/sign-in/provider` and `/sign-in/callback`: sign-in at the identity provider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sanic import HTTPResponse, Request

from pressroom.accounts.identity_provider import AccountLinking, IdentityClaims, IdentityProvider, SignInRequest
from pressroom.accounts.records import BrowserSession
from pressroom.accounts.sign_in import SignIn
from pressroom.errors import CallError, Overloaded, RateLimited, SignInFailed
from pressroom.http.browser_sessions import CookieCipher, Fields, return_path, sign_in_path
from pressroom.http.errors import error_headers
from pressroom.http.page_frame import see_other, sentence
from pressroom.http.responses import Endpoint
from pressroom.interfaces.dashboard.frame import DashboardFrame, first
from pressroom.interfaces.dashboard.navigation import ACCOUNT, DASHBOARD
from pressroom.interfaces.dashboard.sign_in_pages import SignInPages

_COOKIE: Final = "provider"
_NOT_STARTED: Final = "This sign-in did not start in this browser, or took too long. Please sign in again."
_SECONDS: Final = 900
"""Maximum time that a person can spend at the provider."""


class ProviderPages:
    """Sends people to the identity provider, and signs them in when they return.

    The state, nonce and code verifier are kept in an encrypted cookie. Any host of this server can therefore handle the
    return, but only in the browser that left.
    """

    def __init__(
        self,
        frame: DashboardFrame,
        provider: IdentityProvider,
        sign_in: SignIn,
        sign_in_pages: SignInPages,
        seal: CookieCipher,
    ) -> None:
        settings = frame.host.settings
        self._frame = frame
        self._browser = frame.browser
        self._provider = provider
        self._linking = AccountLinking(frame.host.accounts.users, settings.accounts.identity_provider)
        self._sign_in = sign_in
        self._pages = sign_in_pages
        self._seal = seal
        self._redirect_uri = f"{settings.public_url}/sign-in/callback"

    def endpoints(self) -> list[Endpoint]:
        """Return the routes to serve."""
        return [
            self._frame.public("/sign-in/provider", self.begin, methods=("POST",)),
            self._frame.public("/sign-in/callback", self.come_back),
        ]

    async def begin(self, request: Request) -> HTTPResponse:
        """`POST /sign-in/provider`: redirect to the provider. With `connect`, link it to the account in use."""
        fields = self._browser.form(request, _purpose)
        return_to = return_path(first(fields, "return_to"), "")
        connects = bool(first(fields, "connect"))
        session = await self._browser.session(request) if connects else None
        if connects and session is None:
            # Signing in at the provider instead could create a second account.
            return self._frame.redirect(sign_in_path(ACCOUNT))
        try:
            leaving = await self._provider.authorization_request(self._redirect_uri)
        except SignInFailed as error:
            return await self._failed(request, error, 503, connects=connects, return_to=return_to)
        pending = {
            "url": leaving.url,
            "state": leaving.state,
            "nonce": leaving.nonce,
            "code_verifier": leaving.code_verifier,
            "return_to": return_to,
            "connect": session.person.id if session else "",
        }
        response = see_other(leaving.url)
        self._browser.set_cookie(response, _COOKIE, self._seal.seal(pending, seconds=_SECONDS), max_age=_SECONDS)
        return response

    async def come_back(self, request: Request) -> HTTPResponse:
        """`GET /sign-in/callback`: verify the provider's response and sign the person in.

        With a kept cookie, a client can send any number of made-up codes, each of which makes this server send a
        request to the provider. Failures are therefore counted.
        """
        pending = self._seal.open(self._browser.cookie(request, _COOKIE))
        if not pending:
            return self._pages.form(request, 400, problem=_NOT_STARTED)
        return_to = return_path(pending.get("return_to", ""), "")
        try:
            async with self._sign_in.counted(client_ip=request.ctx.client_ip):
                response = await self._complete_sign_in(request, pending, return_to)
        except (SignInFailed, RateLimited, Overloaded) as error:
            status = 400 if isinstance(error, SignInFailed) else 429 if isinstance(error, RateLimited) else 503
            connects = bool(pending.get("connect"))
            response = await self._failed(request, error, status, connects=connects, return_to=return_to)
        self._browser.remove_cookie(response, _COOKIE)
        return response

    async def _failed(
        self, request: Request, error: CallError, status: int, *, connects: bool, return_to: str
    ) -> HTTPResponse:
        """Return the sign-in page with an error, or a page without a form for people who are still signed in."""
        problem = sentence(error.message)
        if not connects or await self._browser.session(request) is None:
            return self._pages.form(request, status, return_to=return_to, problem=problem, error=error)
        response = self._frame.card(
            request,
            "problem.html",
            "Not connected",
            description=problem,
            status=status,
            headline="Not connected",
            code=status,
            link_path=ACCOUNT,
            link_title="Go to Account",
        )
        response.headers.update(error_headers(error))
        return response

    async def _complete_sign_in(self, request: Request, pending: Mapping[str, str], return_to: str) -> HTTPResponse:
        claims = await self._claims(request, pending)
        if pending.get("connect"):
            return await self._connect(await self._browser.session(request), pending["connect"], claims)
        user = await self._linking.sign_in(claims)
        response = self._frame.redirect(return_to or DASHBOARD)
        await self._browser.sign_in(request, response, user)
        return response

    async def _claims(self, request: Request, pending: Mapping[str, str]) -> IdentityClaims:
        leaving = SignInRequest(
            url=pending["url"],
            redirect_uri=self._redirect_uri,
            state=pending["state"],
            nonce=pending["nonce"],
            code_verifier=pending["code_verifier"],
        )
        params = {name: values[0] for name, values in request.args.items()}
        return await self._provider.finish(params, leaving)

    async def _connect(self, session: BrowserSession | None, user_id: str, claims: IdentityClaims) -> HTTPResponse:
        if session is None or session.person.id != user_id:
            raise SignInFailed("you signed out or switched accounts in the meantime: please sign in again")
        await self._linking.connect(session.person, claims)
        return self._frame.redirect(f"{ACCOUNT}?done=connected")


def _purpose(fields: Fields) -> str:
    return "connect" if first(fields, "connect") else ""
