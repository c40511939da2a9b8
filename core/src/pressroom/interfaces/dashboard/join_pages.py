"""`/dashboard/join/<token>`: where the link of an invitation leads."""

from __future__ import annotations

from typing import Final

import structlog
from sanic import HTTPResponse, Request

from pressroom.accounts.memberships import Invitations
from pressroom.accounts.records import BrowserSession, Invitation
from pressroom.accounts.sign_in import SignIn
from pressroom.errors import InvalidInput, NotFound, SignInFailed
from pressroom.http.browser_sessions import BrowserSessions, Fields, sign_in_path
from pressroom.http.page_frame import sentence
from pressroom.http.responses import Endpoint
from pressroom.interfaces.dashboard.frame import DASHBOARD, DashboardFrame, first
from pressroom.interfaces.dashboard.members_page import JOIN, ROLE_NOTES
from pressroom.interfaces.dashboard.roles import name_of
from pressroom.interfaces.dashboard.sign_in_pages import PASSWORD_HELP, SignInPages

log = structlog.get_logger()


class JoinPages:
    """Shows what an invitation is for, and takes the person's yes: on their own account, or on a new one.

    Opening a link changes nothing. Links that are not good are counted as failed sign-ins of the client's IP address.
    """

    def __init__(self, frame: DashboardFrame, sign_in: SignIn, sign_in_pages: SignInPages) -> None:
        settings = frame.host.settings.accounts
        self._frame = frame
        self._browser: BrowserSessions = frame.browser
        self._invitations: Invitations = frame.host.accounts.invitations
        self._sign_in = sign_in
        self._pages = sign_in_pages
        self._new_accounts = settings.password_sign_in and (settings.sign_up or settings.invitations_create_accounts)
        self._domains = frozenset(
            domain.lower().removeprefix("@") for domain in settings.identity_provider.allowed_domains
        )

    def endpoints(self) -> list[Endpoint]:
        """Return the routes to serve."""
        path, frame = f"{JOIN}/<token:str>", self._frame
        found = [frame.public(path, self.show), frame.public(path, self.accept, methods=("POST",))]
        if self._new_accounts:
            found.append(frame.public(f"{path}/account", self.accept_with_new_account, methods=("POST",)))
        return found

    async def show(self, request: Request, token: str) -> HTTPResponse:
        """`GET /dashboard/join/<token>`: whose account it is, and what the person would do there."""
        invitation = await self._invitation(request, token)
        return self._page(request, token, invitation, await self._browser.session(request))

    async def accept(self, request: Request, token: str) -> HTTPResponse:
        """`POST /dashboard/join/<token>`: become a member, and work in the account from now on."""
        session = await self._browser.session(request)
        if session is None:
            return self._frame.redirect(sign_in_path(request.path))
        self._browser.form(request)
        invitation = await self._invitation(request, token)
        try:
            await self._invitations.accept(token, session.person)
        except InvalidInput as error:
            return self._page(request, token, invitation, session, problem=sentence(error.problem))
        _note(invitation, session.person.id)
        await self._browser.work_in(request, invitation.account.id)
        return self._frame.redirect(f"{DASHBOARD}?done=joined")

    async def accept_with_new_account(self, request: Request, token: str) -> HTTPResponse:
        """`POST /dashboard/join/<token>/account`: make an account for the person, and make it a member."""
        if await self._browser.session(request) is not None:
            return self._frame.redirect(f"{JOIN}/{token}")
        fields = self._browser.form(request)
        invitation = await self._invitation(request, token)
        await self._pages.count_sign_up(request.ctx.client_ip)
        try:
            self._check_email(first(fields, "email"))
            user = await self._invitations.accept_with_new_account(
                token, email=first(fields, "email"), name=first(fields, "name"), password=first(fields, "password")
            )
        except InvalidInput as error:
            return self._page(request, token, invitation, None, fields=fields, error=error)
        _note(invitation, user.id)
        path = f"{DASHBOARD}?done=joined"
        return await self._pages.welcome(request, user, path, works_in=invitation.account.id)

    async def _invitation(self, request: Request, token: str) -> Invitation:
        """Return the invitation of a link. Raises `NotFound`, `RateLimited` and `Overloaded`."""
        try:
            async with self._sign_in.counted(client_ip=request.ctx.client_ip):
                return await self._good(token)
        except SignInFailed as error:
            raise NotFound(error.message) from None

    async def _good(self, token: str) -> Invitation:
        invitation = await self._invitations.find(token)
        if invitation is None:
            raise SignInFailed(_NOT_GOOD)
        return invitation

    def _check_email(self, email: str) -> None:
        """Raise `InvalidInput` for an e-mail address with which nobody may make an account by themselves."""
        if self._frame.is_operators_email(email):
            raise InvalidInput("email", "is an operator's: make that account with `pressroom users add`")
        domain = email.strip().lower().rpartition("@")[2]
        if self._domains and domain not in self._domains:
            raise InvalidInput("email", f"must be one of {', '.join(sorted(self._domains))}")

    def _page(
        self,
        request: Request,
        token: str,
        invitation: Invitation,
        session: BrowserSession | None,
        *,
        problem: str = "",
        fields: Fields | None = None,
        error: InvalidInput | None = None,
    ) -> HTTPResponse:
        path = f"{JOIN}/{token}"
        errors = dict.fromkeys(("email", "name", "password"), "")
        if error is not None and error.field in errors:
            errors[error.field] = sentence(error.problem)
        elif error is not None:
            problem = sentence(error.problem)
        return self._frame.card(
            request,
            "join.html",
            "An invitation",
            description="Somebody invites you to work in their account.",
            status=400 if problem or error else 200,
            path=path,
            owner=name_of(invitation.account),
            role=invitation.role,
            role_note=ROLE_NOTES[invitation.role],
            person=session.person if session is not None else None,
            sign_in=self._frame.site.root + sign_in_path(path),
            new_accounts=self._new_accounts,
            values={name: first(fields or {}, name)[:300] for name in ("email", "name")},
            errors=errors,
            problem=problem,
            password_help=PASSWORD_HELP,
        )


_NOT_GOOD: Final = "this invitation was used or revoked, or has expired: ask whoever sent it for another one"


def _note(invitation: Invitation, person_id: str) -> None:
    log.info(
        "an invitation was accepted",
        account=invitation.account.id,
        invitation=invitation.id,
        member=person_id,
        role=invitation.role,
    )
