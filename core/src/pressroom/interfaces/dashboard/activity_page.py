"""`/dashboard/activity`: the account's calls, filtered by tool, connection, outcome and day."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from sanic import HTTPResponse, Request

from pressroom.http.responses import Endpoint
from pressroom.interfaces.dashboard.frame import DashboardFrame, DashboardRequest
from pressroom.interfaces.dashboard.navigation import ACTIVITY
from pressroom.interfaces.dashboard.overview import id_before
from pressroom.interfaces.dashboard.roles import name_of
from pressroom.interfaces.dashboard.views import call_rows
from pressroom.validation.echo import printable

CALLS: Final = 50
"""Number of calls on a page."""

_CONNECTIONS: Final = 200
_MAX_FILTER_LENGTH: Final = 64
_DAY: Final = 86_400
_CODE: Final = re.compile(r"[a-z0-9_]{0,32}")
_CODES: Final = (
    "validation_error",
    "not_found",
    "forbidden",
    "quota_exceeded",
    "rate_limited",
    "overloaded",
    "timeout",
    "internal_error",
)
"""Outcomes offered in the filter. A link can also contain codes of plugins."""


@dataclass(frozen=True, slots=True)
class ActivityQuery:
    """The filters in the URL of the list; an empty string means no filter."""

    tool: str = ""
    connection: str = ""
    outcome: str = ""
    day: str = ""

    def query(self, **more: Any) -> str:
        """Return the filters, with `more` parameters, as a URL query."""
        return urlencode({name: value for name, value in {**asdict(self), **more}.items() if value})


class ActivityPage:
    """Handles `/dashboard/activity`."""

    def __init__(self, frame: DashboardFrame) -> None:
        self._frame = frame
        self._host = frame.host

    def endpoints(self) -> list[Endpoint]:
        """Return the routes to serve."""
        return [self._frame.person(ACTIVITY, self.show)]

    async def show(self, visit: DashboardRequest) -> HTTPResponse:
        """`GET /dashboard/activity?tool=&connection=&outcome=&day=&before=`: list calls, newest first."""
        query, before = _query_of(visit.request), id_before(visit.request.args.get("before", ""))
        since, problem = None, ""
        if query.day:
            since = _midnight(query.day)
            problem = "" if since else "Enter a day such as 2026-11-21."
        calls = []
        if not problem:
            calls = [
                *await self._host.accounts.activity_log.list(
                    visit.user.id,
                    limit=CALLS + 1,
                    before=before,
                    tool=query.tool,
                    code=query.outcome,
                    connection=query.connection,
                    since=since,
                    until=since + timedelta(days=1) if since else None,
                )
            ]
        visible = calls[:CALLS]
        return self._frame.page(
            visit,
            "activity.html",
            "Activity",
            current=ACTIVITY,
            status=400 if problem else 200,
            calls=call_rows(visible, datetime.now(UTC)),
            wanted=query,
            narrowed=bool(query.query()),
            problem=problem,
            tools=self._tools(visit, query.tool),
            connections=await self._connections(visit, query.connection),
            outcomes=_outcomes(query.outcome),
            kept=_days(self._host.settings.accounts.activity_retention),
            older=before is not None,
            first_page=query.query(),
            next_page=query.query(before=visible[-1].id) if len(calls) > CALLS else "",
        )

    def _tools(self, visit: DashboardRequest, selected: str) -> Sequence[tuple[str, str]]:
        names = {*self._host.compiled.catalog.plans[visit.user.plan].mcp_tools, *([selected] if selected else [])}
        return [("", "All tools"), *((name, name) for name in sorted(names))]

    async def _connections(self, visit: DashboardRequest, selected: str) -> Sequence[tuple[str, str]]:
        connections = await self._host.accounts.connections.list(visit.user.id, revoked=True, limit=_CONNECTIONS)
        options = {
            connection.id: f"{connection.name or 'Unnamed'}{' (revoked)' if connection.revoked_at else ''}"
            for connection in connections
        }
        members = await self._host.accounts.memberships.of_account(visit.user.id)
        options |= {membership.member.id: name_of(membership.member) for membership in members}
        if selected:
            options.setdefault(selected, selected)
        return [("", "Anybody"), *options.items()]


def _query_of(request: Request) -> ActivityQuery:
    values = {name: request.args.get(name, "").strip()[:_MAX_FILTER_LENGTH] for name in ActivityQuery.__slots__}
    query = ActivityQuery(**{name: printable(value) for name, value in values.items()})
    return query if _CODE.fullmatch(query.outcome) else replace(query, outcome="")


def _outcomes(selected: str) -> Sequence[tuple[str, str]]:
    codes = [*_CODES, *([selected] if selected not in ("", "ok", "error", *_CODES) else [])]
    options = [(code, code.replace("_", " ").capitalize()) for code in codes]
    return [("", "All outcomes"), ("ok", "Success"), ("error", "Any error"), *options]


def _midnight(text: str) -> datetime | None:
    """Return the start of a day such as 2026-11-21 in UTC, or `None` if it is invalid or out of range."""
    try:
        start = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        return None
    return start if 1970 <= start.year <= 9000 else None


def _days(seconds: float) -> str:
    days = round(seconds / _DAY)
    return f"{days:,} day{'' if days == 1 else 's'}" if days else "less than a day"
