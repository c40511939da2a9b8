"""Dashboard pages of plugins, shown to signed-in people in the dashboard's frame."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

import structlog
from markupsafe import Markup
from sanic import HTTPResponse

from pressroom.accounts.records import display_name
from pressroom.errors import BackendError, Forbidden, Overloaded
from pressroom.http.browser_sessions import MAX_FORM_BYTES, Fields, StaleFormError
from pressroom.http.responses import Endpoint, checked_response, plugin_failures
from pressroom.interfaces.dashboard.frame import DashboardFrame, DashboardRequest
from pressroom.interfaces.dashboard.roles import WITHOUT_FORM, role_refusal, stricter
from pressroom.sdk import DashboardPage, HttpRequest, Route

log = structlog.get_logger()


class PluginPages:
    """Handles the routes of plugins that are dashboard pages."""

    def __init__(self, frame: DashboardFrame) -> None:
        self._frame = frame

    def endpoints(self) -> list[Endpoint]:
        """Return the routes to serve."""
        routes = self._frame.host.compiled.plugins.contributions.of(Route)
        return [
            self._endpoint(contribution.plugin, contribution.record, contribution.record.page)
            for contribution in routes
            if contribution.record.page is not None
        ]

    def _endpoint(self, plugin: str, route: Route, page: DashboardPage) -> Endpoint:
        current = self._frame.entry_of(route.path)
        takes_forms = any(method.upper() not in WITHOUT_FORM for method in route.methods)
        posts = stricter(page.sees, page.posts)
        large_limit = route.max_body_bytes if route.max_body_bytes > MAX_FORM_BYTES else 0

        async def handle(visit: DashboardRequest, **path: str) -> HTTPResponse:
            request = visit.request
            if request.method not in WITHOUT_FORM:
                form = self._frame.browser.form(
                    request, max_bytes=large_limit or MAX_FORM_BYTES, keep_stale=bool(large_limit)
                )
                refusal = role_refusal(visit.session, posts)
                if refusal is not None:
                    raise StaleFormError(form, refusal.message) if large_limit else refusal
                self._check_plan(page, visit, form)
            token_for = partial(self._frame.browser.csrf_token, request)
            plugin_request = HttpRequest(
                method=request.method,
                path=request.path,
                query={name: values[-1] for name, values in request.args.items()},
                headers={name.lower(): value for name, value in request.headers.items() if name.lower() != "cookie"},
                body=request.body,
                client_ip=request.ctx.client_ip,
                request_id=request.ctx.request_id,
                path_params=path,
                subject=visit.user.id,
                csrf_token=token_for(request.path),
                csrf_token_for=token_for,
                charge=partial(self._charged, visit),
                session=visit.session.token_hash.hex(),
                person=visit.person.id,
                person_name=display_name(visit.person.name, visit.person.email),
                role=visit.role,
            )
            with plugin_failures(self._frame.host.compiled.gate, plugin, route.path):
                response = checked_response(await route.handler(plugin_request), framed=True)
            if not response.media_type.startswith("text/html") or 300 <= response.status < 400:
                headers = {"Cache-Control": "no-store", **response.headers}
                return HTTPResponse(
                    response.body, status=response.status, headers=headers, content_type=response.media_type
                )
            fragment = Markup(response.body.decode("utf-8", "replace"))  # noqa: S704 - the plugin's own HTML
            framed = self._frame.page(
                visit,
                "plugin_page.html",
                page.title,
                current=current,
                status=response.status,
                redirecting=page.redirecting,
                posts=posts if takes_forms else "reader",
                body=fragment,
            )
            framed.headers.update(response.headers)
            return framed

        methods = tuple(method.upper() for method in route.methods)
        # The handler itself checks the role for forms, so that a refusal can keep what was written.
        return self._frame.person(
            route.path, handle, methods=methods, max_form_bytes=large_limit, sees=page.sees, posts="reader"
        )

    @asynccontextmanager
    async def _charged(self, visit: DashboardRequest, tool: str) -> AsyncIterator[Callable[[], None]]:
        """Count an action of a page against the quota of the equivalent tool. See `HttpRequest.charge`."""
        host, user = self._frame.host, visit.user
        plan_tool = host.compiled.catalog.plans[user.plan].mcp_tools.get(tool)
        if plan_tool is None:
            raise Forbidden(
                f"your plan does not include this: {host.compiled.catalog.exclusion_reason(tool, user.plan)}"
            )
        quota, quotas, counts = plan_tool.tool.quota, host.accounts.quotas, True

        def is_free() -> None:
            nonlocal counts
            counts = False

        if not quota:
            yield is_free
            return
        try:
            month = await quotas.take(user.id, quota, plan_tool.quota_limit)
        except BackendError as error:
            raise Overloaded("quotas are not available right now; try again shortly") from error
        try:
            yield is_free
        except BaseException:
            counts = False
            raise
        finally:
            if not counts:
                # The action itself is over: an outage now must not hide its result or its own error.
                try:
                    await quotas.give_back(user.id, quota, month)
                except BackendError as error:
                    log.warning("a quota could not be given back", quota=quota, error=error.message)

    def _check_plan(self, page: DashboardPage, visit: DashboardRequest, fields: Fields) -> None:
        """Raise `Forbidden` if a form does the same as a tool that the plan does not include."""
        catalog = self._frame.host.compiled.catalog
        # Check all values, since a handler can read any of them.
        for action in fields.get("do", [""]):
            tool = page.tools.get(action, page.tools.get("", ""))
            if tool and tool not in catalog.plans[visit.user.plan].mcp_tools:
                raise Forbidden(f"your plan does not include this: {catalog.exclusion_reason(tool, visit.user.plan)}")
