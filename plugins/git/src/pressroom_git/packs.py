"""Packs, in which git sends objects (git-scm.com/docs/pack-format), read within bounds: servers are anybody's."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterable, Mapping
from typing import Final

from dulwich.objects import ShaFile
from pressroom_content.contract import SiteUnavailable

_MAX_OBJECTS: Final = 200_000
_MAX_INFLATED: Final = 128_000_000
_MAX_BITS: Final = 63
_CHUNK: Final = 16_384
_NAMES: Final[Mapping[int, bytes]] = {1: b"commit", 2: b"tree", 3: b"blob", 4: b"tag"}
_OFFSET_DELTA, _REF_DELTA = 6, 7

Objects = dict[str, tuple[int, bytes]]
"""Kinds and contents of objects by their names."""


def read_pack(data: bytes | bytearray) -> Objects:
    """Return the objects of a pack. Raises `SiteUnavailable` where it is broken, too large, or not whole."""
    try:
        return _read(data)
    except (struct.error, zlib.error, IndexError, KeyError, ValueError, RecursionError) as error:
        raise SiteUnavailable(f"the repository sent a pack that cannot be read ({type(error).__name__})") from None


def write_pack(objects: Iterable[ShaFile]) -> bytes:
    """Return a pack of objects."""
    given = list(objects)
    parts = [b"PACK", struct.pack(">II", 2, len(given))]
    for one in given:
        content = one.as_raw_string()
        size, head = len(content) >> 4, bytearray([(one.type_num << 4) | (len(content) & 15)])
        while size:
            head[-1] |= 0x80
            head.append(size & 0x7F)
            size >>= 7
        parts += [bytes(head), zlib.compress(content)]
    made = b"".join(parts)
    return made + hashlib.sha1(made, usedforsecurity=False).digest()


def _read(data: bytes | bytearray) -> Objects:
    if data[:4] != b"PACK" or hashlib.sha1(data[:-20], usedforsecurity=False).digest() != data[-20:]:
        raise ValueError("not a whole pack")
    version, count = struct.unpack(">II", data[4:12])
    if version not in (2, 3) or count > _MAX_OBJECTS:
        raise ValueError("a pack of another kind")
    found: Objects = {}
    places: dict[int, str] = {}
    at, left = 12, _MAX_INFLATED
    for _ in range(count):
        start = at
        kind, size, at = _head(data, at)
        base = ""
        if kind == _OFFSET_DELTA:
            offset, at = _offset(data, at)
            base = places[start - offset]
        elif kind == _REF_DELTA:
            base, at = data[at : at + 20].hex(), at + 20
        left -= size
        if left < 0:
            raise ValueError("more than it may be")
        content, at = _inflated(data, at, size)
        if base:
            kind, whole = found[base]
            content = _applied(content, whole, left)
            left -= len(content)
        name = hashlib.sha1(b"%s %d\0" % (_NAMES[kind], len(content)) + content, usedforsecurity=False).hexdigest()
        found[name] = (kind, content)
        places[start] = name
    return found


def _head(data: bytes | bytearray, at: int) -> tuple[int, int, int]:
    byte = data[at]
    kind, size, shift = (byte >> 4) & 7, byte & 15, 4
    while byte & 0x80:
        at += 1
        byte = data[at]
        size |= (byte & 0x7F) << shift
        shift = _more(shift)
    return kind, size, at + 1


def _offset(data: bytes | bytearray, at: int) -> tuple[int, int]:
    byte = data[at]
    value, shift = byte & 0x7F, 0
    while byte & 0x80:
        at += 1
        byte = data[at]
        value = ((value + 1) << 7) | (byte & 0x7F)
        shift = _more(shift)
    return value, at + 1


def _more(shift: int) -> int:
    """Return by how much the next seven bits of a number are shifted; numbers of any length would take for ever."""
    if shift > _MAX_BITS:
        raise ValueError("a number that is too long")
    return shift + 7


def _inflated(data: bytes | bytearray, at: int, size: int) -> tuple[bytes, int]:
    inflating, parts, length = zlib.decompressobj(), [], 0
    while not inflating.eof:
        chunk = data[at : at + _CHUNK]
        part = inflating.decompress(chunk, size - length + 1)
        parts.append(part)
        length += len(part)
        at += len(chunk) - len(inflating.unused_data) - len(inflating.unconsumed_tail)
        if length > size or not chunk:
            raise ValueError("another size than it says")
    if length != size:
        raise ValueError("another size than it says")
    return b"".join(parts), at


def _applied(delta: bytes, base: bytes, most: int) -> bytes:
    """Return what a delta makes of its base."""
    source, at = _size(delta, 0)
    size, at = _size(delta, at)
    if source != len(base) or size > most:
        raise ValueError("a delta of something else")
    made = bytearray()  # in one piece: parts of a byte or two would take many times their size
    while at < len(delta):
        command = delta[at]
        at += 1
        if command & 0x80:
            values = [0, 0]
            for bit in range(7):
                if command & (1 << bit):
                    values[bit > 3] |= delta[at] << (8 * (bit if bit < 4 else bit - 4))
                    at += 1
            start, count = values[0], values[1] or 0x10000
            part = base[start : start + count]
        else:
            count, part = command, delta[at : at + command]
            at += command
        made += part
        if not command or len(part) != count or len(made) > size:
            raise ValueError("a delta that leads nowhere")
    if len(made) != size:
        raise ValueError("a delta of another size")
    return bytes(made)


def _size(delta: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = delta[at]
        value |= (byte & 0x7F) << shift
        shift = _more(shift)
        at += 1
        if not byte & 0x80:
            return value, at
