"""Checks of what MCP tools return: Python does not check the types that a plugin passes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pressroom.gate.failures import describe_value
from pressroom.sdk import (
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    Generator,
    McpTool,
    ResourceLink,
    ToolResult,
)

MAX_RESULT_BYTES: Final = 16 * 1_048_576
"""Maximum size of a result. Larger ones would keep the event loop busy for too long while they are written."""

MAX_IMAGE_BYTES: Final = 1_048_576
"""Maximum size of a file embedded in a result; base64 adds a third to it."""

BYTES: Final = (bytes, bytearray, memoryview)
_BLOCK_FIELDS: Final[Mapping[type[ContentBlock], Mapping[str, tuple[type[Any], ...]]]] = {
    AudioContent: {"data": BYTES, "media_type": (str,)},
    EmbeddedResource: {"uri": (str,), "content": (str, *BYTES), "media_type": (str,)},
    ResourceLink: {
        **dict.fromkeys(("uri", "name", "title", "description", "media_type"), (str,)),
        "size": (int,),
    },
}
_NEVER_EMPTY: Final = frozenset({"uri", "name"})


def result_problem(result: object, declaration: Generator | McpTool) -> str:
    """Describe the fault of an MCP tool's result, or return an empty string if it is valid."""
    data = result.data if isinstance(result, ToolResult) else result
    if isinstance(declaration, McpTool) and not isinstance(data, declaration.result):
        return f"returned {describe_value(data)} instead of {declaration.result.__name__}"
    if not isinstance(result, ToolResult):
        return ""
    shape: Any = result
    if not is_text(shape.text):
        return (
            f"returned {describe_value(shape.text)} as the text of its ToolResult; it must be a str without surrogates"
        )
    return _images_problem(shape.images) or _content_problem(shape.content)


def _images_problem(images: Any) -> str:
    if not isinstance(images, tuple | list):
        return f"returned {describe_value(images)} as images; they must be a tuple"
    for image in images:
        match image:
            case (media_type, content) if not isinstance(content, BYTES):
                return f"returned {describe_value(content)} as an image; it must be bytes"
            case (media_type, _) if is_text(media_type):
                pass
            case _:
                return f"returned {describe_value(image)} as an image; it must be a pair such as ('image/png', b'…')"
    return ""


def _content_problem(content: Any) -> str:
    if not isinstance(content, tuple | list):
        return f"returned {describe_value(content)} as content; it must be a tuple"
    for block in content:
        fields = _fields(block)
        if not fields:
            returned = describe_value(block)
            return f"returned {returned} as content; it must be AudioContent, EmbeddedResource or ResourceLink"
        for name, kinds in fields.items():
            value = getattr(block, name)
            if not isinstance(value, kinds) or (isinstance(value, str) and not is_text(value)):
                returned = f"{type(block).__name__} with {describe_value(value)}"
                return f"returned {returned} as its {name}; it must be {_either(kinds)}"
            if name in _NEVER_EMPTY and not value:
                return f"returned {type(block).__name__} with an empty {name}"
    return ""


def _fields(block: object) -> Mapping[str, tuple[type[Any], ...]]:
    return next((fields for kind, fields in _BLOCK_FIELDS.items() if isinstance(block, kind)), {})


def _either(kinds: tuple[type[Any], ...]) -> str:
    names = {str: "a str without surrogates", int: "an int", bytes: "bytes"}
    return " or ".join(names[kind] for kind in kinds if kind in names)


def is_text(value: object) -> bool:
    """Return whether a value is a text that JSON can hold: one without surrogates."""
    try:
        return isinstance(value, str) and bool(value.encode() or True)
    except UnicodeEncodeError:
        return False
