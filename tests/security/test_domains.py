"""Attacks with custom domains, of others or one's own: hijacking a domain, or reaching the server through one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pressroom.sdk import InvalidInput
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.tables import WebsiteRow
from pressroom_content.websites.domains import LAPSE, Domains
from sqlalchemy import update
from support.content_client import Client, client_of
from support.domain_names import DomainNames, ask, check, prove, wait_for
from support.name_server import name_server

_numbers = count(1)
LISTED = "listed.example.org"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    content = {"config": {"domains": {LISTED: "chosen"}, "dns_servers": [name_server().address]}}
    config: dict[str, Any] = {
        "builtin_plugins": False,
        "plugins": {"content": content, "search_performance": {}},
        "fetch": {"private_networks": ["127.0.0.0/8"]},
        "accounts": {"connections": 1000},
    }
    folder: Path = tmp_path_factory.mktemp("domains")
    with RunningHost(settings_for_test(config, folder)) as running:
        assert not [record for record in running.host.compiled.plugins.failed if record.id in config["plugins"]]
        yield running


@pytest.fixture(scope="module")
def names(host: RunningHost) -> DomainNames:
    return DomainNames(host)


@pytest.fixture
def alice(host: RunningHost) -> Client:
    return client_of(host, f"alice.{next(_numbers)}@example.com")


@pytest.fixture
def mallory(host: RunningHost) -> Client:
    return client_of(host, f"mallory.{next(_numbers)}@example.com")


@pytest.fixture
def domain() -> str:
    return f"blog{next(_numbers)}.example.org"


def site_of(client: Client, name: str = "A blog") -> tuple[str, str]:
    """Connect a new built-in site; return its ID, and its URL on the server."""
    website = client.data("connect_website", platform="builtin", name=name)
    return website["website_id"], website["connect_url"]


def publish(client: Client, website_id: str, slug: str) -> None:
    article = client.data("create_content", title=f"Post {slug}", body="Words.", slug=slug)
    client.data("publish_content", content_id=article["content_id"], website_id=website_id)


def claim(client: Client, website_id: str, domain: str) -> str:
    """Request a domain; return why it is refused, or an empty string."""
    result = client.call("update_website_settings", website_id=website_id, settings={"domain": domain})
    return str(result["content"][0]["text"]) if result.get("isError") else ""


def test_another_accounts_domain_that_points_elsewhere_is_never_proven(
    host: RunningHost, names: DomainNames, mallory: Client, domain: str
) -> None:
    site, url = site_of(mallory)
    publish(mallory, site, "post")
    assert claim(mallory, site, domain) == ""
    assert check(mallory, site).status == "waiting"
    assert ask(f"http://{domain}/post", host=host).status_code == 404
    assert ask(f"{url}/post", host=host).status_code == 200


def test_until_it_is_proven_a_name_serves_only_the_proof(
    host: RunningHost, names: DomainNames, alice: Client, mallory: Client, domain: str
) -> None:
    (site, _), (other, _) = site_of(alice), site_of(mallory)
    publish(alice, site, "post")
    assert claim(alice, site, domain) == ""
    assert ask(f"http://{domain}/post", host=host).status_code == 404
    proof = ask(f"http://{domain}/.well-known/pressroom-domain/{site}", host=host)
    assert (proof.status_code, len(proof.text.strip())) == (200, 32)
    for name, website in ((domain, other), (f"sub.{domain}", site), ("127.0.0.1", site), ("", site)):
        assert ask(f"http://{name}/.well-known/pressroom-domain/{website}", host=host).status_code in (400, 404)


def test_a_proven_domain_can_neither_be_taken_nor_blocked_by_a_claim(
    host: RunningHost, names: DomainNames, alice: Client, mallory: Client, domain: str
) -> None:
    (site, _), (other, _) = site_of(alice), site_of(mallory)
    assert claim(mallory, other, domain) == ""
    prove(names, alice, site, domain)
    result = check(mallory, other)
    assert (result.status, "another website" in result.problem) == ("waiting", True)
    second_site, _ = site_of(mallory)
    assert claim(mallory, second_site, domain) == ""
    assert f"_pressroom.{domain} with the text website={second_site}" in check(mallory, second_site).problem
    assert host.run(Domains(alice.plugin).proven()).count(domain) == 1


def test_an_earlier_claim_does_not_win_over_the_dns_records(
    host: RunningHost, names: DomainNames, alice: Client, mallory: Client, domain: str
) -> None:
    (site, _), (other, old) = site_of(alice), site_of(mallory)
    publish(alice, site, "ours")
    publish(mallory, other, "theirs")
    url = prove(names, mallory, other, domain)
    assert claim(alice, site, domain) == ""
    assert check(alice, site).status == "waiting"
    name_server().texts[f"_pressroom.{domain}"] = ["v=spf1 -all", f"website={site}"]
    assert check(alice, site).status == "proven"
    wait_for(f"{url}/ours", 200, host=host)
    assert ask(f"{url}/theirs", host=host).status_code == 404
    assert ask(f"{old}/theirs", host=host).status_code == 200
    result = check(mallory, other)
    assert (result.status, f"_pressroom.{domain} gives the domain to another website" in result.problem) == (
        "waiting",
        True,
    )


def test_a_site_loses_a_domain_whose_dns_no_longer_points_here(
    host: RunningHost, names: DomainNames, mallory: Client, domain: str
) -> None:
    site, _ = site_of(mallory)
    prove(names, mallory, site, domain)
    name_server().texts[f"_pressroom.{domain}"] = ["website=none"]
    assert check(mallory, site).status == "lost"


def test_with_unknown_records_a_domain_is_neither_gained_nor_lost(
    host: RunningHost, names: DomainNames, alice: Client, domain: str
) -> None:
    site, _ = site_of(alice)
    names.here.add(domain)
    name_server().failing.add(f"_pressroom.{domain}")
    assert claim(alice, site, domain) == ""
    result = check(alice, site)
    assert (result.status, f"the TXT records of _pressroom.{domain} are not known" in result.problem) == (
        "waiting",
        True,
    )
    name_server().failing.clear()
    assert check(alice, site).status == "proven"
    name_server().failing.add(f"_pressroom.{domain}")
    assert check(alice, site).status == "proven"


def test_a_domain_that_briefly_pointed_elsewhere_is_not_taken_by_a_waiting_claim(
    host: RunningHost, names: DomainNames, alice: Client, mallory: Client, domain: str
) -> None:
    (site, _), (other, _) = site_of(alice), site_of(mallory)
    url = prove(names, alice, site, domain)
    publish(alice, site, "ours")
    assert claim(mallory, other, domain) == ""
    names.here.discard(domain)
    assert check(alice, site).status == "lost"
    names.here.add(domain)
    assert check(mallory, other).status == "waiting"
    assert check(alice, site).status == "proven"
    wait_for(f"{url}/ours", 200, host=host)


def test_of_two_sites_named_by_records_the_current_one_keeps_the_domain(
    host: RunningHost, names: DomainNames, alice: Client, mallory: Client, domain: str
) -> None:
    (site, _), (other, _) = site_of(alice), site_of(mallory)
    name_server().texts[f"_pressroom.{domain}"] = [f"website={site}", f"website={other}"]
    prove(names, alice, site, domain)
    assert claim(mallory, other, domain) == ""
    assert [check(mallory, other).status, check(alice, site).status] == ["waiting", "proven"]


def test_a_lost_domain_belongs_to_the_site_that_its_dns_names(
    host: RunningHost, names: DomainNames, alice: Client, mallory: Client, domain: str
) -> None:
    (lost, old), (new, _) = site_of(mallory), site_of(alice)
    publish(mallory, lost, "theirs")
    publish(alice, new, "ours")
    assert claim(alice, new, domain) == ""
    url = prove(names, mallory, lost, domain)
    wait_for(f"{url}/theirs", 200, host=host)
    names.here.discard(domain)
    assert check(mallory, lost).status == "lost"
    names.here.add(domain)
    name_server().texts[f"_pressroom.{domain}"] = [f"website={new}"]
    assert check(alice, new).status == "proven"
    wait_for(f"{url}/ours", 200, host=host)
    assert ask(f"{url}/theirs", host=host).status_code == 404
    assert ask(f"{old}/theirs", host=host).status_code == 200


def test_a_domain_that_points_elsewhere_for_days_is_released(
    host: RunningHost, names: DomainNames, alice: Client, domain: str
) -> None:
    site, old = site_of(alice)
    prove(names, alice, site, domain)
    names.here.discard(domain)

    async def long_ago() -> None:
        lost_at = datetime.now(UTC) - LAPSE
        async with alice.plugin.services.database.writing() as session:
            row = update(WebsiteRow).where(WebsiteRow.id == site)
            await session.execute(row.values(domain_lost_at=lost_at, domain_checked_at=lost_at))

    assert check(alice, site).status == "lost"
    assert ask(old, host=host).status_code == 301
    host.run(long_ago())
    host.run(Domains(alice.plugin).renew())
    assert ask(old, host=host).status_code == 200


@pytest.mark.parametrize(
    "name",
    ["127.0.0.1", "localhost", "[::1]", "0x7f.1", "2130706433", "tools.local", "com", "a..example.org",
     "-a.example.org", "blog.example.org:8443", "blog.example.org/path", "user@example.org", "blog_1.example.org",
     "*.example.org",
     "xn--a.example.org", f"{'a' * 64}.example.org", ".".join(["a" * 60] * 5), "blog.example.org\x00", "ex ample.org"],
)  # fmt: skip
def test_an_invalid_public_domain_is_refused(alice: Client, name: str) -> None:
    site, _ = site_of(alice)
    assert claim(alice, site, name)


def test_the_servers_own_host_and_its_subdomains_cannot_be_claimed() -> None:
    from pressroom_content.websites.domain_names import read_domain  # noqa: PLC0415

    for name in ("tools.example.com", "TOOLS.example.com.", "admin.tools.example.com", "example.com"):
        with pytest.raises(InvalidInput, match=r"own|domain such as"):
            read_domain(name, "https://tools.example.com")
    assert read_domain("blog.example.com", "https://tools.example.com") == "blog.example.com"
    assert read_domain("ada.tools.example.com", "https://tools.example.com", listed=True) == "ada.tools.example.com"


def test_a_domain_that_the_operator_assigned_belongs_to_no_other_site(
    host: RunningHost, names: DomainNames, alice: Client, mallory: Client
) -> None:
    site, url = site_of(alice, "Chosen")
    assert url.endswith("/sites/chosen")
    names.here.add(LISTED)
    assert "another website" in claim(mallory, site_of(mallory)[0], LISTED)
    updated = alice.data("update_website_settings", website_id=site, settings={"domain": LISTED})
    assert updated["domain"]["status"] == "proven"


@pytest.mark.parametrize(
    "path",
    ["/dashboard", "/dashboard/websites", "/sign-in", "/sign-up", "/setup", "/tools", "/tools/api", "/api/mcp",
     "/openapi.json", "/oauth/authorize", "/oauth/token", "/oauth/register", "/oauth/jwks.json", "/healthz", "/readyz",
     "/.well-known/oauth-protected-resource", "/.well-known/oauth-authorization-server", "/metrics", "/llms-full.txt",
     "/.well-known/pressroom-domain"],
)  # fmt: skip
def test_the_server_cannot_be_reached_through_a_domain(host: RunningHost, through: str, path: str) -> None:
    for method in ("GET", "HEAD"):
        response = ask(f"{through}{path}", method, host=host, Authorization="Bearer x", Cookie="session=x")
        assert (response.status_code, response.headers.get("location")) == (404, None)
        assert not {"set-cookie", "www-authenticate", "access-control-allow-credentials"} & set(response.headers)
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        response = ask(f"{through}{path}", method, host=host, Origin=through)
        assert response.status_code == 405
        assert not {"set-cookie", "www-authenticate", "access-control-allow-origin"} & set(response.headers)


@pytest.fixture(scope="module")
def through(host: RunningHost, names: DomainNames) -> str:
    """Return the URL of a site at a domain that every process has loaded."""
    client = client_of(host, "through@example.com")
    site, _ = site_of(client)
    url = prove(names, client, site, "through.example.org")
    publish(client, site, "post")
    wait_for(f"{url}/post", 200, host=host)
    return url


def test_a_domain_serves_no_posts_of_another_site(host: RunningHost, through: str, alice: Client) -> None:
    site, url = site_of(alice)
    publish(alice, site, "secret-garden")
    key = url.rpartition("/")[2]
    for path in ("/secret-garden", f"/sites/{key}/secret-garden", f"/sites/{key}", f"//sites/{key}/secret-garden",
                 f"/../sites/{key}/secret-garden", f"/%2e%2e/sites/{key}", f"/sites%2f{key}%2fsecret-garden",
                 "/secret-garden.md", "/secret-garden/llms.txt", "/cards/secret-garden.png"):  # fmt: skip
        assert ask(f"{through}{path}", host=host).status_code == 404, path


def test_an_untrusted_peer_cannot_name_another_host(host: RunningHost, through: str) -> None:
    name = through.partition("://")[2]
    for header in ({"X_Forwarded_Host": name}, {"Forwarded": f"host={name}"}, {"X_Host": name}):
        assert ask(f"{host.url}/healthz", host=host, **header).json() == {"status": "ok"}
        assert ask(f"{through}/healthz", host=host, **{next(iter(header)): "127.0.0.1"}).status_code == 404


def test_the_response_of_one_host_is_never_stored_for_another(host: RunningHost, through: str) -> None:
    ours = ask(f"{host.url}/robots.txt", host=host)
    theirs = ask(f"{through}/robots.txt", host=host)
    assert ours.headers["etag"] != theirs.headers["etag"]
    for url, tag in ((host.url, theirs.headers["etag"]), (through, ours.headers["etag"])):
        assert ask(f"{url}/robots.txt", host=host, If_None_Match=tag).status_code == 200
    page = ask(f"{through}/", host=host, Cookie="session=x")
    assert (page.status_code, page.headers["cache-control"]) == (200, "no-cache")


def test_a_key_for_search_engines_is_only_served_at_the_domain_of_its_site(
    host: RunningHost, names: DomainNames, through: str, mallory: Client
) -> None:
    from pressroom_search_performance.indexnow import key_of  # noqa: PLC0415

    site, _ = site_of(mallory)
    plugin = host.host.compiled.plugins.contexts["search_performance"]
    key = host.run(key_of(plugin, site))
    assert ask(f"{host.url}/{key}.txt", host=host).text == key
    assert ask(f"{through}/{key}.txt", host=host).status_code == 404
    url = prove(names, mallory, site, f"keys{next(_numbers)}.example.org")
    assert wait_for(f"{url}/{key}.txt", 200, host=host).text == key
