"""What is between asyncssh and the network: a server may be anybody's, and asyncssh trusts it in some things.

It works through any number of packets at once, keeps signs of life that it did not ask for, and sends in pieces as
small as the server wants.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

import asyncssh

from pressroom_git.protocol import FlushFinder

_PART: Final = 16_384
"""Bytes that are handed over in one turn of the event loop."""

_FREE: Final = 262_144
"""Bytes that a server may send beside the output of a command: its banner, and all that comes before a sign-in."""

_EARNED: Final = 64
_MAX_DELIVERIES: Final = 200_000
"""Pieces in which the output of a command may come."""

_MIN_PIECE: Final = 1_024
"""Bytes that a server has to take in one piece; RFC 4253, section 6.1, asks for 32,768."""

_WRITTEN: Final = 65_536
_STDERR: Final = 1
_MAX_STDERR: Final = 1_000_000
_KEPT_STDERR: Final = 4_096


class SshFlood(Exception):
    """A server sends more than it may."""


class SshMeter:
    """Counts what a server sends, and what of it is output that was asked for."""

    def __init__(self) -> None:
        self._credit = _FREE
        self._pending = 0
        self._deliveries = 0

    def take(self, size: int) -> None:
        """Count bytes from the network. Raises `SshFlood` where too much of them comes to nothing."""
        self._credit -= size
        self._pending += size
        if self._credit < 0 or self._pending > _FREE:
            raise SshFlood("it sends far more than it was asked for")

    def deliver(self, size: int) -> None:
        """Count bytes of output, which came as one piece. Raises `SshFlood` where there are too many of them."""
        self._credit += size + size // 8 + _EARNED
        self._pending = 0
        self._deliveries += 1
        if self._deliveries > _MAX_DELIVERIES:
            raise SshFlood("it sends its answer in too many pieces")


class SshWire:
    """A connection as asyncssh uses it: the `tunnel` that it connects through, and the transport of its protocol."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, meter: SshMeter) -> None:
        self._reader = reader
        self._writer = writer
        self._meter = meter
        self._feeding: asyncio.Task[None] | None = None

    async def create_connection(self, session_factory: Callable[[], Any], _host: str, _port: int) -> tuple[Any, Any]:
        """Hand over what arrives from now on; asyncssh calls it."""
        protocol = session_factory()
        protocol.connection_made(self)
        self._feeding = asyncio.create_task(self._feed(protocol))
        return self, protocol

    async def _feed(self, protocol: Any) -> None:
        try:
            while part := await self._reader.read(_PART):
                self._meter.take(len(part))
                protocol.data_received(part)
                await asyncio.sleep(0)  # others have their turn, however much is there already
        except (SshFlood, OSError) as error:
            protocol.connection_lost(error)
        else:
            protocol.connection_lost(None)

    def write(self, data: bytes) -> None:
        """Send bytes, as soon as the network takes them."""
        self._writer.write(data)

    def abort(self) -> None:
        """Read no more, and send what is waiting, if the network takes it at once."""
        if self._feeding is not None:
            self._feeding.cancel()
        self._writer.close()

    def close(self) -> None:
        """Do the same."""
        self.abort()

    async def wait_closed(self) -> None:
        """Wait until nothing is handed over any more."""
        if self._feeding is not None:
            await asyncio.wait([self._feeding])

    def get_extra_info(self, _name: str, default: Any = None) -> Any:
        """Return nothing: the IP addresses of the connection are not of interest."""
        return default


class SshCommand(asyncssh.SSHClientSession[bytes]):
    """A command of git's on the server, its input and output: the session of a channel.

    Args:
        most: bytes that its answer may have, after what it says first.
        first: bytes that it may say first.
    """

    def __init__(self, meter: SshMeter, *, first: int, most: int) -> None:
        self.meter = meter
        self.advertisement = b""
        """What the server said first; empty as long as it has not come to its end."""

        self.stderr = b""
        self.status: int | None = None
        self.asked = False
        """Whether the request was begun to be sent."""

        self._first, self._most = first, most
        self._stderr_bytes = 0
        self._output = bytearray()
        self._finder = FlushFinder()
        self._error: Exception | None = None
        self._channel: Any = None
        self._ready = asyncio.Event()
        self._closed = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()

    @property
    def output(self) -> bytes:
        """What came after the advertisement; all that came where nothing was advertised."""
        return bytes(self._output)

    async def said_first(self) -> bytes:
        """Wait for what the server says first, and return it; empty where that is not git's protocol."""
        await self._ready.wait()
        if self._error is not None and not self.advertisement:
            raise self._error
        return self.advertisement

    async def send(self, request: bytes) -> None:
        """Send a request, which is all that the command gets. Raises `OSError` where the server takes no more."""
        self.asked = True
        for at in range(0, len(request), _WRITTEN):
            self._channel.write(request[at : at + _WRITTEN])
            await asyncio.sleep(0)
            await self._writable.wait()
        self._channel.write_eof()

    async def finished(self) -> None:
        """Wait for the end of the command."""
        await self._closed.wait()
        if self._error is not None:
            raise self._error

    def connection_made(self, channel: Any) -> None:
        """Take the channel, unless the server wants to be sent pieces that would keep this one busy."""
        self._channel = channel
        if channel._send_pktsize < _MIN_PIECE:  # noqa: SLF001 - asyncssh sends all pieces in one turn of the event loop
            raise SshFlood("it takes less at once than SSH asks for")

    def session_started(self) -> None:
        """Do nothing: the server speaks first."""

    def data_received(self, data: bytes, kind: int | None) -> None:
        """Keep output. Raises `SshFlood` where it is more than it may be."""
        self.meter.deliver(len(data))
        if kind == _STDERR:
            self.stderr += data[: _KEPT_STDERR - len(self.stderr)]
            self._stderr_bytes += len(data)
            if self._stderr_bytes > _MAX_STDERR:
                raise SshFlood(f"it sends more than {_MAX_STDERR} bytes of messages")
            return
        self._output += data
        if not self.advertisement:
            self._finder.look(self._output)
            self.advertisement = bytes(self._output[: self._finder.end])
            del self._output[: self._finder.end]
        most = self._most if self.advertisement else self._first
        if len(self._output) > most:
            raise SshFlood(f"it sends more than {most} bytes")
        if self.advertisement or self._finder.broken:
            self._ready.set()

    def eof_received(self) -> bool:
        """Keep the channel open: the command's status is still to come."""
        return True

    def exit_status_received(self, status: int) -> None:
        """Keep the status."""
        self.status = status

    def exit_signal_received(self, *_signal: object) -> None:
        """Count a command that was killed as one that failed."""
        self.status = -1

    def pause_writing(self) -> None:
        """Wait until the server has taken what was sent."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Continue."""
        self._writable.set()

    def connection_lost(self, error: Exception | None) -> None:
        """Wake whoever waits."""
        self._error = error
        self._ready.set()
        self._closed.set()
        self._writable.set()
