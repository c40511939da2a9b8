"""What a tool is told about a call, and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from pydantic import BaseModel

EXTENSIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "image/png": "png",
        "image/jpeg": "jpg",
        "image/svg+xml": "svg",
        "image/webp": "webp",
        "image/gif": "gif",
        "application/zip": "zip",
        "application/pdf": "pdf",
        "application/json": "json",
        "text/plain": "txt",
        "text/markdown": "md",
        "text/html": "html",
    }
)
"""The media types that a generator may produce, and the extension of their files."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a call.

    `address` is the client's normalised IP address (IPv6 grouped by /64). `subject` and
    `connection` are empty for a caller without a credential, whose plan is `anonymous`.
    """

    address: str
    plan: str = "anonymous"
    subject: str = ""
    connection: str = ""
    disabled_tools: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Call:
    """The context of one call. It is pickled where a tool runs in the process lane.

    `config` is the plugin's own validated configuration, or `None` where it declares none.
    `timeout` is the number of seconds that the tool has in all.
    """

    tool: str
    request_id: str
    caller: Caller
    base_url: str
    timeout: float
    config: Any = None


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file that a generator made.

    `media_type` is one of the generator's `produces`. `details` is an instance of the model
    that the generator declares as `details`; its members appear in the answer's `data`.
    `warnings` are sentences for the caller; they appear as `data.warnings`.
    """

    content: bytes
    media_type: str
    details: BaseModel | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What an MCP tool answers.

    `text` is for the model to read, `data` the same as an object that matches the tool's
    `outputSchema`. `images` are (media type, bytes) pairs shown beside the text.
    """

    text: str
    data: BaseModel
    images: tuple[tuple[str, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class CallRecord:
    """What an observer is told about a finished call.

    `code` is `ok` or the stable code of the error; times are in seconds.
    """

    tool: str
    caller: Caller
    request_id: str
    code: str
    cached: bool
    duration: float
    run_duration: float | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
