"""Decoding of response bodies: content codings (RFC 9110, section 8.4) and character encodings."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from typing import Final, Literal

import webencodings

ENCODINGS: Final = "gzip, deflate"
"""The supported content codings; the value of `Accept-Encoding`."""

_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_RAW = -zlib.MAX_WBITS
_MAX_CODINGS = 2
_KNOWN = frozenset({"gzip", "x-gzip", "deflate"})


@dataclass(frozen=True, slots=True)
class UnpackedContent:
    """Decompressed content. `problem` describes an error; empty without one."""

    content: bytes
    whole: bool
    problem: str = ""


def unpack(content: bytes, codings: str, max_bytes: int, *, whole: bool = True) -> UnpackedContent:
    """Undo the content codings of a response.

    Decompression stops after `max_bytes` bytes, which limits gzip bombs. Data decompressed before an error is kept.

    Args:
        content: the content as transferred.
        codings: the value of the `Content-Encoding` header.
        max_bytes: maximum number of bytes to return.
        whole: whether `content` is complete.
    """
    names = [name for name in (coding.strip().lower() for coding in codings.split(",")) if name not in ("", "identity")]
    unknown = next((name for name in names if name not in _KNOWN), None)
    if unknown is not None or len(names) > _MAX_CODINGS:
        return UnpackedContent(
            b"", whole=False, problem=f"the content is encoded as {codings[:60]}, which was not asked for"
        )
    unpacked = UnpackedContent(content[:max_bytes], whole=whole and len(content) <= max_bytes)
    for _ in names:
        unpacked = _inflate(unpacked.content, max_bytes, whole=unpacked.whole)
        if unpacked.problem:
            break
    return unpacked


def gunzip(content: bytes, max_bytes: int) -> UnpackedContent:
    """Decompress a gzip file, up to `max_bytes` bytes."""
    return _inflate(content, max_bytes)


def _inflate(content: bytes, max_bytes: int, *, whole: bool = True) -> UnpackedContent:
    if not content:  # such as the response to HEAD
        return UnpackedContent(b"", whole=whole)
    # Some servers send deflate without the zlib wrapper.
    wrapped = content[:2] == b"\x1f\x8b" or (content[:1] == b"\x78" and len(content) > 1)
    inflater = zlib.decompressobj(_GZIP_OR_ZLIB if wrapped else _RAW)
    inflated = bytearray()
    remaining = content
    ended = False
    try:
        while remaining and len(inflated) <= max_bytes:
            inflated += inflater.decompress(remaining, max_bytes + 1 - len(inflated))
            ended = inflater.eof
            if not ended:
                remaining = inflater.unconsumed_tail
                continue
            remaining = inflater.unused_data.lstrip(b"\0")  # a gzip file may have several members
            inflater = zlib.decompressobj(_GZIP_OR_ZLIB if wrapped else _RAW)
    except zlib.error:
        return UnpackedContent(bytes(inflated[:max_bytes]), whole=False, problem="the compressed content is damaged")
    if len(inflated) > max_bytes or not whole:
        return UnpackedContent(bytes(inflated[:max_bytes]), whole=False)
    return UnpackedContent(
        bytes(inflated), whole=ended, problem="" if ended else "the compressed content ends too early"
    )


Source = Literal["bom", "http", "meta", "guess"]

_PRESCAN: Final = 1024
"""Number of bytes searched for an encoding declaration, as set by the HTML Standard."""

_BOMS: Final = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))
_SPACE = b"\t\n\x0c\r /"
_PARAMETER = re.compile(r"""charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DecodedPage:
    """A page's text, its encoding and where that was declared."""

    text: str
    encoding: str
    """Name from the Encoding Standard, such as `utf-8` or `windows-1252`."""

    source: Source
    http: str
    """Encoding in the `Content-Type` header; empty if missing or unknown."""

    meta: str
    """Encoding declared in the document; empty if missing or unknown."""

    damaged: int
    """Number of characters that could not be decoded."""


def decode(content: bytes, content_type: str = "") -> DecodedPage:
    """Decode a page. A byte order mark wins, then the header, then the document's declaration, then a guess.

    The guess is UTF-8 if the content is valid UTF-8, otherwise windows-1252.

    Args:
        content: the page's bytes.
        content_type: the full value of the `Content-Type` header.
    """
    http = _known(charset_of(content_type))
    meta = prescan(content)
    mark = next((name for mark, name in _BOMS if content.startswith(mark)), "")
    source: Source = "bom" if mark else "http" if http else "meta" if meta else "guess"
    encoding = mark or http or meta or _guess(content)
    text = _read(content, encoding)
    damaged = text.count("\ufffd") - content.count(b"\xef\xbf\xbd") if encoding == "utf-8" else text.count("\ufffd")
    return DecodedPage(text.removeprefix("\ufeff"), encoding, source, http, meta, max(0, damaged))


def charset_of(content_type: str) -> str:
    """Return the `charset` parameter of a `Content-Type` or a meta element's `content`; empty without one."""
    match = _PARAMETER.search(content_type)
    return next(filter(None, match.groups()), "").strip() if match else ""


def prescan(content: bytes) -> str:
    """Return the encoding that a document declares in its first 1024 bytes; empty without one.

    Implements section 13.2.3.2 of the HTML Standard, which reads a UTF-16 declaration in ASCII bytes as UTF-8.
    """
    head = content[:_PRESCAN]
    pos = 0
    while 0 <= pos < len(head):
        pos = head.find(b"<", pos)
        if pos < 0:
            break
        if head.startswith(b"<!--", pos):
            end = head.find(b"-->", pos + 2)
            pos = end + 3 if end >= 0 else -1
        elif head[pos + 1 : pos + 5].lower() == b"meta" and head[pos + 5 : pos + 6] in _ONE_SPACE:
            encoding, pos = _declared(head, pos + 5)
            if encoding:
                return encoding
        elif re.match(rb"</?[A-Za-z]", head[pos : pos + 3]):
            pos = _after_tag(head, pos)
        elif head[pos + 1 : pos + 2] in (b"!", b"/", b"?"):
            end = head.find(b">", pos)
            pos = end + 1 if end >= 0 else -1
        else:
            pos += 1
    return ""


_ONE_SPACE = tuple(bytes([byte]) for byte in _SPACE)


def _after_tag(head: bytes, pos: int) -> int:
    while pos < len(head) and head[pos : pos + 1] not in (*_ONE_SPACE, b">"):
        pos += 1
    while pos < len(head):
        name, _, pos = _attribute(head, pos)
        if not name:
            break
    return pos


def _declared(head: bytes, pos: int) -> tuple[str, int]:
    """Read a meta element's attributes. Return the encoding it declares, or an empty string, and its end position."""
    names: dict[bytes, bytes] = {}
    while True:
        name, value, pos = _attribute(head, pos)
        if not name:
            break
        names.setdefault(name, value)
    label = names.get(b"charset", b"")
    if not label and names.get(b"http-equiv") == b"content-type":
        label = charset_of(names.get(b"content", b"").decode("latin-1")).encode("latin-1")
    encoding = _known(label.decode("latin-1"))
    if encoding in ("utf-16le", "utf-16be"):
        encoding = "utf-8"
    return "windows-1252" if encoding == "x-user-defined" else encoding, pos


def _attribute(head: bytes, pos: int) -> tuple[bytes, bytes, int]:
    """Read one attribute (section 13.2.3.2, "get an attribute"). The name is empty at the end of the tag."""
    while pos < len(head) and head[pos] in _SPACE:
        pos += 1
    if pos >= len(head) or head[pos : pos + 1] == b">":
        return b"", b"", pos + 1
    start = pos
    while pos < len(head) and head[pos] not in b"\t\n\x0c\r />" and (head[pos : pos + 1] != b"=" or pos == start):
        pos += 1
    name = head[start:pos].lower()
    after = pos
    while after < len(head) and head[after] in b"\t\n\x0c\r ":
        after += 1
    if head[after : after + 1] != b"=":
        return name, b"", pos
    value, pos = _value(head, after + 1)
    return name, value, pos


def _value(head: bytes, pos: int) -> tuple[bytes, int]:
    while pos < len(head) and head[pos] in b"\t\n\x0c\r ":
        pos += 1
    quote = head[pos : pos + 1]
    if quote in (b'"', b"'"):
        end = head.find(quote, pos + 1)
        return (head[pos + 1 : end].lower(), end + 1) if end >= 0 else (b"", len(head))
    start = pos
    while pos < len(head) and head[pos] not in b"\t\n\x0c\r >":
        pos += 1
    return head[start:pos].lower(), pos


def _known(label: str) -> str:
    encoding = webencodings.lookup(label) if label.isascii() else None
    return "" if encoding is None else str(encoding.name)


def _guess(content: bytes) -> str:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        # The size limit may have cut the last character.
        return "utf-8" if error.start >= len(content) - 3 and error.start > 0 else "windows-1252"
    return "utf-8"


def _read(content: bytes, encoding: str) -> str:
    codec = webencodings.lookup(encoding)
    if codec is None or encoding == "replacement":
        return "\ufffd"
    return str(webencodings.decode(content, codec, "replace")[0])
