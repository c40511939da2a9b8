"""`/dashboard`: sections of plugins, the plan with its usage, and the latest calls."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlencode

from markupsafe import Markup
from sanic import HTTPResponse

from pressroom.http.responses import Endpoint
from pressroom.interfaces.dashboard.frame import DashboardFrame, DashboardRequest
from pressroom.interfaces.dashboard.navigation import DASHBOARD
from pressroom.interfaces.dashboard.views import call_rows, meter, storage_meter
from pressroom.sdk import AccountRole, OverviewSection

CALLS: Final = 20
"""Number of calls on a page."""

_GREATEST_ID: Final = 2**63 - 1


class Overview:
    """Handles `/dashboard`."""

    def __init__(self, frame: DashboardFrame) -> None:
        self._frame = frame
        self._host = frame.host
        sections = [
            contribution.record for contribution in frame.host.compiled.plugins.contributions.of(OverviewSection)
        ]
        self._sections = sorted(sections, key=lambda section: section.position)

    def endpoints(self) -> list[Endpoint]:
        """Return the routes to serve."""
        return [self._frame.person(DASHBOARD, self.show, sees="reader")]

    async def show(self, visit: DashboardRequest) -> HTTPResponse:
        """`GET /dashboard`: show the overview. `?show=errors` lists only failed calls, `?before=<id>` older ones.

        Only the owner sees the plan, connections and calls; members see the sections of plugins.
        """
        if visit.role != "owner":
            return await self._of_member(visit)
        query = visit.request.args
        before, only_errors = id_before(query.get("before", "")), query.get("show") == "errors"
        accounts, user = self._host.accounts, visit.user
        usage = await accounts.usage(user.id)
        calls = await accounts.activity(user.id, limit=CALLS + 1, before=before, code="error" if only_errors else "")
        visible = calls[:CALLS]
        next_page = {"show": "errors"} if only_errors else {}
        return self._frame.page(
            visit,
            "overview.html",
            "Overview",
            current=DASHBOARD,
            sections=[] if only_errors or before is not None else await self._of_plugins(user.id, visit.role),
            usage=usage,
            tools=len(self._host.compiled.catalog.plans[user.plan].mcp_tools),
            meters=[meter(use) for use in usage.quotas],
            storage=storage_meter(usage.storage) if usage.storage and usage.storage.kinds else None,
            calls=call_rows(visible, datetime.now(UTC)),
            only_errors=only_errors,
            older=before is not None,
            next_page=urlencode({**next_page, "before": visible[-1].id}) if len(calls) > CALLS else "",
            message=_MESSAGES.get(query.get("done", ""), ""),
            # Only shown once, since it is useless to people who work alone; the account page shows it permanently.
            lacks_operators=query.get("done") == "welcome" and await self._lacks_operators(visit),
        )

    async def _lacks_operators(self, visit: DashboardRequest) -> bool:
        async with self._host.database.reading() as session:
            return await self._frame.lacks_operators(visit, session)

    async def _of_member(self, visit: DashboardRequest) -> HTTPResponse:
        return self._frame.page(
            visit,
            "member_overview.html",
            "Overview",
            current=DASHBOARD,
            sections=await self._of_plugins(visit.user.id, visit.role),
            message=_MESSAGES.get(visit.request.args.get("done", ""), ""),
        )

    async def _of_plugins(self, subject: str, role: AccountRole) -> list[Markup]:
        """Return the sections of all plugins, without those that failed or are empty."""
        pending = (
            section.html(subject, role) if section.by_role else section.html(subject) for section in self._sections
        )
        fragments = await asyncio.gather(*pending, return_exceptions=True)
        # The gate counts and logs failures.
        return [Markup(html) for html in fragments if isinstance(html, str) and html]  # noqa: S704 - the plugins' own HTML


_MESSAGES: Final = {
    "welcome": "Your account is ready.",
    "joined": "You are now a member.",
    "left": "You have left the account, and are back in your own.",
    "switched": "You switched accounts.",
}


def id_before(text: str) -> int | None:
    """Return the call ID in a URL parameter, or `None` if it is missing or invalid."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= _GREATEST_ID else None
