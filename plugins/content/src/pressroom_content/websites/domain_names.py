"""Domain names: validation, TXT records, and the URLs of built-in sites that result from them.

Whoever controls the DNS of a domain can assign it to a website with a TXT record: `_pressroom.blog.example.org` with
the text `website=w_1`. Nobody else can create that record, so it takes precedence over the order of requests.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from html import escape, unescape
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from pressroom.sdk import InvalidInput

from pressroom_content.config import host_and_port

if TYPE_CHECKING:
    from dns.asyncresolver import Resolver


FIELD: Final = "settings.domain"
MAX_LENGTH: Final = 253

_LABEL: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)
_PLAIN: Final = re.compile(r"[a-z0-9.-]{1,253}", re.ASCII)
_LAST_LABEL: Final = re.compile(r"(?=[a-z0-9-]*[a-z])[a-z0-9-]{2,63}", re.ASCII)
_LINK: Final = re.compile(r'(\s(?:src|href|poster)=")([^"<>]*)')
_MAX_TYPED: Final = 300
_DEVIATING: Final = frozenset("ßς\u200c\u200d")
"""Characters that IDNA 2003 maps and IDNA 2008, which browsers use, preserves (UTS #46, section 7)."""

_NOT_PUBLIC: Final = frozenset({"arpa", "home", "internal", "invalid", "lan", "local", "localhost", "onion"})
"""Top-level labels that cannot be resolved on the internet (RFC 6761, RFC 6762, RFC 7686 and common use)."""


def read_domain(typed: str, base_url: str, *, listed: bool = False) -> str:
    """Return a domain in its normalised form: lower case, ASCII, without a port.

    Args:
        typed: the owner's input, such as `Blog.Example.org`. `https://` and a trailing slash are ignored.
        base_url: the server's public URL. Its host, subdomains and parent domains are reserved for the operator.
        listed: whether the operator assigned the domain. If so, it may be related to the server's own host.

    Raises `InvalidInput`, which says what is allowed.
    """
    text = typed.strip()
    name = re.sub(r"\Ahttps?://", "", text[:_MAX_TYPED], count=1, flags=re.IGNORECASE).removesuffix("/")
    server = urlsplit(base_url)
    if server.port is not None:
        name = name.removesuffix(f":{server.port}")
    name = _ascii(name.lower())
    if len(text) > _MAX_TYPED or len(name) > MAX_LENGTH or not _is_domain(name):
        raise InvalidInput(
            FIELD,
            "must be a domain such as blog.example.org: letters, digits and hyphens between dots, without https://, a "
            "port, a path or an IP address",
        )
    if name.rpartition(".")[2] in _NOT_PUBLIC:
        raise InvalidInput(FIELD, f"{name} cannot be looked up on the internet; give a domain that visitors reach")
    host = (server.hostname or "").lower()
    if name == host or (not listed and (name.endswith(f".{host}") or host.endswith(f".{name}"))):
        raise InvalidInput(
            FIELD, f"{name} is this server's own, or belongs to its host {host}; give a domain that is yours"
        )
    return name


def could_be_domain(name: str) -> bool:
    """Check whether a name from a request has only characters that stored domains can have, and is not too long."""
    return _PLAIN.fullmatch(name) is not None


def domain_url(name: str, base_url: str) -> str:
    """Return the URL of a site with a domain. Scheme and port are those of the server's public URL."""
    server = urlsplit(base_url)
    return f"{server.scheme}://{name}" if server.port is None else f"{server.scheme}://{name}:{server.port}"


def server_url(site_key: str | None, base_url: str) -> str:
    """Return the URL of a built-in site on this server, which exists with or without a domain."""
    return f"{base_url}/sites/{site_key}"


def site_url(site_key: str | None, proven_domain: str | None, base_url: str) -> str:
    """Return the URL of a built-in site: on its proven domain, if there is one, otherwise on this server."""
    return domain_url(proven_domain, base_url) if proven_domain else server_url(site_key, base_url)


def current_url(url: str, website_url: str, server_site_url: str) -> str:
    """Return the current form of a URL that was stored as one on this server.

    Without a domain, the URL is unchanged. With one, URLs of the site move to its domain, and other paths of this
    server become full URLs: they do not exist on the domain.
    """
    if website_url == server_site_url or not server_site_url:
        return url
    is_path = url.startswith("/") and not url.startswith("//")
    parts = urlsplit(server_site_url)
    full = f"{parts.scheme}://{parts.netloc}{url}" if is_path else url
    suffix = full.removeprefix(server_site_url)
    return f"{website_url}{suffix}" if suffix != full and suffix[:1] in ("", "/", "?", "#") else full


def with_current_links(html: str, website_url: str, server_site_url: str) -> str:
    """Return sanitised HTML in which `current_url` is applied to the URLs of links and images."""
    if website_url == server_site_url:
        return html
    return _LINK.sub(
        lambda match: f"{match[1]}{escape(current_url(unescape(match[2]), website_url, server_site_url))}", html
    )


def with_current_urls(text: str, website_url: str, server_site_url: str) -> str:
    """Return plain text or Markdown in which a site's URLs on this server are replaced by those on its domain."""
    if website_url == server_site_url:
        return text
    parts = urlsplit(server_site_url)
    origin, path = re.escape(f"{parts.scheme}://{parts.netloc}"), re.escape(parts.path)
    pattern = rf"""(?:{origin}|(?<![^\s("'<\[])){path}(?=[/?#)\]>"'\s]|\Z)"""
    return re.sub(pattern, lambda _: website_url, text)


def _ascii(name: str) -> str:
    if name.isascii():
        return name
    if _DEVIATING & set(name):
        raise InvalidInput(FIELD, "has a letter that is written in several ways; give the domain in its form xn--…")
    try:
        return name.encode("idna").decode("ascii").lower()
    except UnicodeError:
        return ""


def _is_domain(name: str) -> bool:
    labels = name.split(".")
    if len(labels) < 2 or not all(_LABEL.fullmatch(label) for label in labels) or not _LAST_LABEL.fullmatch(labels[-1]):
        return False
    try:
        return all(not label.startswith("xn--") or bool(label.encode().decode("idna")) for label in labels)
    except UnicodeError:
        return False


_RECORD_LABEL: Final = "_pressroom"
_KEY: Final = "website="
_SECONDS: Final = 5.0
_MAX_RECORDS: Final = 100
_MAX_NAME: Final = 253


class RecordsUnknown(Exception):
    """The DNS servers did not respond to the query; the message says why."""


def record_name(domain: str) -> str:
    """Return the name of the record that assigns a domain to a website."""
    return f"{_RECORD_LABEL}.{domain}"


def record_text(website_id: str) -> str:
    """Return the text of the record that assigns a domain to a website."""
    return f"{_KEY}{website_id}"


async def assigned_websites(domain: str, servers: Sequence[str] = ()) -> Collection[str]:
    """Return the IDs of the websites that the records of a domain list; empty if there are no such records.

    Args:
        domain: the domain, in lower case.
        servers: the DNS servers to query, as IP addresses with or without a port. Defaults to the system's.

    Raises:
        RecordsUnknown: no usable response arrived from any server.
    """
    from dns.exception import DNSException  # noqa: PLC0415 - takes a while to load, and few sites have domains
    from dns.resolver import NXDOMAIN, NoAnswer  # noqa: PLC0415

    name = record_name(domain)
    if len(name) > _MAX_NAME:
        return ()
    try:
        response = await _resolver(servers).resolve(f"{name}.", "TXT", search=False)
    except (NXDOMAIN, NoAnswer):
        return ()
    except DNSException as error:
        raise RecordsUnknown(" ".join(str(error).split())[:300] or type(error).__name__) from error
    texts = [b"".join(record.strings).decode("utf-8", "replace").strip() for record in list(response)[:_MAX_RECORDS]]
    return frozenset(text.removeprefix(_KEY).strip() for text in texts if text.startswith(_KEY))


def _resolver(servers: Sequence[str]) -> Resolver:
    from dns.asyncresolver import Resolver  # noqa: PLC0415
    from dns.nameserver import Do53Nameserver  # noqa: PLC0415

    resolver = Resolver(configure=not servers)
    if servers:
        resolver.nameservers = [Do53Nameserver(*host_and_port(server)) for server in servers]
    resolver.lifetime = _SECONDS
    return resolver
