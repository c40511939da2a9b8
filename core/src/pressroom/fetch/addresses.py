"""Which IP addresses belong to the public internet.

`ipaddress.is_global` follows IANA's registries of special IP addresses, but says yes to multicast, to forms that wrap
another IP address, and to IP addresses that a cloud answers inside its own network. The lists here are on top of it.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final

IPAddress = IPv4Address | IPv6Address

_DENIED_V4: Final = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",
            "100.64.0.0/10",  # shared by carriers (RFC 6598)
            "127.0.0.0/8",
            "168.63.129.16/32",  # a cloud's virtual host, with metadata
            "169.254.0.0/16",  # link-local, with most clouds' metadata
            "172.16.0.0/12",
            "192.0.0.0/24",  # protocol assignments (RFC 6890), with a cloud's metadata
            "192.0.2.0/24",  # documentation
            "192.31.196.0/24",  # AS112
            "192.52.193.0/24",  # AMT relays
            "192.88.99.0/24",  # 6to4 relays
            "192.168.0.0/16",
            "192.175.48.0/24",  # AS112
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, with the broadcast address
        ),
    )
)

_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")
"""All that has been given out to hosts so far (RFC 4291); what is outside is local, wrapped or multicast."""

_DENIED_V6: Final = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocol assignments: Teredo, benchmarks, ORCHID
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4
            "2620:4f:8000::/48",  # AS112
            "3ffe::/16",  # the former 6bone
            "3fff::/20",  # documentation
        ),
    )
)

_NAT64: Final = IPv6Network("64:ff9b::/96")
_ISATAP: Final = (0x0000_5EFE, 0x0200_5EFE)


def is_public(address: IPAddress) -> bool:
    """Return whether an IP address belongs to a host on the public internet.

    An IPv4 address in IPv6 form (`::ffff:…`) or behind NAT64 (`64:ff9b::…`, RFC 6052) counts as what it wraps. 6to4,
    Teredo and IPv4-compatible addresses are never public: nobody needs them, and they lead anywhere.
    """
    if isinstance(address, IPv4Address):
        return address.is_global and not _within(address, _DENIED_V4)
    if address.scope_id is not None:
        return False
    wrapped = address.ipv4_mapped or _translated(address)
    if wrapped is not None:
        return is_public(wrapped)
    return (
        address in _GLOBAL_UNICAST
        and address.is_global
        and not any(address in network for network in _DENIED_V6)
        and _tunnel_end_is_public(address)
    )


def _within(address: IPv4Address, networks: tuple[IPv4Network, ...]) -> bool:
    return any(address in network for network in networks)


def _translated(address: IPv6Address) -> IPv4Address | None:
    return IPv4Address(int(address) & 0xFFFF_FFFF) if address in _NAT64 else None


def _tunnel_end_is_public(address: IPv6Address) -> bool:
    """Look at the IPv4 address at the end of an ISATAP address (RFC 5214, section 6.1)."""
    if int(address) >> 32 & 0xFFFF_FFFF not in _ISATAP:
        return True
    return is_public(IPv4Address(int(address) & 0xFFFF_FFFF))
