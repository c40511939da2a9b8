"""Hostile SSH servers: whatever they send, a connection ends in time, uses bounded memory and delays nobody else."""

from __future__ import annotations

import asyncio
import struct
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from ipaddress import IPv4Network
from itertools import count
from typing import Any

import asyncssh
import pytest
from pressroom.fetch import GuardedFetcher
from pressroom_content.contract import (
    Post,
    Site,
    SiteError,
    SiteInfo,
    SiteRefused,
    SiteRejected,
    SiteUnavailable,
    UnknownOutcome,
)
from pressroom_git import ssh, ssh_wire
from pressroom_git.config import GitConfig
from pressroom_git.connector import connector
from pressroom_git.protocol import FLUSH, packet
from support.tcp_server import Serve, serving

KEY = asyncssh.generate_private_key("ssh-ed25519")
_numbers = count(1)

Process = Callable[[asyncssh.SSHServerProcess[bytes]], Awaitable[None]]


@pytest.fixture
async def fetcher() -> AsyncIterator[GuardedFetcher]:
    async with GuardedFetcher(private_networks=[IPv4Network("127.0.0.0/8")]) as opened:
        yield opened


def site_at(port: int, fetcher: GuardedFetcher) -> Site:
    values = {
        "repository": f"ssh://git@127.0.0.1:{port}/blog",
        "private_key": KEY.export_private_key().decode(),
        "host_key": KEY.get_fingerprint(),
        "generator": "hugo",
    }
    info = SiteInfo("w_1", f"u_{next(_numbers)}", "Test", "https://blog.example.org")
    return connector(GitConfig()).open(info, values, fetcher)


async def error_of(port: int, fetcher: GuardedFetcher) -> SiteError:
    """Return the error that reading raises."""
    with pytest.raises(SiteError) as caught:
        await site_at(port, fetcher).read("content/posts/tea.md")
    assert caught.value.message.startswith(f"git at 127.0.0.1:{port}")
    assert caught.value.message.isprintable()
    assert len(caught.value.message) < 500
    return caught.value


# Before authentication.


async def say_nothing(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def close_at_once(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    pass


async def close_after_the_version(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"SSH-2.0-x\r\n")
    await reader.readline()


async def speak_http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readline()
    writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


async def speak_the_first_version(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"SSH-1.5-x\r\n")


async def send_for_ever(writer: asyncio.StreamWriter, data: bytes) -> None:
    while True:
        writer.write(data)
        await writer.drain()


async def endless_lines(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await send_for_ever(writer, b"Welcome.\r\n" * 100)


async def an_endless_line(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await send_for_ever(writer, b"Welcome. " * 100)


async def an_endless_packet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"SSH-2.0-x\r\n" + struct.pack(">I", 0xFFFFFFFF))
    await send_for_ever(writer, bytes(50_000))


async def endless_packets(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    ignored = b"\x02" + struct.pack(">I", 0)
    writer.write(b"SSH-2.0-x\r\n")
    await send_for_ever(writer, 1000 * (struct.pack(">IB", 1 + len(ignored) + 6, 6) + ignored + bytes(6)))


async def a_broken_key_exchange(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    kexinit = b"\x14" + bytes(16) + struct.pack(">I", 0xFFFFFF) + b"x" * 40
    writer.write(b"SSH-2.0-x\r\n" + struct.pack(">IB", 1 + len(kexinit) + 6, 6) + kexinit + bytes(6))
    await _reader.read()


@pytest.mark.parametrize(
    "serve",
    [
        say_nothing,
        close_at_once,
        close_after_the_version,
        speak_http,
        speak_the_first_version,
        endless_lines,
        an_endless_line,
        an_endless_packet,
        endless_packets,
        a_broken_key_exchange,
    ],
    ids=lambda serve: serve.__name__,
)
async def test_data_sent_before_the_sign_in_ends_with_an_error(
    fetcher: GuardedFetcher, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    if serve is say_nothing:
        monkeypatch.setattr(ssh, "_SECONDS", 0.2)
    async with serving(serve) as port:
        assert isinstance(await error_of(port, fetcher), SiteUnavailable | SiteRefused)
        with pytest.raises(SiteError) as caught:  # nothing was pushed, and the error says so
            await site_at(port, fetcher).create(Post("m", "T", "t", "<p>a</p>", "a"))
        assert not isinstance(caught.value, UnknownOutcome)


async def test_a_packet_of_any_length_does_not_fill_the_memory(fetcher: GuardedFetcher) -> None:
    async with serving(an_endless_packet) as port:
        await error_of(port, fetcher)  # one-time imports and caches
        tracemalloc.start()
        try:
            error = await error_of(port, fetcher)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert isinstance(error, SiteUnavailable)
    assert peak < 4_000_000


# After a successful authentication.


class Anybody(asyncssh.SSHServer):
    """Accepts every user."""

    def begin_auth(self, username: str) -> bool:
        return False


@asynccontextmanager
async def git_server(process: Process, **options: Any) -> AsyncIterator[int]:
    """Serve SSH commands with a function; yield the port."""
    async with asyncssh.listen(
        "127.0.0.1",
        0,
        server_factory=options.pop("server_factory", Anybody),
        server_host_keys=[KEY],
        process_factory=process,
        encoding=None,
        **options,
    ) as acceptor:
        try:
            yield acceptor.get_port()
        finally:
            acceptor.close()


ADVERTISEMENT = packet(b"version 2\n") + packet(b"fetch=filter\n") + FLUSH
EMPTY = packet(f"{'0' * 40} capabilities^{{}}\0report-status\n".encode()) + FLUSH


async def endless_branches(process: asyncssh.SSHServerProcess[bytes]) -> None:
    process.stdout.write(packet(b"version 1\n"))
    while True:
        process.stdout.write(packet(f"{'1' * 40} refs/heads/a\n".encode()) * 500)
        await process.stdout.drain()


async def endless_words(process: asyncssh.SSHServerProcess[bytes]) -> None:
    while True:
        process.stderr.write(b"Welcome. " * 5_000)
        await process.stderr.drain()


async def an_endless_response(process: asyncssh.SSHServerProcess[bytes]) -> None:
    process.stdout.write(ADVERTISEMENT)
    while True:
        process.stdout.write(packet(b"x" * 60_000))
        await process.stdout.drain()


async def single_bytes(process: asyncssh.SSHServerProcess[bytes]) -> None:
    for _ in range(5_000):
        process.stdout.write(b"0")
        await process.stdout.drain()


async def no_response(process: asyncssh.SSHServerProcess[bytes]) -> None:
    await process.stdin.read()
    await asyncio.get_running_loop().create_future()


async def no_response_to_a_request(process: asyncssh.SSHServerProcess[bytes]) -> None:
    process.stdout.write(ADVERTISEMENT)
    await no_response(process)


async def a_greeting(process: asyncssh.SSHServerProcess[bytes]) -> None:
    process.stdout.write(b"Welcome to \x1b[31mthis\x1b[0m server.\n")
    process.exit(0)


async def an_outage(process: asyncssh.SSHServerProcess[bytes]) -> None:
    process.stderr.write(b"ERROR: Internal server error\n")
    process.exit(1)


async def nothing(process: asyncssh.SSHServerProcess[bytes]) -> None:
    process.exit(0)


async def an_end_half_way(process: asyncssh.SSHServerProcess[bytes]) -> None:
    process.stdout.write(ADVERTISEMENT[:10])
    process.get_extra_info("connection").abort()


@pytest.mark.parametrize(
    ("process", "kind", "expected"),
    [
        (endless_branches, SiteRefused, "sends more than 8000000 bytes"),
        (endless_words, SiteRefused, "sends more than 1000000 bytes of messages"),
        (an_endless_response, SiteRefused, "sends more than 8000000 bytes"),
        (single_bytes, SiteRefused, "too many pieces"),
        (no_response, SiteUnavailable, "did not respond within"),
        (no_response_to_a_request, SiteUnavailable, "did not respond within"),
        (a_greeting, SiteRefused, "does not speak git's protocol, but says: Welcome to"),
        (an_outage, SiteUnavailable, "at the moment: ERROR: Internal server error"),
        (nothing, SiteUnavailable, "without a response"),
        (an_end_half_way, SiteUnavailable, "closed the connection early"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
async def test_hostile_output_of_a_command_ends_with_an_error(
    fetcher: GuardedFetcher, process: Process, kind: type[SiteError], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh_wire, "_MAX_DELIVERIES", 1_000)
    if process in (no_response, no_response_to_a_request):
        monkeypatch.setattr(ssh, "_SECONDS", 2.0)
    async with git_server(process) as port:
        error = await error_of(port, fetcher)
    assert (type(error), expected in error.message) == (kind, True), error.message


async def test_a_server_with_a_maximum_packet_size_of_zero_is_sent_nothing(fetcher: GuardedFetcher) -> None:
    async with git_server(no_response, max_pktsize=0) as port:
        assert isinstance(await error_of(port, fetcher), SiteUnavailable)


@pytest.mark.parametrize("size", [1, 1023])
async def test_a_server_with_a_tiny_maximum_packet_size_is_sent_nothing(fetcher: GuardedFetcher, size: int) -> None:
    async with git_server(no_response, max_pktsize=size) as port:
        error = await error_of(port, fetcher)
    assert isinstance(error, SiteRefused)
    assert "takes less at once than SSH asks for" in error.message


class Talkative(Anybody):
    """Sends endless unsolicited messages."""

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._conn = conn
        self._talking = asyncio.ensure_future(self._talk())

    def connection_lost(self, exc: Exception | None) -> None:
        self._talking.cancel()

    async def _talk(self) -> None:
        while True:
            self._conn.send_debug("Welcome." * 100)
            await asyncio.sleep(0)


async def test_endless_messages_are_an_error(fetcher: GuardedFetcher) -> None:
    async with git_server(no_response, server_factory=Talkative) as port:
        error = await error_of(port, fetcher)
    assert isinstance(error, SiteRefused)
    assert "far more than was requested" in error.message


async def push_to(port: int, fetcher: GuardedFetcher) -> SiteError:
    """Return the error that writing raises."""
    with pytest.raises(SiteError) as caught:
        await site_at(port, fetcher).create(Post("m", "T", "t", "<p>a</p>", "a"))
    return caught.value


@pytest.mark.parametrize("how", ["silence", "flood", "end", "garbage"])
async def test_a_push_whose_response_is_lost_may_have_succeeded(
    fetcher: GuardedFetcher, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def process(ssh_process: asyncssh.SSHServerProcess[bytes]) -> None:
        ssh_process.stdout.write(EMPTY)
        if not (ssh_process.command or "").startswith("git-receive-pack"):
            await ssh_process.stdin.read()
            ssh_process.exit(0)
            return
        await ssh_process.stdin.read(4)
        if how == "silence":
            await no_response(ssh_process)
        while how == "flood":
            ssh_process.stdout.write(packet(b"x" * 60_000))
            await ssh_process.stdout.drain()
        if how == "end":
            ssh_process.get_extra_info("connection").abort()
        ssh_process.stdout.write(b"Thank you.")
        ssh_process.exit(0)

    if how == "silence":
        monkeypatch.setattr(ssh, "_SECONDS", 1)
    async with git_server(process) as port:
        error = await push_to(port, fetcher)
    assert isinstance(error, UnknownOutcome), error


async def test_a_push_that_never_started_is_reported_as_not_made(fetcher: GuardedFetcher) -> None:
    async def process(ssh_process: asyncssh.SSHServerProcess[bytes]) -> None:
        if (ssh_process.command or "").startswith("git-receive-pack"):
            ssh_process.stderr.write(b"ERROR: This deploy key does not have write access to this project.\n")
            ssh_process.exit(1)
            return
        ssh_process.stdout.write(EMPTY)
        await ssh_process.stdin.read()
        ssh_process.exit(0)

    async with git_server(process) as port:
        error = await push_to(port, fetcher)
    assert isinstance(error, SiteRejected)
    assert "does not have write access" in error.message
