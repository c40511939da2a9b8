"""The Sanic application of a host."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable
from itertools import count
from types import SimpleNamespace
from typing import Any, Final
from urllib.parse import urlsplit

import structlog
from sanic import HTTPResponse, Request, Sanic
from sanic.config import Config
from sanic.exceptions import BadRequest, RequestTimeout, SanicException, ServiceUnavailable
from sanic.exceptions import MethodNotAllowed as SanicMethodNotAllowed
from sanic.exceptions import PayloadTooLarge as SanicPayloadTooLarge

from pressroom.catalog.compile import GENERATE
from pressroom.catalog.reserved_paths import fits, specificity
from pressroom.catalog.tool import ANONYMOUS
from pressroom.errors import (
    CallError,
    CallTimeout,
    InternalError,
    InvalidInput,
    MethodNotAllowed,
    NotFound,
    PayloadTooLarge,
)
from pressroom.host.host import Host
from pressroom.http.browser_sessions import BrowserSessions
from pressroom.http.compression import Compression, confirm, mark_public_text
from pressroom.http.cors import TOOLS_API
from pressroom.http.errors import error_headers, status_of
from pressroom.http.page_frame import ALL_TOOLS, HOME, PageFrame
from pressroom.http.responses import (
    BODY_LIMIT,
    MASKED_PATHS,
    Endpoint,
    HandlerWrapper,
    begin,
    logged_path,
)
from pressroom.http.web_fonts import WebFonts
from pressroom.interfaces.dashboard.routes import Dashboard
from pressroom.interfaces.mcp.routes import McpEndpoint
from pressroom.interfaces.oauth.routes import OAuthEndpoints
from pressroom.interfaces.tools_api.form_bodies import MAX_FORM_BYTES
from pressroom.interfaces.tools_api.gallery import Gallery
from pressroom.interfaces.tools_api.image_links import ImageLinks
from pressroom.interfaces.tools_api.openapi import openapi_document
from pressroom.interfaces.tools_api.page_routes import ToolPages
from pressroom.interfaces.tools_api.pages import OfferedService
from pressroom.interfaces.tools_api.preview_routes import PreviewRoutes
from pressroom.interfaces.tools_api.routes import ToolsApi, json_response, pretty
from pressroom.observability.secrets import SecretPaths
from pressroom.sdk import Route
from pressroom.server.connection import CLIENT_BOUNDS, UNREAD, ClientBounds, ServedRequest, body_limit
from pressroom.server.files import SignedFiles
from pressroom.server.health import Health
from pressroom.server.index import TextIndex
from pressroom.server.plugin_requests import (
    VIRTUAL_HOSTS,
    HostRouter,
    PluginRequests,
    VirtualHostTable,
    refusal,
    virtual_host_of,
)
from pressroom.server.site_files import CARDS, ServerFiles
from pressroom.storage.files.local import LocalFileStore
from pressroom.storage.files.signing import signing_secret

log = structlog.get_logger()

_API_PATH: Final = re.compile(r"/tools/(?!static/)(?P<slug>[^/]+)/api(?:/.*)?")

_MAX_METHOD_LENGTH: Final = 32
_numbers = count(1)

App = Sanic[Config, SimpleNamespace]


def create_app(host: Host) -> App:
    """Return the application that serves a started host."""
    return _Application(host).app


class _Application:
    def __init__(self, host: Host) -> None:
        self._host = host
        settings = host.settings
        self._router = HostRouter()
        self.app: App = Sanic(
            f"pressroom-{next(_numbers)}", configure_logging=False, request_class=ServedRequest, router=self._router
        )
        self.app.config.update(
            {
                "ACCESS_LOG": False,
                "AUTO_EXTEND": False,
                "MOTD": False,
                "GRACEFUL_SHUTDOWN_TIMEOUT": settings.server.shutdown_timeout,
                "KEEP_ALIVE_TIMEOUT": settings.server.keep_alive_timeout,
                "REQUEST_MAX_SIZE": settings.server.max_body_bytes,
                "REQUEST_TIMEOUT": settings.server.request_timeout,
                "RESPONSE_TIMEOUT": settings.server.response_timeout,
            }
        )
        self._secret_paths = SecretPaths()
        setattr(self.app.ctx, MASKED_PATHS, self._secret_paths)
        setattr(self.app.ctx, CLIENT_BOUNDS, ClientBounds(settings.server))
        site = PageFrame(
            host.compiled.branding,
            settings.public_url,
            _file_origins(host),
            offers_mcp=settings.mcp.enabled,
            offers_cards=CARDS in host.services.catalog.plans[ANONYMOUS].tools,
            fonts=WebFonts(settings.storage.path / "fonts"),
            replaced=host.compiled.templates,
        )
        self._plugin_requests = PluginRequests(host, site)
        virtual_hosts = VirtualHostTable(host, self._plugin_requests)
        setattr(self.app.ctx, VIRTUAL_HOSTS, virtual_hosts)
        encode = Compression().apply if settings.server.compression else None
        logging = settings.logging
        self._http = HandlerWrapper(
            log_requests=logging.requests, log_health_checks=logging.health_checks, confirm=confirm, encode=encode
        )
        self._api = ToolsApi(host)
        for problem in host.compiled.templates.problems:
            log.error("a file of the operator's templates is not used", problem=str(problem), hint=problem.hint)
        self._site_files = ServerFiles(host, site)
        self._image_links = ImageLinks(host, self._api)
        self._pages = ToolPages(self._api, site, Gallery(host), self._image_links, _services(host))
        self._routes: set[tuple[str, str]] = set()
        self._add_tools_api()
        self._add_pages(site)
        lifetime = settings.accounts.session_lifetime
        browser = BrowserSessions(
            host.accounts.sessions, settings.public_url, signing_secret(settings), lifetime=lifetime
        )
        self._mcp, self._oauth = McpEndpoint(host), OAuthEndpoints(host, site, browser)
        self._dashboard = Dashboard(host, site, browser)
        for interface in (self._mcp, self._oauth, self._dashboard):
            for endpoint in interface.endpoints():
                self._add_endpoint(endpoint)
        self._add_host_routes()
        self._add_plugin_routes()
        for path, handler in self._site_files.defaults().items():
            if ("GET", path) not in self._routes:
                self._add(path, ("GET",), handler)
        self._router.serve_rest(self._http.wrap(virtual_hosts.respond, reads=True))
        self.app.error_handler.add(Exception, self._on_error)

    def _add(self, path: str, methods: tuple[str, ...], handler: Callable[..., Any]) -> None:
        self._add_endpoint(Endpoint(path, methods, handler))

    def _add_endpoint(self, endpoint: Endpoint) -> None:
        path, methods = endpoint.path, endpoint.methods
        if "GET" in methods and "HEAD" not in methods:
            methods = (*methods, "HEAD")
        max_body_bytes = endpoint.max_body_bytes or self._host.settings.server.max_body_bytes
        route: Any = self.app.route(
            path,
            methods=methods,
            name=re.sub(r"[^A-Za-z0-9_]", "_", f"{methods[0]} {path}"),
            ignore_body=endpoint.reads_body,
            # Keeps Sanic from parsing the handler's source for a format; `_on_error` handles every error.
            error_format="json",
            ctx_max_body_bytes=max_body_bytes,
        )
        handler = self._http.wrap(endpoint.handler, reads="GET" in methods)
        route(handler)
        if endpoint.on_virtual_hosts:
            self._router.share(path, methods, handler, max_body_bytes, reads_body=endpoint.reads_body)
        self._secret_paths.add(path)
        self._routes |= {(method, path.replace(":str>", ">")) for method in methods}

    def _add_tools_api(self) -> None:
        api = self._api
        self._add("/tools/<slug:str>/api/generate", ("POST",), api.generate)
        self._add("/tools/<slug:str>/api/generate", ("OPTIONS",), TOOLS_API.preflight("POST"))
        self._add("/tools/<slug:str>/api", ("GET",), api.descriptor)
        self._add("/tools/<slug:str>/api", ("OPTIONS",), TOOLS_API.preflight("GET"))
        self._add("/tools/api", ("GET",), api.catalog)
        self._add("/tools/api", ("OPTIONS",), TOOLS_API.preflight("GET"))

    def _add_pages(self, site: PageFrame) -> None:
        pages = self._pages
        self._add("/", ("GET",), _redirect(f"{site.root}/tools"))
        self._add("/tools", ("GET",), pages.index)
        self._add("/tools.md", ("GET",), pages.index_text)
        self._add("/tools/<slug:str>", ("GET",), pages.tool)
        self._add_endpoint(Endpoint("/tools/<slug:str>", ("POST",), pages.submit, MAX_FORM_BYTES, reads_body=True))
        self._add_endpoint(Endpoint("/tools/static/<name:str>", ("GET",), pages.asset, on_virtual_hosts=True))
        self._add("/tools/<slug:str>/examples/<number:str>", ("GET",), pages.example)
        self._add("/tools/<slug:str>/examples/<number:str>/<size:str>", ("GET",), pages.example)
        self._add("/tools/<slug:str>/choices/<name:str>/<value:str>", ("GET",), pages.choice)
        previews = PreviewRoutes(self._host, self._api, pages.descriptors)
        self._add("/tools/<slug:str>/preview", ("POST",), previews.posted)
        self._add("/tools/<slug:str>/preview", ("GET",), previews.linked)
        links = self._image_links
        self._add("/tools/<slug:str>/link", ("POST",), links.link)
        self._add("/tools/<slug:str>/link", ("OPTIONS",), TOOLS_API.preflight("POST"))
        self._add("/tools/<slug:str>/image", ("GET",), links.image)
        self._add("/tools/<slug:str>/image", ("OPTIONS",), TOOLS_API.preflight("GET"))
        for endpoint in self._site_files.endpoints():
            self._add_endpoint(endpoint)

    def _add_host_routes(self) -> None:
        document = pretty(openapi_document(self._host.compiled))

        async def openapi(request: Request) -> HTTPResponse:
            mark_public_text(request)
            return json_response(document)

        health, index = Health(self._host), TextIndex(self._host)
        self._add("/openapi.json", ("GET",), openapi)
        self._add("/openapi.json", ("OPTIONS",), TOOLS_API.preflight("GET"))
        self._add("/llms.txt", ("GET",), index.short)
        self._add("/llms-full.txt", ("GET",), index.full)
        self._add("/healthz", ("GET",), health.alive)
        self._add("/readyz", ("GET",), health.ready)
        if self._host.settings.metrics.token is not None:
            self._add("/metrics", ("GET",), health.metrics)
        store = self._host.services.files
        if isinstance(store, LocalFileStore):
            self._add("/files/<tool:str>/<name:str>", ("GET",), SignedFiles(store).serve)
            self._add("/files/<tool:str>/<name:str>", ("OPTIONS",), TOOLS_API.preflight("GET"))

    def _add_plugin_routes(self) -> None:
        for contribution in self._host.compiled.plugins.contributions.of(Route):
            route = contribution.record
            if route.page is not None:
                continue  # a page of the dashboard, which serves it
            methods = tuple(method.upper() for method in route.methods)
            handler = self._plugin_requests.of_route(contribution.plugin, route)
            reads_body, everywhere = route.before_body is not None, route.on_virtual_hosts
            self._add_endpoint(Endpoint(route.path, methods, handler, route.max_body_bytes, reads_body, everywhere))

    def _methods_of(self, path: str) -> tuple[str, ...]:
        """Return the methods that a URL supports, which Sanic does not always know."""
        matches = {route for _, route in self._routes if fits(route, path)}
        closest = max(map(specificity, matches), default=0)
        serving = {route for route in matches if specificity(route) == closest}
        return tuple(sorted({method for method, route in self._routes if route in serving}))

    async def _on_error(self, request: Request, exception: Exception) -> HTTPResponse:
        begin(request)
        try:
            return await self._respond_to_error(request, exception)
        except Exception:
            log.exception("an error response failed", path=logged_path(request)[:200])
            return self._http.finish(request, self._api.failure(_internal_failure(), "", ""))

    async def _respond_to_error(self, request: Request, exception: Exception) -> HTTPResponse:
        error, status = self._explain(request, exception)
        if virtual_host_of(request):
            return self._http.finish(request, refusal(error, status))
        for interface in (self._mcp, self._oauth):
            if interface.serves(request.path):
                return self._http.finish(request, interface.refuse(request, error, status, error_headers(error)))
        match = _API_PATH.fullmatch(request.path)
        if match and isinstance(exception, ServiceUnavailable):
            # The stage that used up the time, such as an authorizer, would use it up again.
            return self._http.finish(request, self._api.failure(error, match["slug"], GENERATE))
        if match:
            refuse = self._http.wrap(self._api.refuse)
            return await refuse(request, slug=match["slug"], error=error)
        if "text/html" in request.headers.get("accept", ""):
            next_link = self._dashboard.next_link(request.path) or (
                ALL_TOOLS if request.path.startswith("/tools") else HOME
            )
            response = self._pages.error(status, error.code.replace("_", " ").capitalize(), error.message, next_link)
            response.headers.update(error_headers(error))
        else:
            response = self._api.failure(error, "", request.path[:200])
            response.status = status
        return self._http.finish(request, response)

    def _explain(self, request: Request, exception: Exception) -> tuple[CallError, int]:
        match exception:
            case CallError():
                return exception, status_of(exception)
            case SanicMethodNotAllowed() if allowed := self._methods_of(request.path):
                method = request.method.encode("ascii", "replace").decode()[:_MAX_METHOD_LENGTH]
                return MethodNotAllowed(method, allowed), 405
            case SanicPayloadTooLarge() if request.method == UNREAD:
                return PayloadTooLarge("the head of the request is too large: shorten its URL or its headers"), 413
            case SanicPayloadTooLarge():
                limit = body_limit(request) or self._host.settings.server.max_body_bytes
                more = " without a valid credential" if hasattr(request.ctx, BODY_LIMIT) else ""
                return PayloadTooLarge(f"the request is too large: a body may have {limit} bytes{more}"), 413
            case RequestTimeout():
                return CallTimeout("the request did not arrive in time; send it again"), 408
            case ServiceUnavailable():
                return CallTimeout("the response took too long; try again shortly"), 503
            case SanicException(status_code=404 | 405):
                return NotFound(f"there is nothing at {request.path[:200]}"), 404
            case BadRequest(message="Bad Request"):
                return InvalidInput("", "the request is not valid HTTP/1.1: look at its first line and headers"), 400
            case SanicException() if exception.status_code < 500:
                return InvalidInput("", str(exception)[:200] or "the request is not valid HTTP"), exception.status_code
            case _:
                log.error("a request failed", path=logged_path(request)[:200], exc_info=exception)
                return _internal_failure(), 500


def _internal_failure() -> InternalError:
    return InternalError("internal error; quote the request ID to the operator")


def _redirect(location: str) -> Callable[[Request], Awaitable[HTTPResponse]]:
    async def respond(_request: Request) -> HTTPResponse:
        return HTTPResponse(status=302, headers={"Location": location})

    return respond


def _services(host: Host) -> list[OfferedService]:
    """Return the services for accounts: the plugins with tools for AI clients, those with most tools first."""
    tools = host.services.catalog.mcp_tools.values()
    counts = Counter(tool.info.plugin for tool in tools if tool.kind == "mcp")
    records = {record.id: record for record in host.compiled.plugins.records}
    plugin_records = (records[plugin] for plugin, _ in counts.most_common() if plugin in records)
    return [
        OfferedService(record.title, record.summary) for record in plugin_records if record.title and record.summary
    ]


def _file_origins(host: Host) -> tuple[str, ...]:
    s3 = host.settings.storage.s3
    if host.settings.storage.files_backend != "s3":
        return ()
    endpoint = s3.public_endpoint_url or s3.endpoint_url
    if endpoint is None:
        return ("https://*.amazonaws.com",)
    parts = urlsplit(endpoint)
    return (f"{parts.scheme}://{parts.netloc}",)
