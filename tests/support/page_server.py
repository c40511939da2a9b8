"""A small server that stands in for the host: the real pages, with an API that returns what a test configures."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from pressroom.errors import CallError, InvalidInput, NotFound
from pressroom.http.page_frame import PageFrame
from pressroom.interfaces.tools_api.pages import Descriptor, FormState, Pages, input_from_form, parse_form
from pressroom.interfaces.tools_api.pages.views import ImageUrls
from pressroom.sdk import Branding, Preview

from support.tool_descriptors import ALL

Response = tuple[int, Any]
Api = Callable[[str, dict[str, Any]], Response]

IMAGE = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9" fill="#fff"/>'
    '<path d="M1 1h3v3h-3zM5 1h3v3h-3zM1 5h3v3h-3zM5 5h1v1h-1zM7 7h1v1h-1zM6 6h1v1h-1z"/></svg>'
)


def branding(**changes: str) -> Branding:
    """Return an operator's branding, with changed values."""
    values = {
        "key": "pressroom",
        "name": "Pressroom",
        "tagline": "Publishing tools for people and AI clients.",
        "url": "https://pressroom.example",
        "mcp_url": "https://pressroom.example/api/mcp",
        "docs_url": "https://pressroom.example/docs",
        "accent": "#b9502a",
        "accent_dark": "#e0764c",
        "logo_url": "",
    }
    return Branding(**values | changes)


def meta(tool: Descriptor, remaining: int) -> dict[str, Any]:
    """Return the `meta` of a response (2.7)."""
    limit = tool["rateLimit"]["requests"]
    return {
        "tool": tool["slug"],
        "endpoint": "/generate",
        "version": "1.0",
        "cached": False,
        "timestamp": "2026-01-01T13:00:00Z",
        "rateLimit": {"limit": limit, "remaining": remaining, "resetAt": "2026-01-01T14:00:00Z"},
    }


def _extension(slug: str) -> str:
    return "zip" if slug == "favicon-generator" else "svg"


class PageServer:
    """Serves on a free loopback port while in its context.

    `inputs` are the inputs sent to the API, in order; `previews` those for previews.
    """

    def __init__(self, descriptors: tuple[Descriptor, ...] = ALL, **brand: str) -> None:
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        examples = ("examples/0/tile", "examples/1", "examples/2")
        images = ImageUrls(examples=examples, card="examples/0", canvas="examples/0/large")
        self.pages = Pages(
            PageFrame(branding(**brand), self.url),
            {"favicon-generator": Preview(kind="icons")},
            {tool["slug"]: images for tool in descriptors},
            image_links=True,
        )
        self.previews: list[dict[str, Any]] = []
        self.tools = {tool["slug"]: {"extension": _extension(tool["slug"]), **tool} for tool in descriptors}
        self.inputs: list[dict[str, Any]] = []
        self.problems: list[str] = []
        self.api: Api = self.succeed
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def succeed(self, slug: str, values: dict[str, Any]) -> Response:
        """Return a response as specified for the tool in section 2.8."""
        tool = self.tools[slug]
        if slug == "qr-code-generator" and not 64 <= values.get("size", 512) <= 2048:
            return self.refuse(slug, f"size: must be between 64 and 2048 (got {values['size']})")
        suffix = _extension(slug)
        data = {
            "id": "5f0c7a1d9be2436884c15d3e7a90b2cf",
            "url": f"{self.url}/files/{slug}/5f0c7a1d.{suffix}?expires=1&signature=ab",
            "expiresAt": "2026-01-01T16:00:00Z",
            "cached": False,
        } | {name: values.get(name, value) for name, value in tool.get("sampleData", {}).items()}
        return 200, {"ok": True, "data": data, "meta": meta(tool, tool["rateLimit"]["requests"] - len(self.inputs))}

    def refuse(self, slug: str, message: str, status: int = 400, **error: Any) -> Response:
        """Return an error envelope (2.9)."""
        body = {"code": "validation_error", "message": message} | error
        return status, {"ok": False, "error": body, "meta": meta(self.tools[slug], 0)}

    def _call(self, slug: str, values: dict[str, Any]) -> Response:
        self.inputs.append(values)
        return self.api(slug, values)

    def _tool(self, slug: str) -> Descriptor:
        if slug not in self.tools:
            raise NotFound(f"there is no tool {slug}")
        return self.tools[slug]

    def _get(self, path: str, query: str) -> tuple[int, bytes, str, Mapping[str, str]]:
        html = "text/html; charset=utf-8"
        match path.strip("/").split("/"):
            case ["tools"]:
                return 200, self.pages.index(list(self.tools.values())), html, {}
            case ["tools", "static", name]:
                asset = self.pages.site.asset(name)
                version = parse_qs(query).get("v", [""])[0]
                return (
                    200,
                    asset.content,
                    asset.media_type,
                    {"ETag": asset.etag, "Cache-Control": asset.cache_control(version)},
                )
            case ["tools", slug]:
                tool = self._tool(slug)
                return 200, self.pages.tool(tool, FormState.from_query(tool, parse_qs(query))), html, {}
            case ["tools", slug, "api"]:
                return 200, json.dumps(self._tool(slug)).encode(), "application/json", {}
            case ["tools", _, "examples" | "preview", *_]:
                return 200, IMAGE.encode(), "image/svg+xml", {}
            case ["files", _, name]:
                return 200, IMAGE.encode(), "application/zip" if name.endswith("zip") else "image/svg+xml", {}
            case ["robots.txt"]:
                return 200, b"User-agent: *\nAllow: /\n", "text/plain", {}
            case _:
                raise NotFound(f"there is nothing at {path}")

    def _post(self, path: str, body: bytes) -> tuple[int, bytes, str, Mapping[str, str]]:
        _, slug, *rest = path.strip("/").split("/")
        if rest == ["link"]:
            status, reply = self._call(slug, json.loads(body))
            if status == 200:
                reply["data"] |= {"url": f"{self.url}/tools/{slug}/image?design=abc&signature=def", "expiresAt": None}
            return status, json.dumps(reply).encode(), "application/json", {}
        if rest in (["api", "generate"], ["preview"]):
            return self._respond_to_script(slug, json.loads(body), preview=rest == ["preview"])
        tool, form = self._tool(slug), parse_form(body)
        try:
            status, reply = self._call(slug, input_from_form(tool["endpoints"][0]["params"], form))
        except InvalidInput as error:
            status, reply = self.refuse(slug, error.message)
        return status, self.pages.tool(tool, FormState(form, reply)), "text/html; charset=utf-8", {}

    def _respond_to_script(
        self, slug: str, values: dict[str, Any], *, preview: bool
    ) -> tuple[int, bytes, str, Mapping[str, str]]:
        """Respond with the file itself, as the real routes do, or with the error."""
        values.pop("response", None)
        (self.previews if preview else self.inputs).append(values)
        status, reply = self.api(slug, values)
        if isinstance(reply, bytes) or not isinstance(reply, dict) or status != 200:
            return status, reply if isinstance(reply, bytes) else json.dumps(reply).encode(), "application/json", {}
        rate, data = reply["meta"]["rateLimit"], reply["data"]
        known_names = ("id", "url", "expiresAt", "cached", "warnings")
        headers = {
            "Content-Disposition": f'inline; filename="{slug}.{data["url"].partition("?")[0].rpartition(".")[2]}"',
            "RateLimit-Limit": str(rate["limit"]),
            "RateLimit-Remaining": str(rate["remaining"]),
            "X-Details": json.dumps({name: value for name, value in data.items() if name not in known_names}),
            "X-Warnings": json.dumps(data.get("warnings", [])),
        }
        return 200, IMAGE.encode(), "image/svg+xml", headers

    def _handler(server) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - `self` is the request's
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                self._respond(lambda: server._get(parts.path, parts.query))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self._respond(lambda: server._post(urlsplit(self.path).path, body))

            def _respond(self, make: Callable[[], tuple[int, bytes, str, Mapping[str, str]]]) -> None:
                try:
                    status, content, media_type, headers = make()
                except CallError as error:
                    status, media_type, headers = 404, "text/html; charset=utf-8", {}
                    content = server.pages.site.error(404, "Not found", error.message)
                self.send_response(status)
                self.send_header("Content-Type", media_type)
                self.send_header("Content-Length", str(len(content)))
                self.send_header("Content-Security-Policy", server.pages.site.content_security_policy)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                """Suppress request logs."""

        return Handler
