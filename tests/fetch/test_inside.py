"""The fetcher never connects to an IP address that is not public."""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.errors import FetchRefused
from pressroom.fetch import GuardedFetcher
from support.origins import StubNames, Visit

from .conftest import NAME, Fetcher, RunOrigin

_INSIDE_V4 = [
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "224.0.0.0/4",
]
_INSIDE_V6 = ["::1/128", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8"]
_WRAPPINGS = ["::ffff:0:0", "64:ff9b::", "::"]
_PUBLIC = ["93.184.215.14", "2606:4700:4700::1111"]

_v4 = st.sampled_from(_INSIDE_V4).flatmap(lambda text: st.ip_addresses(network=IPv4Network(text))).map(IPv4Address)
_v6 = st.sampled_from(_INSIDE_V6).flatmap(lambda text: st.ip_addresses(network=IPv6Network(text))).map(IPv6Address)
_wrapped = st.builds(
    lambda prefix, address: IPv6Address(int(IPv6Address(prefix)) | int(address)), st.sampled_from(_WRAPPINGS), _v4
)
_6to4 = st.builds(lambda address: IPv6Address(0x2002 << 112 | int(address) << 80 | 1), _v4)
_teredo = st.builds(lambda address: IPv6Address(0x20010000 << 96 | int(address) ^ 0xFFFFFFFF), _v4)
INSIDE = st.one_of(_v4, _v6, _wrapped, _6to4, _teredo).map(str)


def _spellings(address: str) -> st.SearchStrategy[str]:
    parsed = ip_address(address)
    if isinstance(parsed, IPv6Address):
        return st.sampled_from(
            [f"[{parsed}]", f"[{parsed.exploded}]", f"[{parsed.compressed.upper()}]", f"[{parsed}%25lo]"]
        )
    number, parts = int(parsed), address.split(".")
    return st.sampled_from(
        [
            address,
            f"{address}.",
            str(number),
            hex(number),
            ".".join(hex(int(part)) for part in parts),
            ".".join(f"0{int(part):o}" for part in parts),
            f"{parts[0]}.{number & 0xFFFFFF}",
            f"{NAME}@{address}",
            f"{address}#@{NAME}",
            "".join(f"%{ord(char):02x}" for char in address),
            address.replace(".", "\u3002"),
            f"{NAME}\\@{address}",
        ]
    )


class _Connections:
    """Records the IP addresses this process connects to, through the interpreter's audit events."""

    def __init__(self) -> None:
        self.made: list[object] | None = None
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[object, ...]) -> None:
        if event == "socket.connect" and self.made is not None:
            self.made.append(arguments[1])

    @contextmanager
    def recorded(self) -> Iterator[list[object]]:
        connections: list[object] = []
        self.made = connections
        try:
            yield connections
        finally:
            self.made = None


CONNECTIONS = _Connections()


async def _refused(url: str, names: StubNames) -> None:
    async with GuardedFetcher(resolver=names) as fetcher:
        with pytest.raises(FetchRefused) as refusal:
            await fetcher.get(url, accept="*/*", max_bytes=1, seconds=30)
    # The error must not reveal the internal IP address that a name resolves to.
    assert not any(
        str(address) in str(refusal.value) for addresses in names.addresses_by_query for address in addresses
    )


@given(st.lists(INSIDE, min_size=1, max_size=3), st.lists(st.sampled_from(_PUBLIC), max_size=2), st.randoms())
def test_a_name_with_an_inside_address_is_never_connected_to(
    inside: list[str], public: list[str], random: Random
) -> None:
    addresses = inside + public
    random.shuffle(addresses)
    with CONNECTIONS.recorded() as made:
        asyncio.run(_refused(f"https://{NAME}/", StubNames(addresses)))
    assert made == []


@given(INSIDE.flatmap(_spellings))
def test_no_spelling_of_an_inside_address_is_connected_to(host: str) -> None:
    names = StubNames(["127.0.0.1"])
    with CONNECTIONS.recorded() as made:
        asyncio.run(_refused(f"https://{host}/", names))
    assert made == []


async def test_connections_are_recorded(secure_origin: RunOrigin, fetcher_for: Fetcher) -> None:
    async def reply(visit: Visit) -> None:
        await visit.respond()

    async with secure_origin(reply) as running, fetcher_for(running) as fetcher:
        with CONNECTIONS.recorded() as connections:
            await fetcher.get(f"https://{NAME}:{running.port}/", accept="*/*", max_bytes=1, seconds=30)
    assert connections == [("127.0.0.1", running.port)]


async def test_a_name_is_resolved_once_and_that_ip_address_is_used(
    secure_origin: RunOrigin, fetcher_for: Fetcher
) -> None:
    async def reply(visit: Visit) -> None:
        await visit.respond(b"checked")

    names = StubNames(["127.0.0.1"], ["169.254.169.254"])
    async with secure_origin(reply) as running, fetcher_for(running, names=names) as fetcher:
        url = f"https://{NAME}:{running.port}/"
        assert (await fetcher.get(url, accept="*/*", max_bytes=100, seconds=30)).content == b"checked"
        assert names.queries == [NAME]
        with pytest.raises(FetchRefused, match="not on the public internet"):
            await fetcher.get(url, accept="*/*", max_bytes=100, seconds=30)
