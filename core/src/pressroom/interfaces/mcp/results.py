"""Results of `tools/call`: text and images for the model to read, and the same as an object."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any, Final

import orjson
import structlog
from pydantic import BaseModel

from pressroom.catalog.tool import Tool
from pressroom.errors import BackendError, InternalError
from pressroom.pipeline.context import RenderedFile, ValidatedCall
from pressroom.pipeline.file_data import file_data
from pressroom.sdk import EXTENSIONS, AudioContent, EmbeddedResource, FileStore, Generator, McpTool, ToolResult

log = structlog.get_logger()

PICTURES: Final = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
"""What models can look at."""

MAX_IMAGE_BYTES: Final = 1_048_576
"""How many bytes an image may have that is in a result itself; base64 makes them a third more."""

_MAX_IMAGE_SIZE_TEXT: Final = "1 MiB"
_IN_THE_MEMBERS: Final = frozenset({"id", "url", "expiresAt", "cached", "warnings"})


def refusal(text: str) -> bytes:
    """Return the result of a call that did not work, for a reason that the model can read."""
    return orjson.dumps({"content": [{"type": "text", "text": text}], "isError": True})


async def file_result(call: ValidatedCall, file: RenderedFile, files: FileStore, *, links: bool) -> bytes:
    """Return the result of a generator: its link, the image itself where it is one, and what is said of it.

    `links` tells whether the client knows links to resources.
    """
    generator = call.plan_tool.tool.declaration
    title = generator.name if isinstance(generator, Generator) else call.request.tool_name
    entry, data = file.entry, file_data(call, file)
    lines = [f"{title}: {entry.media_type}, {entry.size:,} bytes."]
    lines += [f"{name}: {_readable(value)}" for name, value in data.items() if name not in _IN_THE_MEMBERS]
    lines += [f"Link, which works until {data['expiresAt']}: {call.url}"]
    lines += [f"Warning: {warning}" for warning in entry.warnings]
    content: list[dict[str, Any]] = []
    if entry.media_type in PICTURES:
        picture, note = await _picture(file, files)
        if picture is not None:
            content.append(_image(entry.media_type, picture))
        else:
            lines.append(note)
    content.insert(0, {"type": "text", "text": "\n".join(lines)})
    if links:
        content.append(
            {
                "type": "resource_link",
                "uri": call.url,
                "name": f"{call.plan_tool.tool.name}.{EXTENSIONS[entry.media_type]}",
                "title": title,
                "mimeType": entry.media_type,
                "size": entry.size,
            }
        )
    return orjson.dumps({"content": content, "structuredContent": data})


async def _picture(file: RenderedFile, files: FileStore) -> tuple[bytes | None, str]:
    if file.entry.size > MAX_IMAGE_BYTES:
        return None, f"The image is larger than {_MAX_IMAGE_SIZE_TEXT}, so it is only behind the link."
    if file.content is not None:
        return file.content, ""
    try:
        return await files.read(file.entry.key), ""
    except BackendError as error:
        log.warning("an image could not be read", key=file.entry.key, error=error.message)
        return None, "The image could not be read just now, so it is only behind the link."


def tool_result(tool: Tool, result: ToolResult | BaseModel | None) -> bytes:
    """Return the result of an MCP tool.

    Raises:
        InternalError: the tool returned something other than it declares; the log has what.
    """
    data = result.data if isinstance(result, ToolResult) else result
    declaration = tool.declaration
    if not isinstance(declaration, McpTool) or not isinstance(data, declaration.result):
        log.error("a tool broke its declaration", tool=tool.name, plugin=tool.info.plugin, returned=type(data).__name__)
        raise InternalError(f"{tool.name} failed")
    encoded = data.model_dump_json(by_alias=True)
    if isinstance(result, ToolResult):
        content = [*_content(result.text, result.images), *map(_block, result.content)]
    else:
        content = _content(encoded, ())
    return orjson.dumps({"content": content, "structuredContent": orjson.Fragment(encoded)})


def _content(text: str, images: Sequence[tuple[str, bytes]]) -> list[dict[str, Any]]:
    shown = [_image(media_type, picture) for media_type, picture in images if len(picture) <= MAX_IMAGE_BYTES]
    if len(shown) < len(images):
        text += f"\nImages larger than {_MAX_IMAGE_SIZE_TEXT} were left out: {len(images) - len(shown)}."
    return [{"type": "text", "text": text}, *shown]


def _image(media_type: str, content: bytes) -> dict[str, Any]:
    return {"type": "image", "mimeType": media_type, "data": b64encode(content).decode("ascii")}


def _block(block: AudioContent | EmbeddedResource) -> dict[str, Any]:
    """Return a block of MCP 2025-06-18, `AudioContent` or `EmbeddedResource`."""
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
