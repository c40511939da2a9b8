"""Domains for tests: names that resolve to this machine, as users' domains resolve to their server."""

from __future__ import annotations

import time
from collections.abc import Sequence
from ipaddress import IPv4Address
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
from pressroom.testing import RunningHost
from pressroom_content.websites.domains import Domains, DomainState

from support.content_client import Client, content_of

_NOTICED_SECONDS: Final = 60.0
"""Processes notice a change within two seconds, unless they are starved of CPU time."""


class DomainNames:
    """A name service for a host that resolves only the names in `here`, to this machine."""

    def __init__(self, host: RunningHost) -> None:
        self.here: set[str] = set()
        fetcher: Any = content_of(host).services.fetcher
        fetcher._names = dict.fromkeys(fetcher._names, self)

    async def resolve(self, name: str) -> Sequence[IPv4Address]:
        """Return the IP addresses of a name. Raises `OSError` unless it is in `here`."""
        if name not in self.here:
            raise OSError(f"no such name: {name}")
        return [IPv4Address("127.0.0.1")]

    def close(self) -> None:
        """Do nothing: there are no resources to release."""


def check(client: Client, website_id: str) -> DomainState:
    """Check the domain of a website, and return its state."""
    state = client.host.run(Domains(client.plugin).check(client.user_id, website_id))
    assert state is not None
    return state


def prove(names: DomainNames, client: Client, website_id: str, domain: str) -> str:
    """Set a domain that resolves to this machine for a website, and return the website's URL."""
    names.here.add(domain)
    client.data("update_website_settings", website_id=website_id, settings={"domain": domain})
    state = check(client, website_id)
    assert state.status == "proven", state
    return state.url


def ask(url: str, method: str = "GET", *, host: RunningHost, **headers: str) -> httpx.Response:
    """Send a request for a URL of any domain to a host, as a browser would after resolving the name."""
    parts = urlsplit(url)
    at_host = f"{host.url}{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
    sent_headers = {"Host": parts.netloc} | {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.request(method, at_host, headers=sent_headers, timeout=30)


def wait_for(url: str, status: int, *, host: RunningHost) -> httpx.Response:
    """Poll a URL until the response has this status. Raises `AssertionError` on timeout."""
    deadline = time.monotonic() + _NOTICED_SECONDS
    response = ask(url, host=host)
    while response.status_code != status and time.monotonic() < deadline:
        response = ask(url, host=host)
    if response.status_code != status:
        raise AssertionError(f"{url} still answers {response.status_code}")
    return response
