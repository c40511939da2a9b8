"""`/dashboard/members`: who works in an account; and `/dashboard/switch`, where people choose the one to work in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import structlog
from sanic import HTTPResponse

from pressroom.accounts.memberships import GIVEN_ROLES, MAX_MEMBERS, MAX_NOTE_LENGTH
from pressroom.accounts.records import Invitation, Membership
from pressroom.errors import BackendError, InvalidInput, RateLimited
from pressroom.http.browser_sessions import SWITCH, Fields
from pressroom.http.page_frame import sentence
from pressroom.http.responses import Endpoint
from pressroom.interfaces.dashboard.frame import DASHBOARD, MEMBERS, DashboardFrame, DashboardRequest, first
from pressroom.interfaces.dashboard.views import ago, day
from pressroom.sdk import Rate

log = structlog.get_logger()

JOIN: Final = "/dashboard/join"
LEAVE: Final = "/dashboard/members/leave"

ROLE_NOTES: Final[Mapping[str, str]] = {
    "editor": "writes, publishes and schedules, and adds media",
    "reader": "reads everything that an editor sees, and changes nothing",
}

_A_DAY: Final = Rate(100, 86_400)
"""How many invitations of one account may be made, however many are open."""

_MESSAGES: Final = {
    "role": "The role is changed. It holds from the next click.",
    "removed": "The member is removed, and sees nothing of your account from the next click.",
    "revoked": "The invitation is revoked. Its link does nothing any more.",
}


@dataclass(frozen=True, slots=True)
class MemberView:
    """A member in the owner's list."""

    id: str
    email: str
    name: str
    role: str
    disabled: bool
    since: str
    since_at: str


@dataclass(frozen=True, slots=True)
class InvitationView:
    """An open invitation in the owner's list."""

    id: str
    role: str
    note: str
    made: str
    until: str
    until_at: str


class MembersPage:
    """Answers `/dashboard/members`: owners manage their members there, members see whose account it is, and leave."""

    def __init__(self, frame: DashboardFrame) -> None:
        self._frame = frame
        self._browser = frame.browser
        self._accounts = frame.host.accounts
        self._limiter = frame.host.services.limiter

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
        """`GET /dashboard/members`."""
        return await self._page(visit, message=_MESSAGES.get(visit.request.args.get("done", ""), ""))

    async def change(self, visit: DashboardRequest) -> HTTPResponse:
        """`POST /dashboard/members`: invite somebody, revoke an invitation, change a role or remove a member."""
        fields = self._browser.form(visit.request, _purpose)
        account, chosen = visit.user.id, first(fields, "id")
        match first(fields, "action"):
            case "invite":
                return await self._invite(visit, fields)
            case "revoke":
                await self._accounts.invitations.revoke(account, chosen)
                done = "revoked"
            case "role":
                await self._accounts.memberships.set_role(account, chosen, first(fields, "role"))
                log.info("a member has another role", account=account, member=chosen, role=first(fields, "role"))
                done = "role"
            case "remove":
                await self._accounts.memberships.remove(account, chosen)
                log.info("a member was removed", account=account, member=chosen)
                done = "removed"
            case _:
                raise InvalidInput("action", "is unknown; reload the page and use its buttons")
        return self._frame.redirect(f"{MEMBERS}?done={done}")

    async def leave(self, visit: DashboardRequest) -> HTTPResponse:
        """`POST /dashboard/members/leave`: end the membership in the account that is worked in."""
        self._browser.form(visit.request)
        if visit.role == "owner":
            raise InvalidInput("", "this is your own account, which you cannot leave")
        await self._accounts.memberships.remove(visit.user.id, visit.person.id)
        await self._browser.work_in(visit.request, "")
        log.info("a member left an account", account=visit.user.id, member=visit.person.id)
        return self._frame.redirect(f"{DASHBOARD}?done=left")

    async def switch(self, visit: DashboardRequest) -> HTTPResponse:
        """`POST /dashboard/switch`: work in another account; without an id in the person's own."""
        fields = self._browser.form(visit.request)
        await self._browser.work_in(visit.request, first(fields, "account"))
        return self._frame.redirect(DASHBOARD)

    async def _invite(self, visit: DashboardRequest, fields: Fields) -> HTTPResponse:
        role, note = first(fields, "role"), first(fields, "note")
        await self._count(visit.user.id)
        try:
            invitation, token = await self._accounts.invitations.create(visit.user.id, role, note)
        except InvalidInput as error:
            problem = sentence(error.problem)
            errors = {"note": problem} if error.field == "note" else {}
            return await self._page(
                visit, status=400, values={"role": role, "note": note}, errors=errors, problem="" if errors else problem
            )
        log.info("an invitation was made", account=visit.user.id, invitation=invitation.id, role=invitation.role)
        link = f"{self._frame.host.settings.public_url}{JOIN}/{token}"
        return await self._page(visit, link=link, made=invitation)

    async def _count(self, account_id: str) -> None:
        try:
            status = await self._limiter.take(_A_DAY, f"invitations\n{account_id}", 1)
        except BackendError as error:
            log.warning("invitations cannot be counted", error=str(error))
            return
        if not status.allowed:
            raise RateLimited("you made very many invitations today; make the next one tomorrow", retry_after=3600)

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
        made: Invitation | None = None,
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
            roles=[(name, ROLE_NOTES[name]) for name in GIVEN_ROLES],
            max_note_length=MAX_NOTE_LENGTH,
            values={"role": "editor", "note": "", **(values or {})},
            errors={"note": "", **(errors or {})},
            message=message,
            problem=problem,
            link=link,
            made=made,
            made_until=day(made.expires_at) if made is not None else "",
        )


def _member_views(members: Sequence[Membership]) -> list[MemberView]:
    return [
        MemberView(
            one.member.id,
            one.member.email,
            one.member.name,
            one.role,
            one.member.disabled,
            day(one.created_at),
            one.created_at.isoformat(timespec="seconds"),
        )
        for one in members
    ]


def _invitation_views(invitations: Sequence[Invitation], now: datetime) -> list[InvitationView]:
    return [
        InvitationView(
            one.id,
            one.role,
            one.note,
            ago(one.created_at, now),
            day(one.expires_at),
            one.expires_at.isoformat(timespec="seconds"),
        )
        for one in invitations
    ]


def _purpose(fields: Fields) -> str:
    """Return which of the page's forms it is: each is for one member or invitation."""
    return f"{first(fields, 'action')} {first(fields, 'id')}"
