"""Requests that plugins handle, under their own paths and host names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from sanic import HTTPResponse, Request

from pressroom.host.host import Host
from pressroom.http.page_frame import PageFrame, private_page
from pressroom.http.responses import checked_answer, plugin_failures, receive_body
from pressroom.sdk import HttpRequest, HttpResponse, Route
from pressroom.validation.client_ip import client_ip_of, host_of


class PluginRequests:
    """Passes requests to the handlers of plugins, converted to the types of the SDK."""

    def __init__(self, host: Host, site: PageFrame) -> None:
        self._site = site
        server = host.settings.server
        self._gate = host.compiled.gate
        self._proxies = server.trusted_proxies
        self._secret = server.forwarded_secret.get_secret_value() if server.forwarded_secret else None

    def of_route(self, plugin: str, route: Route) -> Callable[..., Any]:
        """Return the Sanic handler for a route of a plugin."""

        async def handle(request: Request, **path: str) -> HTTPResponse:
            if route.before_body is None:
                return await self.answered(request, plugin, route.path, route.handler, path, route.title)
            asked = self._asked(request, path)
            with plugin_failures(self._gate, plugin, route.path):
                answer = await route.before_body(asked)
            if answer is None:
                await receive_body(request)
                asked = replace(asked, body=request.body)
                with plugin_failures(self._gate, plugin, route.path):
                    answer = await route.handler(asked)
            with plugin_failures(self._gate, plugin, route.path):
                return self._sent(checked_answer(answer), route.title)

        return handle

    async def answered(
        self,
        request: Request,
        plugin: str,
        name: str,
        handler: Callable[[HttpRequest], Awaitable[HttpResponse]],
        path: Mapping[str, str],
        title: str = "",
    ) -> HTTPResponse:
        """Return a handler's response. `name` identifies the handler in the log; `title` is that of a public page."""
        asked = self._asked(request, path)
        with plugin_failures(self._gate, plugin, name):
            return self._sent(checked_answer(await handler(asked)), title)

    def _asked(self, request: Request, path: Mapping[str, str]) -> HttpRequest:
        request.ctx.client_ip = client_ip_of(request.ip, request.headers, self._proxies, self._secret)
        return HttpRequest(
            method=request.method,
            path=request.path,
            query={name: values[-1] for name, values in request.args.items()},
            headers={name.lower(): value for name, value in request.headers.items()},
            body=request.body,
            client_ip=request.ctx.client_ip,
            request_id=request.ctx.request_id,
            path_params=path,
            host=host_of(request.headers, self._secret),
            virtual_host=getattr(request.ctx, "virtual_host", ""),
        )

    def _sent(self, answer: HttpResponse, title: str) -> HTTPResponse:
        kind, headers = answer.media_type, dict(answer.headers)
        if not title or not kind.startswith("text/html") or 300 <= answer.status < 400:
            return HTTPResponse(answer.body, status=answer.status, headers=headers, content_type=kind)
        body = self._site.public_page(title, answer.body.decode("utf-8", "replace"))
        framed = private_page(body, self._site.content_security_policy, answer.status)
        framed.headers.update(headers)
        return framed
