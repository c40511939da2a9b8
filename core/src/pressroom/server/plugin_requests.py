"""Requests that plugins handle, under their own paths and host names.

Requests for the host names of plugins, which are virtual hosts, reach nothing else on the server.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import replace
from ipaddress import ip_address
from math import inf
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit

import structlog
from sanic import HTTPResponse, Request
from sanic.constants import HTTP_METHODS
from sanic.exceptions import MethodNotAllowed as SanicMethodNotAllowed
from sanic.exceptions import NotFound as SanicNotFound
from sanic.router import Router
from sanic_routing.route import Route as SanicRoute

from pressroom.errors import CallError, CallTimeout, MethodNotAllowed, PressroomError
from pressroom.gate import PluginFailed
from pressroom.host.host import Host
from pressroom.http.errors import error_headers
from pressroom.http.page_frame import PageFrame, private_page
from pressroom.http.responses import checked_response, plugin_failures, receive_body
from pressroom.sdk import HttpRequest, HttpResponse, Route, VirtualHosts
from pressroom.validation.client_ip import client_ip_of, host_of

log = structlog.get_logger()

MAX_NAMES_AGE: Final = 2.0
"""How many seconds the host names of plugins are cached, and so how soon every process notices a change."""

VIRTUAL_HOSTS: Final = "virtual_hosts"
"""The name of the `VirtualHostTable` in the context of an application."""

_RELOAD_WAIT_SECONDS: Final = 1.0
"""How many seconds a request waits for the names to be reloaded, if earlier names are known."""

_METHODS: Final = ("GET", "HEAD")
_MAX_NAME: Final = 253
_current_host: Final[ContextVar[str]] = ContextVar("virtual_host", default="")


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
                return await self.handle(request, plugin, route.path, route.handler, path, route.title)
            http_request = self._request_of(request, path)
            with plugin_failures(self._gate, plugin, route.path):
                response = await route.before_body(http_request)
            if response is None:
                await receive_body(request)
                http_request = replace(http_request, body=request.body)
                with plugin_failures(self._gate, plugin, route.path):
                    response = await route.handler(http_request)
            with plugin_failures(self._gate, plugin, route.path):
                return self._sent(checked_response(response, framed=bool(route.title)), route.title)

        return handle

    async def handle(
        self,
        request: Request,
        plugin: str,
        name: str,
        handler: Callable[[HttpRequest], Awaitable[HttpResponse]],
        path: Mapping[str, str],
        title: str = "",
    ) -> HTTPResponse:
        """Return a handler's response. `name` identifies the handler in the log; `title` is that of a public page."""
        http_request = self._request_of(request, path)
        with plugin_failures(self._gate, plugin, name):
            return self._sent(checked_response(await handler(http_request), framed=bool(title)), title)

    def _request_of(self, request: Request, path: Mapping[str, str]) -> HttpRequest:
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

    def _sent(self, response: HttpResponse, title: str) -> HTTPResponse:
        kind, headers = response.media_type, dict(response.headers)
        if not title or not kind.startswith("text/html") or 300 <= response.status < 400:
            return HTTPResponse(response.body, status=response.status, headers=headers, content_type=kind)
        body = self._site.public_page(title, response.body.decode("utf-8", "replace"))
        page = private_page(body, self._site.content_security_policy, response.status)
        page.headers.update(headers)
        return page


def virtual_host_of(request: Request) -> str:
    """Return the virtual host of a request, or an empty string for the server's own and for unknown names."""
    return getattr(request.ctx, "virtual_host", "")


class VirtualHostTable:
    """Maps host names to virtual hosts, and handles their requests.

    Requests for the server's own name cost a comparison. For any other, the names are reloaded when they are two
    seconds old, or when a plugin has counted a change since. If a plugin fails, its earlier names stay valid; without
    earlier ones, requests for names other than the server's own are refused, since they might be for a virtual host.
    """

    def __init__(self, host: Host, requests: PluginRequests) -> None:
        settings = host.settings
        self._requests = requests
        self._contributions = host.compiled.plugins.contributions.of(VirtualHosts)
        public_url = urlsplit(settings.public_url.lower())
        self._public_host = public_url.netloc
        self._own = frozenset({public_url.hostname or "", "localhost", settings.server.host.lower()})
        secret = settings.server.forwarded_secret
        self._secret = secret.get_secret_value() if secret else None
        self._names: Mapping[str, tuple[str, VirtualHosts]] = {}
        self._known: dict[str, tuple[str, ...]] = {}
        self._read_at = -inf
        self._read_changes: tuple[int, ...] = ()
        self._reading: asyncio.Task[None] | None = None
        self._began = 0.0

    def leave(self, request: Request) -> bool:
        """Mark a request as not for a virtual host, before routing. Return `False` if `enter` has to check."""
        if self._contributions and (self._secret or request.headers.get("host") != self._public_host):
            return False
        _current_host.set("")
        return True

    async def enter(self, request: Request) -> None:
        """Set the virtual host of a request, before routing. Raises `CallTimeout` if it cannot be determined."""
        name = await self.name_of(request)
        _current_host.set(name)
        if name:
            request.ctx.virtual_host = name

    async def name_of(self, request: Request) -> str:
        """Return the virtual host of a request, or an empty string. Raises `CallTimeout` if it cannot be determined."""
        name = host_of(request.headers, self._secret)
        if name not in self._own and _may_be_virtual(name):
            # If a reload was already running before the last change, a second one is needed.
            for _ in range(2):
                if self._is_stale():
                    await self._renew()
        return name if name in self._names else ""

    async def respond(self, request: Request, **path: str) -> HTTPResponse:
        """Handle a request for a virtual host with the plugin's handler."""
        del path
        if request.method not in _METHODS:
            raise MethodNotAllowed(request.method, _METHODS)
        owner = self._names.get(virtual_host_of(request))
        if owner is None:
            raise CallTimeout("this name was given up a moment ago; send the request again")
        plugin, record = owner
        return await self._requests.handle(request, plugin, record.name, record.handler, {})

    def _is_stale(self) -> bool:
        return monotonic() - self._read_at > MAX_NAMES_AGE or self._changes() != self._read_changes

    def _changes(self) -> tuple[int, ...]:
        counts = (contribution.record.changes for contribution in self._contributions)
        return tuple(count.count for count in counts if count is not None)

    async def _renew(self) -> None:
        """Reload the names. Concurrent requests share one reload."""
        if self._reading is None or self._reading.done():
            self._began = monotonic()
            self._reading = asyncio.create_task(self._read())
        elif self._names and monotonic() - self._began > _RELOAD_WAIT_SECONDS:
            return
        await asyncio.wait({self._reading}, timeout=_RELOAD_WAIT_SECONDS if self._all_known() else None)
        if not self._all_known():
            raise CallTimeout("the owner of this host name cannot be determined right now; try again shortly")

    def _all_known(self) -> bool:
        return all(contribution.record.name in self._known for contribution in self._contributions)

    async def _read(self) -> None:
        changes = self._changes()
        for contribution in self._contributions:
            try:
                names = await contribution.record.hosts()
                self._known[contribution.record.name] = tuple(self._allowed(contribution.plugin, names))
            except (PluginFailed, PressroomError) as error:
                log.warning("virtual hosts could not be read", plugin=contribution.plugin, error=str(error))
        owners: dict[str, tuple[str, VirtualHosts]] = {}
        for contribution in self._contributions:
            for name in self._known.get(contribution.record.name, ()):
                owners.setdefault(name, (contribution.plugin, contribution.record))
        self._names, self._read_at, self._read_changes = owners, monotonic(), changes

    def _allowed(self, plugin: str, names: Iterable[str]) -> Iterable[str]:
        for name in names:
            if name in self._own or name != name.lower().rstrip(".") or not _may_be_virtual(name):
                log.warning("a virtual host is left out", plugin=plugin, name=name[:_MAX_NAME])
            else:
                yield name


def refusal(error: CallError, status: int) -> HTTPResponse:
    """Return the error response of a virtual host: plain text that does not mention the server."""
    headers = {**error_headers(error), "Cache-Control": "no-store"}
    text = f"{error.message}\n".encode("utf-8", "replace")
    return HTTPResponse(text, status=status, headers=headers, content_type="text/plain; charset=utf-8")


class HostRouter(Router):
    """Routes the requests of virtual hosts separately: paths without `share` go to one handler."""

    def __init__(self) -> None:
        super().__init__()
        self._shared = Router()
        self._rest: tuple[SanicRoute, Callable[..., Any], dict[str, Any]] | None = None

    def get(  # type: ignore[override] # Sanic's own is a method inside a cache
        self, path: str, method: str, host: str | None
    ) -> tuple[SanicRoute, Callable[..., Any], dict[str, Any]]:
        """Return route, handler and path parameters of a request, after `VirtualHostTable.enter`."""
        if not _current_host.get() or self._rest is None:
            return super().get(path, method, host)
        try:
            return self._shared.get(path, method, None)
        except (SanicNotFound, SanicMethodNotAllowed):
            return self._rest

    def share(
        self, path: str, methods: Iterable[str], handler: Callable[..., Any], max_body_bytes: int, *, reads_body: bool
    ) -> None:
        """Serve a path on virtual hosts too."""
        _added(self._shared, path, methods, handler, max_body_bytes).extra.ignore_body = reads_body

    def serve_rest(self, handler: Callable[..., Any]) -> None:
        """Serve all other paths of virtual hosts. No routes can be shared after this."""
        route = _added(Router(), "/", HTTP_METHODS, handler, 1)
        route.extra.ignore_body = True
        self._shared.finalize()
        self._rest = route, handler, {}


def _added(router: Router, path: str, methods: Iterable[str], handler: Callable[..., Any], max_body_bytes: int) -> Any:
    route: Any = router.add(path, methods, handler)
    route.ctx.max_body_bytes = max_body_bytes
    # The attributes that Sanic sets on the routes of its own router when it starts.
    route.extra.websocket = False
    route.extra.request_middleware, route.extra.response_middleware = deque(), deque()
    return route


def _may_be_virtual(name: str) -> bool:
    if not name or len(name) > _MAX_NAME or "." not in name:
        return False
    try:
        ip_address(name)
    except ValueError:
        return True
    return False
