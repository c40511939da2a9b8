"""TXT records of domains: their content, and name servers that fail or do not respond."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from itertools import count

import pytest
from pressroom_content.config import ContentConfig
from pressroom_content.websites import domain_names
from pressroom_content.websites.domain_names import RecordsUnknown, assigned_websites, record_name, record_text
from pydantic import ValidationError
from support.name_server import NameServer, name_server

_numbers = count(1)


@pytest.fixture
def domain() -> str:
    return f"records{next(_numbers)}.example.org"


@pytest.fixture
def server() -> NameServer:
    return name_server()


@pytest.fixture
def silent() -> Iterator[str]:
    """The IP address and port of a name server that never responds."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{listening.getsockname()[1]}"


@pytest.mark.parametrize(
    ("texts", "ids"),
    [
        (["website=w_1"], {"w_1"}),
        (["v=spf1 -all", "website=w_1", "website= w_2 "], {"w_1", "w_2"}),
        (["v=spf1 -all", "my website=w_1"], set()),
        (['website=w_" "1'], {"w_1"}),
        ([r"website=\255\000"], {"\ufffd\0"}),
        ([], set()),
        ([f"website=w_{number}" for number in range(40)], {f"w_{number}" for number in range(40)}),
    ],
)
async def test_dns_records_name_websites(server: NameServer, domain: str, texts: list[str], ids: set[str]) -> None:
    server.texts[record_name(domain)] = texts
    assert set(await assigned_websites(domain, [server.address])) == ids


async def test_a_domain_without_records_is_assigned_to_no_website(server: NameServer, domain: str) -> None:
    assert list(await assigned_websites(domain, [server.address])) == []
    assert list(await assigned_websites(f"{'a.' * 125}org", [server.address])) == []


async def test_failing_or_silent_servers_leave_the_records_unknown(
    server: NameServer, silent: str, domain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.failing.add(record_name(domain))
    with pytest.raises(RecordsUnknown, match="SERVFAIL"):
        await assigned_websites(domain, [server.address])
    monkeypatch.setattr(domain_names, "_SECONDS", 0.3)
    with pytest.raises(RecordsUnknown):
        await assigned_websites(domain, [silent])


async def test_another_server_is_tried_if_one_fails(server: NameServer, domain: str) -> None:
    other = NameServer()
    other.failing.add(record_name(domain))
    server.texts[record_name(domain)] = [record_text("w_1")]
    assert set(await assigned_websites(domain, [other.address, server.address])) == {"w_1"}


@pytest.mark.parametrize("text", ["192.0.2.1", "192.0.2.1:5353", "2001:db8::1", "[2001:db8::1]:53", "[2001:db8::1]"])
def test_dns_servers_are_ip_addresses(text: str) -> None:
    assert ContentConfig(dns_servers=(text,)).dns_servers == (text,)


@pytest.mark.parametrize("text", ["", "dns.example.org", "192.0.2.1:0", "192.0.2.1:65536", "192.0.2.1:dns", "[::1]:"])
def test_invalid_dns_servers_are_refused(text: str) -> None:
    with pytest.raises(ValidationError, match=r"must (be an IP address|have a port)"):
        ContentConfig(dns_servers=(text,))
