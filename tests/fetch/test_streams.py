"""Connections for protocols other than HTTP: the same checks, shares and timeouts as for URLs."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from ipaddress import IPv4Network

import pytest
from pressroom.errors import FetchFailed, FetchRefused, FetchUnknown
from pressroom.fetch import GuardedFetcher
from support.origins import StubNames
from support.tcp_server import serving

from .conftest import NAME
from .test_inside import CONNECTIONS

PUBLIC = "93.184.215.14"


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1000):
        writer.write(data)


def fetcher_to(port: int, *, names: StubNames | None = None, concurrency: int = 8) -> GuardedFetcher:
    return GuardedFetcher(
        concurrency=concurrency, resolver=names or StubNames(["127.0.0.1"]), exempt=[("127.0.0.1", port)]
    )


async def test_bytes_are_sent_and_received() -> None:
    async with serving(echo) as port, fetcher_to(port) as fetcher:
        async with fetcher.connect(NAME, port, seconds=30) as (reader, writer):
            writer.write(b"SSH-2.0-test\r\n")
            assert await reader.readline() == b"SSH-2.0-test\r\n"
        assert writer.transport.is_closing()


async def test_the_connection_uses_the_checked_ip_address() -> None:
    names = StubNames(["127.0.0.1"], ["169.254.169.254"])
    async with serving(echo) as port, fetcher_to(port, names=names) as fetcher:
        with CONNECTIONS.recorded() as connections:
            async with fetcher.connect(NAME, port, seconds=30) as (_, writer):
                assert writer.get_extra_info("peername") == ("127.0.0.1", port)
            assert (connections, names.queries) == ([("127.0.0.1", port)], [NAME])
            with pytest.raises(FetchRefused, match="not on the public internet"):
                async with fetcher.connect(NAME, port, seconds=30):
                    pass
        assert connections == [("127.0.0.1", port)]


@pytest.mark.parametrize(
    "host",
    ["10.0.0.1", "::1", "::ffff:10.0.0.1", "127.1", "0x7f000001", "[::1]", "localhost", f"{NAME}:22", f"a@{NAME}"],
)
async def test_internal_or_ambiguous_hosts_are_not_connected_to(host: str) -> None:
    async with GuardedFetcher(resolver=StubNames(["127.0.0.1"])) as fetcher:
        with CONNECTIONS.recorded() as connections, pytest.raises(FetchRefused):
            async with fetcher.connect(host, 22, seconds=30):
                pass
    assert connections == []


@pytest.mark.parametrize("addresses", [["127.0.0.1"], [PUBLIC, "10.0.0.1"], ["::1"], ["fd00::1", PUBLIC]])
async def test_a_name_with_an_internal_ip_address_is_not_connected_to(addresses: list[str]) -> None:
    async with GuardedFetcher(resolver=StubNames(addresses)) as fetcher:
        with CONNECTIONS.recorded() as connections, pytest.raises(FetchRefused) as caught:
            async with fetcher.connect(NAME, 22, seconds=30):
                pass
    assert connections == []
    assert not any(address in str(caught.value) for address in addresses)


@pytest.mark.parametrize("port", [1, 25, 80, 3306, 6379, 65_535])
async def test_other_ports_on_the_internet_are_refused(port: int) -> None:
    networks = [IPv4Network("10.0.0.0/8")]
    for fetcher in (GuardedFetcher(), GuardedFetcher(private_networks=networks)):
        async with fetcher:
            with CONNECTIONS.recorded() as connections, pytest.raises(FetchRefused, match="only 22 and 443 are"):
                async with fetcher.connect(PUBLIC, port, seconds=30):
                    pass
        assert connections == []


async def test_networks_allowed_by_the_operator_may_use_any_port() -> None:
    async with (
        serving(echo) as port,
        GuardedFetcher(private_networks=[IPv4Network("127.0.0.0/8")]) as fetcher,
        fetcher.connect("127.0.0.1", port, seconds=30) as (reader, writer),
    ):
        writer.write(b"x")
        assert await reader.read(1) == b"x"


async def test_the_total_connection_time_is_limited() -> None:
    async def say_nothing(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with serving(say_nothing) as port, fetcher_to(port, concurrency=1) as fetcher:
        with pytest.raises(FetchUnknown, match="did not respond within"):
            async with fetcher.connect(NAME, port, seconds=1) as (reader, writer):
                await reader.read(1)
        assert writer.transport.is_closing()
        async with fetcher.connect(NAME, port, seconds=30):  # its place is free again
            pass


async def test_an_open_connection_holds_a_fetch_slot() -> None:
    async with serving(echo) as port, fetcher_to(port, concurrency=1) as fetcher, AsyncExitStack() as stack:
        await stack.enter_async_context(fetcher.connect(NAME, port, seconds=30))
        with pytest.raises(FetchFailed, match="did not respond within"):
            async with fetcher.connect(NAME, port, seconds=0.05):
                pass
        with pytest.raises(FetchFailed, match="did not respond within"):
            await fetcher.get(f"https://{NAME}/", accept="*/*", max_bytes=1, seconds=0.05)


async def test_a_host_that_does_not_respond_counts_as_not_connected() -> None:
    async with serving(echo) as port:
        pass
    async with fetcher_to(port) as fetcher:
        with pytest.raises(FetchFailed, match="could not connect to"):
            async with fetcher.connect(NAME, port, seconds=30):
                pass


async def test_errors_in_the_block_are_raised_unchanged() -> None:
    async with serving(echo) as port, fetcher_to(port) as fetcher:
        for error in (TimeoutError("mine"), RuntimeError("mine")):
            with pytest.raises(type(error), match="mine"):
                async with fetcher.connect(NAME, port, seconds=30):
                    raise error
