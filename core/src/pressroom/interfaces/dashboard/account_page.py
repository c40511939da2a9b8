"""`/dashboard/account`: name, password, plan, sessions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

import structlog
from sanic import HTTPResponse

from pressroom.accounts.sign_in import SignIn
from pressroom.errors import InvalidInput, SignInFailed
from pressroom.http.browser_sessions import Fields
from pressroom.http.page_frame import sentence, title_of
from pressroom.http.responses import Endpoint
from pressroom.interfaces.dashboard.frame import DashboardFrame, DashboardRequest, first
from pressroom.interfaces.dashboard.navigation import ACCOUNT
from pressroom.interfaces.dashboard.sign_in_pages import PASSWORD_HELP
from pressroom.interfaces.dashboard.views import day, session_rows

log = structlog.get_logger()

SESSIONS: Final = 20
"""Maximum number of sessions listed."""

_MESSAGES: Final = {
    "name": "Your name is saved.",
    "password": "Your password is changed, and all your other browsers are signed out. API keys and connected clients "
    "still work: if somebody else knew your password, revoke them below.",
    "revoked": "All API keys and connected clients are revoked. They can no longer use your account.",
    "signed-out-others": "All your other browsers are signed out.",
    "connected": "You can now sign in with it.",
    "disconnected": "It is disconnected and can no longer be used to sign in. All your other browsers are signed out.",
}


class AccountPage:
    """Handles `/dashboard/account`. `provider` is the identity provider's name, or empty."""

    def __init__(self, frame: DashboardFrame, sign_in: SignIn, provider: str) -> None:
        self._frame = frame
        self._browser = frame.browser
        self._accounts = frame.host.accounts
        self._database = frame.host.database
        self._catalog = frame.host.compiled.catalog
        self._password_sign_in = frame.host.settings.accounts.password_sign_in
        self._sign_in = sign_in
        self._provider = provider

    def endpoints(self) -> list[Endpoint]:
        """Return the routes to serve."""
        return [
            self._frame.person(ACCOUNT, self.show),
            self._frame.person(ACCOUNT, self.change, methods=("POST",)),
        ]

    async def show(self, visit: DashboardRequest) -> HTTPResponse:
        """`GET /dashboard/account`."""
        return await self._page(visit, message=_MESSAGES.get(visit.request.args.get("done", ""), ""))

    async def change(self, visit: DashboardRequest) -> HTTPResponse:
        """`POST /dashboard/account`: save the name or a password, or end sessions."""
        fields = self._browser.form(visit.request, _purpose)
        match first(fields, "action"):
            case "name":
                return await self._set_name(visit, first(fields, "name"))
            case "password":
                return await self._set_password(visit, fields)
            case "revoke-all":
                await self._accounts.connections.revoke_all(visit.user.id)
                return self._frame.redirect(f"{ACCOUNT}?done=revoked")
            case "disconnect" if visit.user.has_password and self._password_sign_in:
                return await self._disconnect(visit)
            case "sign-out-others":
                token = self._browser.session_token(visit.request)
                await self._accounts.sessions.end_all(visit.user.id, except_token=token)
                return self._frame.redirect(f"{ACCOUNT}?done=signed-out-others")
            case "sign-out-everywhere":
                await self._accounts.sessions.end_all(visit.user.id)
                response = self._frame.redirect("/sign-in?done=signed-out-everywhere")
                await self._browser.sign_out(visit.request, response)
                return response
            case _:
                raise InvalidInput("action", "is unknown; reload the page and use its buttons")

    async def _set_name(self, visit: DashboardRequest, name: str) -> HTTPResponse:
        try:
            await self._accounts.users.set_name(visit.user.id, " ".join(name.split()))
        except InvalidInput as error:
            return await self._page(visit, status=400, name=name, errors={"name": sentence(error.problem)})
        return self._frame.redirect(f"{ACCOUNT}?done=name")

    async def _set_password(self, visit: DashboardRequest, fields: Fields) -> HTTPResponse:
        request, user = visit.request, visit.user
        try:
            proven = await self._sign_in.with_password(
                user.email,
                first(fields, "current"),
                client_ip=request.ctx.client_ip,
                # Count failures of a signed-in browser separately from guesses made elsewhere.
                device=visit.session.token_hash.hex(),
            )
        except SignInFailed:
            errors = {"current": "This is not your current password. Type it again."}
            return await self._page(visit, status=400, errors=errors)
        try:
            updated_user = await self._accounts.users.set_password(user.id, first(fields, "password"), proven=proven)
        except InvalidInput as error:
            return await self._page(visit, status=400, errors={"password": sentence(error.problem)})
        response = self._frame.redirect(f"{ACCOUNT}?done=password")
        await self._browser.sign_in(request, response, updated_user)
        return response

    async def _disconnect(self, visit: DashboardRequest) -> HTTPResponse:
        """Unlink the account from the identity provider, and end the sessions that may have started there."""
        await self._accounts.users.unlink_identities(visit.user.id)
        token = self._browser.session_token(visit.request)
        await self._accounts.sessions.end_all(visit.user.id, except_token=token)
        log.info("an account was disconnected from the identity provider", user=visit.user.id)
        return self._frame.redirect(f"{ACCOUNT}?done=disconnected")

    async def _page(
        self,
        visit: DashboardRequest,
        *,
        status: int = 200,
        message: str = "",
        name: str = "",
        errors: Mapping[str, str] | None = None,
    ) -> HTTPResponse:
        user = visit.user
        async with self._database.reading() as session:
            sessions = await self._accounts.sessions.list_within(session, user.id, limit=SESSIONS + 1)
            connections = await self._accounts.connections.count_within(session, user.id)
            identities = await self._accounts.users.identities_within(session, user.id) if self._provider else ()
            lacks_operators = await self._frame.lacks_operators(visit, session)
        rows = session_rows(sessions, visit.session, datetime.now(UTC))
        plan = self._catalog.plans[user.plan]
        return self._frame.page(
            visit,
            "account.html",
            "Account",
            current=ACCOUNT,
            status=status,
            redirecting=True,
            name=name or user.name,
            errors={"name": "", "current": "", "password": "", **(errors or {})},
            message=message,
            problem="",
            password_help=PASSWORD_HELP,
            password_sign_in=self._password_sign_in,
            provider=self._provider,
            identities=[day(linked_at) for linked_at in identities],
            plan_title=plan.title,
            tools=len(plan.mcp_tools),
            allowances=[(title_of(quota), f"{limit:,} a month") for quota, limit in sorted(plan.quotas.items())],
            connections=connections,
            sessions=rows[:SESSIONS],
            more_sessions=len(rows) > SESSIONS,
            lacks_operators=lacks_operators,
        )


def _purpose(fields: Fields) -> str:
    """Return the purpose of the form that was submitted, for its CSRF token."""
    action = first(fields, "action")
    return "sessions" if action.startswith("sign-out-") else action
