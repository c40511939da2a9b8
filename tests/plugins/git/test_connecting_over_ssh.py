"""Connecting a website over SSH in the browser: the key is pasted unchanged from its file, and never shown again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, expect
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.tables import WebsiteRow
from pressroom_content.vault import Vault
from sqlalchemy import select
from support.browser_fixtures import browser
from support.content_client import Client, client_of
from support.people import BrowserWithoutScreen
from support.publishing_world import QUICK
from support.ssh_git_server import SshGitServer, serving_git_over_ssh

__all__ = ["browser"]

SITE = "https://blog.example.org"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    config: dict[str, Any] = {
        "builtin_plugins": False,
        "plugins": {"content": {"config": QUICK}, "git": {}, "images": {}},
        "fetch": {"private_networks": ["127.0.0.0/8"]},
    }
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("data"))) as running:
        yield running


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SshGitServer]:
    with serving_git_over_ssh(tmp_path / "repositories") as serving:
        serving.commit({"content/posts/tea.md": "---\ntitle: Tea\n---\nWords.\n"})
        yield serving


def link(client: Client) -> str:
    """Return the path of the page for connecting a website."""
    return str(urlsplit(client.data("connect_website", platform="git", url=SITE)["connect_url"]).path)


def key_line(server: SshGitServer) -> str:
    """Return a line of the private key that occurs in no other text."""
    return server.private_key.splitlines()[3]


def test_a_pasted_key_connects_a_website(
    host: RunningHost, server: SshGitServer, capfd: pytest.CaptureFixture[str]
) -> None:
    ada = client_of(host, "ada@example.net")
    path = link(ada)
    typed = {
        "url": SITE,
        "repository": server.url,
        "private_key": server.private_key.replace("\n", "\r\n"),  # as browsers submit it
        "generator": "hugo",
        "do": "connect",
    }
    outputs: list[str] = []
    with BrowserWithoutScreen(host) as browser:
        browser.enter(host, host.run(host.host.accounts.users.get(ada.user_id)))
        page = browser.get(path)
        assert [textarea.attributes["name"] for textarea in page.tree.css("textarea")] == ["private_key", "host_key"]
        page = browser.submit(page, path, **typed)
        assert page.status == 400
        assert server.fingerprint() in page.text
        outputs.append(page.html)
        page = browser.submit(page, path, **typed, host_key="a line of something else")
        assert "line that cannot be read" in page.text
        assert [textarea.text() for textarea in page.tree.css("textarea")] == ["", "a line of something else"]
        outputs.append(page.html)
        page = browser.submit(page, path, **typed, host_key=server.host_key)
        assert "is connected" in page.text
        outputs.append(page.html)
    [website] = ada.data("list_websites")["websites"]
    outputs.append(json.dumps(ada.data("get_website", website_id=website["id"], check=True)))
    written = ada.data("create_content", title="Cold brew", body="Coffee, **cold**.", website_id=website["id"])
    ada.data("publish_content", content_id=written["content_id"], website_id=website["id"])
    assert "Coffee, **cold**." in server.show("content/posts/cold-brew.md")

    async def sealed() -> str:
        async with ada.plugin.services.database.reading() as session:
            stored: str = await session.scalar(select(WebsiteRow.credential).where(WebsiteRow.id == website["id"]))
            return stored

    stored = host.run(sealed())
    outputs += [stored, "".join(capfd.readouterr())]
    assert not any(key_line(server) in text for text in outputs)
    assert Vault.of(ada.plugin).open(stored, website["id"])["private_key"] == server.private_key.strip()


@pytest.mark.asyncio(loop_scope="module")
async def test_a_key_is_pasted_in_a_browser_with_javascript(
    host: RunningHost, server: SshGitServer, browser: Browser
) -> None:
    eve = client_of(host, "eve@example.net")
    token = host.run(host.host.accounts.sessions.start(eve.user_id, user_agent="a test"))
    page = await browser.new_page()
    await page.context.add_cookies([{"name": "pressroom_session", "value": token, "url": host.url}])
    await page.goto(f"{host.url}{link(eve)}")
    await page.get_by_label("Repository", exact=True).fill(server.url)
    await page.get_by_label("Private key").fill(server.private_key)
    await page.get_by_label("Host key").fill(server.host_key)
    await page.get_by_role("button", name="Check and connect").click()
    await expect(page.get_by_text("is connected")).to_be_visible()
    assert key_line(server) not in await page.content()
    await page.close()
