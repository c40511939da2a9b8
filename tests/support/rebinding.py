"""Names whose IP addresses change between lookups, in a separate network namespace; run by a test of DNS rebinding.

The system's resolver queries a name server in this process. Loopback addresses are inside; `OUTSIDE` represents the
internet. Prints the number of connections to each, and the number of refused URLs.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import socket
import struct
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from typing import Final

from pressroom.fetch import GuardedFetcher
from pressroom.sdk import FetchFailed, FetchRefused

from support.name_server import NameServer

OUTSIDE: Final = "8.8.8.8"
_INSIDE: Final = ("127.0.0.1", "::1")
_PORT: Final = 443
_NAMES: Final = 60

_ALWAYS: Final[dict[str, dict[str, Sequence[str]]]] = {
    "inside": {"A": ["127.0.0.1"]},
    "inside6": {"AAAA": ["::1"]},
    "zero": {"A": ["0.0.0.0"]},
    "both": {"A": [OUTSIDE, "127.0.0.1"]},
    "both6": {"A": [OUTSIDE], "AAAA": ["::1"]},
    "last": {"A": [*(f"8.8.4.{number}" for number in range(1, 40)), "127.0.0.1"]},
    "mapped": {"AAAA": ["::ffff:127.0.0.1"]},
    "compatible": {"AAAA": ["::127.0.0.1"]},
    "translated": {"AAAA": ["64:ff9b::7f00:1"]},
    "tunnelled": {"AAAA": ["2002:7f00:1::1"]},
    "unique": {"AAAA": ["fd00::1"]},
    "metadata": {"A": ["169.254.169.254"]},
    "carrier": {"A": ["100.64.0.1"]},
}
"""Names with constant IP addresses, at least one of them internal."""

_queries: Counter[str] = Counter()
_connections: Counter[str] = Counter()


def _addresses(name: str, kind: str) -> Sequence[str]:
    first = name.partition(".")[0]
    if first in _ALWAYS:
        return _ALWAYS[first].get(kind, ())
    if kind != "A":
        return ()
    _queries[name] += 1
    outside_first = first.startswith("flip")
    return [OUTSIDE if (_queries[name] % 2 == 1) == outside_first else "127.0.0.1"]


def _bring_up() -> None:
    """Bring the loopback interface up, and add the outside IP address to it (netdevice(7))."""
    flags, address, mask = 0x8914, 0x8916, 0x891C  # SIOCSIFFLAGS, SIOCSIFADDR, SIOCSIFNETMASK

    def internet(text: str) -> bytes:
        return struct.pack("<HH4s16x", socket.AF_INET, 0, socket.inet_aton(text))

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as device:
        fcntl.ioctl(device, flags, struct.pack("<16sH22x", b"lo", 0x1 | 0x40))  # IFF_UP, IFF_RUNNING
        fcntl.ioctl(device, address, struct.pack("<16s24s", b"lo:1", internet(OUTSIDE)))
        fcntl.ioctl(device, mask, struct.pack("<16s24s", b"lo:1", internet("255.255.255.255")))


def _listen(address: str) -> None:
    listening = socket.create_server((address, _PORT), family=socket.AF_INET6 if ":" in address else socket.AF_INET)

    def accept() -> None:
        while True:
            connection, _ = listening.accept()
            _connections[address] += 1
            connection.close()

    threading.Thread(target=accept, name=address, daemon=True).start()


async def _fetch(fetcher: GuardedFetcher, name: str, counts: Counter[str]) -> None:
    try:
        await fetcher.get(f"https://{name}.example.org/", accept="*/*", max_bytes=1000, seconds=10)
    except FetchRefused:
        counts["refused"] += 1
    except FetchFailed:  # no server here speaks TLS
        counts["failed"] += 1


async def _attack() -> Counter[str]:
    counts: Counter[str] = Counter()
    names = [f"{kind}{number}" for number in range(_NAMES) for kind in ("flip", "flop")]
    async with GuardedFetcher() as fetcher:
        await asyncio.gather(*(_fetch(fetcher, name, counts) for name in _ALWAYS))
        for _ in range(2):
            await asyncio.gather(*(_fetch(fetcher, name, counts) for name in names))
    return counts


def _main() -> None:
    _bring_up()
    for address in (OUTSIDE, *_INSIDE):
        _listen(address)
    NameServer(53, _addresses)
    turns = [str(socket.getaddrinfo("flip.example.org.", _PORT, type=socket.SOCK_STREAM)[0][4][0]) for _ in range(2)]
    counts = asyncio.run(_attack())
    inside = sum(_connections[address] for address in _INSIDE)
    sys.stdout.write(json.dumps({**counts, "turns": turns, "inside": inside, "outside": _connections[OUTSIDE]}))


if __name__ == "__main__":
    _main()
