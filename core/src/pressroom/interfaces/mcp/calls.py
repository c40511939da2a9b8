"""`tools/call`: runs a tool through the pipeline, and formats its result as text, images and structured data."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final

import orjson
import structlog

from pressroom.errors import BackendError, CallError, Forbidden, InternalError, InvalidInput, Overloaded
from pressroom.host.host import Host
from pressroom.interfaces.mcp.listing import ToolListView, aliases
from pressroom.interfaces.mcp.protocol import INVALID_PARAMS, Incoming, ProtocolVersion, RpcError
from pressroom.interfaces.mcp.tool_search import CALL_TOOL, FIND_TOOLS, FindableTool, find_result, read_call, read_find
from pressroom.pipeline.context import (
    CallRequest,
    IdentifiedCall,
    RefusedCall,
    RenderedFile,
    StoredResult,
    ValidatedCall,
)
from pressroom.pipeline.results import MAX_IMAGE_BYTES
from pressroom.pipeline.stages.respond import file_data
from pressroom.sdk import (
    AudioContent,
    Caller,
    ContentBlock,
    EmbeddedResource,
    FileStore,
    Generator,
    ResourceLink,
    ToolResult,
)
from pressroom.sdk.declaration import HOST_TOOL_NAMES
from pressroom.storage.files.signing import extension_of
from pressroom.validation.echo import counted, cut, nearest, printable
from pressroom.validation.json import refuse_nul

log = structlog.get_logger()

IMAGE_TYPES: Final = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
"""Media types of images that models can read."""

_MAX_IMAGE_SIZE_TEXT: Final = "1 MiB"
_TEXTS: Final = frozenset({"application/json", "image/svg+xml"})
_ENVELOPE_MEMBERS: Final = frozenset({"id", "url", "expiresAt", "cached", "warnings"})


def refusal(text: str) -> bytes:
    """Return an error result with a text for the model."""
    return orjson.dumps({"content": [{"type": "text", "text": text}], "isError": True})


async def file_result(call: ValidatedCall, file: RenderedFile, files: FileStore, *, links: bool) -> bytes:
    """Return the result of a generator: its link, its data, and the file itself if models can read it.

    Images and audio are embedded, and other files if the generator declares it. `links` states whether the client
    supports resource links.
    """
    generator = call.plan_tool.tool.declaration
    title = generator.name if isinstance(generator, Generator) else call.request.tool_name
    entry, data = file.entry, file_data(call, file)
    lines = [f"{title}: {entry.media_type}, {entry.size:,} bytes."]
    lines += [f"{name}: {_readable(value)}" for name, value in data.items() if name not in _ENVELOPE_MEMBERS]
    lines += [f"Link, valid until {data['expiresAt']}: {call.url}"]
    lines += [f"Warning: {warning}" for warning in entry.warnings]
    content: list[dict[str, Any]] = []
    block = _inline_block(entry.media_type, call)
    if block is not None:
        stored, note = await _embedded_content(file, files)
        if stored is not None:
            content.append(block(stored))
        else:
            lines.append(note)
    content.insert(0, {"type": "text", "text": "\n".join(lines)})
    if links:
        content.append(
            {
                "type": "resource_link",
                "uri": call.url,
                "name": f"{call.plan_tool.tool.name}.{extension_of(entry.key)}",
                "title": title,
                "mimeType": entry.media_type,
                "size": entry.size,
            }
        )
    return orjson.dumps({"content": content, "structuredContent": data})


def _inline_block(media_type: str, call: ValidatedCall) -> Callable[[bytes], dict[str, Any]] | None:
    """Return a function that embeds a file's bytes in a block, or `None` if the file is only linked."""
    if media_type in IMAGE_TYPES:
        return partial(_image, media_type)
    if media_type.startswith("audio/"):
        return lambda content: _block(AudioContent(content, media_type))
    declaration = call.plan_tool.tool.declaration
    if isinstance(declaration, Generator) and declaration.mcp is not None and declaration.mcp.embed:
        return lambda content: _block(EmbeddedResource(call.url, _text_or_bytes(media_type, content), media_type))
    return None


def _text_or_bytes(media_type: str, content: bytes) -> str | bytes:
    if media_type.startswith("text/") or media_type in _TEXTS:
        with suppress(UnicodeDecodeError):
            return content.decode()
    return content


async def _embedded_content(file: RenderedFile, files: FileStore) -> tuple[bytes | None, str]:
    """Return the bytes of a file to embed, or a note on why it is only linked."""
    kind = "image" if file.entry.media_type in IMAGE_TYPES else "file"
    if file.entry.size > MAX_IMAGE_BYTES:
        return None, f"The {kind} is larger than {_MAX_IMAGE_SIZE_TEXT}, so it is available only through the link."
    if file.content is not None:
        return file.content, ""
    try:
        return await files.read(file.entry.key), ""
    except BackendError as error:
        log.warning("a file could not be read", key=file.entry.key, error=error.message)
        return None, f"The {kind} could not be read just now, so it is available only through the link."


def tool_result(call: ValidatedCall, *, links: bool) -> bytes:
    """Return the result of an MCP tool. `links` states whether the client supports resource links."""
    result = call.result
    if isinstance(result, StoredResult):
        return _result(result, result.data, links=links)
    if isinstance(result, ToolResult):
        return _result(result, call.data, links=links)
    return orjson.dumps({"content": _content(call.data, ()), "structuredContent": orjson.Fragment(call.data)})


def _result(result: ToolResult | StoredResult, data: str, *, links: bool) -> bytes:
    text, blocks = result.text, result.content
    if not links:
        text += "".join(
            f"\n{block.title or block.name}: {block.uri}" for block in blocks if isinstance(block, ResourceLink)
        )
        blocks = tuple(block for block in blocks if not isinstance(block, ResourceLink))
    content = [*_content(text, result.images), *map(_block, blocks)]
    return orjson.dumps({"content": content, "structuredContent": orjson.Fragment(data)})


def _content(text: str, images: Sequence[tuple[str, bytes]]) -> list[dict[str, Any]]:
    visible = [_image(media_type, image) for media_type, image in images if len(image) <= MAX_IMAGE_BYTES]
    if len(visible) < len(images):
        text += f"\nImages larger than {_MAX_IMAGE_SIZE_TEXT} were left out: {len(images) - len(visible)}."
    return [{"type": "text", "text": text}, *visible]


def _image(media_type: str, content: bytes) -> dict[str, Any]:
    return {"type": "image", "mimeType": media_type, "data": b64encode(content).decode("ascii")}


def _block(block: ContentBlock) -> dict[str, Any]:
    """Return a content block of MCP 2025-06-18: `AudioContent`, `EmbeddedResource` or `ResourceLink`."""
    if isinstance(block, ResourceLink):
        members = {
            "type": "resource_link",
            "uri": block.uri,
            "name": block.name,
            "title": block.title,
            "description": block.description,
            "mimeType": block.media_type,
            "size": block.size,
        }
        return {name: value for name, value in members.items() if value}
    if isinstance(block, AudioContent):
        return {"type": "audio", "mimeType": block.media_type, "data": b64encode(block.data).decode("ascii")}
    resource = {"uri": block.uri, "mimeType": block.media_type}
    if isinstance(block.content, str):
        resource["text"] = block.content
    else:
        resource["blob"] = b64encode(block.content).decode("ascii")
    return {"type": "resource", "resource": resource}


def _readable(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


_MAX_NAME_LENGTH: Final = 64


def _read(params: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    name, arguments = params.get("name"), params.get("arguments")
    if type(name) is not str:
        raise RpcError(INVALID_PARAMS, "params.name must be the name of a tool, as a string")
    if arguments is not None and type(arguments) is not dict:
        raise RpcError(INVALID_PARAMS, "params.arguments must be a JSON object")
    return name, arguments or {}


class ToolCalls:
    """Runs tools for authenticated callers, with a limit on concurrent calls of each connection."""

    def __init__(self, host: Host) -> None:
        self._pipeline = host.pipeline
        self._catalog = host.services.catalog
        self._files = host.services.files
        self._max_concurrent = host.settings.mcp.concurrency
        self._aliases = aliases(self._catalog)
        self._dashboard = f"{host.settings.public_url}/dashboard/connections"
        self._running: dict[str, int] = {}

    async def call(
        self,
        incoming: Incoming,
        caller: Caller,
        params: Mapping[str, Any],
        version: ProtocolVersion,
        view: ToolListView,
    ) -> bytes:
        """Return the result of a call as JSON; refusals and failures are results too.

        `caller` can have less access than that of `incoming`. `view` is what the request sees of its plan: unlisted
        tools are refused unless they are run through `call_tool`.

        Raises:
            RpcError: The params do not contain the name of an existing tool, or the arguments are not an object.
        """
        name, arguments = _read(params)
        if name not in HOST_TOOL_NAMES:
            name = self._resolved(name, caller)
        request_id: str = incoming.http.ctx.request_id
        try:
            if name == FIND_TOOLS:
                return find_result(view.index, read_find(arguments), view.allowed, view.listed)
            if name == CALL_TOOL:
                name, arguments = self._unwrapped_call(arguments, caller)
                refused = self._destructive(name, view)
            else:
                refused = self._unlisted(name, view)
            self._refuse_unavailable(name)
            connection = self._acquire_slot(caller)
            try:
                call_arguments = refused or (_without_nul(arguments) if incoming.may_hold_nul else arguments)
                call_request = CallRequest(name, call_arguments, request_id, "mcp", headers=incoming.http.headers)
                outcome = await self._pipeline(IdentifiedCall(call_request, caller))
                if isinstance(outcome, RefusedCall):
                    return refusal(_explanation(name, request_id, outcome.error))
                if outcome.file is not None:
                    return await file_result(outcome, outcome.file, self._files, links=version.has_resource_links)
                return tool_result(outcome, links=version.has_resource_links)
            finally:
                self._release_slot(connection)
        except CallError as error:
            return refusal(_explanation(name, request_id, error))
        except Exception:
            log.exception("a result could not be written", tool=name, request_id=request_id)
            return refusal(_explanation(name, request_id, InternalError(f"{name} failed")))

    def _unwrapped_call(self, arguments: Mapping[str, Any], caller: Caller) -> tuple[str, dict[str, Any]]:
        """Return the tool and arguments passed to `call_tool`. Raises `InvalidInput`."""
        name, tool_arguments = read_call(arguments)
        try:
            return self._resolved(name, caller), tool_arguments
        except RpcError as error:
            raise InvalidInput("name", error.message) from None

    def _resolved(self, name: str, caller: Caller) -> str:
        """Resolve an alias and return the tool's name. Raises `RpcError` if the tool does not exist."""
        name = self._aliases.get(name, name)
        if name not in self._catalog.mcp_tools and name not in self._catalog.unavailable:
            similar = nearest(name, self._catalog.plans[caller.plan].mcp_tools)
            hint = f"; did you mean {similar}?" if similar else f"; {FIND_TOOLS} finds tools by words"
            raise RpcError(INVALID_PARAMS, f"Unknown tool: {printable(cut(name, _MAX_NAME_LENGTH))}{hint}")
        return name

    def _refuse_unavailable(self, name: str) -> None:
        if name in self._catalog.unavailable:
            raise Forbidden(f"{name} is not available: {self._catalog.unavailable[name]}")

    def _unlisted(self, name: str, view: ToolListView) -> Forbidden | None:
        """Return an error if the tool is allowed but not listed; the pipeline refuses tools that are not allowed."""
        if name not in view.allowed or name in view.listed:
            return None
        tool = view.index.tools[name]
        if tool.destructive:
            return Forbidden(f"{name} is destructive and not listed here. {self._how_to_list(tool, view)}")
        return Forbidden(
            f"{name} is not listed here. Run it with {CALL_TOOL}, or list it. {self._how_to_list(tool, view)}"
        )

    def _destructive(self, name: str, view: ToolListView) -> Forbidden | None:
        """Return an error if the tool is allowed but destructive, so that `call_tool` does not run it."""
        tool = view.index.tools.get(name)
        if tool is None or not tool.destructive or name not in view.allowed:
            return None
        if name in view.listed:
            return Forbidden(f"{name} is destructive and listed: call it directly, so that the user can be asked.")
        instructions = self._how_to_list(tool, view)
        return Forbidden(f"{name} is destructive, so {CALL_TOOL} does not run it: it has to be listed. {instructions}")

    def _how_to_list(self, tool: FindableTool, view: ToolListView) -> str:
        sets = sorted({*view.selection, tool.toolsets[-1]})
        toolsets_text = (
            f"toolset {tool.toolsets[0]}" if len(tool.toolsets) == 1 else f"toolsets {', '.join(tool.toolsets)}"
        )
        return (
            f"It is in the {toolsets_text}: the user adds it on the page of this connection in the dashboard "
            f"({self._dashboard}), or with ?toolsets={','.join(sets)} at the end of this server's URL."
        )

    def _acquire_slot(self, caller: Caller) -> str:
        """Take one of a connection's slots, and return the slots' key. Raises `Overloaded` if all are taken."""
        connection = caller.connection or caller.subject
        running = self._running.get(connection, 0)
        if running >= self._max_concurrent:
            raise Overloaded(
                f"This connection has {counted(self._max_concurrent, 'call')} under way, the maximum at once. Wait "
                "until one of them has ended, then try again."
            )
        self._running[connection] = running + 1
        return connection

    def _release_slot(self, connection: str) -> None:
        running = self._running[connection] - 1
        if running:
            self._running[connection] = running
        else:
            del self._running[connection]


def _explanation(name: str, request_id: str, error: CallError) -> str:
    """Return the text of an error for the model: what was wrong, and what it or the user can do."""
    text = f"{error.message.rstrip('.')}. {error.hint}" if error.hint else error.message
    match error:
        case InvalidInput():
            return f"The arguments of {name} are not valid. {text}"
        case InternalError():
            return (
                f"{name} failed with an internal error. If retrying does not help, the operator finds the reason "
                f"under the reference {request_id}."
            )
        case _:
            return text


def _without_nul(arguments: dict[str, Any]) -> dict[str, Any] | CallError:
    """Return the arguments, or an error if a string in them contains U+0000, which no tool accepts."""
    try:
        refuse_nul(arguments)
    except CallError as error:
        return error
    return arguments
