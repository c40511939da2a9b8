"""Pages for shared accounts.

`/dashboard/members` lists the members of an account, `/dashboard/switch` switches the account in use, and
`/dashboard/join/<token>` is the target of invitation links.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import structlog
from sanic import HTTPResponse, Request

from pressroom.accounts.memberships import (
    ASSIGNABLE_ROLES,
    INVALID_INVITATION,
    MAX_MEMBERS,
    MAX_NOTE_LENGTH,
    Invitations,
)
from pressroom.accounts.records import BrowserSession, Invitation, Membership
from pressroom.accounts.sign_in import SignIn
from pressroom.errors import BackendError, InvalidInput, NotFound, RateLimited, SignInFailed
from pressroom.http.browser_sessions import SWITCH, BrowserSessions, Fields, sign_in_path
from pressroom.http.page_frame import sentence
from pressroom.http.responses import Endpoint
from pressroom.interfaces.dashboard.frame import DashboardFrame, DashboardRequest, first
from pressroom.interfaces.dashboard.navigation import DASHBOARD, MEMBERS
from pressroom.interfaces.dashboard.one_time_forms import OneTimeForms
from pressroom.interfaces.dashboard.roles import name_of
from pressroom.interfaces.dashboard.sign_in_pages import PASSWORD_HELP, SignInPages
from pressroom.interfaces.dashboard.views import ago, day
from pressroom.sdk import Rate
from pressroom.validation.echo import waiting_time

log = structlog.get_logger()

JOIN: Final = "/dashboard/join"
LEAVE: Final = "/dashboard/members/leave"

ROLE_NOTES: Final[Mapping[str, str]] = {
    "editor": "writes, publishes and schedules, and adds media",
    "reader": "can read everything, and change nothing",
}

_A_DAY: Final = Rate(100, 86_400)
"""Rate limit for creating invitations in one account, regardless of how many are open."""

_MESSAGES: Final = {
    "role": "The role is changed, effective immediately.",
    "removed": "The member is removed and no longer has access to your account.",
    "revoked": "The invitation is revoked. Its link no longer works.",
}

_ALREADY_SENT: Final = (
    "This form was already sent, so no second invitation was created. If you did not copy the link, revoke the "
    "invitation and create another."
)


@dataclass(frozen=True, slots=True)
class MemberView:
    """A member, as shown to the owner."""

    id: str
    email: str
    name: str
    role: str
    disabled: bool
    since: str
    since_at: str


@dataclass(frozen=True, slots=True)
class InvitationView:
    """An open invitation, as shown to the owner."""

    id: str
    role: str
    note: str
    created: str
    until: str
    until_at: str


class MembersPage:
    """Handles `/dashboard/members`: owners manage members; members see whose account it is, and can leave."""

    def __init__(self, frame: DashboardFrame) -> None:
        self._frame = frame
        self._browser = frame.browser
        self._accounts = frame.host.accounts
        self._limiter = frame.host.services.limiter
        self._forms = OneTimeForms(frame.host.services.limiter)

    def endpoints(self) -> list[Endpoint]:
        """Return the routes to serve."""
        frame = self._frame
        return [
            frame.person(MEMBERS, self.show, sees="reader"),
            frame.person(MEMBERS, self.change, methods=("POST",)),
            frame.person(LEAVE, self.leave, methods=("POST",), posts="reader"),
            frame.person(SWITCH, self.switch, methods=("POST",), posts="reader"),
        ]

    async def show(self, visit: DashboardRequest) -> HTTPResponse:
        """`GET /dashboard/members`: list members and open invitations, or show a member's own membership."""
        return await self._page(visit, message=_MESSAGES.get(visit.request.args.get("done", ""), ""))

    async def change(self, visit: DashboardRequest) -> HTTPResponse:
        """`POST /dashboard/members`: create or revoke an invitation, change a role or remove a member."""
        fields = self._browser.form(visit.request, _purpose)
        account, target_id = visit.user.id, first(fields, "id")
        match first(fields, "action"):
            case "invite":
                return await self._invite(visit, fields)
            case "revoke":
                await self._accounts.invitations.revoke(account, target_id)
                done = "revoked"
            case "role":
                await self._accounts.memberships.set_role(account, target_id, first(fields, "role"))
                log.info("a member has another role", account=account, member=target_id, role=first(fields, "role"))
                done = "role"
            case "remove":
                await self._accounts.memberships.remove(account, target_id)
                log.info("a member was removed", account=account, member=target_id)
                done = "removed"
            case _:
                raise InvalidInput("action", "is unknown; reload the page and use its buttons")
        return self._frame.redirect(f"{MEMBERS}?done={done}")

    async def leave(self, visit: DashboardRequest) -> HTTPResponse:
        """`POST /dashboard/members/leave`: end one's membership in the account in use."""
        self._browser.form(visit.request)
        if visit.role == "owner":
            raise InvalidInput("", "you cannot leave your own account")
        await self._accounts.memberships.remove(visit.user.id, visit.person.id)
        await self._browser.work_in(visit.request, "")
        log.info("a member left an account", account=visit.user.id, member=visit.person.id)
        return self._frame.redirect(f"{DASHBOARD}?done=left")

    async def switch(self, visit: DashboardRequest) -> HTTPResponse:
        """`POST /dashboard/switch`: switch to another account, or to one's own if the ID is empty."""
        fields = self._browser.form(visit.request)
        await self._browser.work_in(visit.request, first(fields, "account"))
        return self._frame.redirect(f"{DASHBOARD}?done=switched")

    async def _invite(self, visit: DashboardRequest, fields: Fields) -> HTTPResponse:
        role, note = first(fields, "role"), first(fields, "note")
        if not await self._forms.spend(visit.user.id, first(fields, "form_id")):
            return await self._page(visit, status=409, problem=_ALREADY_SENT)
        await self._count(visit.user.id)
        try:
            invitation, token = await self._accounts.invitations.create(visit.user.id, role, note)
        except InvalidInput as error:
            await self._forms.release(visit.user.id, first(fields, "form_id"))
            problem = sentence(error.problem)
            errors = {"note": problem} if error.field == "note" else {}
            return await self._page(
                visit, status=400, values={"role": role, "note": note}, errors=errors, problem="" if errors else problem
            )
        log.info("an invitation was made", account=visit.user.id, invitation=invitation.id, role=invitation.role)
        link = f"{self._frame.host.settings.public_url}{JOIN}/{token}"
        return await self._page(visit, link=link, created=invitation)

    async def _count(self, account_id: str) -> None:
        try:
            status = await self._limiter.take(_A_DAY, f"invitations\n{account_id}", 1)
        except BackendError as error:
            log.warning("invitations cannot be counted", error=str(error))
            return
        if not status.allowed:
            seconds = max(1, math.ceil(status.reset_at - time.time()))
            raise RateLimited(
                f"you have created too many invitations; try again in {waiting_time(seconds)}", retry_after=seconds
            )

    async def _page(
        self,
        visit: DashboardRequest,
        *,
        status: int = 200,
        message: str = "",
        problem: str = "",
        values: Mapping[str, str] | None = None,
        errors: Mapping[str, str] | None = None,
        link: str = "",
        created: Invitation | None = None,
    ) -> HTTPResponse:
        if visit.role != "owner":
            return self._frame.page(
                visit, "membership.html", "Members", current=MEMBERS, leave=LEAVE, role_note=ROLE_NOTES[visit.role]
            )
        members = await self._accounts.memberships.of_account(visit.user.id)
        invitations = await self._accounts.invitations.list(visit.user.id)
        now = datetime.now(UTC)
        return self._frame.page(
            visit,
            "members.html",
            "Members",
            current=MEMBERS,
            status=status,
            members=_member_views(members),
            invitations=_invitation_views(invitations, now),
            most=MAX_MEMBERS,
            roles=[(name, ROLE_NOTES[name]) for name in ASSIGNABLE_ROLES],
            max_note_length=MAX_NOTE_LENGTH,
            form_id=self._forms.new(),
            values={"role": "editor", "note": "", **(values or {})},
            errors={"note": "", **(errors or {})},
            message=message,
            problem=problem,
            link=link,
            created=created,
            created_until=day(created.expires_at) if created is not None else "",
        )


def _member_views(members: Sequence[Membership]) -> list[MemberView]:
    return [
        MemberView(
            membership.member.id,
            membership.member.email,
            membership.member.name,
            membership.role,
            membership.member.disabled,
            day(membership.created_at),
            membership.created_at.isoformat(timespec="seconds"),
        )
        for membership in members
    ]


def _invitation_views(invitations: Sequence[Invitation], now: datetime) -> list[InvitationView]:
    return [
        InvitationView(
            invitation.id,
            invitation.role,
            invitation.note,
            ago(invitation.created_at, now),
            day(invitation.expires_at),
            invitation.expires_at.isoformat(timespec="seconds"),
        )
        for invitation in invitations
    ]


def _purpose(fields: Fields) -> str:
    """Return the purpose of the submitted form, for its CSRF token: its action and member or invitation."""
    return f"{first(fields, 'action')} {first(fields, 'id')}"


class JoinPages:
    """Shows an invitation, and accepts it for the person's own account or for a new one.

    Opening a link changes nothing. Invalid links count as failed sign-ins from the client's IP address.
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
        endpoints = [frame.public(path, self.show), frame.public(path, self.accept, methods=("POST",))]
        if self._new_accounts:
            endpoints.append(frame.public(f"{path}/account", self.accept_with_new_account, methods=("POST",)))
        return endpoints

    async def show(self, request: Request, token: str) -> HTTPResponse:
        """`GET /dashboard/join/<token>`: show whose account it is, and the role in it."""
        invitation = await self._invitation(request, token)
        return self._page(request, token, invitation, await self._browser.session(request))

    async def accept(self, request: Request, token: str) -> HTTPResponse:
        """`POST /dashboard/join/<token>`: accept the invitation and switch to the account."""
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
        """`POST /dashboard/join/<token>/account`: create an account for the person and make it a member."""
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
        """Return the invitation of a link. Raises `NotFound`, `RateLimited` or `Overloaded`."""
        try:
            async with self._sign_in.counted(client_ip=request.ctx.client_ip):
                return await self._good(token)
        except SignInFailed as error:
            raise NotFound(error.message) from None

    async def _good(self, token: str) -> Invitation:
        invitation = await self._invitations.find(token)
        if invitation is None:
            raise SignInFailed(INVALID_INVITATION)
        return invitation

    def _check_email(self, email: str) -> None:
        """Raise `InvalidInput` for an e-mail address that cannot be self-registered."""
        if self._frame.is_operators_email(email):
            raise InvalidInput("email", "belongs to an operator: create that account with `pressroom users add`")
        domain = email.strip().lower().rpartition("@")[2]
        if self._domains and domain not in self._domains:
            raise InvalidInput("email", f"must be an e-mail address at {' or '.join(sorted(self._domains))}")

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
            description="Someone invited you to work in their account.",
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


def _note(invitation: Invitation, person_id: str) -> None:
    log.info(
        "an invitation was accepted",
        account=invitation.account.id,
        invitation=invitation.id,
        member=person_id,
        role=invitation.role,
    )
