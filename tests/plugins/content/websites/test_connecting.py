"""Connecting a site in the browser: the credential never appears in the chat, the log or a response."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from pressroom.config import Settings
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.tables import ConnectRow, WebsiteRow
from pressroom_content.vault import Vault
from pressroom_content.websites.connecting import website_url
from pressroom_content.websites.store import Websites
from sqlalchemy import select, update
from support.publishing_world import connect, world
from support.selecting import attribute_of
from support.standin_platform import TOKEN, StandInPlatform
from support.standin_plugin import PLATFORM

from ..conftest import Client  # noqa: TID252 - the client of the whole plugin
from .conftest import browser_of


def link(client: Client, **arguments: str) -> str:
    result = client.data("connect_website", platform=PLATFORM, **arguments)
    assert (result["state"], result["website_id"]) == ("waiting_for_user", None)
    return str(urlsplit(result["connect_url"]).path)


def test_a_site_is_connected_in_the_browser(
    host: RunningHost, ada: Client, platform: StandInPlatform, capfd: pytest.CaptureFixture[str]
) -> None:
    path = link(ada, url=platform.url, name="The stand-in of Ada")
    with browser_of(host, ada) as browser:
        page = browser.get(path)
        assert page.status == 200
        assert attribute_of(page.tree, "input[name=url]", "value") == platform.url
        assert attribute_of(page.tree, "input[name=token]", "type") == "password"
        confirmation = browser.submit(
            page, path, url=platform.url, name="The stand-in of Ada", token=TOKEN, do="connect"
        )
        assert "is connected" in confirmation.text
        assert "It may publish" in confirmation.text
        assert browser.get(path).path == "/dashboard/websites"  # the link has been used
    (website,) = ada.data("list_websites")["websites"]
    assert (website["name"], website["url"], website["status"]) == ("The stand-in of Ada", platform.url, "active")
    details = ada.data("get_website", website_id=website["id"])
    assert details["website"]["settings"]["timezone"] == "Europe/Berlin"
    everything = (
        json.dumps([details, ada.data("get_website", website_id=website["id"], check=True)]) + confirmation.html
    )
    assert TOKEN not in everything
    assert TOKEN not in "".join(capfd.readouterr())

    async def row() -> str:
        async with ada.plugin.services.database.reading() as session:
            ciphertext: str = await session.scalar(select(WebsiteRow.credential).where(WebsiteRow.id == website["id"]))
            return ciphertext

    ciphertext = host.run(row())
    assert TOKEN not in ciphertext
    assert Vault.of(ada.plugin).open(ciphertext, website["id"])["token"] == TOKEN


def test_a_wrong_credential_is_reported_and_not_shown_again(
    host: RunningHost, ada: Client, platform: StandInPlatform
) -> None:
    path = link(ada)
    with browser_of(host, ada) as browser:
        page = browser.submit(
            browser.get(path), path, url=platform.url, token="a-wrong-token", seconds="3", do="connect"
        )
        assert page.status == 400
        assert "no longer accepts the token" in page.text
        assert "a-wrong-token" not in page.html
        assert attribute_of(page.tree, "input[name=seconds]", "value") == "3"
        assert ada.data("list_websites")["websites"] == []
        page = browser.submit(page, path, url="http://127.0.0.1:1", token=TOKEN, do="connect")
        assert page.status == 400
        assert "Check that the URL is right" in page.text
        page = browser.submit(page, path, url="not an address", token=TOKEN, do="connect")
        assert "Must be the URL of a site" in page.text
        page = browser.submit(page, path, url=platform.url, token="NOT A TOKEN", do="connect")
        assert "t look right" in page.text
        assert "NOT A TOKEN" not in page.html
        assert "is connected" in browser.submit(page, path, url=platform.url, token=TOKEN, do="connect").text


def test_the_page_links_to_where_the_site_shows_the_credential(
    host: RunningHost, ada: Client, platform: StandInPlatform
) -> None:
    path = link(ada)
    label = "Open that page of your site"
    with browser_of(host, ada) as browser:
        page = browser.get(path)
        assert attribute_of(page.tree, "main .back a", "href") == "/dashboard/websites"
        assert label not in page.text  # the page does not reveal whose site it is
        page = browser.submit(page, path, url="javascript:alert(1)//x", token=TOKEN, do="connect")
        assert (page.status, label in page.text) == (400, False)
        page = browser.submit(page, path, url=platform.url, token="a-wrong-token", do="connect")
        assert attribute_of(page.tree, f'a[href^="{platform.url}"]', "href") == f"{platform.url}/settings#token"


def test_the_link_works_only_for_the_account_that_created_it(
    host: RunningHost, ada: Client, eve: Client, platform: StandInPlatform
) -> None:
    path = link(ada, url=platform.url)
    with browser_of(host, eve) as browser:
        assert browser.get(path).status == 403
        websites = browser.get("/dashboard/websites")
        sent = browser.post(path, websites.fields("/dashboard/websites") | {"url": platform.url, "token": TOKEN})
        assert sent.status == 403
        assert "created by another account" in browser.get(path).text
        assert browser.get(f"{path}/approved?token={TOKEN}").status == 403
    with browser_of(host, ada) as browser:
        assert browser.post(path, {"url": platform.url, "token": TOKEN}).status == 403  # without the hidden field
        assert browser.get("/dashboard/connect/nobody-made-this").status == 404
    assert ada.data("list_websites")["websites"] == []
    assert eve.data("list_websites")["websites"] == []


def test_the_link_expires(host: RunningHost, ada: Client, platform: StandInPlatform) -> None:
    path = link(ada, url=platform.url)

    async def grow_old() -> None:
        async with ada.plugin.services.database.writing() as session:
            statement = update(ConnectRow).where(ConnectRow.user_id == ada.user_id)
            await session.execute(statement.values(expires_at=datetime.now(UTC) - timedelta(seconds=1)))

    host.run(grow_old())
    with browser_of(host, ada) as browser:
        page = browser.get(path)
        assert page.status == 404
        assert "expired" in page.text


def test_a_link_still_works_after_the_website_limit_was_exceeded(
    host: RunningHost, ada: Client, platform: StandInPlatform
) -> None:
    path = link(ada, url=platform.url)

    async def fill() -> str:
        websites = Websites(ada.plugin)
        connected = [
            await websites.add(ada.user_id, PLATFORM, name="x", url=platform.url, credential={})
            for _ in range(ada.plugin.config.max_websites)
        ]
        return connected[-1].id

    last = host.run(fill())
    with browser_of(host, ada) as browser:
        page = browser.submit(browser.get(path), path, url=platform.url, token=TOKEN, do="connect")
        assert page.status == 400
        assert "disconnect one first" in page.text
        ada.data("disconnect_website", website_id=last, confirm=True)
        assert "is connected" in browser.submit(page, path, url=platform.url, token=TOKEN, do="connect").text
        assert browser.get(path).path == "/dashboard/websites"


def test_a_site_that_issues_the_credential_itself(host: RunningHost, ada: Client, platform: StandInPlatform) -> None:
    path = link(ada, url=platform.url)
    with browser_of(host, ada) as browser:
        page = browser.submit(browser.get(path), path, url=f"{platform.url}/no-approval", do="approve")
        assert "cannot issue credentials here" in page.text
        page = browser.submit(page, path, url=platform.url, do="approve")
        href = attribute_of(page.tree, f'a[href^="{platform.url}/approve"]', "href")
        assert href.endswith(f"?return_to={host.url}{path}/approved")
        denied = browser.get(f"{path}/approved")
        assert "denied" in denied.text
        back = browser.get(f"{path}/approved?token={TOKEN}")
        assert back.path.startswith("/dashboard/websites/w_")
        assert TOKEN not in str(back.response.url) + back.html
    (website,) = ada.data("list_websites")["websites"]
    assert website["url"] == platform.url


def test_an_unknown_platform_is_refused_with_the_known_ones(ada: Client) -> None:
    refusal = ada.refusal("connect_website", platform="hashnode")
    assert "platform: must be one of builtin, " in refusal


def test_the_dashboard_pages_of_a_website(
    host: RunningHost, ada: Client, eve: Client, platform: StandInPlatform
) -> None:
    path = link(ada, url=platform.url, name="First name")
    with browser_of(host, ada) as browser:
        browser.submit(browser.get(path), path, url=platform.url, name="First name", token=TOKEN, do="connect")
        (website,) = ada.data("list_websites")["websites"]
        website_path = f"/dashboard/websites/{website['id']}"
        listed = browser.get("/dashboard/websites")
        assert "First name" in listed.text
        page = browser.get(website_path)
        saved = browser.submit(
            page, website_path, version="1", name="Second name", timezone="Asia/Tokyo", do="settings"
        )
        assert "settings are saved" in saved.text
        stale = browser.submit(page, website_path, version="1", name="Third name", do="settings")
        assert stale.status == 400
        assert "changed in the meantime" in stale.text
        wrong = browser.submit(page, website_path, version="2", timezone="Atlantis/Capital", do="settings")
        assert "name of a time zone" in wrong.text
        platform.token = "another-token"
        checked = browser.submit(page, website_path, do="check")
        assert "no longer accepts the token" in checked.text
        renewing = browser.submit(page, website_path, do="reconnect")
        assert renewing.path.startswith("/dashboard/connect/")
        confirmation = browser.submit(renewing, renewing.path, url=platform.url, token="another-token", do="connect")
        assert "is connected" in confirmation.text
        assert "Paused" in browser.submit(page, website_path, do="pause").text
        platform.token = "a-third-token"
        resumed = browser.submit(page, website_path, do="resume").text
        assert "Publishing is resumed" in resumed
        assert "Needs attention" in resumed
        with browser_of(host, eve) as other:
            assert other.get(website_path).status == 404
        assert "its credential is deleted" in browser.submit(page, website_path, do="disconnect").text
        assert browser.get(website_path).status == 404
    assert ada.data("list_websites")["websites"] == []
    result = ada.data("disconnect_website", website_id=website["id"], confirm=True)
    assert result == {"disconnected": True, "kept_publications": 0}


def test_credential_keys_are_rotated(host: RunningHost, ada: Client, platform: StandInPlatform) -> None:
    async def rotate() -> tuple[int, int, str]:
        websites = Websites(ada.plugin)
        website = await websites.add(ada.user_id, PLATFORM, name="x", url=platform.url, credential={"token": TOKEN})
        old = Vault([b"x" * 32]).seal({"token": TOKEN}, website.id)
        async with ada.plugin.services.database.writing() as session:
            await session.execute(update(WebsiteRow).where(WebsiteRow.id == website.id).values(credential=old))
        before = await websites.reseal()  # with a lost key: this is recorded at the website, and nothing is lost
        return before, await websites.reseal(), (await websites.get(ada.user_id, website.id)).last_error

    before, after, error = host.run(rotate())
    assert (before, after) == (0, 0)
    assert "can no longer be decrypted" in error


async def test_concurrent_jobs_count_a_credential_once(tmp_path: Path) -> None:
    def settings(*keys: str) -> Settings:
        config = {"plugins": {"content": {"config": {"credential_keys": keys}}, "webhook": {}}}
        return settings_for_test(config, tmp_path)

    old, new = "old-" + "k" * 32, "new-" + "k" * 32
    async with world(settings(old), works=False) as plugin:
        for _ in range(10):
            await connect(plugin, "https://example.com", "a token", platform="webhook")
    async with world(settings(new, old), works=False) as plugin:
        websites = Websites(plugin)
        assert sum(await asyncio.gather(*(websites.reseal() for _ in range(3)))) == 10


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("blog.example.com", "https://blog.example.com"),
        (" HTTPS://Blog.Example.com/path/ ", "HTTPS://blog.example.com/path"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
    ],
)
def test_typed_urls_are_normalised(typed: str, address: str) -> None:
    assert website_url(typed).lower() == address.lower()
