"""A transport between asyncssh and the network that protects against malicious servers.

asyncssh trusts servers in some respects: it processes any number of packets without yielding, keeps unrequested
keep-alive messages, and sends in pieces as small as the server requests.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

import asyncssh

from pressroom_git.protocol import FlushFinder

_PART: Final = 16_384
"""Maximum number of bytes passed to asyncssh per turn of the event loop."""

_FREE: Final = 262_144
"""Bytes that a server may send besides the output of a command, such as its banner and all data before the sign-in."""

_EARNED: Final = 64
_MAX_DELIVERIES: Final = 200_000
"""Maximum number of pieces of a command's output."""

_MIN_PIECE: Final = 1_024
"""Minimum packet size in bytes that a server must accept; RFC 4253, section 6.1, requires 32,768."""

_WRITTEN: Final = 65_536
_STDERR: Final = 1
_MAX_STDERR: Final = 1_000_000
_MAX_STORED_STDERR: Final = 4_096


class SshFlood(Exception):
    """The server violates a limit, such as by sending too much data."""


class SshMeter:
    """Compares the bytes that a server sends with the command output they contain."""

    def __init__(self) -> None:
        self._credit = _FREE
        self._pending = 0
        self._deliveries = 0

    def take(self, size: int) -> None:
        """Count bytes from the network. Raises `SshFlood` if too many of them yield no output."""
        self._credit -= size
        self._pending += size
        if self._credit < 0 or self._pending > _FREE:
            raise SshFlood("it sends far more than was requested")

    def deliver(self, size: int) -> None:
        """Count one piece of output. Raises `SshFlood` if there are too many pieces."""
        self._credit += size + size // 8 + _EARNED
        self._pending = 0
        self._deliveries += 1
        if self._deliveries > _MAX_DELIVERIES:
            raise SshFlood("it sends its response in too many pieces")


class SshWire:
    """A connection for asyncssh: both the `tunnel` to connect through and the transport of its protocol."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, meter: SshMeter) -> None:
        self._reader = reader
        self._writer = writer
        self._meter = meter
        self._feeding: asyncio.Task[None] | None = None

    async def create_connection(self, session_factory: Callable[[], Any], _host: str, _port: int) -> tuple[Any, Any]:
        """Start passing received data to asyncssh, which calls this method."""
        protocol = session_factory()
        protocol.connection_made(self)
        self._feeding = asyncio.create_task(self._feed(protocol))
        return self, protocol

    async def _feed(self, protocol: Any) -> None:
        try:
            while part := await self._reader.read(_PART):
                self._meter.take(len(part))
                protocol.data_received(part)
                await asyncio.sleep(0)  # yield to other tasks even if more data is available
        except (SshFlood, OSError) as error:
            protocol.connection_lost(error)
        else:
            protocol.connection_lost(None)

    def write(self, data: bytes) -> None:
        """Buffer bytes for sending."""
        self._writer.write(data)

    def abort(self) -> None:
        """Stop reading and close the connection, which flushes buffered data if possible."""
        if self._feeding is not None:
            self._feeding.cancel()
        self._writer.close()

    def close(self) -> None:
        """See `abort`."""
        self.abort()

    async def wait_closed(self) -> None:
        """Wait until no more data is passed to asyncssh."""
        if self._feeding is not None:
            await asyncio.wait([self._feeding])

    def get_extra_info(self, _name: str, default: Any = None) -> Any:
        """Return the default: information such as IP addresses is not available."""
        return default


class SshCommand(asyncssh.SSHClientSession[bytes]):
    """A git command on the server: the session of a channel, with its input and output.

    Args:
        meter: counts the output.
        first: maximum size of the advertisement, in bytes.
        max_bytes: maximum size of the output after it, in bytes.
    """

    def __init__(self, meter: SshMeter, *, first: int, max_bytes: int) -> None:
        self.meter = meter
        self.advertisement = b""
        """The advertisement; empty until it is complete."""

        self.stderr = b""
        self.status: int | None = None
        self.request_sent = False
        """Whether sending the request has started."""

        self._first, self._most = first, max_bytes
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
        """The output after the advertisement; all output without one."""
        return bytes(self._output)

    async def first_message(self) -> bytes:
        """Wait for the advertisement and return it; empty if the output is not git's protocol."""
        await self._ready.wait()
        if self._error is not None and not self.advertisement:
            raise self._error
        return self.advertisement

    async def send(self, request: bytes) -> None:
        """Send the request and close the input. Raises `OSError` if the server has closed its side."""
        self.request_sent = True
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
        """Store the channel. Raises `SshFlood` if the server's packet size is so small that sending would block."""
        self._channel = channel
        if channel._send_pktsize < _MIN_PIECE:  # noqa: SLF001 - asyncssh sends all pieces in one turn of the event loop
            raise SshFlood("it takes less at once than SSH asks for")

    def session_started(self) -> None:
        """Do nothing, since the server sends first."""

    def data_received(self, data: bytes, kind: int | None) -> None:
        """Store output. Raises `SshFlood` if it exceeds a limit."""
        self.meter.deliver(len(data))
        if kind == _STDERR:
            self.stderr += data[: _MAX_STORED_STDERR - len(self.stderr)]
            self._stderr_bytes += len(data)
            if self._stderr_bytes > _MAX_STDERR:
                raise SshFlood(f"it sends more than {_MAX_STDERR} bytes of messages")
            return
        self._output += data
        if not self.advertisement:
            self._finder.look(self._output)
            self.advertisement = bytes(self._output[: self._finder.end])
            del self._output[: self._finder.end]
        limit = self._most if self.advertisement else self._first
        if len(self._output) > limit:
            raise SshFlood(f"it sends more than {limit} bytes")
        if self.advertisement or self._finder.broken:
            self._ready.set()

    def eof_received(self) -> bool:
        """Keep the channel open to receive the exit status."""
        return True

    def exit_status_received(self, status: int) -> None:
        """Store the exit status."""
        self.status = status

    def exit_signal_received(self, *_signal: object) -> None:
        """Treat a killed command as failed."""
        self.status = -1

    def pause_writing(self) -> None:
        """Pause sending until the server catches up."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Resume sending."""
        self._writable.set()

    def connection_lost(self, error: Exception | None) -> None:
        """Store the error and wake all waiting tasks."""
        self._error = error
        self._ready.set()
        self._closed.set()
        self._writable.set()
