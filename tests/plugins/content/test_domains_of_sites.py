"""Domain ownership on each database: one site per domain, even under concurrency."""

from __future__ import annotations

import asyncio
from itertools import count

import pytest
from pressroom.testing import RunningHost
from pressroom_content.websites.domains import Domains
from support.content_client import Client
from support.domain_names import DomainNames, check, prove

_numbers = count(1)


@pytest.fixture
def names(host: RunningHost) -> DomainNames:
    return DomainNames(host)


@pytest.fixture
def domain() -> str:
    return f"one{next(_numbers)}.example.org"


def site_of(client: Client) -> str:
    return str(client.data("connect_website", platform="builtin", name="A blog")["website_id"])


def waiting(client: Client, site: str, domain: str) -> str:
    """Request a domain, and return the reason why the site does not get it."""
    client.data("update_website_settings", website_id=site, settings={"domain": domain})
    state = check(client, site)
    assert state.status == "waiting"
    return state.problem


def test_of_sites_verifying_a_domain_concurrently_only_one_gets_it(
    host: RunningHost, names: DomainNames, ada: Client, eve: Client, domain: str
) -> None:
    claims = [(client, site_of(client)) for client in (ada, eve, ada, eve)]
    for client, site in claims:
        client.data("update_website_settings", website_id=site, settings={"domain": domain})
    names.here.add(domain)

    async def at_once() -> list[str]:
        checks = [Domains(client.plugin).check(client.user_id, site) for client, site in claims]
        return [state.status for state in await asyncio.gather(*checks) if state is not None]

    assert sorted(host.run(at_once())) == ["proven", "waiting", "waiting", "waiting"]
    assert list(host.run(Domains(ada.plugin).proven())).count(domain) == 1
    problems = [check(client, site).problem for client, site in claims]
    assert sum("another website" in problem for problem in problems) == 3


def test_a_domain_is_free_after_its_removal_or_that_of_its_site(
    host: RunningHost, names: DomainNames, ada: Client, eve: Client, domain: str
) -> None:
    first, second, third = site_of(ada), site_of(ada), site_of(eve)
    prove(names, ada, first, domain)
    assert "your website" in ada.refusal("update_website_settings", website_id=second, settings={"domain": domain})
    assert "another website" in waiting(eve, third, domain)
    ada.data("update_website_settings", website_id=first, settings={"domain": ""})
    prove(names, eve, third, domain)
    eve.data("disconnect_website", website_id=third, confirm=True, delete_posts=True)
    prove(names, ada, second, domain)


def test_a_disconnected_site_keeps_its_domain_until_its_owner_reuses_it(
    host: RunningHost, names: DomainNames, ada: Client, eve: Client, domain: str
) -> None:
    first, second, third = site_of(ada), site_of(ada), site_of(eve)
    url = prove(names, ada, first, domain)
    ada.data("disconnect_website", website_id=first, confirm=True)
    assert host.run(Domains(ada.plugin).key_of(domain)) is not None
    assert "another website" in waiting(eve, third, domain)
    assert prove(names, ada, second, domain) == url


@pytest.mark.parametrize("name", ["", "a\0b.org", "\udcff.org", "b\u00fccher.example", "a" * 5000, "%00", "' or 1=1"])
def test_an_invalid_domain_name_is_not_looked_up(host: RunningHost, ada: Client, name: str) -> None:
    domains = Domains(ada.plugin)
    assert host.run(domains.key_of(name)) is None
    assert host.run(domains.proof(name, site_of(ada))) is None
    assert host.run(domains.site_path_of(f"http://{name}/")) is None
    assert host.run(domains.site_path_of("http://[::1")) is None


def test_only_built_in_sites_have_domains_and_an_invalid_value_changes_nothing(ada: Client) -> None:
    site = site_of(ada)
    for wrong in (7, ["a.example.org"], "no domain"):
        changes = {"name": "Other", "domain": wrong}
        assert "domain" in ada.refusal("update_website_settings", website_id=site, settings=changes)
    assert ada.data("get_website", website_id=site)["website"]["name"] == "A blog"
