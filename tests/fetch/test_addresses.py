"""Classification of IP addresses: which are public."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pressroom.fetch import is_public

LOCAL_V4 = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
]
LOCAL_V6 = [
    "::/96",
    "64:ff9b:1::/48",
    "100::/64",
    "2001::/32",
    "2001:2::/48",
    "2001:10::/28",
    "2001:20::/28",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
    "5f00::/16",
    "fc00::/7",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
]


def local_v4() -> st.SearchStrategy[IPv4Address]:
    return st.sampled_from(LOCAL_V4).flatmap(lambda text: st.ip_addresses(network=IPv4Network(text))).map(IPv4Address)


@given(local_v4())
def test_a_special_ipv4_address_is_not_public(address: IPv4Address) -> None:
    assert not is_public(address)


@given(
    st.sampled_from(LOCAL_V6).flatmap(lambda text: st.ip_addresses(network=IPv6Network(text))).map(IPv6Address),
)
def test_a_special_ipv6_address_is_not_public(address: IPv6Address) -> None:
    assert not is_public(address)


@given(local_v4(), st.sampled_from(["::ffff:0:0", "64:ff9b::", "::", "2a00:1450:4001:800:0:5efe::"]))
def test_a_special_ipv4_address_stays_one_in_its_ipv6_forms(address: IPv4Address, prefix: str) -> None:
    assert not is_public(IPv6Address(int(IPv6Address(prefix)) | int(address)))


@given(st.ip_addresses(v=4).map(int), st.integers(0, 2**80 - 1))
def test_whatever_6to4_wraps_is_not_public(address: int, rest: int) -> None:
    assert not is_public(IPv6Address(0x2002 << 112 | address << 80 | rest))


@pytest.mark.parametrize(
    "text",
    ["169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254"],
)
def test_cloud_metadata_ip_addresses_are_not_public(text: str) -> None:
    assert not is_public(ip_address(text))


@pytest.mark.parametrize("text", ["fe80::1%eth0", "2a00:1450:4001:800::200e%1"])
def test_an_ip_address_with_a_zone_is_not_public(text: str) -> None:
    assert not is_public(ip_address(text))


@pytest.mark.parametrize(
    "text",
    [
        "1.1.1.1",
        "93.184.215.14",
        "2606:4700:4700::1111",
        "2a00:1450:4001:800::200e",
        "::ffff:93.184.215.14",
        "64:ff9b::5db8:d70e",
        "2a00:1450:4001:800:0:5efe:5db8:d70e",
    ],
)
def test_ip_addresses_of_public_hosts_are_public(text: str) -> None:
    assert is_public(ip_address(text))
