"""What a tool is told about a call, and what it gives back."""

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
"""The media types that a generator may produce without declaring `extensions`, and the extension of their files."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a call.

    `client_ip` is the client's normalised IP address (IPv6 grouped by /64). `subject` and
    `connection` are empty for a caller without a credential, whose plan is `anonymous`.
    `connection_name` is what the person called the connection. `access` is what the call may do: what `granted` says
    its connection may do, or less where the request asked for less. `toolsets` are the sets that the connection's owner
    chose for it; `None` stands for the server's default.
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
    """The context of one call. It is pickled where a tool runs in the process executor.

    `config` is the plugin's own validated configuration, or `None` where it declares none.
    `timeout` is the number of seconds that the tool has in all. `plugin` is the context of the tool's plugin; it is
    `None` in the process executor. `services` are the server's parts, such as `call.services.database`. `prepared` is
    what the generator's `prepare` returned, if it has one.
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
        """The server's parts. Raises `RuntimeError` in the process executor, which has none."""
        if self.plugin is None:
            raise RuntimeError(f"{self.tool} has no services in a worker process; declare executor='async' or 'thread'")
        return self.plugin.services


@dataclass(frozen=True, slots=True)
class EditableText:
    """Where an image shows the text of a parameter, so that people can type there on the tool's page.

    The text is drawn in a monospaced font, a column a character and a row a line; the page stops typing in the image
    while a line has more than `columns`, or characters that may be wider. Lengths are in pixels of an image that is
    `image_width` wide: `left` and `top` are the corner of the first column and row. `font` is a family that the page
    has, and `color` and `background` are CSS colours of the text and of what is behind it. `words` are the colours of
    words and signs that have another one than `color`: what is typed has them before the next image is drawn. They are
    sent in a header, so name the most frequent ones.
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
    """A file that a generator made.

    `media_type` is one of the generator's `produces`. `details` is an instance of the model
    that the generator declares as `details`; its members appear in the answer's `data`.
    `warnings` are sentences for the caller; they appear as `data.warnings`. `preview` is an image, as (media type,
    bytes), of a file that is not an image: the tool's page shows it, and programs find it in the header `Link` with the
    relation `preview` (RFC 6903). `editable` says where the image shows a parameter's text.
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
    """A document that is part of an answer (MCP 2025-06-18, `EmbeddedResource`): text, or bytes.

    `uri` identifies it to the client; nobody has to be able to fetch it.
    """

    uri: str
    content: str | bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class ResourceLink:
    """A link to something that the client can fetch (MCP 2025-06-18, `ResourceLink`), such as a file of this server.

    `name` is for programs, such as a file name; `title` and `description` are for people and models. `size` is in
    bytes, 0 where it is not known. Clients that speak an older version read `title`, or else `name`, and the URI in
    the text.
    """

    uri: str
    name: str
    title: str = ""
    description: str = ""
    media_type: str = ""
    size: int = 0


ContentBlock = AudioContent | EmbeddedResource | ResourceLink
"""What may follow the text and the images of an answer."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What an MCP tool answers.

    `text` is for the model to read, `data` the same as an object that matches the tool's
    `outputSchema`. `images` are (media type, bytes) pairs shown beside the text. `content` is what
    follows them: sound, whole documents and links. Without `counts` the tool did nothing that its quota
    is for, such as where the same work is under way already: the call is given back.
    """

    text: str
    data: BaseModel
    images: tuple[tuple[str, bytes], ...] = ()
    content: tuple[ContentBlock, ...] = ()
    counts: bool = True


@dataclass(frozen=True, slots=True)
class CallRecord:
    """What observers and middleware are told about a finished call.

    `code` is `ok` or the stable code of the error; times are in seconds. `interface` is what the call came
    through: the Tools API or the MCP endpoint. `mcp_name` is the name by which MCP clients know the tool, if they do.
    `attributes` holds arguments that calls can be found by, such as `website_id`.
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
