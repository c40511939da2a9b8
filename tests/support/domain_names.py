"""Domains of tests: names that lead to this machine, as those of people lead to their server."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address
from typing import Any
from urllib.parse import urlsplit

import httpx
from pressroom.testing import RunningHost
from pressroom_content.websites.domains import Domains, DomainState

from support.content_client import Client, content_of


class DomainNames:
    """The name service that a host asks: what leads to this machine, and nothing else."""

    def __init__(self, host: RunningHost) -> None:
        self.here: set[str] = set()
        fetcher: Any = content_of(host).services.fetcher
        fetcher._names = dict.fromkeys(fetcher._names, self)

    async def resolve(self, name: str) -> Sequence[IPv4Address]:
        """Return the IP addresses of a name. Raises `OSError` for one that does not lead here."""
        if name not in self.here:
            raise OSError(f"no such name: {name}")
        return [IPv4Address("127.0.0.1")]

    def close(self) -> None:
        """Hold nothing."""


def check(client: Client, website_id: str) -> DomainState:
    """Check the domain of a website, and return what is known then."""
    state = client.host.run(Domains(client.plugin).check(client.user_id, website_id))
    assert state is not None
    return state


def prove(names: DomainNames, client: Client, website_id: str, domain: str) -> str:
    """Give a site a domain that leads here, and return the site's URL."""
    names.here.add(domain)
    client.data("update_website_settings", website_id=website_id, settings={"domain": domain})
    state = check(client, website_id)
    assert state.status == "proven", state
    return state.url


def ask(url: str, method: str = "GET", *, host: RunningHost, **headers: str) -> httpx.Response:
    """Send a request for a URL of any domain to a host, as a browser does that looked its name up."""
    parts = urlsplit(url)
    at_host = f"{host.url}{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
    sent = {"Host": parts.netloc} | {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.request(method, at_host, headers=sent, timeout=30)


def wait_for(url: str, status: int, *, host: RunningHost) -> httpx.Response:
    """Ask until a process has noticed a change, and return the answer then."""
    answer = ask(url, host=host)
    for _ in range(2_000):
        if answer.status_code == status:
            return answer
        answer = ask(url, host=host)
    raise AssertionError(f"{url} still answers {answer.status_code}")
