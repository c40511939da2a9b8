"""Packet lines, of which git's protocol is made (git-scm.com/docs/protocol-common), and what servers say in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

FLUSH: Final = b"0000"
_DELIMITER: Final = b"0001"
_SIZE: Final = 4
_MAX_SAID: Final = 300


def packet(content: bytes) -> bytes:
    """Return a packet line."""
    return b"%04x" % (len(content) + _SIZE) + content


def lines(contents: Sequence[bytes | None]) -> bytes:
    """Return packet lines with a flush packet at their end; `None` stands for a delimiter between two parts."""
    return b"".join(_DELIMITER if one is None else packet(one) for one in contents) + FLUSH


def packets(content: bytes) -> Iterator[bytes | None]:
    """Yield the packets of an answer, `None` between its parts. What is broken ends it."""
    at = 0
    while at + _SIZE <= len(content):
        try:
            size = int(content[at : at + _SIZE], 16)
        except ValueError:
            return
        if size < _SIZE:
            yield None
            at += _SIZE
            continue
        yield content[at + _SIZE : at + size]
        at += size


class FlushFinder:
    """Finds the flush packet at which a message ends, while the message comes in pieces."""

    def __init__(self) -> None:
        self._at = 0
        self.end = 0
        """Where the message ends; 0 as long as it does not."""

        self.broken = False
        """Whether what came is not made of packet lines."""

    def look(self, received: bytearray) -> None:
        """Look on from where the last look ended; `received` is all that has come so far."""
        while not self.end and not self.broken and self._at + _SIZE <= len(received):
            head = bytes(received[self._at : self._at + _SIZE])
            try:
                size = int(head, 16)
            except ValueError:
                self.broken = True
                return
            self._at += max(size, _SIZE)
            if head == FLUSH:
                self.end = self._at


def said(text: bytes | str) -> str:
    """Return what a server said, on one line, cut, and without control characters: it may be anything."""
    decoded = text[: _MAX_SAID * 8].decode(errors="replace") if isinstance(text, bytes) else text[: _MAX_SAID * 8]
    shown = "".join(one if one.isprintable() else " " for one in decoded)
    return " ".join(shown.split())[:_MAX_SAID]
