"""Keys of stored files, `<tool>/<id>.<extension>`, and what follows from them."""

from __future__ import annotations

import re
from typing import Final

from pressroom.sdk.call import EXTENSIONS

MAX_KEY_LENGTH: Final = 200

_KEY = re.compile(r"[a-z0-9][a-z0-9-]*/[a-z0-9][a-z0-9-]*\.[a-z0-9]+", re.ASCII)
_MEDIA_TYPES: Final = {extension: media_type for media_type, extension in EXTENSIONS.items()}


def is_key(text: str) -> bool:
    """Tell whether `text` has the form of a key. Such a text cannot leave the store's folder."""
    return len(text) <= MAX_KEY_LENGTH and _KEY.fullmatch(text) is not None


def check_key(key: str) -> str:
    """Return `key` unchanged.

    Raises:
        ValueError: it is not a key. Keys are made by the server, so this is a fault of the program.
    """
    if not is_key(key):
        raise ValueError(f"{key!r} is not a key of the form <tool>/<id>.<extension> in [a-z0-9-]")
    return key


def media_type_of(key: str) -> str:
    """Return the media type that the key's extension stands for."""
    return _MEDIA_TYPES.get(key.rpartition(".")[2], "application/octet-stream")


def check_media_type(key: str, media_type: str) -> None:
    """Check that a file's media type is the one that its key promises.

    Raises:
        ValueError: it is another one. Who fetches the file would be told the wrong type.
    """
    if media_type != media_type_of(key):
        raise ValueError(f"{key} would be served as {media_type_of(key)}, but it is {media_type}")


def content_disposition(key: str) -> str:
    """Return the value of `Content-Disposition` (RFC 6266): shown in place, and saved under the file's own name."""
    return f'inline; filename="{key.rpartition("/")[2]}"'


def url_path(key: str) -> str:
    """Return the path, below the server's base URL, at which a local file is fetched. It is what gets signed."""
    return f"/files/{key}"
