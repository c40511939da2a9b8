"""Parsing untrusted URLs."""

from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pressroom.errors import FetchRefused
from pressroom.fetch import Target, parse_target


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://www.example.org", Target("https", "www.example.org", 443, "/", None)),
        ("HTTPS://WWW.Example.ORG/A?b=%20c", Target("https", "www.example.org", 443, "/A?b=%20c", None)),
        ("https://example.org:443/#part", Target("https", "example.org", 443, "/", None)),
        ("https://example.org?b", Target("https", "example.org", 443, "/?b", None)),
        ("https://xn--bcher-kva.example/", Target("https", "xn--bcher-kva.example", 443, "/", None)),
        ("http://example.org/", Target("http", "example.org", 80, "/", None)),
        ("https://192.0.2.1:8443/", Target("https", "192.0.2.1", 8443, "/", IPv4Address("192.0.2.1"))),
        ("https://[2001:DB8::1]/", Target("https", "2001:db8::1", 443, "/", IPv6Address("2001:db8::1"))),
    ],
)
def test_the_parts_of_a_url(url: str, target: Target) -> None:
    assert parse_target(url) == target


@pytest.mark.parametrize(
    ("url", "written"),
    [
        ("https://Example.org:443?b#c", "https://example.org/?b"),
        ("https://example.org:8443/", "https://example.org:8443/"),
        ("https://[::1]:8443/", "https://[::1]:8443/"),
        ("http://example.org:443/", "http://example.org:443/"),
    ],
)
def test_a_url_is_normalised(url: str, written: str) -> None:
    assert parse_target(url).url == written


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("", "has a character"),
        ("example.org", "must begin with https://"),
        ("//example.org/", "must begin with https://"),
        ("https:/example.org/", "must begin with https://"),
        ("https:example.org", "must begin with https://"),
        ("ftp://example.org/", "must begin with https://"),
        ("file:///etc/passwd", "must begin with https://"),
        ("gopher://example.org/", "must begin with https://"),
        ("https://", "host of the URL cannot be read"),
        ("https:///path", "host of the URL cannot be read"),
        ("https://user@example.org/", "must not contain a user name"),
        ("https://user:secret@example.org/", "must not contain a user name"),
        ("https://example.org@127.0.0.1/", "must not contain a user name"),
        ("https://example.org\\@127.0.0.1/", "has a character"),
        ("https://example.org\\.internal/", "has a character"),
        ("https://example.org/ x", "has a character"),
        ("https://example.org/\r\nHost: x", "has a character"),
        ("\thttps://example.org/", "has a character"),
        ("https://example.org/ü", "has a character"),
        ("https://bücher.example/", "has a character"),
        ("https://①②⑦.0.0.1/", "has a character"),
        ("https://127。0。0。1/", "has a character"),
        ("https://%31%32%37.0.0.1/", "host of the URL cannot be read"),
        ("https://example%2eorg/", "host of the URL cannot be read"),
        ("https://exa_mple.org/", "host of the URL cannot be read"),
        ("https://[::1/", "host of the URL cannot be read"),
        ("https://::1/", "host of the URL cannot be read"),
        ("https://[fe80::1%25eth0]/", "host of the URL cannot be read"),
        ("https://[v1.x]/", "host of the URL cannot be read"),
        ("https://[::ffff:1.2.3]/", "not an IP address"),
        ("https://[1.2.3.4]/", "host of the URL cannot be read"),
        ("https://2130706433/", "not an IP address"),
        ("https://0x7f000001/", "not an IP address"),
        ("https://0x7f.0.0.1/", "not an IP address"),
        ("https://0x7f.1/", "not an IP address"),
        ("https://example.0x7f/", "not an IP address"),
        ("https://127.1/", "not an IP address"),
        ("https://0177.0.0.1/", "not an IP address"),
        ("https://127.0.0.01/", "not an IP address"),
        ("https://127.0.0.1./", "not an IP address"),
        ("https://127.0.0.1.2/", "not an IP address"),
        ("https://example.123/", "not an IP address"),
        ("https://localhost/", "not a full domain name"),
        ("https://localhost./", "not a full domain name"),
        ("https://example.org./", "not a full domain name"),
        ("https://.example.org/", "not a full domain name"),
        ("https://example..org/", "not a full domain name"),
        ("https://-example.org/", "not a full domain name"),
        (f"https://{'a' * 64}.org/", "not a full domain name"),
        (f"https://{'a.' * 130}org/", "not a full domain name"),
        ("https://example.org:0/", "host of the URL cannot be read"),
        ("https://example.org:0443/", "host of the URL cannot be read"),
        ("https://example.org:/", "host of the URL cannot be read"),
        ("https://example.org:65536/", "at most 65535"),
        ("https://example.org:443:80/", "host of the URL cannot be read"),
        (f"https://example.org/{'a' * 2048}", "longer than 2048"),
    ],
)
def test_an_ambiguous_url_is_refused(url: str, problem: str) -> None:
    with pytest.raises(FetchRefused, match=problem):
        parse_target(url)


_PIECES = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "https://",
                "http://",
                "//",
                "@",
                ":",
                "[",
                "]",
                "\\",
                "#",
                "?",
                "/",
                "%",
                ".",
                "127.0.0.1",
                "::1",
                "0x7f",
                "org",
                "443",
            ]
        ),
        st.text(max_size=4),
    ),
    max_size=8,
).map("".join)


@given(_PIECES)
@example("https://example.org#@127.0.0.1/")
def test_others_read_an_accepted_address_in_the_same_way(url: str) -> None:
    try:
        target = parse_target(url)
    except FetchRefused:
        return
    for text in (url, target.url):
        parts = urlsplit(text)
        assert (parts.scheme, parts.hostname, parts.username) == (target.scheme, target.host, None)
        assert (parts.port or {"https": 443, "http": 80}[target.scheme]) == target.port
    assert parse_target(target.url) == target


@given(st.ip_addresses(v=4))
def test_four_numbers_are_an_ip_address(address: IPv4Address) -> None:
    assert parse_target(f"https://{address}/").address == address


@given(st.ip_addresses(v=6))
def test_brackets_hold_an_ip_address(address: IPv6Address) -> None:
    assert parse_target(f"https://[{address}]/").address == address
    assert parse_target(f"https://[{address.exploded.upper()}]/").address == address
