"""The operator's settings, `[plugins.content.config]`."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Annotated, Final

from pressroom.sdk import PluginConfig
from pydantic import AfterValidator, Field, SecretStr

_DNS_PORT: Final = 53
_MAX_PORT: Final = 65_535


def host_and_port(server: str) -> tuple[str, int]:
    """Parse `192.0.2.1`, `192.0.2.1:5353`, `2001:db8::1` or `[2001:db8::1]:5353`. Raises `ValueError`."""
    host, colon, port = server.rpartition(":")
    if colon and (host.endswith("]") or ":" not in host):
        return host.strip("[]"), int(port)
    return server.strip("[]"), _DNS_PORT


def _dns_server(server: str) -> str:
    try:
        host, port = host_and_port(server)
        ip_address(host)
    except ValueError:
        raise ValueError("must be an IP address, with or without a port") from None
    if not 0 < port <= _MAX_PORT:
        raise ValueError(f"must have a port from 1 to {_MAX_PORT}")
    return server


DnsServer = Annotated[str, AfterValidator(_dns_server)]


class ContentConfig(PluginConfig):
    """Keys for credentials, limits for accounts, and other settings of articles and websites."""

    credential_keys: tuple[Annotated[SecretStr, Field(min_length=32)], ...] = Field(
        (),
        description=(
            "Keys that encrypt the credentials of sites, at least 32 characters each. The first one encrypts, all of "
            "them decrypt: to change keys, put the new one first. By default, a key is created in the plugin's data "
            "folder."
        ),
    )
    max_websites: int = Field(
        50, ge=1, le=10_000, description="Maximum number of websites that an account may connect."
    )
    max_articles: int = Field(
        20_000, ge=1, le=1_000_000, description="Maximum number of articles that an account may have."
    )
    max_body_bytes: int = Field(
        2_097_152, ge=10_000, le=16_777_216, description="Maximum size of the body of an article, in bytes."
    )
    max_versions: int = Field(
        100, ge=10, le=10_000, description="Versions of an article that are kept, in addition to published ones."
    )
    trash_days: int = Field(30, ge=1, le=365, description="Days after which articles in the trash are deleted.")
    connect_minutes: int = Field(30, ge=5, le=1440, description="Minutes for which a link to connect a site works.")
    settle_seconds: float = Field(
        60,
        ge=0,
        le=3600,
        description=(
            "Seconds after which a site that did not respond to a request has either acted on it or never will. Until "
            "then, the server only checks whether it did, and does not send the request again."
        ),
    )
    lease_seconds: float = Field(
        60,
        ge=0.2,
        le=600,
        description=(
            "Lease in seconds: how long a process may be unresponsive before another one takes over its publication."
        ),
    )
    connector_seconds: float = Field(
        300,
        ge=0.1,
        le=800,
        description=(
            "Seconds that one call of a connector to a site may take, such as one upload, before it counts as failed."
        ),
    )
    scorer: str = Field(
        "",
        max_length=64,
        description=(
            "Name of the article scorer to use, such as seo, if plugins offer several. By default, the first by plugin "
            "ID."
        ),
    )
    robots_txt: bool = Field(
        True,
        description=(
            "Whether `/robots.txt` lists the sitemaps of built-in sites, in addition to that of the server's "
            "own pages. `false` leaves it to another plugin, or to the server."
        ),
    )
    domains: dict[str, str] = Field(
        {},
        max_length=10_000,
        description=(
            'Domains of built-in sites that need no proof, each with the key of its site: `blog.example.org = "ada"` '
            "is the site at `/sites/ada`, whose owner sets the domain. No other site can have it."
        ),
    )
    dns_servers: tuple[DnsServer, ...] = Field(
        (),
        max_length=10,
        description=(
            'DNS servers to query for the TXT records of domains, such as `["192.0.2.53", "192.0.2.54:5353"]`. '
            "By default, those of the system."
        ),
    )
    index_items: int = Field(50, ge=1, le=1000, description="Number of newest articles in /llms-full.txt.")
