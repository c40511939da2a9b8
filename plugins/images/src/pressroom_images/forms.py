"""The file in a posted form (RFC 7578), found in one pass."""

from __future__ import annotations

import re
from typing import Final

from pressroom.sdk import InvalidInput

_MAX_PARTS: Final = 16
_MAX_HEAD_BYTES: Final = 8192

_BOUNDARY: Final = re.compile(
    r""";\s*+boundary=(?:"([0-9A-Za-z'()+_,./:=? -]{1,70})"|([0-9A-Za-z'+_.-]{1,70}))\s*+(?:;|\Z)""", re.IGNORECASE
)
_FILENAME: Final = re.compile(r';\s*+filename="((?>(?:[^"\\]++|\\.)*))"', re.IGNORECASE)
_ESCAPED: Final = re.compile(r"\\(.)|%(22)|%(0D)|%(0A)")
_AS_IT_IS: Final = frozenset({"", "binary", "8bit", "7bit"})


def file_of_form(content_type: str, body: bytes) -> tuple[bytes, str]:
    """Return the first file of a `multipart/form-data` body and its name; both are empty where it has none.

    A form is flat: parts that are multipart themselves are refused, as RFC 7578, section 4.3, has it.

    Raises:
        InvalidInput: it is not such a form.
    """
    found = _BOUNDARY.search(content_type)
    if found is None:
        raise InvalidInput("", "the form's Content-Type must name its boundary")
    delimiter = b"\r\n--" + (found[1] or found[2]).encode("ascii")
    # What comes before the first boundary is nobody's, and the first needs no line end before it.
    _, *parts = (b"\r\n" + body).split(delimiter, _MAX_PARTS + 1)
    if not parts or len(parts) > _MAX_PARTS:
        raise InvalidInput("", f"the form must have 1 to {_MAX_PARTS - 1} parts between its boundaries")
    for part in parts:
        if part.startswith(b"--"):
            return b"", ""
        if (file := _file(part)) is not None:
            return file
    raise InvalidInput("", "the form is cut off: it has no last boundary")


def _file(part: bytes) -> tuple[bytes, str] | None:
    """Return content and name of a part that is a file. Browsers send an empty name where none was chosen."""
    end = part.find(b"\r\n\r\n", 0, _MAX_HEAD_BYTES)
    if end < 0 or not part.startswith(b"\r\n"):
        raise InvalidInput("", f"a part of the form must have headers, of {_MAX_HEAD_BYTES} bytes at most")
    headers: dict[str, str] = {}
    for line in part[2:end].decode(errors="replace").split("\r\n"):
        name, _, text = line.partition(":")
        headers[name.strip().lower()] = text.strip()
    if headers.get("content-type", "").lower().startswith("multipart/"):
        raise InvalidInput("", "a part of the form must not be a form itself (RFC 7578, section 4.3)")
    if headers.get("content-transfer-encoding", "").lower() not in _AS_IT_IS:
        raise InvalidInput("", "the file must be sent as it is, without a Content-Transfer-Encoding")
    named = _FILENAME.search(headers.get("content-disposition", ""))
    if named is None or not named[1]:
        return None
    return part[end + 4 :], _ESCAPED.sub(_plain, named[1])


def _plain(escaped: re.Match[str]) -> str:
    return escaped[1] or ('"' if escaped[2] else " ")
