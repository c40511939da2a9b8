"""A built-in site at a custom domain: its pages, redirects from old URLs, and removal of the domain."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from PIL import Image
from pressroom.testing import RunningHost
from pressroom_content.contract import MediaFile
from pressroom_content.publishing.verifying import ExpectedPage, verify
from pressroom_content.tables import WebsiteRow
from pressroom_content.websites.domains import Domains
from pressroom_content.websites.store import Websites
from selectolax.lexbor import LexborHTMLParser
from sqlalchemy import update
from support.content_client import content_of
from support.domain_names import DomainNames, ask, check, prove, wait_for
from support.selecting import attribute_of

from ..conftest import Client  # noqa: TID252 - the client of the whole plugin
from .test_pages import Site

_numbers = count(1)


@pytest.fixture(scope="module")
def names(host: RunningHost) -> DomainNames:
    return DomainNames(host)


@pytest.fixture
def site(host: RunningHost, ada: Client) -> Site:
    return Site(host, ada, f"Ada moves {next(_numbers)}", description="Notes on engines.")


@pytest.fixture
def domain(names: DomainNames) -> Iterator[str]:
    name = f"blog{next(_numbers)}.example.org"
    yield name
    names.here.discard(name)


def test_a_site_on_its_domain_links_only_to_the_domain(
    host: RunningHost, names: DomainNames, ada: Client, site: Site, domain: str
) -> None:
    publication = site.publish(
        "First", f"See [home]({site.url}) and [here]({site.url}/second).", slug="first", tags=("a b",)
    )
    site.publish("Second", "More words.", slug="second")
    url = prove(names, ada, site.id, domain)
    port = host.settings.server.port
    assert url == f"http://{domain}:{port}"
    assert ada.data("get_website", website_id=site.id)["website"]["url"] == url
    page = wait_for(f"{url}/first", 200, host=host)
    assert "set-cookie" not in page.headers
    tree = LexborHTMLParser(page.text)
    assert attribute_of(tree, "link[rel=canonical]", "href") == f"{url}/first"
    assert attribute_of(tree, "meta[property='og:image']", "content").startswith(f"{url}/cards/first.png")
    assert "/sites/" not in page.text
    assert host.url not in page.text
    links = set(re.findall(r'(?:href|src|action|content)="(/[^"]*|https?://[^"]*)"', page.text))
    for link in links - {"https://schema.org"}:
        full = link if link.startswith("http") else f"{url}{link}"
        assert full.startswith(url), full
        assert ask(full, host=host).status_code == 200, full
    for path in ("", "/feed.xml", "/atom.xml", "/feed.json", "/sitemap.xml", "/robots.txt", "/llms.txt", "/first.md",
                 "/first/llms.txt", "/tags/a-b", "/archive", "/search?q=words", "/style.css"):  # fmt: skip
        response = ask(f"{url}{path}", host=host)
        assert response.status_code == 200, path
        assert "/sites/" not in response.text.replace("/sites/x", ""), path
        assert host.url not in response.text, path
    listed = ada.data("list_publications", content_id=None, website_id=site.id)["publications"]
    assert {post["url"] for post in listed} == {f"{url}/first", f"{url}/second"}
    assert publication["url"] == f"{site.url}/first"
    third = site.publish("Third", "Even more.", slug="third")
    assert third["url"] == f"{url}/third"
    assert third["warnings"] == []
    verified = host.run(verify(ada.plugin, ExpectedPage(url=third["url"], title="Third")))
    assert (verified.facts["http_status"], verified.facts["canonical"]) == (200, f"{url}/third")
    index = ask(f"{host.url}/llms.txt", host=host).text
    assert f"({url}/third)" in index
    assert f"({url}/llms.txt)" in index
    assert f"Sitemap: {url}/sitemap.xml" in ask(f"{host.url}/robots.txt", host=host).text


def test_old_page_urls_redirect_to_the_domain_in_one_step(
    host: RunningHost, names: DomainNames, ada: Client, site: Site, domain: str
) -> None:
    site.publish(slug="old")
    unpublished = site.publish("Gone", slug="gone")
    site.publish("Kept", slug="kept", tags=("x",))
    ada.data("unpublish_content", publication_id=unpublished["publication_id"], confirm=True)
    ada.data("set_redirect", website_id=site.id, from_path="/moved", to="/kept")
    url = prove(names, ada, site.id, domain)
    for path in ("", "/kept", "/kept.md", "/kept/llms.txt", "/feed.xml", "/sitemap.xml", "/tags/x", "/archive",
                 "/llms.txt", "/robots.txt", "/search?q=a%20b"):  # fmt: skip
        response = site.get(path)
        assert (response.status_code, response.headers["location"]) == (301, f"{url}{path.replace('%20', '+')}"), path
        assert wait_for(response.headers["location"], 200, host=host).status_code == 200
    assert site.get("/moved").headers["location"] == f"{url}/kept"
    for number, target in enumerate(("/kept?a=1#b", "/archive", "/feed.xml")):
        ada.data("set_redirect", website_id=site.id, from_path=f"/old-{number}", to=target)
    listed = ada.data("list_redirects", website_id=site.id, check=True)["redirects"]
    assert [redirect["problems"] for redirect in listed] == [[]] * 4
    assert ask(f"{url}/moved", host=host).headers["location"] == f"{url}/kept"
    assert [site.get("/gone").status_code, site.get("/never").status_code] == [410, 404]
    assert [ask(f"{url}/gone", host=host).status_code, ask(f"{url}/never", host=host).status_code] == [410, 404]
    assert ask(f"{url}/a/b/c", host=host).status_code == 404
    key = site.url.rpartition("/")[2]
    back = ask(f"{url}/sites/{key}/kept", host=host)
    assert (back.status_code, back.headers["location"]) == (301, f"{url}/kept")
    assert site.get("/style.css").status_code == 200


def test_images_are_served_from_the_domain_and_from_their_old_urls(
    host: RunningHost, names: DomainNames, ada: Client, site: Site, domain: str
) -> None:
    image = io.BytesIO()
    Image.new("RGB", (2000, 1000), "teal").save(image, "PNG")
    file = MediaFile("m_1", "sea.png", "image/png", "", "Sea", "download", 2000, 1000, image.getvalue())

    async def uploaded() -> str:
        _, opened = await Websites(ada.plugin).open(ada.user_id, site.id)
        return (await opened.upload(file, "m")).url

    old = host.run(uploaded())
    assert old.startswith("/sites/")
    url = prove(names, ada, site.id, domain)
    assert host.run(uploaded()) == old
    name = old.rpartition("/")[2]
    assert wait_for(f"{url}/files/{name}", 200, host=host).content == image.getvalue()
    assert ask(f"{host.url}{old}", host=host).content == image.getvalue()


def test_without_its_domain_a_site_is_at_its_old_url(
    host: RunningHost, names: DomainNames, ada: Client, site: Site, domain: str
) -> None:
    site.publish(slug="post")
    url = prove(names, ada, site.id, domain)
    wait_for(f"{url}/post", 200, host=host)
    ada.data("update_website_settings", website_id=site.id, settings={"domain": None})
    assert site.get("/post").status_code == 200
    assert f'href="{site.url}/post"' in site.get("/post").text
    assert ada.data("get_website", website_id=site.id)["domain"] is None
    listed = ada.data("list_publications", website_id=site.id)["publications"]
    assert [post["url"] for post in listed] == [f"{site.url}/post"]
    assert wait_for(f"{url}/post", 404, host=host).headers["content-type"] != "text/html; charset=utf-8"


def test_a_domain_is_active_from_its_verification_until_its_removal(
    host: RunningHost, names: DomainNames, ada: Client, site: Site, domain: str
) -> None:
    site.publish(slug="post")
    # An unclaimed domain shows the server's own pages.
    assert ask(f"http://{domain}/tools", host=host).status_code == 200
    url = prove(names, ada, site.id, domain)
    # The server's own pages must never appear there, even briefly.
    assert [ask(f"{url}{path}", host=host).status_code for path in ("/post", "/tools")] == [200, 404]
    ada.data("update_website_settings", website_id=site.id, settings={"domain": None})
    assert ask(f"{url}/post", host=host).status_code == 404


def test_a_domain_is_pending_until_it_points_to_this_server(
    host: RunningHost, names: DomainNames, ada: Client, site: Site, domain: str
) -> None:
    result = ada.data("update_website_settings", website_id=site.id, settings={"domain": domain.upper()})
    assert (result["domain"]["name"], result["domain"]["status"]) == (domain, "waiting")
    assert "CNAME" in result["domain"]["how"]
    assert check(ada, site.id).status == "waiting"
    assert "cannot be reached" in check(ada, site.id).problem
    assert site.get().status_code == 200
    names.here.add(domain)
    assert ada.data("get_website", website_id=site.id, check=True)["domain"]["status"] == "proven"
    names.here.discard(domain)
    lost = check(ada, site.id)
    assert (lost.status, lost.since is not None) == ("lost", True)
    assert site.get().status_code == 301


def test_a_pending_domain_is_checked_once_a_day_after_three_days(
    host: RunningHost, names: DomainNames, ada: Client, site: Site, domain: str
) -> None:
    ada.data("update_website_settings", website_id=site.id, settings={"domain": domain})
    assert check(ada, site.id).status == "waiting"
    names.here.add(domain)
    checked_before(host, site.id, hours=23)
    host.run(Domains(ada.plugin).renew())
    assert ada.data("get_website", website_id=site.id)["domain"]["status"] == "waiting"
    checked_before(host, site.id, hours=25)
    host.run(Domains(ada.plugin).renew())
    assert ada.data("get_website", website_id=site.id)["domain"]["status"] == "proven"


def checked_before(host: RunningHost, website_id: str, *, hours: int) -> None:
    """Backdate a domain: requested four days ago, and last checked `hours` ago."""
    now = datetime.now(UTC)
    times = {"domain_at": now - timedelta(days=4), "domain_checked_at": now - timedelta(hours=hours)}

    async def changed() -> None:
        async with content_of(host).services.database.writing() as session:
            await session.execute(update(WebsiteRow).where(WebsiteRow.id == website_id).values(**times))

    host.run(changed())


def test_a_proxy_can_check_which_domains_may_have_certificates(
    host: RunningHost, names: DomainNames, ada: Client, site: Site, domain: str
) -> None:
    url = f"{host.url}/.well-known/pressroom-domain"
    ada.data("update_website_settings", website_id=site.id, settings={"domain": domain})
    queries = [f"?domain={domain}", f"?domain=sub.{domain}", "?domain=", "", f"?domain={'a' * 5000}.org"]
    assert [ask(f"{url}{query}", host=host).status_code for query in queries] == [404] * 5
    prove(names, ada, site.id, domain)
    assert [ask(f"{url}{query}", host=host).status_code for query in queries] == [200, 404, 404, 404, 404]
