"""`/dashboard/users`, where operators manage accounts, and `/password`, the target of their links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlencode

import structlog
from sanic import HTTPResponse, Request

from pressroom.accounts.records import User
from pressroom.errors import InvalidInput, NotFound, SignInFailed
from pressroom.http.browser_sessions import CookieCipher
from pressroom.http.page_frame import sentence
from pressroom.http.responses import Endpoint, Handler
from pressroom.interfaces.dashboard.frame import DashboardFrame, DashboardRequest, first
from pressroom.interfaces.dashboard.navigation import DASHBOARD, USERS
from pressroom.interfaces.dashboard.sign_in_pages import PASSWORD_HELP, SignInPages
from pressroom.interfaces.dashboard.views import ago, day, meter, storage_meter

log = structlog.get_logger()

CHOOSE: Final = "/password"

LINK_SECONDS: Final = 86_400
"""Lifetime in seconds of a link for choosing a password."""

PAGE: Final = 50
"""Number of accounts on a page."""

_MAX_TOKEN_LENGTH: Final = 2000
_MAX_EMAIL_LENGTH: Final = 254

_MESSAGES: Final = {
    "plan": "The plan is changed, and applies to new calls.",
    "disable": "The account is disabled: its sessions have ended, and its keys and tokens are rejected.",
    "enable": "The account is enabled again.",
}


@dataclass(frozen=True, slots=True)
class ListedUser:
    """An account, as shown in the list."""

    id: str
    email: str
    name: str
    plan: str
    disabled: bool
    operator: bool
    seen: str


class UsersPages:
    """Handles `/dashboard/users` for the operators in `[accounts] operators`, and `/password` for anyone.

    For everyone else, operator pages return 404.
    """

    def __init__(self, frame: DashboardFrame, sign_in_pages: SignInPages, links: CookieCipher) -> None:
        settings = frame.host.settings
        self._frame = frame
        self._browser = frame.browser
        self._accounts = frame.host.accounts
        self._pages = sign_in_pages
        self._links = links
        self._plans = sorted({settings.accounts.default_plan, *settings.plans})
        self._passwords = settings.accounts.password_sign_in

    def endpoints(self) -> list[Endpoint]:
        """Return the routes to serve."""
        frame, user_path = self._frame, f"{USERS}/<user:str>"
        endpoints = [
            self._for_operators(USERS, self.show_all),
            self._for_operators(USERS, self.add, "POST"),
            self._for_operators(user_path, self.show),
            self._for_operators(user_path, self.change, "POST"),
        ]
        if self._passwords:
            endpoints += [
                frame.public(CHOOSE, self.show_password),
                frame.public(CHOOSE, self.set_password, methods=("POST",)),
            ]
        return endpoints

    def _for_operators(self, path: str, handler: Handler, method: str = "GET") -> Endpoint:
        """Return the endpoint of an operator page, whichever account the operator works in."""

        async def guarded(visit: DashboardRequest, **path: str) -> HTTPResponse:
            if not self._frame.is_operator(visit.person):
                raise NotFound("there is no such page")
            return await handler(visit, **path)

        return self._frame.person(path, guarded, methods=(method,), sees="reader", posts="reader")

    async def show_all(self, visit: DashboardRequest) -> HTTPResponse:
        """`GET /dashboard/users`: list accounts. `?after=<e-mail>` starts after that e-mail address.

        `?find=<text>` lists accounts whose e-mail address or name contains the text; a complete e-mail address
        redirects to its account.
        """
        search = visit.request.args.get("find", "").strip()[:_MAX_EMAIL_LENGTH]
        user = await self._accounts.users.by_email(search) if search else None
        if user is not None:
            return self._frame.redirect(f"{USERS}/{user.id}")
        return await self._list(visit, find=search)

    async def add(self, visit: DashboardRequest) -> HTTPResponse:
        """`POST /dashboard/users`: create an account, and show the link for choosing its password."""
        fields = self._browser.form(visit.request)
        try:
            user = await self._accounts.users.add(
                first(fields, "email"), name=" ".join(first(fields, "name").split()), plan=first(fields, "plan")
            )
        except InvalidInput as error:
            return await self._list(visit, errors={error.field: sentence(error.problem)}, fields=fields, status=400)
        log.info("an operator made an account", operator=visit.person.id, account=user.id, plan=user.plan)
        return await self._user_page(visit, user, message="The account is created.", link=self._link(user))

    async def show(self, visit: DashboardRequest, user: str) -> HTTPResponse:
        """`GET /dashboard/users/<user>`: show an account."""
        message = _MESSAGES.get(visit.request.args.get("done", ""), "")
        return await self._user_page(visit, await self._accounts.users.get(user), message=message)

    async def change(self, visit: DashboardRequest, user: str) -> HTTPResponse:
        """`POST /dashboard/users/<user>`: change the plan, disable or enable the account, or create a password link."""
        fields = self._browser.form(visit.request, lambda form: first(form, "action"))
        account, action = await self._accounts.users.get(user), first(fields, "action")
        match action:
            case "plan":
                await self._accounts.users.set_plan(account.id, first(fields, "plan"))
            case "disable":
                if account.id == visit.person.id:
                    raise InvalidInput("", "you cannot disable the account that you are signed in with")
                await self._accounts.users.set_disabled(account.id, True)
            case "enable":
                await self._accounts.users.set_disabled(account.id, False)
            case "link" if self._passwords and not account.disabled:
                log.info("an operator made a sign-in link", operator=visit.person.id, account=account.id)
                return await self._user_page(visit, account, link=self._link(account))
            case _:
                raise InvalidInput("action", "is unknown; reload the page and use its buttons")
        log.info("an operator changed an account", operator=visit.person.id, account=account.id, change=action)
        return self._frame.redirect(f"{USERS}/{account.id}?done={action}")

    async def show_password(self, request: Request) -> HTTPResponse:
        """`GET /password?token=…`: show the form of a link that an operator created."""
        token = request.args.get("token", "")[:_MAX_TOKEN_LENGTH]
        return self._password_form(request, token, await self._linked(token))

    async def set_password(self, request: Request) -> HTTPResponse:
        """`POST /password`: set the password, end all sessions of the account, and sign in."""
        fields = self._browser.form(request)
        token = first(fields, "token")[:_MAX_TOKEN_LENGTH]
        user = await self._linked(token)
        try:
            updated_user = await self._accounts.users.set_password(user.id, first(fields, "password"), proven=user)
        except InvalidInput as error:
            return self._password_form(request, token, user, sentence(error.problem))
        except SignInFailed:
            raise _used() from None
        return await self._pages.welcome(request, updated_user, DASHBOARD)

    def _link(self, user: User) -> str:
        """Return a link for choosing a password, or `""` if passwords are disabled. A new password invalidates it."""
        if not self._passwords:
            return ""
        token = self._links.seal({"user": user.id, "stamp": user.password_stamp.hex()}, seconds=LINK_SECONDS)
        return f"{self._frame.host.settings.public_url}{CHOOSE}?{urlencode({'token': token})}"

    async def _linked(self, token: str) -> User:
        texts = self._links.open(token) or {}
        try:
            user = await self._accounts.users.get(texts.get("user", ""))
        except NotFound:
            user = None
        if user is None or user.disabled or user.password_stamp.hex() != texts.get("stamp"):
            raise _used()
        return user

    def _password_form(self, request: Request, token: str, user: User, problem: str = "") -> HTTPResponse:
        return self._frame.card(
            request,
            "password.html",
            "Choose a password",
            status=400 if problem else 200,
            email=user.email,
            token=token,
            error=problem,
            password_help=PASSWORD_HELP,
        )

    async def _list(
        self,
        visit: DashboardRequest,
        *,
        find: str = "",
        errors: Mapping[str, str] | None = None,
        fields: Mapping[str, list[str]] | None = None,
        status: int = 200,
    ) -> HTTPResponse:
        after, now = visit.request.args.get("after", "")[:_MAX_EMAIL_LENGTH].lower(), datetime.now(UTC)
        users = list(await self._accounts.users.list(limit=PAGE + 1, after=after, find=find))
        filters = {"find": find} if find else {}
        return self._frame.page(
            visit,
            "users.html",
            "Users",
            current=USERS,
            status=status,
            rows=[
                ListedUser(
                    user.id,
                    user.email,
                    user.name,
                    user.plan,
                    user.disabled,
                    self._frame.is_operator(user),
                    ago(user.last_sign_in_at, now) if user.last_sign_in_at else "",
                )
                for user in users[:PAGE]
            ],
            next_page=urlencode({**filters, "after": users[PAGE - 1].email}) if len(users) > PAGE else "",
            first_page=f"?{urlencode(filters)}" if filters else "",
            later=bool(after),
            find=find,
            plans=self._plans,
            default_plan=self._frame.host.settings.accounts.default_plan,
            values={name: first(fields or {}, name)[:300] for name in ("email", "name", "plan")},
            errors={"email": "", "name": "", "plan": "", **(errors or {})},
        )

    async def _user_page(
        self, visit: DashboardRequest, user: User, *, message: str = "", link: str = ""
    ) -> HTTPResponse:
        usage = await self._accounts.usage(user.id)
        members = await self._accounts.memberships.of_account(user.id)
        elsewhere = (await self._accounts.memberships.of_members([user.id])).get(user.id, ())
        now = datetime.now(UTC)
        return self._frame.page(
            visit,
            "user.html",
            user.email,
            current=USERS,
            account=user,
            is_operator=self._frame.is_operator(user),
            is_self=user.id == visit.person.id,
            created=day(user.created_at),
            seen=ago(user.last_sign_in_at, now) if user.last_sign_in_at else "",
            plans=self._plans,
            meters=[meter(use) for use in usage.quotas],
            storage=storage_meter(usage.storage) if usage.storage and usage.storage.kinds else None,
            connections=usage.connections,
            members=[(membership.member, membership.role) for membership in members],
            elsewhere=[(membership.account, membership.role) for membership in elsewhere],
            passwords=self._passwords,
            link=link,
            message=message,
        )


def _used() -> NotFound:
    return NotFound("this link has expired or was already used: ask the operator of this server for a new one")
