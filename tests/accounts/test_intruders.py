"""An intruder who knew a password for a while: what survives the owner's password change."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.pages.articles import _web_link
from support.oauth import Flow
from support.people import PASSWORD, BrowserWithoutScreen, add_person

ACCOUNT = "/dashboard/account"


def test_revoking_everything_ends_an_intruders_keys_and_approvals(tmp_path: Path) -> None:
    with (
        RunningHost(settings_for_test({}, tmp_path)) as host,
        BrowserWithoutScreen(host) as owner,
        httpx.Client(base_url=host.url) as http,
    ):
        person, other = add_person(host), add_person(host, "other@example.org")
        _, key = host.run(host.host.accounts.api_keys.create(person.id, "Intruder"))
        _, other_key = host.run(host.host.accounts.api_keys.create(other.id, "Not theirs"))
        token = host.run(host.host.accounts.sessions.start(person.id))
        with httpx.Client(
            base_url=host.url, cookies={"pressroom_session": token}, headers={"Origin": host.url}
        ) as intruder:
            flow = Flow(host.url, http, intruder)
            flow.register()
            tokens = flow.connect()
        credentials = [key, tokens["access_token"]]
        assert [flow.call(credential).status_code for credential in credentials] == [200, 200]
        owner.enter(host, person)
        page = owner.get(ACCOUNT)
        assert "2 connections can use your account without your password" in page.text
        page = owner.submit(page, ACCOUNT, action="password", current=PASSWORD, password="copper meadow whistle tide")
        assert "API keys and connected clients still work" in page.text
        assert [flow.call(credential).status_code for credential in credentials] == [200, 200]
        page = owner.submit(page, ACCOUNT, action="revoke-all")
        assert "All API keys and connected clients are revoked." in page.text
        assert not page.tree.css("#connections")
        assert [flow.call(credential).status_code for credential in credentials] == [401, 401]
        assert flow.refresh(tokens["refresh_token"]).status_code == 400
        assert flow.call(other_key).status_code == 200


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "//evil.example", "ms-msdt:/x", " https://x"]
)
def test_a_site_cannot_inject_a_script_into_the_article_list(url: str) -> None:
    assert _web_link(url) == ""
    assert _web_link("https://blog.example/post") == "https://blog.example/post"
