"""Cross-origin requests (Fetch standard): which headers pages of other origins can send and read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sanic import HTTPResponse, Request

from pressroom.http.responses import Handler

_MAX_AGE: Final = "86400"


@dataclass(frozen=True, slots=True)
class CorsPolicy:
    """CORS headers for pages of other origins, which can send the headers `accepted` and read the headers `exposed`."""

    accepted: str
    exposed: str

    def headers(self, origin: str = "*") -> dict[str, str]:
        """Return the CORS headers of a response to a page of that origin."""
        vary = {} if origin == "*" else {"Vary": "Origin"}
        return {"Access-Control-Allow-Origin": origin, **vary, "Access-Control-Expose-Headers": self.exposed}

    def preflight_headers(self, *methods: str) -> dict[str, str]:
        """Return the headers of a preflight response for these methods, without `Access-Control-Allow-Origin`."""
        return {
            "Access-Control-Allow-Methods": ", ".join((*methods, "OPTIONS")),
            "Access-Control-Allow-Headers": self.accepted,
            "Access-Control-Max-Age": _MAX_AGE,
        }

    def preflight(self, *methods: str) -> Handler:
        """Return a handler for preflight requests from any origin for these methods."""
        headers: Mapping[str, str] = {"Access-Control-Allow-Origin": "*", **self.preflight_headers(*methods)}

        async def preflight(_request: Request, **_path: Any) -> HTTPResponse:
            return HTTPResponse(status=204, headers=dict(headers))

        return preflight


TOOLS_API: Final = CorsPolicy(
    accepted="Accept, Authorization, Content-Type, If-None-Match, If-Range, Range, X-Request-Id",
    exposed=(
        "Accept-Ranges, Content-Disposition, Content-Range, ETag, Link, RateLimit-Limit, RateLimit-Remaining, "
        "RateLimit-Reset, Retry-After, WWW-Authenticate, X-Cache, X-Request-Id, X-Warnings"
    ),
)
"""For tools, files and documents, which any page can call and read."""

OAUTH: Final = CorsPolicy(
    # MCP clients send their protocol version with every request, including those for metadata.
    accepted="Accept, Authorization, Content-Type, MCP-Protocol-Version, X-Request-Id",
    exposed="Retry-After, WWW-Authenticate, X-Request-Id",
)
"""For the authorization server's endpoints that programs call."""

MCP: Final = CorsPolicy(
    accepted=(
        "Accept, Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, "
        "Mcp-Session-Id, X-MCP-Readonly, X-MCP-Toolsets, X-Request-Id"
    ),
    exposed="Retry-After, WWW-Authenticate, X-Request-Id",
)
"""For the MCP endpoint, from pages of allowed origins."""
