"""URL control: nobody can act for a URL they do not control, in text, redirects, canonical URLs or search engines."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
from pressroom.sdk import InvalidInput, NotFound
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.builtin_site.tables import BuiltinRedirectRow
from pressroom_content.contract import ControlNotProven, control_of, is_below, url_key
from pressroom_content.contract.control import web_url
from pressroom_content.records import Website
from pressroom_content.tables import PublicationRow, WebsiteRow
from pressroom_content.websites.connecting import ConnectionLinks
from pressroom_content.websites.control import GRACE, Controls
from pressroom_content.websites.store import Websites
from pressroom_search_performance.connecting.connecting import connect, offers
from pressroom_search_performance.connecting.store import SourceConnection, SourceConnections
from pressroom_search_performance.tables import SourceConnectionRow
from sqlalchemy import update
from support.content_client import Client, client_of
from support.fetching_figures import fetch_slice
from support.people import BrowserWithoutScreen
from support.plain_site import PlainSite, plain_site
from support.standin_google import EMAIL, Google, key_file, serving
from support.webhook_receiver import SECRET, Receiver, receiving

_numbers = count(1)


@pytest.fixture(scope="module")
def google() -> Iterator[Google]:
    with serving(Google()) as running:
        yield running


@pytest.fixture(scope="module")
def host(google: Google, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    figures = {
        "google_service_account": key_file(),
        "google_url": google.url,
        "google_token_url": f"{google.url}/token",
        "history_days": 10,
        "sweep_seconds": 86_400,
    }
    config: dict[str, Any] = {
        "builtin_plugins": False,
        "plugins": {"content": {}, "webhook": {}, "search_performance": {"config": figures}},
        "fetch": {"private_networks": ["127.0.0.0/8"]},
        "accounts": {"connections": 1000},
    }
    folder: Path = tmp_path_factory.mktemp("control")
    with RunningHost(settings_for_test(config, folder)) as running:
        failed = [record for record in running.host.compiled.plugins.failed if record.id in config["plugins"]]
        assert not failed, failed
        yield running


@pytest.fixture
def alice(host: RunningHost) -> Client:
    return client_of(host, f"alice.{next(_numbers)}@example.com")


@pytest.fixture
def bob(host: RunningHost) -> Client:
    return client_of(host, f"bob.{next(_numbers)}@example.com")


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running


@pytest.fixture
def victim() -> Iterator[PlainSite]:
    with plain_site() as running:
        yield running


def webhook(client: Client, receiver: Receiver, url: str) -> Website:
    """Connect a website whose owner has proven nothing about the URL they typed."""

    async def connected() -> Website:
        connecting = ConnectionLinks(client.plugin)
        link, _ = await connecting.begin(client.user_id, "webhook", url=url)
        token = link.rpartition("/")[2]
        opened = await connecting.open(token, client.user_id)
        website, outcome = await connecting.finish(token, opened, url=url, name="Site", credential=receiver.credential)
        assert website is not None, outcome
        return website

    return client.host.run(connected())


def stored_before(client: Client, receiver: Receiver, url: str) -> Website:
    """Store a website as versions without URL verification did."""
    websites = Websites(client.plugin)
    return client.host.run(
        websites.add(client.user_id, "webhook", name="Site", url=url, credential=receiver.credential)
    )


def published(client: Client, website_id: str, title: str, body: str) -> str:
    """Publish an article and return the URL that its website reports."""
    id_ = client.data("create_content", title=title, body=body, website_id=website_id)["content_id"]
    publication = client.data("publish_content", content_id=id_, website_id=website_id)
    assert publication["status"] == "published", publication
    return str(publication["url"])


def control(client: Client, website: Website) -> bool:
    """Return whether a live check finds that the website controls its URL."""
    return client.host.run(Controls(client.plugin).prove(client.user_id, website.id, look=True)).proven


def token(client: Client, website: Website) -> str:
    return client.host.run(Controls(client.plugin).token(website.id))


def change(client: Client, table: Any, key: Any, **values: Any) -> None:
    async def changed() -> None:
        async with client.plugin.services.database.writing() as session:
            await session.execute(update(table).where(key).values(**values))

    client.host.run(changed())


def test_another_account_cannot_replace_the_text_of_a_post(
    alice: Client, bob: Client, receiver: Receiver, host: RunningHost
) -> None:
    blog = alice.data("connect_website", platform="builtin", name=f"Alice {next(_numbers)}")["website_id"]
    url = published(alice, blog, "Pub", "Genuine text.")
    site = url.rpartition("/")[0]
    with pytest.raises(InvalidInput, match="of this server"):
        webhook(bob, receiver, site)
    old = stored_before(bob, receiver, site)
    article = bob.data("create_content", title="Pub", body="EVIL text.", website_id=old.id)["content_id"]
    assert "of this server" in bob.refusal("publish_content", content_id=article, website_id=old.id)
    # Rows of earlier versions are still in the database.
    values = {"status": "published", "url": url, "path": url.removeprefix(host.url), "error": ""}
    change(bob, PublicationRow, PublicationRow.article_id == article, **values)
    changes = {"published_at": datetime.now(UTC) + timedelta(days=1)}
    change(bob, PublicationRow, PublicationRow.article_id == article, **changes)
    for text in (f"{url}.md", f"{url}/llms.txt", f"{host.url}/llms-full.txt"):
        body = httpx.get(text).text
        assert "EVIL" not in body
        assert "Genuine" in body
    assert httpx.get(f"{host.url}/llms.txt").text.count(url.removeprefix(host.url)) == 1
    assert httpx.get(f"{host.url}/articles/{old.id}/pub").status_code == 404


@pytest.mark.parametrize(
    "spelling", ["{base}/blog", "{base}", "HTTP://127.0.0.1:{port}/sites/x", "https://127.0.0.1:{port}/sites/x"]
)
def test_urls_of_this_server_are_for_built_in_sites(
    bob: Client, receiver: Receiver, host: RunningHost, spelling: str
) -> None:
    url = spelling.format(base=host.url, port=host.url.rpartition(":")[2])
    with pytest.raises(InvalidInput, match="of this server"):
        webhook(bob, receiver, url)


def test_visitors_are_not_redirected_to_a_url_that_is_only_claimed(
    bob: Client, receiver: Receiver, victim: PlainSite, host: RunningHost
) -> None:
    site = webhook(bob, receiver, victim.url)
    receiver.names_posts = False
    published(bob, site.id, "Win a prize", "EVIL-CLAIM text.")
    change(bob, PublicationRow, PublicationRow.website_id == site.id, url=f"{victim.url}/win-a-prize")
    page = f"{host.url}/articles/{site.id}/win-a-prize"
    assert [httpx.get(url).status_code for url in (page, f"{page}.md", f"{page}/llms.txt")] == [404, 404, 404]
    assert "EVIL-CLAIM" not in httpx.get(f"{host.url}/llms-full.txt").text
    victim.files["/pressroom-verification.txt"] = f"other\r\n{token(bob, site)}\r\n".encode()
    assert control(bob, site)
    response = httpx.get(page)
    assert (response.status_code, response.headers["location"]) == (302, f"{victim.url}/win-a-prize")
    assert "EVIL-CLAIM" in httpx.get(f"{page}.md").text
    # Nor to other origins, whatever is proven.
    for other_url in ("https://other.example/", f"{victim.url}@other.example/", f"{victim.url}.other.example/x"):
        change(bob, PublicationRow, PublicationRow.website_id == site.id, url=other_url)
        assert httpx.get(page).status_code == 404


def test_a_built_in_site_does_not_redirect_to_sites_of_other_accounts(
    bob: Client, receiver: Receiver, victim: PlainSite, host: RunningHost
) -> None:
    name = f"Bob {next(_numbers)}"
    site = bob.data("connect_website", platform="builtin", name=name)
    base = published(bob, site["website_id"], "New", "Text.").rpartition("/")[0]
    bob.data("set_redirect", website_id=site["website_id"], from_path="/old", to="/new")
    assert httpx.get(f"{base}/old").headers["location"] == f"{base}/new"
    target = f"{victim.url}/prize"
    for other_url in (target, "https://other.example/", f"{base}.other.example/", f"{host.url}/dashboard"):
        arguments = {"website_id": site["website_id"], "from_path": "/win", "to": other_url}
        assert f"cannot lead to {other_url}" in bob.refusal("set_redirect", **arguments)
    # A redirect stored before URLs were verified.
    change(bob, BuiltinRedirectRow, BuiltinRedirectRow.source == "/old", target=target)
    assert httpx.get(f"{base}/old").status_code == 404
    claimed = webhook(bob, receiver, victim.url)
    assert httpx.get(f"{base}/old").status_code == 404
    victim.files["/pressroom-verification.txt"] = token(bob, claimed).encode()
    assert control(bob, claimed)
    assert httpx.get(f"{base}/old").headers["location"] == target
    assert bob.data("set_redirect", website_id=site["website_id"], from_path="/win", to=target)["redirect"]


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "//other.example/x", "ftp://a.example/"])
def test_a_site_cannot_give_a_post_a_url_that_is_not_a_page(url: str) -> None:
    assert web_url(url) == ""
    assert web_url("https://example.com/it's?a=b#c") == "https://example.com/it's?a=b#c"


def test_a_copy_cannot_name_an_original_on_an_unproven_site(bob: Client, receiver: Receiver, victim: PlainSite) -> None:
    original, other = webhook(bob, receiver, victim.url), webhook(bob, receiver, receiver.site)
    id_ = bob.data("create_content", title="Copied", body="Text.", website_id=original.id)["content_id"]
    publication = bob.data("publish_content", content_id=id_, website_id=original.id)
    change(bob, PublicationRow, PublicationRow.website_id == original.id, url=f"{victim.url}/copied")
    arguments = {
        "content_id": id_,
        "website_id": other.id,
        "canonical_publication_id": publication["publication_id"],
        "mode": "publish",
    }
    refused = bob.refusal("publish_content", **arguments)
    assert "proven to control" in refused
    assert f"{victim.url}/pressroom-verification.txt" in refused
    victim.files["/pressroom-verification.txt"] = token(bob, original).encode()
    copy = bob.data("publish_content", **arguments)
    assert copy["status"] == "published", copy
    assert receiver.events[-2]["data"]["post"]["canonical_url"] == f"{victim.url}/copied"


def property_of(google: Google, url: str) -> str:
    google.properties[EMAIL].add(f"{url}/")
    return f"{url}/"


def connected(client: Client, website: Website, site_url: str) -> SourceConnection:
    plugin = client.host.host.compiled.plugins.contexts["search_performance"]
    return client.host.run(connect(plugin, client.user_id, website, offers(plugin)["google"], {"property": site_url}))


def test_another_accounts_property_cannot_be_read_with_the_operators_account(
    bob: Client, receiver: Receiver, victim: PlainSite, google: Google
) -> None:
    site_url = property_of(google, victim.url)
    site = webhook(bob, receiver, victim.url)
    with pytest.raises(InvalidInput, match="proven to control its URL"):
        connected(bob, site, site_url)
    victim.files["/pressroom-verification.txt"] = token(bob, site).encode()
    assert connected(bob, site, site_url).uses_operators


def test_unproven_connections_read_and_write_nothing(
    bob: Client, receiver: Receiver, victim: PlainSite, google: Google
) -> None:
    site_url = property_of(google, victim.url)
    site = webhook(bob, receiver, victim.url)
    plugin = bob.host.host.compiled.plugins.contexts["search_performance"]
    connections = SourceConnections(plugin)
    connection = bob.host.run(
        connections.connect(bob.user_id, site.id, "google", site_url=site_url, credential={}, fetched=True)
    )
    bob.host.run(fetch_slice(plugin, connection.id))
    stored_connection = bob.host.run(connections.of(bob.user_id, site.id))["google"]
    assert (stored_connection.status, stored_connection.fetched_at) == ("error", None)
    assert "proven to control" in stored_connection.last_error
    for tool, arguments in (
        ("get_search_performance", {}),
        ("find_content_opportunities", {"kind": "quick_wins"}),
        ("submit_urls", {}),
        ("submit_urls", {"sitemap_url": f"{victim.url}/sitemap.xml"}),
        ("inspect_url_index", {"url": f"{victim.url}/"}),
    ):
        assert "proven to control" in bob.refusal(tool, website_id=site.id, **arguments)
    assert not google.sitemaps.get(site_url)
    with BrowserWithoutScreen(bob.host) as browser:
        browser.enter(bob.host, bob.host.run(bob.host.host.accounts.users.get(bob.user_id)))
        assert "See the figures" not in browser.get(f"/dashboard/performance/{site.id}").text


def test_a_squatter_cannot_block_a_property_for_its_owner(
    alice: Client, bob: Client, receiver: Receiver, victim: PlainSite, google: Google
) -> None:
    site_url = property_of(google, victim.url)
    squatted, owned = webhook(bob, receiver, victim.url), webhook(alice, receiver, victim.url)
    plugin = bob.host.host.compiled.plugins.contexts["search_performance"]
    bob.host.run(
        SourceConnections(plugin).connect(
            bob.user_id, squatted.id, "google", site_url=site_url, credential={}, fetched=True
        )
    )
    victim.files["/pressroom-verification.txt"] = token(alice, owned).encode()
    assert connected(alice, owned, site_url).uses_operators
    # Two accounts that prove the same URL cannot share it, in any spelling.
    victim.files["/pressroom-verification.txt"] += b"\n" + token(bob, squatted).encode()
    with pytest.raises(InvalidInput, match="another account"):
        connected(bob, squatted, site_url)


def test_a_property_outside_the_proven_url_is_refused_at_use(
    bob: Client, receiver: Receiver, victim: PlainSite, google: Google
) -> None:
    site_url = property_of(google, f"{victim.url}/bob")
    site = webhook(bob, receiver, f"{victim.url}/bob")
    victim.files["/bob/pressroom-verification.txt"] = token(bob, site).encode()
    connection = connected(bob, site, site_url)
    change(bob, SourceConnectionRow, SourceConnectionRow.id == connection.id, property=property_of(google, victim.url))
    assert "must be the property of" in bob.refusal("submit_urls", website_id=site.id)


def test_key_files_of_other_sites_are_not_served(
    alice: Client, bob: Client, receiver: Receiver, host: RunningHost
) -> None:
    blog = alice.data("connect_website", platform="builtin", name=f"Alice {next(_numbers)}")["website_id"]
    url = published(alice, blog, "Indexed", "Text.")
    old = stored_before(bob, receiver, url.rpartition("/")[0])
    assert "of this server" in bob.refusal("submit_urls", website_id=old.id, urls=[url])


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("/", "<title>x</title></head><body>{meta}"),
        ("/", "<title>x</title><textarea>{meta}</textarea>"),
        ("/", "<head><!-- {meta} --></head>"),
        ("/", "<head><meta name=description content='{meta}'></head>"),
        ("/pressroom-verification.txt", "you asked for {token}, which is not here"),
        ("/pressroom-verification.txt", "{other}"),
        ("/uploads/pressroom-verification.txt", "{token}"),
    ],
)
def test_content_from_visitors_proves_nothing(
    bob: Client, receiver: Receiver, victim: PlainSite, path: str, content: str
) -> None:
    site, another = webhook(bob, receiver, victim.url), webhook(bob, receiver, receiver.site)
    own_token = token(bob, site)
    meta = f'<meta name="pressroom-verification" content="{own_token}">'
    victim.files[path] = content.format(meta=meta, token=own_token, other=token(bob, another)).encode()
    assert not control(bob, site)
    victim.files["/"] = f"<head>{meta}</head>".encode()
    assert control(bob, site)


def test_a_redirect_to_another_server_proves_nothing(bob: Client, receiver: Receiver, victim: PlainSite) -> None:
    site = webhook(bob, receiver, f"{victim.url}/out")
    with plain_site() as attacker:
        attacker.files["/f"] = token(bob, site).encode()
        victim.moved["/out/pressroom-verification.txt"] = f"{attacker.url}/f"
        assert not control(bob, site)
        assert attacker.requests == []


def test_a_proof_ends_with_the_file_and_outlasts_an_outage(bob: Client, receiver: Receiver, victim: PlainSite) -> None:
    site = webhook(bob, receiver, victim.url)
    victim.files["/pressroom-verification.txt"] = token(bob, site).encode()
    assert control(bob, site)
    victim.status = 503
    assert control(bob, site)
    change(bob, WebsiteRow, WebsiteRow.id == site.id, control_at=datetime.now(UTC) - GRACE - timedelta(days=1))
    assert not control(bob, site)
    victim.status = 0
    assert control(bob, site)
    del victim.files["/pressroom-verification.txt"]
    assert not control(bob, site)


def test_a_proof_of_one_url_does_not_prove_another(bob: Client, receiver: Receiver, victim: PlainSite) -> None:
    site = webhook(bob, receiver, receiver.site)
    change(bob, WebsiteRow, WebsiteRow.id == site.id, control_method="file", control_place=url_key(victim.url))
    assert not control_of(bob.host.run(Websites(bob.plugin).get(bob.user_id, site.id))).proven
    with pytest.raises(ControlNotProven):
        bob.host.run(Controls(bob.plugin).require(bob.user_id, site.id, "This"))


def test_another_accounts_website_is_neither_fetched_nor_proven(
    alice: Client, bob: Client, receiver: Receiver, victim: PlainSite
) -> None:
    site = webhook(alice, receiver, victim.url)
    request_count = len(victim.requests)
    for action in (Controls(bob.plugin).prove, Controls(bob.plugin).check, Controls(bob.plugin).how):
        with pytest.raises(NotFound):
            bob.host.run(action(bob.user_id, site.id))
    assert len(victim.requests) == request_count


def test_owners_learn_what_to_do(alice: Client, receiver: Receiver, victim: PlainSite) -> None:
    site = webhook(alice, receiver, victim.url)
    line = token(alice, site)
    control = alice.data("get_website", website_id=site.id)["control"]
    assert (
        control["proven"],
        line in control["how"],
        f"{victim.url}/pressroom-verification.txt" in control["how"],
    ) == (
        False,
        True,
        True,
    )
    with BrowserWithoutScreen(alice.host) as browser:
        browser.enter(alice.host, alice.host.run(alice.host.host.accounts.users.get(alice.user_id)))
        path = f"/dashboard/websites/{site.id}"
        page = browser.get(path)
        assert line in page.text
        assert "Neither the file nor the meta tag" in browser.submit(page, path, do="verify").text
        victim.files["/pressroom-verification.txt"] = line.encode()
        text = browser.submit(page, path, do="verify").text
        assert "is proven to control its URL" in text
        assert line not in text
    checks = alice.data("get_website", website_id=site.id, check=True)["live_check"]["checks"]
    assert [check["status"] for check in checks if check["id"] == "control"] == ["ok"]
    assert alice.data("get_website", website_id=site.id)["control"]["method"] == "file"


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://Example.com:443/Blog/", "example.com/Blog"),
        ("http://example.com:8080", "example.com:8080"),
        ("https://bücher.example/a", "xn--bcher-kva.example/a"),
        ("https://example.com./a", "example.com/a"),
        ("https://[::1]:8443/a", "[::1]:8443/a"),
        ("https://example.com/a/../b", ""),
        ("https://example.com/a/%2e%2E/b", ""),
        ("https://example.com/a/..%2fb", ""),
        ("https://example.com/a/..;x/b", ""),
        ("https://example.com\\@other.example/", ""),
        ("https://example.com/a\\..\\b", ""),
        ("https://user@example.com/", ""),
        ("https://example.com:99999/", ""),
        ("https://exa mple.com/", ""),
        ("https://example.com/\r\nX: y", ""),
        ("javascript:alert(1)", ""),
        ("https:///a", ""),
        ("https://[::1", ""),
        ("", ""),
    ],
)
def test_urls_are_compared_as_browsers_read_them(url: str, place: str) -> None:
    assert url_key(url) == place


@pytest.mark.parametrize(
    ("url", "below"),
    [
        ("https://example.com/blog", True),
        ("http://example.com/blog/post?x=1#y", True),
        ("https://example.com/blogger", False),
        ("https://example.com/", False),
        ("https://example.com.evil.example/blog/x", False),
        ("https://example.com/blog/../other", False),
        ("https://example.com:8443/blog/x", False),
    ],
)
def test_a_page_is_a_websites_only_below_its_url(url: str, below: bool) -> None:
    assert is_below(url, "https://example.com/blog") is below


def test_the_secret_of_the_receiver_is_never_shown(bob: Client, receiver: Receiver, victim: PlainSite) -> None:
    site = webhook(bob, receiver, victim.url)
    assert SECRET not in str(bob.data("get_website", website_id=site.id))
