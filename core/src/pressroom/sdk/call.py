"""The context of a tool call, and the results of tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel

from pressroom.sdk.declaration import Access

if TYPE_CHECKING:
    from pressroom.sdk.plugin import HostServices, PluginContext

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
"""The media types that a generator may produce without declaring `extensions`, with their file extensions."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a tool.

    `client_ip` is the client's normalised IP address (IPv6 grouped by /64). `subject` and `connection` are empty for a
    caller without a credential, whose plan is `anonymous`. `connection_name` is the name that the user gave the
    connection. `access` is the access level of the call: that of the connection, as in `granted`, or a lower one that
    the request asked for. `toolsets` are the sets that the connection's owner chose for it; `None` means the server's
    default.
    """

    client_ip: str
    plan: str = "anonymous"
    subject: str = ""
    connection: str = ""
    disabled_tools: frozenset[str] = frozenset()
    connection_name: str = ""
    access: Access = "full"
    granted: Access = "full"
    toolsets: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """The context of one call. For tools in the process executor, it is pickled.

    `config` is the plugin's own validated configuration, or `None` if it does not declare one. `timeout` is the tool's
    total time limit in seconds. `plugin` is the context of the tool's plugin; it is `None` in the process executor.
    `services` are the services of the server, such as `call.services.database`. `prepared` is what the generator's
    `prepare` returned, if it has one.
    """

    tool: str
    request_id: str
    caller: Caller
    base_url: str
    timeout: float
    config: Any = None
    plugin: PluginContext | None = None
    prepared: Any = None

    @property
    def services(self) -> HostServices:
        """The services of the server. Raises `RuntimeError` in the process executor, where there are no services."""
        if self.plugin is None:
            raise RuntimeError(f"{self.tool} has no services in a worker process; declare executor='async' or 'thread'")
        return self.plugin.services


@dataclass(frozen=True, slots=True)
class EditableText:
    """The position of a parameter's text in an image, so that users can edit it in the image on the tool's page.

    The text is drawn in a monospaced font, with one column per character and one row per line. The page does not allow
    editing in the image while a line has more than `columns` characters, or characters that may be wider. Lengths are
    in pixels of an image that is `image_width` wide: `left` and `top` are the corner of the first column and row.
    `font` is a font family that the page loads, and `color` and `background` are CSS colours. `words` maps words and
    symbols to colours other than `color`, so that edited text is coloured before the next image is rendered. They are
    sent in a header, so include only the most frequent ones.
    """

    param: str
    image_width: int
    left: float
    top: float
    columns: int
    rows: int
    column_width: float
    row_height: float
    font_size: float
    color: str
    background: str
    font: str = "JetBrains Mono"
    tab_columns: int = 4
    words: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file that a generator produced.

    `media_type` is one of the generator's `produces`. `details` is an instance of the model that the generator declares
    as `details`; its fields appear in the response's `data`. `warnings` are sentences for the caller; they appear as
    `data.warnings`. `preview` is an image of a file that is not an image, as (media type, bytes): the tool's page shows
    it, and programs find it in the `Link` header with the relation `preview` (RFC 6903). `editable` is the position of
    a parameter's text in the image.
    """

    content: bytes
    media_type: str
    details: BaseModel | None = None
    warnings: tuple[str, ...] = ()
    preview: tuple[str, bytes] | None = None
    editable: EditableText | None = None


@dataclass(frozen=True, slots=True)
class AudioContent:
    """Sound for the model to hear (MCP 2025-06-18, `AudioContent`), such as `audio/wav`."""

    data: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class EmbeddedResource:
    """A document that is part of a result (MCP 2025-06-18, `EmbeddedResource`): text, or bytes.

    `uri` identifies it for the client; it does not have to be fetchable.
    """

    uri: str
    content: str | bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class ResourceLink:
    """A link to something that the client can fetch (MCP 2025-06-18, `ResourceLink`), such as a file of this server.

    `name` is for programs, such as a file name; `title` and `description` are for people and models. `size` is in
    bytes, or 0 if unknown. Clients that use an older version get `title`, or otherwise `name`, and the URI in the text.
    """

    uri: str
    name: str
    title: str = ""
    description: str = ""
    media_type: str = ""
    size: int = 0


ContentBlock = AudioContent | EmbeddedResource | ResourceLink
"""Content that can follow the text and the images of a result."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of an MCP tool.

    `text` is for the model to read, and `data` is the same information as an object that matches the tool's
    `outputSchema`. `images` are (media type, bytes) pairs shown with the text. `content` follows them: sound, whole
    documents and links. Set `counts` to false if the tool did nothing that counts against its quota, for example
    because the same work is already in progress: the call is then not counted.

    A result may have at most 16 MiB, with the data as JSON. Images above 1 MiB are left out, and do not count. To offer
    more, return a `ResourceLink`.
    """

    text: str
    data: BaseModel
    images: tuple[tuple[str, bytes], ...] = ()
    content: tuple[ContentBlock, ...] = ()
    counts: bool = True


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A finished call, as observers and middleware see it.

    `code` is `ok` or the stable code of the error; times are in seconds. `interface` is where the call came from: the
    Tools API or the MCP endpoint. `mcp_name` is the name of the tool for MCP clients, if it has one. `attributes` has
    the arguments by which calls can be searched, such as `website_id`.
    """

    tool: str
    caller: Caller
    request_id: str
    code: str
    cached: bool
    duration: float
    run_duration: float | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    interface: Literal["http", "mcp"] = "http"
    mcp_name: str = ""
