"""Forms with files (`multipart/form-data`, RFC 7578), parsed in one pass."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from pressroom.errors import InvalidInput

_MAX_HEAD_BYTES: Final = 8192
_BOUNDARY: Final = re.compile(
    r""";\s*+boundary=(?:"([0-9A-Za-z'()+_,./:=? -]{1,70})"|([0-9A-Za-z'+_.-]{1,70}))\s*+(?:;|\Z)""", re.IGNORECASE
)
_QUOTED: Final = r';\s*+{name}="((?>(?:[^"\\]++|\\.)*))"'
_NAME: Final = re.compile(_QUOTED.format(name="name"), re.IGNORECASE)
_FILENAME: Final = re.compile(_QUOTED.format(name="filename"), re.IGNORECASE)
_ENCODED_FILENAME: Final = re.compile(r";\s*+filename\*=", re.IGNORECASE)
_ESCAPED: Final = re.compile(r"\\(.)|%(22|0D|0A)", re.IGNORECASE)
_AS_IT_IS: Final = frozenset({"", "binary", "8bit", "7bit"})


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file from a form. `name` is the file name that the client sent, without line breaks; do not rely on it."""

    content: bytes
    name: str = ""


@dataclass(frozen=True, slots=True)
class MultipartForm:
    """The texts and the files of a form, by field name.

    A file field without a chosen file is absent.
    """

    texts: dict[str, list[str]] = field(default_factory=dict)
    files: dict[str, list[UploadedFile]] = field(default_factory=dict)


def parse_multipart(content_type: str, body: bytes, max_fields: int) -> MultipartForm:
    """Return the fields of a `multipart/form-data` body.

    Forms are flat: parts that are themselves multipart are refused, as in RFC 7578, section 4.3.

    Args:
        content_type: the request's `Content-Type`, with the boundary.
        body: the complete body.
        max_fields: the maximum number of parts.

    Raises:
        InvalidInput: the body is not a multipart form, is incomplete, has too many or unsupported parts, or has texts
            that are not UTF-8.
    """
    boundary = _BOUNDARY.search(content_type)
    if boundary is None:
        raise InvalidInput("", "the form's Content-Type must name its boundary")
    delimiter = b"\r\n--" + (boundary[1] or boundary[2]).encode("ascii")
    # Drop the preamble. The added line break lets the first boundary match at the very beginning.
    _, *parts = (b"\r\n" + body).split(delimiter, max_fields + 2)
    if len(parts) > max_fields + 1:
        raise InvalidInput("", f"the form must have at most {max_fields} fields")
    form = MultipartForm()
    for part in parts:
        if part.startswith(b"--"):
            return form
        _add(form, part)
    raise InvalidInput("", "the form is cut off: it has no last boundary")


def _add(form: MultipartForm, part: bytes) -> None:
    end = part.find(b"\r\n\r\n", 0, _MAX_HEAD_BYTES)
    if end < 0 or not part.startswith(b"\r\n"):
        raise InvalidInput("", f"a part of the form must have headers, of {_MAX_HEAD_BYTES} bytes at most")
    headers: dict[str, str] = {}
    try:
        for line in part[2:end].decode().split("\r\n"):
            key, _, value = line.partition(":")
            headers[key.strip().lower()] = value.strip()
        disposition = headers.get("content-disposition", "")
        match = _NAME.search(disposition)
        if match is None or headers.get("content-type", "").lower().startswith("multipart/"):
            raise InvalidInput("", "a part of the form must have a name, and must not be a form itself (RFC 7578)")
        if headers.get("content-transfer-encoding", "").lower() not in _AS_IT_IS:
            raise InvalidInput("", "a part of the form must be sent as it is, without a Content-Transfer-Encoding")
        name, content = _ESCAPED.sub(_plain, match[1]), part[end + 4 :]
        filename = _FILENAME.search(disposition)
        if filename is None and _ENCODED_FILENAME.search(disposition) is None:
            form.texts.setdefault(name, []).append(content.decode())
        elif content or filename is None or filename[1]:  # a browser sends an empty file name if no file was chosen
            called = " ".join(_ESCAPED.sub(_plain, filename[1]).split()) if filename is not None else ""
            form.files.setdefault(name, []).append(UploadedFile(content, called))
    except UnicodeDecodeError as error:
        raise InvalidInput("", "the names and texts of the form must be UTF-8") from error


def _plain(escaped: re.Match[str]) -> str:
    return escaped[1] or chr(int(escaped[2], 16))
