"""`/setup`, `/sign-in`, `/sign-up`, `/sign-out`, and the cookie that identifies known browsers."""

from __future__ import annotations

import math
import time
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlencode

import structlog
from sanic import HTTPResponse, Request

from pressroom.accounts.passwords import MIN_PASSWORD_LENGTH
from pressroom.accounts.records import User
from pressroom.accounts.sign_in import SignIn, account_key
from pressroom.columns import new_secret
from pressroom.config.values import parse_rate
from pressroom.errors import (
    BackendError,
    CallError,
    Forbidden,
    InvalidInput,
    NotFound,
    Overloaded,
    RateLimited,
    SignInFailed,
)
from pressroom.http.browser_sessions import (
    STALE_FORM,
    BrowserSessions,
    CookieCipher,
    Fields,
    StaleFormError,
    parse_form,
    return_path,
)
from pressroom.http.errors import error_headers
from pressroom.http.page_frame import sentence
from pressroom.http.responses import Endpoint
from pressroom.interfaces.dashboard.frame import DashboardFrame, first
from pressroom.interfaces.dashboard.navigation import DASHBOARD
from pressroom.validation.echo import waiting_time

_COOKIE: Final = "known"
_SECONDS: Final = 180 * 86_400
_MAX_ACCOUNTS: Final = 5


class KnownBrowsers:
    """Keeps an encrypted cookie with the accounts that have signed in with a password in a browser.

    The cookie does not authenticate anyone. It survives a sign-out, and expires 180 days after the last sign-in.
    """

    def __init__(self, browser: BrowserSessions, seal: CookieCipher) -> None:
        self._browser = browser
        self._seal = seal

    def device(self, request: Request, email: str) -> str:
        """Return the ID of this browser for an account, or an empty string if the account has not signed in with it."""
        return self._known_devices(request).get(account_key(email), "")

    def remember(self, request: Request, response: HTTPResponse, email: str) -> None:
        """Add an account to the cookie on the response, after the person proved to own it."""
        devices, key = self._known_devices(request), account_key(email)
        device = devices.pop(key, "") or new_secret()
        entries = {**dict(list(devices.items())[-(_MAX_ACCOUNTS - 1) :]), key: device}
        self._browser.set_cookie(response, _COOKIE, self._seal.seal(entries, seconds=_SECONDS), max_age=_SECONDS)

    def _known_devices(self, request: Request) -> dict[str, str]:
        return dict(self._seal.open(self._browser.cookie(request, _COOKIE)) or {})


log = structlog.get_logger()

PASSWORD_HELP: Final = (
    f"At least {MIN_PASSWORD_LENGTH} characters. Several words in a row are easy to remember and hard to guess."
)

_MAX_TOKEN_LENGTH: Final = 100
_MESSAGES: Final = {
    "signed-out": "You are signed out.",
    "signed-out-everywhere": "You are signed out in all browsers.",
}


class SignInPages:
    """Handles sign-in, sign-up, setup and sign-out. `provider` is the identity provider's name, or empty."""

    def __init__(self, frame: DashboardFrame, sign_in: SignIn, known_browsers: KnownBrowsers, provider: str) -> None:
        settings = frame.host.settings
        self._frame = frame
        self._browser = frame.browser
        self._accounts = frame.host.accounts
        self._limiter = frame.host.services.limiter
        self._sign_in = sign_in
        self._known_browsers = known_browsers
        self._provider = provider
        self._password = settings.accounts.password_sign_in
        self._sign_up = settings.accounts.sign_up and self._password
        self._sign_up_rate = parse_rate(settings.accounts.sign_in_rate_ip)
        self._refuse_on_outage = settings.limits.on_outage == "refuse"

    def endpoints(self) -> list[Endpoint]:
        """Return the routes to serve."""
        frame = self._frame
        endpoints = [
            frame.public("/sign-in", self.show),
            frame.public("/sign-in", self.submit, methods=("POST",)),
            frame.public("/sign-out", self.sign_out, methods=("POST",)),
        ]
        if self._password:
            endpoints += [
                frame.public("/setup", self.show_setup),
                frame.public("/setup", self.set_up, methods=("POST",)),
            ]
        if self._sign_up:
            endpoints += [
                frame.public("/sign-up", self.show_sign_up),
                frame.public("/sign-up", self.sign_up, methods=("POST",)),
            ]
        return endpoints

    async def show(self, request: Request) -> HTTPResponse:
        """`GET /sign-in`: show the form. `return_to` is the path to go to afterwards."""
        return_to = return_path(request.args.get("return_to", ""), "")
        if await self._browser.session(request) is not None:
            return self._frame.redirect(return_to or DASHBOARD)
        message = _MESSAGES.get(request.args.get("done", ""), "")
        return self.form(request, return_to=return_to, message=message, is_new=await self._is_new())

    async def submit(self, request: Request) -> HTTPResponse:
        """`POST /sign-in`: check e-mail address and password; the error does not reveal which one was wrong."""
        try:
            fields = self._browser.form(request, keep_stale=True)
        except StaleFormError as stale:
            return await self._stale(request, stale.fields)
        email, return_to = first(fields, "email"), return_path(first(fields, "return_to"), "")
        try:
            user = await self._sign_in.with_password(
                email,
                first(fields, "password"),
                client_ip=request.ctx.client_ip,
                device=self._known_browsers.device(request, email),
            )
        except SignInFailed as error:
            return self.form(request, 400, email=email, return_to=return_to, problem=sentence(error.message))
        except (RateLimited, Overloaded) as error:
            return self.form(
                request,
                429 if isinstance(error, RateLimited) else 503,
                email=email,
                return_to=return_to,
                problem=sentence(error.message),
                error=error,
            )
        return await self._enter(request, user, return_to or DASHBOARD)

    async def _stale(self, request: Request, fields: Fields) -> HTTPResponse:
        """Redirect a person who signed in meanwhile, in another tab of this browser. Raises `Forbidden` for others."""
        session = await self._browser.session(request)
        if session is None or session.person.email != first(fields, "email").strip().lower():
            raise Forbidden(STALE_FORM)
        return self._frame.redirect(return_path(first(fields, "return_to"), "") or DASHBOARD)

    async def sign_out(self, request: Request) -> HTTPResponse:
        """`POST /sign-out`: end the session of this browser. `return_to` is where the next sign-in leads."""
        # After signing out in another tab, there is no session left that the CSRF token could protect.
        signed_in = await self._browser.session(request) is not None
        fields = self._browser.form(request) if signed_in else parse_form(request)
        return_to = return_path(first(fields, "return_to"), "")
        done = {"done": "signed-out", **({"return_to": return_to} if return_to else {})}
        response = self._frame.redirect(f"/sign-in?{urlencode(done)}")
        await self._browser.sign_out(request, response)
        return response

    async def show_setup(self, request: Request) -> HTTPResponse:
        """`GET /setup?token=…`: show the form for the first account."""
        token = request.args.get("token", "")[:_MAX_TOKEN_LENGTH]
        if not await self._accounts.setup_links.usable(token):
            raise await self._bad_link()
        return self._setup_form(request, token, {})

    async def set_up(self, request: Request) -> HTTPResponse:
        """`POST /setup`: create the first account and sign in to it."""
        fields = self._browser.form(request)
        token = first(fields, "token")[:_MAX_TOKEN_LENGTH]
        try:
            user = await self._accounts.setup_links.redeem(
                token, email=first(fields, "email"), name=first(fields, "name"), password=first(fields, "password")
            )
        except InvalidInput as error:
            return self._setup_form(request, token, fields, error)
        except NotFound:
            raise await self._bad_link() from None
        return await self.welcome(request, user, f"{DASHBOARD}?done=welcome")

    async def show_sign_up(self, request: Request) -> HTTPResponse:
        """`GET /sign-up`: show the form for a new account."""
        return_to = return_path(request.args.get("return_to", ""), "")
        if await self._browser.session(request) is not None:
            return self._frame.redirect(return_to or DASHBOARD)
        return self._sign_up_form(request, {"return_to": [return_to]})

    async def sign_up(self, request: Request) -> HTTPResponse:
        """`POST /sign-up`: create an account and sign in to it."""
        fields = self._browser.form(request)
        return_to = return_path(first(fields, "return_to"), "")
        await self.count_sign_up(request.ctx.client_ip)
        if self._frame.is_operators_email(first(fields, "email")):
            refusal = InvalidInput("email", "belongs to an operator: create that account with `pressroom users add`")
            return self._sign_up_form(request, fields, refusal)
        try:
            user = await self._accounts.users.add(
                first(fields, "email"), name=first(fields, "name"), password=first(fields, "password")
            )
        except InvalidInput as error:
            return self._sign_up_form(request, fields, error)
        return await self.welcome(request, user, return_to or f"{DASHBOARD}?done=welcome")

    def form(
        self,
        request: Request,
        status: int = 200,
        *,
        email: str = "",
        return_to: str = "",
        message: str = "",
        problem: str = "",
        error: CallError | None = None,
        is_new: bool = False,
    ) -> HTTPResponse:
        """Return the sign-in page with the outcome of the last action. `is_new` means that no account exists."""
        response = self._frame.card(
            request,
            "sign_in.html",
            "Sign in",
            status=status,
            email=email[:254],
            return_to=return_to,
            returning=bool(return_to) and return_to != DASHBOARD,
            message=message,
            problem=problem,
            provider=self._provider,
            password=self._password,
            sign_up=self._sign_up,
            is_new=is_new,
        )
        if error is not None:
            response.headers.update(error_headers(error))
        return response

    async def _is_new(self) -> bool:
        """Return whether there are no accounts yet; false if that is unknown or passwords are disabled."""
        if not self._password:
            return False
        try:
            return not await self._accounts.users.any()
        except BackendError:
            return False  # the rest of the page works without the database

    async def welcome(self, request: Request, user: User, path: str, *, works_in: str = "") -> HTTPResponse:
        """Sign in with a password that was just chosen, recording the time; for others, `SignIn` has recorded it."""
        await self._accounts.users.signed_in(user.id, datetime.now(UTC))
        return await self._enter(request, user, path, works_in=works_in)

    async def _enter(self, request: Request, user: User, path: str, *, works_in: str = "") -> HTTPResponse:
        response = self._frame.redirect(path)
        await self._browser.sign_in(request, response, user, works_in=works_in)
        self._known_browsers.remember(request, response, user.email)
        return response

    async def _bad_link(self) -> NotFound:
        if await self._accounts.users.any():
            return NotFound("this server already has an account: sign in instead")
        return NotFound("this link has expired or was replaced: restart the server and use the link it prints")

    async def count_sign_up(self, client_ip: str) -> None:
        """Limit sign-ups, and thereby probing for registered e-mail addresses, per client IP address."""
        try:
            status = await self._limiter.take(self._sign_up_rate, f"sign-up address\n{client_ip}", 1)
        except BackendError as error:
            log.warning("sign-ups cannot be counted", error=str(error))
            if self._refuse_on_outage:
                raise Overloaded("accounts cannot be created right now; try again shortly") from error
            return
        if not status.allowed:
            seconds = max(1, math.ceil(status.reset_at - time.time()))
            raise RateLimited(
                f"too many accounts were requested from your IP address; try again in {waiting_time(seconds)}",
                retry_after=seconds,
            )

    def _setup_form(
        self, request: Request, token: str, fields: Fields, error: InvalidInput | None = None
    ) -> HTTPResponse:
        return self._new_account(
            request,
            fields,
            error,
            headline="Welcome",
            lead=f"Create the first account of this {self._frame.site.branding.name} server. This link works once.",
            action="/setup",
            button="Create account",
            hidden={"token": token},
            sign_in=False,
        )

    def _sign_up_form(self, request: Request, fields: Fields, error: InvalidInput | None = None) -> HTTPResponse:
        return self._new_account(
            request,
            fields,
            error,
            headline="Create an account",
            lead=f"For {self._frame.site.branding.name} and the AI clients that you connect.",
            action="/sign-up",
            button="Create account",
            hidden={"return_to": return_path(first(fields, "return_to"), "")},
            sign_in=True,
        )

    def _new_account(
        self, request: Request, fields: Fields, error: InvalidInput | None, *, headline: str, **values: Any
    ) -> HTTPResponse:
        errors = dict.fromkeys(("email", "name", "password"), "")
        problem = ""
        if error is not None and error.field in errors:
            errors[error.field] = sentence(error.problem)
        elif error is not None:
            problem = sentence(error.message)
        return self._frame.card(
            request,
            "new_account.html",
            headline,
            status=400 if error else 200,
            headline=headline,
            values={name: first(fields, name)[:300] for name in ("email", "name")},
            errors=errors,
            problem=problem,
            password_help=PASSWORD_HELP,
            **values,
        )
