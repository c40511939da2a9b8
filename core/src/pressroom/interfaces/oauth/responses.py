"""Responses of the OAuth endpoints for programs: JSON readable from any origin, mostly uncacheable."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import orjson
import structlog
from sanic import HTTPResponse, Request

from pressroom.errors import BackendError, CallError, InvalidClient, OAuthError, RateLimited
from pressroom.http.cors import OAUTH
from pressroom.http.errors import error_headers
from pressroom.http.responses import Handler
from pressroom.sdk import Caller

log = structlog.get_logger()

_NO_STORE: Final[Mapping[str, str]] = {**OAUTH.headers(), "Cache-Control": "no-store", "Pragma": "no-cache"}
_RETRY_SECONDS: Final = 5

Admit = Callable[[str, Any], Caller]


def document(body: bytes, max_age: int) -> HTTPResponse:
    """Return a JSON document that can be cached for `max_age` seconds."""
    headers = {**OAUTH.headers(), "Cache-Control": f"public, max-age={max_age}"}
    return HTTPResponse(body, headers=headers, content_type="application/json")


def json_response(
    members: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None
) -> HTTPResponse:
    """Return an uncacheable JSON response (RFC 6749, section 5.1)."""
    return HTTPResponse(
        orjson.dumps(members), status=status, headers={**_NO_STORE, **(headers or {})}, content_type="application/json"
    )


def empty() -> HTTPResponse:
    """Return an empty success response (RFC 7009, section 2.2)."""
    return HTTPResponse(b"", headers=dict(_NO_STORE), content_type="application/json")


def refusal(error: OAuthError, status: int = 400) -> HTTPResponse:
    """Return an error response (RFC 6749, section 5.2; RFC 7591, section 3.2.2)."""
    headers = {}
    if isinstance(error, InvalidClient):
        status, headers = 401, {"WWW-Authenticate": 'Basic realm="OAuth client", charset="UTF-8"'}
    return json_response({"error": error.code, "error_description": description(error)}, status, headers)


def description(error: OAuthError | CallError) -> str:
    """Return an error's message in the characters allowed by RFC 6749 (section 5.2)."""
    text = error.message.replace('"', "'").replace("\\", "/").replace("…", "...")
    return "".join(character if " " <= character <= "~" else "?" for character in text)


def for_programs(handler: Callable[[Request], Awaitable[HTTPResponse]], admit: Admit) -> Handler:
    """Return a handler that sets the client's IP address and converts all errors to OAuth responses."""

    async def handle(request: Request) -> HTTPResponse:
        request.ctx.client_ip = admit(request.ip, request.headers).client_ip
        try:
            return await handler(request)
        except OAuthError as error:
            return refusal(error)
        except RateLimited as error:
            members = {"error": "temporarily_unavailable", "error_description": error.message}
            return json_response(members, 429, error_headers(error))
        except BackendError as error:
            log.warning("an OAuth request failed", path=request.path, error=str(error))
            members = {
                "error": "temporarily_unavailable",
                "error_description": "the server cannot do this at the moment; nothing was changed, try again shortly",
            }
            return json_response(members, 503, {"Retry-After": str(_RETRY_SECONDS)})
        except Exception:
            log.exception("an OAuth request failed", path=request.path)
            members = {
                "error": "server_error",
                "error_description": "internal error; quote the value of X-Request-Id to the operator",
            }
            return json_response(members, 500)

    return handle
