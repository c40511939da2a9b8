import ipaddress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from multidict import CIMultiDict
from pressroom.validation.client_ip import client_ip_of

PEER = "198.51.100.9"
SECRET = "8d3f-a secret, with = signs"

IPV4 = st.ip_addresses(v=4).map(str)
IPV6 = st.ip_addresses(v=6).map(str).filter(lambda address: not address.startswith("::ffff:"))
PORTS = st.integers(0, 65_535)
# Header content under a client's control: anything that a server accepts.
CLAIMS = st.text(st.characters(min_codepoint=0x20, max_codepoint=0xFF), max_size=80) | st.sampled_from(
    ['for="', 'for=6.6.6.6;secret="', "6.6.6.6", "6.6.6.6,", 'x="\\', ",", ";", "for=6.6.6.6;secret=wrong", "\\", '"']
)
QUOTED = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=20).map(
    lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
)


def by_count(count: int, *lines: str) -> str:
    return client_ip_of(PEER, CIMultiDict(("X-Forwarded-For", line) for line in lines), count, None)


def by_secret(*lines: str, secret: str = SECRET) -> str:
    return client_ip_of(PEER, CIMultiDict(("Forwarded", line) for line in lines), 0, secret)


def group(address: str) -> str:
    """Return the name under which an IP address is counted: IPv6 addresses by their /64 network."""
    parsed = ipaddress.ip_address(address)
    return address if parsed.version == 4 else str(ipaddress.ip_network((address, 64), strict=False))


@given(CLAIMS, CLAIMS)
def test_without_trusted_proxies_no_header_counts(forwarded_for: str, forwarded: str) -> None:
    headers = CIMultiDict({"X-Forwarded-For": forwarded_for, "Forwarded": forwarded})
    assert client_ip_of(PEER, headers, 0, None) == PEER


@pytest.mark.parametrize(
    ("peer", "address"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
        ("/run/pressroom.sock", "unknown"),
        ("", "unknown"),
    ],
)
def test_a_peer_is_counted_under_its_normal_form(peer: str, address: str) -> None:
    assert client_ip_of(peer, CIMultiDict(), 0, None) == address


@pytest.mark.parametrize(
    ("entry", "address"),
    [
        ("203.0.113.7", "203.0.113.7"),
        (" 203.0.113.7\t", "203.0.113.7"),
        ("203.0.113.7:5555", "203.0.113.7"),
        ("[2001:db8:1:2:3::1]:443", "2001:db8:1:2::/64"),
        ("[2001:db8:1:2:3::1]", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:3::1", "2001:db8:1:2::/64"),
        ("[::ffff:203.0.113.7]:80", "203.0.113.7"),
        ("fe80::1%25eth0", "fe80::/64"),
    ],
)
def test_ports_brackets_and_zones_are_removed(entry: str, address: str) -> None:
    assert by_count(1, entry) == address
    assert by_secret(f'for="{entry.strip()}";secret="{SECRET}"') == address


NO_ADDRESSES = [
    *("garbage;drop", "unknown", "_hidden", "1", "1e9", "203.0.113", "203.0.113.256", "0203.0.113.7", "٣.0.113.7"),
    *("203.0.113.7/8", "203.0.113.7:99999", "203.0.113.7:", "203.0.113.7:80:80", ":80", "[203.0.113.7]"),
    *("[2001:db8::1", "2001:db8::1]", "[]", "", "203.0.113.7 6.6.6.6"),
    pytest.param("9" * 100_000, id="long"),
]


@pytest.mark.parametrize("entry", NO_ADDRESSES)
def test_an_invalid_ip_address_is_ignored(entry: str) -> None:
    assert by_count(1, entry) == PEER
    assert by_secret(f'for="{entry}";secret="{SECRET}"') == PEER


@given(st.lists(CLAIMS, max_size=4), st.lists(IPV4 | IPV6, min_size=1, max_size=4), st.booleans())
def test_the_entry_of_the_outermost_trusted_proxy_counts_whatever_the_client_claims(
    claims: list[str], written: list[str], one_line: bool
) -> None:
    lines = [", ".join([*claims, *written])] if one_line else [*claims, *written]
    assert by_count(len(written), *lines) == group(written[0])


def test_fewer_entries_than_trusted_proxies_are_ignored() -> None:
    assert by_count(3, "203.0.113.1, 203.0.113.2") == PEER
    assert by_count(1) == PEER


@given(CLAIMS, IPV4 | IPV6, PORTS, QUOTED, st.booleans(), st.permutations(["for", "secret", "by", "proto"]))
@example('for=6.6.6.6;x="', "203.0.113.7", 80, '","', True, ["for", "secret", "by", "proto"])
@example('for=6.6.6.6;x="', "203.0.113.7", 80, '", for=6.6.6.6;x=\\""', True, ["by", "for", "secret", "proto"])
def test_the_element_with_the_secret_counts_whatever_the_client_claims(
    claim: str, address: str, port: int, other: str, one_line: bool, order: list[str]
) -> None:
    host = f"[{address}]" if ":" in address else address
    pairs = {"for": f'For="{host}:{port}"', "secret": f'SECRET="{SECRET}"', "by": f"by={other}", "proto": "proto=https"}
    written = ";".join(pairs[name] for name in order)
    assert by_secret(*([f"{claim}, {written}"] if one_line else [claim, written])) == group(address)


@given(st.lists(CLAIMS | IPV4.map(lambda address: f"for={address};secret={address}"), max_size=5))
def test_without_the_secret_nothing_in_the_header_counts(claims: list[str]) -> None:
    assert by_secret(*claims) == PEER
    assert by_secret(", ".join(claims)) == PEER


@pytest.mark.parametrize(
    "element",
    [
        "for=6.6.6.6",
        f'secret="{SECRET}"',
        f'for=_hidden;secret="{SECRET}"',
        f'for=unknown;secret="{SECRET}"',
        f'for=6.6.6.6;for=7.7.7.7;secret="{SECRET}"',
        f'for=6.6.6.6:80;secret="{SECRET}"',
        f'for = 6.6.6.6;secret="{SECRET}"',
        f'for=6.6.6.6 secret="{SECRET}"',
        f'for=6.6.6.6;secret="{SECRET}',
        f'for=6.6.6.6;secret="{SECRET}x"',
        'for=6.6.6.6;secret=""',
        "for=6.6.6.6;secret=\ud800é",
    ],
)
def test_an_invalid_or_anonymous_element_is_ignored(element: str) -> None:
    assert by_secret(element) == PEER


def test_quoting_makes_no_difference_to_a_value() -> None:
    assert by_secret("for=203.0.113.7;secret=abc", secret="abc") == "203.0.113.7"
    assert by_secret(r'for="203.0.113.\7";secret="a\b\c"', secret="abc") == "203.0.113.7"


def test_of_several_elements_with_the_secret_the_rightmost_counts() -> None:
    element = f'for={{}};secret="{SECRET}"'.format
    assert by_secret(f"{element('203.0.113.1')}, {element('203.0.113.2')}") == "203.0.113.2"
    assert by_secret(element("203.0.113.1"), element("203.0.113.2")) == "203.0.113.2"


def test_with_a_secret_a_count_is_not_trusted() -> None:
    headers = CIMultiDict({"X-Forwarded-For": "6.6.6.6"})
    assert client_ip_of(PEER, headers, 1, SECRET) == PEER


def test_an_empty_secret_trusts_no_proxy() -> None:
    headers = CIMultiDict({"Forwarded": 'for=6.6.6.6;secret=""', "X-Forwarded-For": "6.6.6.6"})
    assert client_ip_of(PEER, headers, 0, "") == PEER


@pytest.mark.parametrize("flood", ["for=6.6.6.6," * 20_000, ',"' * 50_000, ";" * 100_000, 'for="' + "\\" * 100_001])
def test_a_flooded_header_does_not_hide_the_client(flood: str) -> None:
    assert by_secret(f'{flood}, for=203.0.113.7;secret="{SECRET}"') == "203.0.113.7"
    assert by_count(1, f"{flood}, 203.0.113.7") == "203.0.113.7"
