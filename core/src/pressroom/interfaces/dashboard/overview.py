"""`/dashboard`: the plan, what of it is used, the latest calls."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlencode

from sanic import HTTPResponse

from pressroom.http.responses import Endpoint
from pressroom.interfaces.dashboard.frame import DASHBOARD, DashboardFrame, DashboardRequest
from pressroom.interfaces.dashboard.views import call_rows, meter, storage_meter

CALLS: Final = 20
"""How many calls one page lists."""

_GREATEST_ID: Final = 2**63 - 1


class Overview:
    """Answers `/dashboard`."""

    def __init__(self, frame: DashboardFrame) -> None:
        self._frame = frame
        self._host = frame.host

    def endpoints(self) -> list[Endpoint]:
        """Return the routes to serve."""
        return [self._frame.person(DASHBOARD, self.show)]

    async def show(self, visit: DashboardRequest) -> HTTPResponse:
        """`GET /dashboard`: `?show=errors` lists only failed calls, `?before=<id>` older ones."""
        query = visit.request.args
        before, only_errors = id_before(query.get("before", "")), query.get("show") == "errors"
        accounts, user = self._host.accounts, visit.user
        usage = await accounts.usage(user.id)
        calls = await accounts.activity(user.id, limit=CALLS + 1, before=before, code="error" if only_errors else "")
        shown = calls[:CALLS]
        next_page = {"show": "errors"} if only_errors else {}
        return self._frame.page(
            visit,
            "overview.html",
            "Overview",
            current=DASHBOARD,
            usage=usage,
            tools=len(self._host.compiled.catalog.plan(user.plan).mcp_tools),
            meters=[meter(use) for use in usage.quotas],
            storage=storage_meter(usage.storage) if usage.storage and usage.storage.kinds else None,
            calls=call_rows(shown, datetime.now(UTC)),
            only_errors=only_errors,
            older=before is not None,
            next_page=urlencode({**next_page, "before": shown[-1].id}) if len(calls) > CALLS else "",
            message=_MESSAGES.get(query.get("done", ""), ""),
        )


_MESSAGES: Final = {"welcome": "Your account is ready."}


def id_before(text: str) -> int | None:
    """Return the id of a call that a URL names, or `None` where it names none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= _GREATEST_ID else None
