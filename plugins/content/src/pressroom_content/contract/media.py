"""Where publishing gets the files of an article's images from."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from pressroom.sdk import PluginContext


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
class MediaLibrary:
    """A library of images. Offer it through the hook `pressroom_media_libraries`.

    `read` returns an account's image by its id, with its content. It raises `NotFound`, and `BackendError` where the
    file cannot be read at the moment. `user_id` comes first.
    """

    name: str
    read: Callable[[PluginContext, str, str], Awaitable[MediaFile]]
