"""The frame of all account pages: authentication, rendering, and error pages."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import structlog
from sanic import HTTPResponse, Request
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom.accounts.records import BrowserSession, Membership, User
from pressroom.accounts.users import comparable_email
from pressroom.errors import BackendError, CallError
from pressroom.host.host import Host
from pressroom.http.browser_sessions import (
    MAX_FORM_BYTES,
    SWITCH,
    BrowserSessions,
    Fields,
    StaleFormError,
    parse_form,
    sign_in_path,
)
from pressroom.http.errors import error_headers
from pressroom.http.page_frame import Head, PageFrame, private_page, see_other, sentence
from pressroom.http.responses import Endpoint, Handler, begin, logged_path, receive_body
from pressroom.interfaces.dashboard.navigation import (
    DASHBOARD,
    USERS,
    NavigationGroup,
    NavigationLink,
    groups_of,
    visible_groups,
)
from pressroom.interfaces.dashboard.roles import WITHOUT_FORM, allows, check_role, name_of
from pressroom.sdk import AccountRole
from pressroom.sdk.dashboard import ACCOUNT_ROLES
from pressroom.validation.client_ip import client_ip_of

log = structlog.get_logger()

MAX_PRESERVED_BYTES: Final = 1_048_576
"""Maximum size of a long form from a signed-out sender that is kept, to be sent again after signing in."""


LOST: Final = "You no longer have access to that account. You are back in your own."

_FAILED: Final = 400
_NOT_FOUND: Final = 404
_RETRY_SECONDS: Final = 10
_STATUS: Final[Mapping[str, tuple[int, str]]] = {
    "validation_error": (400, "That didn't work"),
    "sign_in_failed": (400, "That didn't work"),
    "forbidden": (403, "That is not possible"),
    "not_found": (404, "Not found"),
    "payload_too_large": (413, "Too large"),
    "unsupported_media_type": (415, "That form is not valid"),
    "rate_limited": (429, "Too many attempts"),
    "quota_exceeded": (429, "The quota is used up"),
    "overloaded": (503, "Too many requests at once"),
    "timeout": (503, "It took too long"),
}


@dataclass(frozen=True, slots=True)
class DashboardRequest:
    """A request of a signed-in person. `memberships` are the other accounts in which they can work."""

    request: Request
    session: BrowserSession
    memberships: Sequence[Membership] = ()

    @property
    def user(self) -> User:
        """The account in use: the person's own, or someone else's."""
        return self.session.user

    @property
    def person(self) -> User:
        """The person who signed in."""
        return self.session.person

    @property
    def role(self) -> AccountRole:
        """The person's role in the account in use."""
        return self.session.role


def first(fields: Fields, name: str) -> str:
    """Return the first value of a form field, or an empty string."""
    return fields.get(name, [""])[0]


class DashboardFrame:
    """Renders the account pages of a server in a common frame, and wraps their handlers."""

    def __init__(self, host: Host, site: PageFrame, browser: BrowserSessions) -> None:
        server = host.settings.server
        self.host = host
        self.site = site
        self.browser = browser
        self._trusted_proxies = server.trusted_proxies
        self._secret = server.forwarded_secret.get_secret_value() if server.forwarded_secret else None
        self._templates = site.templates("pressroom.interfaces.dashboard")
        groups = groups_of(host)
        accounts = host.settings.accounts
        self._operators = frozenset(comparable_email(email) for email in accounts.operators)
        provider = accounts.identity_provider
        self._is_open = accounts.sign_up or (provider.issuer is not None and provider.create_accounts)
        self._groups = {role: visible_groups(groups, role) for role in ACCOUNT_ROLES}
        self._operators_group = NavigationGroup("Server", (NavigationLink("Users", USERS),))
        self._links = tuple(link for group in groups for link in group.links)

    def is_operator(self, user: User) -> bool:
        """Return whether a user can see the operator pages."""
        return self.is_operators_email(user.email)

    def is_operators_email(self, email: str) -> bool:
        """Return whether an e-mail address belongs to an operator. Such accounts cannot be self-registered."""
        return comparable_email(email) in self._operators

    async def lacks_operators(self, visit: DashboardRequest, session: AsyncSession) -> bool:
        """Return whether to explain how to become an operator: only if nobody is one and a single account exists.

        The owner of the only account is presumably who set up the server. On a server with open sign-up that is
        uncertain, so the hint is not shown there. `session` is an open database session.
        """
        if self._operators or self._is_open or visit.role != "owner":
            return False
        return await self.host.accounts.users.alone_within(session, visit.person.id)

    def public(self, path: str, handler: Handler, *, methods: tuple[str, ...] = ("GET",)) -> Endpoint:
        """Return the endpoint of a page for anyone, handled by `handler(request, **path)`."""

        async def respond(request: Request, **path: str) -> HTTPResponse:
            return await self._handle(request, handler, path)

        return Endpoint(path, methods, respond, max_body_bytes=MAX_FORM_BYTES)

    def person(
        self,
        path: str,
        handler: Handler,
        *,
        methods: tuple[str, ...] = ("GET",),
        max_form_bytes: int = 0,
        sees: AccountRole = "owner",
        posts: AccountRole = "owner",
    ) -> Endpoint:
        """Return the endpoint of a page for signed-in people, handled by `handler(visit, **path)`.

        Others are redirected to the sign-in page, which returns them here. `sees` and `posts` are the minimum roles in
        the account in use, for viewing the page and for submitting its forms. Set `max_form_bytes` for pages with long
        forms. Their body is read only once the sender is known. If the session ended or the CSRF token is stale or for
        another account, the response is a page that keeps the form and submits it again.
        """

        async def guarded(request: Request, **path: str) -> HTTPResponse:
            session = await self.browser.session(request)
            posted = max_form_bytes and request.method == "POST"
            if session is None and posted and self.browser.comes_from_here(request):
                await receive_body(request, min(MAX_PRESERVED_BYTES, max_form_bytes))
                return self._preserved_form(request, parse_form(request, MAX_PRESERVED_BYTES))
            if session is None:
                return self.redirect(sign_in_path(_path_of(request)))
            check_role(session, sees if request.method in WITHOUT_FORM else posts)
            visit = DashboardRequest(request, session, await self._memberships(session))
            if not posted:
                response = await handler(visit, **path)
            else:
                await receive_body(request)
                try:
                    response = await handler(visit, **path)
                except StaleFormError as error:
                    return self._preserved_form(request, error.fields, visit=visit, reason=error.reason)
            self._note(visit, response)
            return response

        async def respond(request: Request, **path: str) -> HTTPResponse:
            return await self._handle(request, guarded, path)

        limit = max_form_bytes or MAX_FORM_BYTES
        return Endpoint(path, methods, respond, max_body_bytes=limit, reads_body=bool(max_form_bytes))

    def card(
        self, request: Request, template: str, title: str, *, description: str = "", status: int = 200, **values: Any
    ) -> HTTPResponse:
        """Return a page with a single task, whose form can end in a redirect to another site."""
        body = self._render(request, template, title, description, values)
        return private_page(body, self.site.redirecting_security_policy, status)

    def page(
        self,
        visit: DashboardRequest,
        template: str,
        title: str,
        *,
        current: str = "",
        status: int = 200,
        redirecting: bool = False,
        posts: AccountRole = "reader",
        **values: Any,
    ) -> HTTPResponse:
        """Return a page of the dashboard.

        `current` is the path of the page's navigation entry. `redirecting` states whether one of its forms can end in a
        redirect to another site. Its forms are hidden from people with a lower role than `posts`.
        """
        groups = self._groups[visit.role]
        values |= {
            "user": visit.user,
            "person": visit.person,
            "role": visit.role,
            "lost": LOST if visit.session.lost else "",
            "memberships": visit.memberships,
            "owner_name": name_of(visit.user),
            "read_only": not allows(visit.role, posts),
            "switch": SWITCH,
            "navigation": (*groups, self._operators_group) if self.is_operator(visit.person) else groups,
            "current": current,
        }
        body = self._render(visit.request, template, title, f"{title} of your account.", values)
        site = self.site
        policy = site.redirecting_security_policy if redirecting else site.content_security_policy
        return private_page(body, policy, status)

    def entry_of(self, path: str) -> str:
        """Return the path of a page's navigation entry: its own, or the nearest one above it."""
        paths = (link.path for link in self._links if link.path != DASHBOARD)
        entries = [entry for entry in paths if f"{path}/".startswith(f"{entry}/")]
        return max(entries, key=len, default=path)

    def next_link(self, path: str, role: AccountRole = "owner") -> tuple[str, str]:
        """Return the link offered on an error page below the dashboard: its path and text.

        It points to the section that the path belongs to if the role can see it, else to the overview.
        """
        links = [link for group in self._groups[role] for link in group.links if path.startswith(f"{link.path}/")]
        section = max(links, key=lambda link: len(link.path), default=None)
        if section is None or section.path == DASHBOARD:
            return DASHBOARD, "Go to the dashboard"
        return section.path, f"Go to {section.title}"

    def redirect(self, path: str) -> HTTPResponse:
        """Return a redirect to a path of this site."""
        return see_other(self.site.root + path)

    async def _memberships(self, session: BrowserSession) -> Sequence[Membership]:
        """Return the other accounts that a person can switch to; query them only if there are any."""
        return await self.host.accounts.memberships.of_member(session.person.id) if session.is_member else ()

    def _note(self, visit: DashboardRequest, response: HTTPResponse) -> None:
        """Log a change that a member made in someone else's account, and add it to the account's list of calls."""
        request = visit.request
        if visit.role == "owner" or request.method in WITHOUT_FORM or response.status >= _FAILED:
            return
        log.info(
            "a member used an account",
            account=visit.user.id,
            person=visit.person.id,
            role=visit.role,
            path=logged_path(request)[:200],
        )
        # Scripts submit forms too, to get previews as JSON; these change nothing.
        if request.path == SWITCH or (response.content_type or "").startswith("application/json"):
            return
        try:
            self.host.accounts.activity_log.note_change(
                visit.user.id,
                visit.person.id,
                logged_path(request),
                duration=time.perf_counter() - request.ctx.started,
                client_ip=request.ctx.client_ip,
                request_id=request.ctx.request_id,
            )
        except BackendError as error:
            log.error("a change of a member is missing from the list of calls", error=error.message)  # noqa: TRY400

    def _preserved_form(
        self, request: Request, fields: Fields, *, visit: DashboardRequest | None = None, reason: str = ""
    ) -> HTTPResponse:
        """Return a page that keeps a form that was not accepted, so that it can be sent again.

        `visit` is set if the person is signed in; the page then states in whose account the form would take effect.
        """
        signed_in = visit is not None
        entries = [(name, value) for name, values in fields.items() if name != "csrf" for value in values]
        query = f"?{request.query_string}" if request.query_string else ""
        return self.card(
            request,
            "kept_form.html",
            "Send it again" if signed_in else "Sign in to continue",
            description="Nothing was saved yet. Your text is not lost.",
            status=403 if signed_in else 401,
            path=request.path,
            action=self.site.root + request.path + query,
            kept=entries,
            text=max((value for _, value in entries), key=len, default=""),
            signed_in=signed_in,
            reason=sentence(reason) if reason else "",
            whose=name_of(visit.user) if visit is not None and visit.role != "owner" else "",
            elsewhere=visit is not None and visit.session.is_member,
            sign_in=self.site.root + sign_in_path(DASHBOARD),
        )

    def _render(
        self, request: Request, template: str, title: str, description: str, values: Mapping[str, Any]
    ) -> bytes:
        name = self.site.branding.name
        head = Head(f"{title} · {name}", description or f"{title}: {name}.")
        return self._templates.render(template, head, csrf=partial(self.browser.csrf_token, request), **values)

    async def _handle(self, request: Request, handler: Handler, path: Mapping[str, str]) -> HTTPResponse:
        begin(request)
        request.ctx.client_ip = client_ip_of(request.ip, request.headers, self._trusted_proxies, self._secret)
        try:
            response = await handler(request, **path)
        except CallError as error:
            response = self._refusal(request, error)
        except BackendError as error:
            log.warning("an account page could not be shown", path=logged_path(request)[:200], error=str(error))
            response = self._outage(request)
        return self.browser.finish(request, response)

    def _refusal(self, request: Request, error: CallError) -> HTTPResponse:
        status, title = _STATUS.get(error.code, (500, "Something failed"))
        session = self.browser.known_session(request)
        lost = f"{sentence(error.message)} {LOST}" if session is not None and session.lost else error.message
        role = session.role if session is not None else "owner"
        next_link = self.next_link(request.path, role) if status == _NOT_FOUND else None
        response = self._problem(request, status, title, lost, next_link)
        response.headers.update(error_headers(error))
        return response

    def _outage(self, request: Request) -> HTTPResponse:
        message = "your account is not available right now; nothing was changed. Try again in a few seconds"
        response = self._problem(request, 503, "Back in a moment", message)
        response.headers["Retry-After"] = str(_RETRY_SECONDS)
        return response

    def _problem(
        self, request: Request, status: int, title: str, message: str, next_link: tuple[str, str] | None = None
    ) -> HTTPResponse:
        link_path, link_title = next_link or (DASHBOARD, "Go to the dashboard")
        return self.card(
            request,
            "problem.html",
            title,
            description=sentence(message),
            status=status,
            headline=title,
            code=status,
            link_path=link_path,
            link_title=link_title,
        )


def _path_of(request: Request) -> str:
    """Return the path to come back to after sign-in. A redirect cannot repeat a POST, so its query is dropped."""
    query = f"?{request.query_string}" if request.query_string and request.method in ("GET", "HEAD") else ""
    return request.path + query
