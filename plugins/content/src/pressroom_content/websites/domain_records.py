"""TXT records of domains (RFC 1035, section 3.3.14): to which websites of this server an owner gives a domain.

Whoever controls the DNS of a domain can give it to a website with a record: `_pressroom.blog.example.org` with the text
`website=w_1`. Nobody else can make such a record, so it counts more than who asked first.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final

from pressroom_content.config import host_and_port

if TYPE_CHECKING:
    from dns.asyncresolver import Resolver

_LABEL: Final = "_pressroom"
_KEY: Final = "website="
_SECONDS: Final = 5.0
_MOST: Final = 100
_MAX_NAME: Final = 253


class RecordsUnknown(Exception):
    """The DNS servers did not say which records there are; the text says why."""


def record_name(domain: str) -> str:
    """Return the name of the record that gives a domain to a website."""
    return f"{_LABEL}.{domain}"


def record_text(website_id: str) -> str:
    """Return the text of the record that gives a domain to a website."""
    return f"{_KEY}{website_id}"


async def given_to(domain: str, servers: Sequence[str] = ()) -> Collection[str]:
    """Return the ids of the websites that the records of a domain name; none where there are no such records.

    Args:
        domain: its name, in lower case.
        servers: the DNS servers to ask, as IP addresses with or without a port; none for those of the system.

    Raises:
        RecordsUnknown: no server answers, or none that can be used.
    """
    from dns.exception import DNSException  # noqa: PLC0415 - takes a while to load, and few sites have domains
    from dns.resolver import NXDOMAIN, NoAnswer  # noqa: PLC0415

    name = record_name(domain)
    if len(name) > _MAX_NAME:
        return ()
    try:
        answer = await _resolver(servers).resolve(f"{name}.", "TXT", search=False)
    except (NXDOMAIN, NoAnswer):
        return ()
    except DNSException as error:
        raise RecordsUnknown(" ".join(str(error).split())[:300] or type(error).__name__) from error
    texts = [b"".join(record.strings).decode("utf-8", "replace").strip() for record in list(answer)[:_MOST]]
    return frozenset(text.removeprefix(_KEY).strip() for text in texts if text.startswith(_KEY))


def _resolver(servers: Sequence[str]) -> Resolver:
    from dns.asyncresolver import Resolver  # noqa: PLC0415
    from dns.nameserver import Do53Nameserver  # noqa: PLC0415

    resolver = Resolver(configure=not servers)
    if servers:
        resolver.nameservers = [Do53Nameserver(*host_and_port(server)) for server in servers]
    resolver.lifetime = _SECONDS
    return resolver
