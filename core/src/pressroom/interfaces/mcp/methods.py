"""The JSON-RPC methods of the endpoint, and which of them require a credential."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

import orjson

from pressroom.host.host import Host
from pressroom.http.compression import mark_public_text
from pressroom.interfaces.mcp.calls import ToolCalls
from pressroom.interfaces.mcp.listing import ToolLists, read_selection
from pressroom.interfaces.mcp.protocol import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    Incoming,
    Message,
    ProtocolVersion,
    Request,
    RpcError,
    Unauthorized,
    Versions,
    read_message,
    result_body,
)
from pressroom.sdk import Caller, Instructions
from pressroom.validation.echo import quoted

SERVER_VERSION: Final = "1.0.0"
"""The version in `serverInfo` (interface contract, section 9)."""

MAX_BATCH_SIZE: Final = 20

_ACCOUNT_METHODS: Final = frozenset({"tools/list", "tools/call"})

_PROBE: Final = "server/discover"
"""The first request of clients of later protocols. On an error with a 4xx status, they fall back to `initialize`."""


class Methods:
    """Processes a message or a batch of messages."""

    def __init__(self, host: Host) -> None:
        settings, branding = host.settings, host.compiled.branding
        self._versions = Versions(settings.mcp.protocol_versions)
        self._max_concurrent = settings.mcp.concurrency
        self._lists = ToolLists(host.services.catalog, settings.mcp)
        self._calls = ToolCalls(host)
        self._initialized = {
            version: orjson.dumps(
                {
                    "protocolVersion": version,
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": branding.name, "title": branding.name, "version": SERVER_VERSION},
                    "instructions": settings.mcp.instructions or _instructions(host),
                }
            )
            for version in self._versions.supported
        }

    async def respond(self, incoming: Incoming) -> bytes | None:
        """Return the body of the response, or `None` if the request contains nothing to respond to.

        Raises:
            RpcError: The response to the whole request is an error.
            Unauthorized: A message requires a credential, and none was sent.
        """
        if type(incoming.document) is list:
            return await self._batch_response(incoming)
        message = read_message(incoming.document, lambda: incoming.as_written)
        if not isinstance(message, Request):
            self._versions.of(message, incoming)
            return None
        if message.method == _PROBE:
            raise _no_such_method(message, status=404)
        version = self._versions.of(message, incoming)
        _check_credential(incoming.caller, (message,))
        return await self._request_response(incoming, message, version)

    async def _batch_response(self, incoming: Incoming) -> bytes | None:
        version = self._versions.of(None, incoming)
        if not version.allows_batches:
            raise RpcError(
                INVALID_REQUEST, f"a body contains one message under {version.name}; batches are of 2025-03-26"
            )
        if not incoming.document:
            raise RpcError(INVALID_REQUEST, "a batch must not be empty")
        requests = _asking(incoming)
        _check_credential(incoming.caller, [message for message in requests if isinstance(message, Request)])
        semaphore = asyncio.Semaphore(self._max_concurrent)

        async def respond(message: Request | RpcError) -> bytes:
            if isinstance(message, RpcError):
                return message.body()
            if message.method == "initialize":
                return RpcError(INVALID_REQUEST, "initialize must not be in a batch", message_id=message.id).body()
            try:
                async with semaphore:
                    return await self._request_response(incoming, message, version)
            except RpcError as error:
                return error.body()

        responses = await asyncio.gather(*map(respond, requests))
        return b"[%b]" % b",".join(responses) if responses else None

    async def _request_response(self, incoming: Incoming, message: Request, version: ProtocolVersion) -> bytes:
        try:
            match message.method:
                case "tools/call":
                    caller, view = self._lists.seen_by(incoming)
                    result = await self._calls.call(incoming, caller, message.params, version, view)
                case "tools/list":
                    result = self._list(incoming, message)
                case "ping":
                    result = b"{}"
                case "initialize":
                    self._lists.check(read_selection(incoming.http))
                    result = self._initialized[self._versions.negotiated(message.params.get("protocolVersion"))]
                case _:
                    raise _no_such_method(message)
        except RpcError as error:
            error.message_id = message.id
            raise
        return result_body(message.id, result)

    def _list(self, incoming: Incoming, message: Request) -> bytes:
        cursor = message.params.get("cursor")
        if cursor is not None:
            raise RpcError(INVALID_PARAMS, "params.cursor is not known: the list has one page, which needs no cursor")
        _, view = self._lists.seen_by(incoming)
        if type(incoming.document) is not list:
            mark_public_text(incoming.http, view.result)
        return view.result.text


def _check_credential(caller: Caller, messages: Sequence[Request]) -> None:
    """Raise `Unauthorized` if a message requires a credential and the request has none."""
    if not caller.subject and any(message.method in _ACCOUNT_METHODS for message in messages):
        raise Unauthorized(
            "a credential is required: send Authorization: Bearer with an API key or an access token", "missing"
        )


def _asking(incoming: Incoming) -> list[Request | RpcError]:
    """Return the requests in a batch, and the errors of invalid messages, in their order.

    Raises:
        RpcError: There are too many. The remaining messages are not parsed.
    """
    requests = []
    for position in range(len(incoming.document)):
        message = _read(incoming, position)
        if isinstance(message, Request | RpcError):
            requests.append(message)
            if len(requests) > MAX_BATCH_SIZE:
                raise RpcError(INVALID_REQUEST, f"a batch may contain {MAX_BATCH_SIZE} requests")
    return requests


def _read(incoming: Incoming, position: int) -> Message | RpcError:
    try:
        return read_message(incoming.document[position], lambda: incoming.as_written[position])
    except RpcError as error:
        return error


def _no_such_method(message: Request, status: int = 200) -> RpcError:
    return RpcError(
        METHOD_NOT_FOUND, f"Unknown method: {quoted(message.method, 64)}", message_id=message.id, status=status
    )


def _instructions(host: Host) -> str:
    """Return the server's instructions for models: the plugins' lines, framed by general ones."""
    branding = host.compiled.branding
    plugins = [
        contribution.record.text.strip() for contribution in host.compiled.plugins.contributions.of(Instructions)
    ]
    return "\n".join(
        [
            f"{branding.name}: {branding.tagline}",
            *plugins,
            "If a tool you need is not listed, find_tools finds it by words and call_tool runs it.",
            "To repeat a call safely, give it the same client_request_id and the same arguments: it runs once.",
            "A result with isError says what to change. Links to files work for three hours: pass them on at once.",
        ]
    )
