"""Searches at providers of licensed images, and the media libraries that publishing reads images from."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pressroom.sdk import PluginContext

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}", re.ASCII)
_RESERVED: Final = ("auto", "library")
"""Values that `search_images` accepts besides the names of providers."""


@dataclass(frozen=True, slots=True)
class ImageQuery:
    """A search for images. `page` starts at 1, `per_page` is 1 to 20, `min_width` is in pixels (0 means any)."""

    text: str
    orientation: Literal["any", "landscape", "portrait", "square"] = "any"
    license: Literal["any", "commercial", "modification", "public_domain"] = "commercial"
    min_width: int = 0
    page: int = 1
    per_page: int = 10


@dataclass(frozen=True, slots=True)
class ImageLicense:
    """The licence of an image. `code` is like an SPDX identifier, such as `CC-BY-4.0`."""

    code: str
    url: str
    commercial: bool
    modification: bool
    attribution_required: bool


@dataclass(frozen=True, slots=True)
class Credit:
    """The credit line of an image, in three formats. Empty if no credit is required."""

    text: str = ""
    html: str = ""
    markdown: str = ""


@dataclass(frozen=True, slots=True)
class FoundImage:
    """One result. `ref` identifies it for `import_image`: the provider and the image's id, such as `openverse:1f2e…`.

    `use_requires` lists the conditions of use: `credit`, `download_ping`, `hotlink_only`.
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
    """A page of results. `note` states what the provider could not do, for example because it lacks a filter."""

    images: tuple[FoundImage, ...]
    more: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class ImageSource:
    """A provider of images. Offer it through the hook `pressroom_image_sources`.

    `search` and `get` take the context of the images plugin, whose services they may use. `get` returns an image by the
    part of its `ref` after the colon, and raises `NotFound`. `used` is called once when an image is imported into a
    library, so that you can notify providers that count downloads. All three may raise `BackendError` while the
    provider is unavailable.
    """

    name: str
    title: str
    search: Callable[[PluginContext, ImageQuery], Awaitable[ImagePage]]
    get: Callable[[PluginContext, str], Awaitable[FoundImage]]
    used: Callable[[PluginContext, FoundImage], Awaitable[None]] | None = None

    def __post_init__(self) -> None:
        """Raise `ValueError` if the name is invalid or reserved."""
        if not _NAME.fullmatch(self.name) or self.name in _RESERVED:
            raise ValueError(
                f"name {self.name!r} must be lower-case letters, digits, _ and -, and none of {', '.join(_RESERVED)}"
            )


@dataclass(frozen=True, slots=True)
class MediaFile:
    """An image of a library. If it may only be hotlinked, `content` is empty and `url` is the URL of the image.

    `credit_html` is the credit line that must appear with the image, or empty. `caption` is plain text.
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
    """An image that a user can choose.

    `thumbnail` and `path` are paths on this server: of a thumbnail, and of the image itself if everybody may load it.
    Each is empty if the image has none.
    """

    id: str
    title: str
    alt: str = ""
    thumbnail: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class MediaLibrary:
    """A library of images. Offer it through the hook `pressroom_media_libraries`.

    `read` takes the ids of an account and of an image, and returns the image with its content. It raises `NotFound`,
    and `BackendError` if the file cannot be read at the moment.

    With `recent`, users can choose featured images in the editor. It takes the account's id and a number, and returns
    at most this many of the account's images, newest first. `used` takes the ids of an account, an image and an
    article. It is called after an article with the image was stored, possibly again, and may raise `NotFound`.
    """

    name: str
    read: Callable[[PluginContext, str, str], Awaitable[MediaFile]]
    recent: Callable[[PluginContext, str, int], Awaitable[Sequence[MediaChoice]]] | None = None
    used: Callable[[PluginContext, str, str, str], Awaitable[None]] | None = None
