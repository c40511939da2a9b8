"""`/dashboard/connections`: create, configure and revoke API keys and OAuth clients."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from sanic import HTTPResponse

from pressroom.accounts.records import PRESELECTED, AccessChoice, Connection
from pressroom.catalog.tool import BY_NAME, default_toolsets
from pressroom.errors import InvalidInput
from pressroom.http.access_form import level_options, publishing_targets, read_choice, toolset_options
from pressroom.http.browser_sessions import Fields
from pressroom.http.page_frame import sentence
from pressroom.http.responses import Endpoint
from pressroom.interfaces.dashboard.clients import PLACEHOLDER, client_guides
from pressroom.interfaces.dashboard.frame import DashboardFrame, DashboardRequest, first
from pressroom.interfaces.dashboard.navigation import CONNECTIONS
from pressroom.interfaces.dashboard.one_time_forms import OneTimeForms
from pressroom.interfaces.dashboard.views import call_rows, connection_row, moment_text, tool_groups

PAGE: Final = 25
"""Number of connections on a page."""

_CALLS: Final = 10
_MESSAGES: Final = {
    "revoked": "The connection is revoked. Its program can no longer use your account.",
    "renamed": "The name is saved.",
    "switched": "Saved. What the app may do changes at once; its list of tools changes when it loads it again.",
}
_ALREADY_SENT: Final = (
    "This form was already sent, so no second key was created. If you did not copy the key, revoke it and create "
    "another."
)


class ConnectionPages:
    """Handles `/dashboard/connections` and the page of each connection."""

    def __init__(self, frame: DashboardFrame) -> None:
        settings = frame.host.settings
        self._frame = frame
        self._host = frame.host
        self._accounts = frame.host.accounts
        self._forms = OneTimeForms(frame.host.services.limiter)
        self._prefix = settings.auth.prefix
        self._max_connections = settings.accounts.connections
        self._offers_oauth = settings.oauth.enabled

    def endpoints(self) -> list[Endpoint]:
        """Return the routes to serve."""
        path = f"{CONNECTIONS}/<connection:str>"
        return [
            self._frame.person(CONNECTIONS, self.show),
            self._frame.person(CONNECTIONS, self.create, methods=("POST",)),
            self._frame.person(path, self.show_one),
            self._frame.person(path, self.change, methods=("POST",)),
        ]

    async def show(self, visit: DashboardRequest) -> HTTPResponse:
        """`GET /dashboard/connections`: list connections, with a form for a key and instructions for clients."""
        return await self._list(visit, message=_MESSAGES.get(visit.request.args.get("done", ""), ""))

    async def create(self, visit: DashboardRequest) -> HTTPResponse:
        """`POST /dashboard/connections`: create a key and show it once, in the response itself."""
        fields = self._frame.browser.form(visit.request)
        name = " ".join(first(fields, "name").split())
        choice = read_choice(fields, PRESELECTED, self._default_toolsets(visit))
        # In addition to the form ID, this prevents a reloaded page from creating the same key twice.
        if await self._accounts.connections.has_key(visit.user.id, name):
            problem = "You already have a key with this name. Choose another, so that you can tell them apart."
            return await self._list(visit, status=400, name=name, name_error=problem, choice=choice)
        if not await self._forms.spend(visit.user.id, first(fields, "form_id")):
            return await self._list(visit, status=409, problem=_ALREADY_SENT)
        try:
            connection, key = await self._accounts.api_keys.create(visit.user.id, name, choice)
        except InvalidInput as error:
            await self._forms.release(visit.user.id, first(fields, "form_id"))
            problem = sentence(error.problem)
            texts = {"name_error": problem} if error.field == "name" else {"problem": problem}
            return await self._list(visit, status=400, name=name, choice=choice, **texts)
        return self._frame.page(
            visit,
            "new_key.html",
            "Your new key",
            current=CONNECTIONS,
            connection=connection,
            level=BY_NAME[connection.access],
            key=key,
            clients=client_guides(self._host.compiled.branding, key, offers_oauth=self._offers_oauth),
        )

    async def show_one(self, visit: DashboardRequest, connection: str) -> HTTPResponse:
        """`GET /dashboard/connections/<id>`: show a connection's settings, tools and calls."""
        record = await self._accounts.connections.get(visit.user.id, connection)
        return await self._connection_page(visit, record, message=_MESSAGES.get(visit.request.args.get("done", ""), ""))

    async def change(self, visit: DashboardRequest, connection: str) -> HTTPResponse:
        """`POST /dashboard/connections/<id>`: rename the connection, set its access and tools, or revoke it."""
        fields = self._frame.browser.form(visit.request, lambda fields: first(fields, "action"))
        connections, user_id = self._accounts.connections, visit.user.id
        record = await connections.get(user_id, connection)
        match first(fields, "action"):
            case "rename":
                name = " ".join(first(fields, "name").split())
                try:
                    await connections.rename(user_id, connection, name)
                except InvalidInput as error:
                    return await self._connection_page(
                        visit, record, status=400, name=name, name_error=sentence(error.problem)
                    )
                return self._frame.redirect(f"{CONNECTIONS}/{record.id}?done=renamed")
            case "tools":
                choice = read_choice(fields, record.choice, self._default_toolsets(visit))
                off = _disabled(record, fields)
                await connections.set_access(user_id, connection, choice.access, choice.toolsets, disabled_tools=off)
                return self._frame.redirect(f"{CONNECTIONS}/{record.id}?done=switched")
            case "revoke":
                await connections.revoke(user_id, connection)
                return self._frame.redirect(f"{CONNECTIONS}?done=revoked")
            case _:
                raise InvalidInput("action", "must be rename, tools or revoke; reload the page and use its buttons")

    async def _list(
        self,
        visit: DashboardRequest,
        *,
        status: int = 200,
        message: str = "",
        problem: str = "",
        name: str = "",
        name_error: str = "",
        choice: AccessChoice = PRESELECTED,
    ) -> HTTPResponse:
        requested_page = _page_number(visit.request.args.get("page", ""))
        total, page, connections = await self._accounts.connections.page(visit.user.id, requested_page, PAGE)
        plan, now = self._host.compiled.catalog.plans[visit.user.plan], datetime.now(UTC)
        return self._frame.page(
            visit,
            "connections.html",
            "Connections",
            current=CONNECTIONS,
            status=status,
            rows=[connection_row(connection, now, self._prefix, plan.mcp_tools) for connection in connections],
            total=total,
            most=self._max_connections,
            page=page,
            pages=max(1, -(-total // PAGE)),
            form_id=self._forms.new(),
            name=name,
            name_error=name_error,
            levels=level_options(plan, choice.access, await self._targets(visit)),
            sets=toolset_options(plan, choice.toolsets, self._default_toolsets(visit)),
            message=message,
            problem=problem,
            placeholder=PLACEHOLDER,
            clients=client_guides(self._host.compiled.branding, offers_oauth=self._offers_oauth),
            offers_oauth=self._offers_oauth,
        )

    async def _connection_page(
        self,
        visit: DashboardRequest,
        connection: Connection,
        *,
        status: int = 200,
        message: str = "",
        name: str = "",
        name_error: str = "",
    ) -> HTTPResponse:
        now = datetime.now(UTC)
        plan = self._host.compiled.catalog.plans[visit.user.plan]
        uses = await self._accounts.activity_log.last_uses(visit.user.id, connection.id)
        groups = tool_groups(plan, connection, self._default_toolsets(visit), uses, now)
        switches = [switch for group in groups for switch in group.switches]
        calls = await self._accounts.activity(visit.user.id, limit=_CALLS, connection=connection.id)
        values: dict[str, Any] = {
            "row": connection_row(connection, now, self._prefix, plan.mcp_tools),
            "revoked": moment_text(connection.revoked_at) if connection.revoked_at else "",
            "levels": level_options(plan, connection.access, await self._targets(visit)),
            "groups": groups,
            "tools": len(switches),
            "on": sum(switch.on for switch in switches),
            "calls": call_rows(calls, now),
            "name": name or connection.name,
            "name_error": name_error,
            "message": message,
            "problem": "",
        }
        return self._frame.page(
            visit, "connection.html", connection.name or "Connection", current=CONNECTIONS, status=status, **values
        )

    def _default_toolsets(self, visit: DashboardRequest) -> frozenset[str]:
        return default_toolsets(self._host.compiled.catalog.plans[visit.user.plan], self._host.settings.mcp)

    async def _targets(self, visit: DashboardRequest) -> list[str]:
        return await publishing_targets(self._host.compiled.plugins.contributions, visit.user.id)


def _disabled(connection: Connection, fields: Fields) -> frozenset[str]:
    """Return the tools to disable. Tools not shown on the page keep their state."""
    visible, on = frozenset(fields.get("shown", ())), frozenset(fields.get("on", ()))
    return (connection.disabled_tools - visible) | (visible - on)


def _page_number(text: str) -> int:
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 10 else 1
