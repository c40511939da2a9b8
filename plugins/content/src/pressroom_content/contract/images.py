"""How a provider of licensed images is asked, and where publishing gets the files of an article's images from."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pressroom.sdk import PluginContext

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}", re.ASCII)
_RESERVED: Final = ("auto", "library")
"""What `search_images` takes beside the names of providers."""


@dataclass(frozen=True, slots=True)
class ImageQuery:
    """What is searched for; `page` begins at 1, `per_page` is 1 to 20, `min_width` in pixels (0: any)."""

    text: str
    orientation: Literal["any", "landscape", "portrait", "square"] = "any"
    license: Literal["any", "commercial", "modification", "public_domain"] = "commercial"
    min_width: int = 0
    page: int = 1
    per_page: int = 10


@dataclass(frozen=True, slots=True)
class ImageLicense:
    """What may be done with an image. `code` is SPDX-like, such as `CC-BY-4.0`."""

    code: str
    url: str
    commercial: bool
    modification: bool
    attribution_required: bool


@dataclass(frozen=True, slots=True)
class Credit:
    """Who is to be named, in three forms of one line. Empty where nobody has to be."""

    text: str = ""
    html: str = ""
    markdown: str = ""


@dataclass(frozen=True, slots=True)
class FoundImage:
    """One result. `ref` names it to `import_image`: the provider and its id, such as `openverse:1f2e…`.

    `use_requires` lists what its use obliges to, in words: `credit`, `download_ping`, `hotlink_only`.
    """

    ref: str
    provider: str
    title: str
    width: int
    height: int
    mime: str
    thumb_url: str
    preview_url: str
    page_url: str
    creator: str
    license: ImageLicense
    credit: Credit
    hosting: Literal["download", "hotlink", "either"]
    file_url: str = ""
    use_requires: tuple[str, ...] = ()
    sensitive: bool = False


@dataclass(frozen=True, slots=True)
class ImagePage:
    """A page of results; `note` says what the provider could not do, such as a filter that it does not have."""

    images: tuple[FoundImage, ...]
    more: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class ImageSource:
    """A provider. Offer it through the hook `pressroom_image_sources`.

    `search` and `get` take the context of the images plugin, whose services they may use. `get` returns an image by the
    part of its `ref` behind the colon, and raises `NotFound`. `used` is called once when an image is taken into a
    library: providers that count downloads are told there. All may raise `BackendError` while the provider is away.
    """

    name: str
    title: str
    search: Callable[[PluginContext, ImageQuery], Awaitable[ImagePage]]
    get: Callable[[PluginContext, str], Awaitable[FoundImage]]
    used: Callable[[PluginContext, FoundImage], Awaitable[None]] | None = None

    def __post_init__(self) -> None:
        """Raise `ValueError` where the name cannot be one."""
        if not _NAME.fullmatch(self.name) or self.name in _RESERVED:
            raise ValueError(
                f"name {self.name!r} must be lower-case letters, digits, _ and -, and none of {', '.join(_RESERVED)}"
            )


@dataclass(frozen=True, slots=True)
class MediaFile:
    """An image of a library. `content` is empty where it may only be hotlinked: then `url` is where it lies.

    `credit_html` is the line that has to stand by the image, empty where none has to. `caption` is plain text.
    """

    id: str
    filename: str
    media_type: str
    url: str
    alt: str
    hosting: Literal["download", "hotlink", "either"]
    width: int = 0
    height: int = 0
    content: bytes = b""
    credit_html: str = ""
    credit_text: str = ""
    caption: str = ""


@dataclass(frozen=True, slots=True)
class MediaChoice:
    """An image that a person may choose.

    `thumbnail` is a path on this server, and so is `path`, under which everybody may load the image itself. Each is
    empty where the image has none.
    """

    id: str
    title: str
    alt: str = ""
    thumbnail: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class MediaLibrary:
    """A library of images. Offer it through the hook `pressroom_media_libraries`.

    `read` returns an account's image by its id, with its content. It raises `NotFound`, and `BackendError` where the
    file cannot be read at the moment. `user_id` comes first.

    With `recent` people choose featured images in the editor: it gets the account's id and a number, and returns at
    most as many of its images, newest first. `used` is told the account, the image and the article that it was chosen
    for.
    """

    name: str
    read: Callable[[PluginContext, str, str], Awaitable[MediaFile]]
    recent: Callable[[PluginContext, str, int], Awaitable[Sequence[MediaChoice]]] | None = None
    used: Callable[[PluginContext, str, str, str], Awaitable[None]] | None = None
