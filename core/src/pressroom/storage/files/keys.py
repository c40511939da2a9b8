"""Keys of stored files, `<tool>/<id>.<extension>`, and what follows from them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

from pressroom.sdk.call import EXTENSIONS

MAX_KEY_LENGTH: Final = 200

_KEY = re.compile(r"[a-z0-9][a-z0-9-]*/[a-z0-9][a-z0-9-]*\.[a-z0-9]+", re.ASCII)
_KNOWN: Final = {extension: media_type for media_type, extension in EXTENSIONS.items()}
_UNKNOWN: Final = "application/octet-stream"


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


def extension_of(key: str) -> str:
    """Return the extension of a key, without the dot."""
    return key.rpartition(".")[2]


class MediaTypes:
    """Which media types the extensions of keys stand for: those of the SDK, and those that generators declare.

    A file of a generator that declares it no more is plain bytes.
    """

    def __init__(self) -> None:
        self._declared: dict[tuple[str, str], str] = {}

    def declare(self, tool: str, extensions: Mapping[str, str]) -> None:
        """Take over what a generator declares: the extension of each further media type."""
        for media_type, extension in extensions.items():
            self._declared[tool, extension] = media_type

    def of(self, key: str) -> str:
        """Return the media type that the key's extension stands for."""
        extension = extension_of(key)
        return _KNOWN.get(extension) or self._declared.get((key.partition("/")[0], extension), _UNKNOWN)

    def check(self, key: str, media_type: str) -> None:
        """Check that a file's media type is the one that its key promises.

        Raises:
            ValueError: it is another one. Who fetches the file would be told the wrong type.
        """
        if media_type != self.of(key):
            raise ValueError(f"{key} would be served as {self.of(key)}, but it is {media_type}")


def disposition_type(media_type: str) -> Literal["inline", "attachment"]:
    """Return whether browsers show a file in place or save it: nobody knows what they would do with other types."""
    return "inline" if media_type in EXTENSIONS else "attachment"


def content_disposition(key: str, media_type: str) -> str:
    """Return the value of `Content-Disposition` (RFC 6266): a file is saved under its own name."""
    return f'{disposition_type(media_type)}; filename="{key.rpartition("/")[2]}"'


def url_path(key: str) -> str:
    """Return the path, below the server's base URL, at which a local file is fetched. It is what gets signed."""
    return f"/files/{key}"
