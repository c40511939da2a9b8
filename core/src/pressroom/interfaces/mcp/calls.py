"""`tools/call`: one call through the pipeline, and what the model reads of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import structlog
from sanic import Request

from pressroom.errors import CallError, InternalError, InvalidInput, Overloaded
from pressroom.host.host import Host
from pressroom.interfaces.mcp.jsonrpc import INVALID_PARAMS, RpcError
from pressroom.interfaces.mcp.listing import aliases
from pressroom.interfaces.mcp.results import file_result, refusal, tool_result
from pressroom.interfaces.mcp.versions import has_resource_links
from pressroom.pipeline.context import CallRequest, IdentifiedCall, RefusedCall
from pressroom.sdk import Caller
from pressroom.validation.echo import counted, cut, printable
from pressroom.validation.json import may_hold_nul, refuse_nul
from pressroom.validation.nearest import nearest

log = structlog.get_logger()

_MAX_NAME_LENGTH: Final = 64


class ToolCalls:
    """Runs tools for callers with a credential, up to a number of calls at once for each connection."""

    def __init__(self, host: Host) -> None:
        self._pipeline = host.pipeline
        self._catalog = host.services.catalog
        self._files = host.services.files
        self._most = host.settings.mcp.concurrency
        self._aliases = aliases(self._catalog)
        self._running: dict[str, int] = {}

    async def call(self, request: Request, caller: Caller, params: Mapping[str, Any], version: str) -> bytes:
        """Return the result of a call as JSON; whatever refused it, or failed, is a result too.

        Raises:
            RpcError: the params name no tool, or no object of arguments.
        """
        name, arguments = self._read(params, caller)
        request_id: str = request.ctx.request_id
        try:
            connection = self._take_place(caller)
            try:
                asked = CallRequest(name, _checked(arguments, request.body), request_id, "mcp")
                outcome = await self._pipeline(IdentifiedCall(asked, caller))
                if isinstance(outcome, RefusedCall):
                    return refusal(_explanation(name, request_id, outcome.error))
                if outcome.file is not None:
                    return await file_result(outcome, outcome.file, self._files, links=has_resource_links(version))
                return tool_result(outcome.plan_tool.tool, outcome.result)
            finally:
                self._leave_place(connection)
        except CallError as error:
            return refusal(_explanation(name, request_id, error))
        except Exception:
            log.exception("a result could not be written", tool=name, request_id=request_id)
            return refusal(_explanation(name, request_id, InternalError(f"{name} failed")))

    def _read(self, params: Mapping[str, Any], caller: Caller) -> tuple[str, dict[str, Any]]:
        name, arguments = params.get("name"), params.get("arguments")
        if type(name) is not str:
            raise RpcError(INVALID_PARAMS, "params.name must be the name of a tool, as a string")
        if arguments is not None and type(arguments) is not dict:
            raise RpcError(INVALID_PARAMS, "params.arguments must be a JSON object")
        name = self._aliases.get(name, name)
        if name in self._catalog.unavailable:
            raise RpcError(INVALID_PARAMS, f"Tool {name} is not available: {self._catalog.unavailable[name]}")
        if name not in self._catalog.mcp_tools:
            similar = nearest(name, self._catalog.plan(caller.plan).mcp_tools)
            hint = f"; did you mean {similar}?" if similar else ""
            raise RpcError(INVALID_PARAMS, f"Unknown tool: {printable(cut(name, _MAX_NAME_LENGTH))}{hint}")
        return name, arguments or {}

    def _take_place(self, caller: Caller) -> str:
        """Take one of the places of a connection, and return whose it is. Raises `Overloaded` where all are taken."""
        connection = caller.connection or caller.subject
        running = self._running.get(connection, 0)
        if running >= self._most:
            raise Overloaded(
                f"This connection has {counted(self._most, 'call')} under way, which is as many as it may have at "
                "once. Wait until one of them has ended, then try again."
            )
        self._running[connection] = running + 1
        return connection

    def _leave_place(self, connection: str) -> None:
        running = self._running[connection] - 1
        if running:
            self._running[connection] = running
        else:
            del self._running[connection]


def _explanation(name: str, request_id: str, error: CallError) -> str:
    """Return what the model reads of an error: what was wrong, and what it or the user can do."""
    told = f"{error.message.rstrip('.')}. {error.hint}" if error.hint else error.message
    match error:
        case InvalidInput():
            return f"The arguments of {name} are not valid. {told}"
        case InternalError():
            return (
                f"{name} failed inside. Where trying again does not help, the operator finds the reason under the "
                f"reference {request_id}."
            )
        case _:
            return told


def _checked(arguments: dict[str, Any], body: bytes) -> dict[str, Any] | CallError:
    """Return the arguments, or the error where they hold what no tool takes."""
    try:
        if may_hold_nul(body):
            refuse_nul(arguments)
    except CallError as error:
        return error
    return arguments
