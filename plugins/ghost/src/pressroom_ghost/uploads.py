"""Forms with a file (RFC 7578), and the images that Ghost takes."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Final

from pressroom_content.contract import MediaFile

EXTENSIONS: Final = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/avif": "avif",
}
"""The types of images that Ghost takes, and how their files are named."""


def multipart(fields: Mapping[str, str], filename: str, file: MediaFile) -> tuple[bytes, str]:
    """Return the body of a form and its content type. Names and values are our own: plain ASCII without quotes."""
    boundary = f"pressroom-{secrets.token_hex(16)}"
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{filename}"\r\n'
        f"Content-Type: {file.media_type}\r\n\r\n"
    )
    body = b"".join([*parts, head.encode(), file.content, f"\r\n--{boundary}--\r\n".encode()])
    return body, f"multipart/form-data; boundary={boundary}"
