"""Signing in with Google: from the button to figures, and messages for failures."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from pressroom.cli.diagnosis import diagnose
from pressroom.host.loaded_app import LoadedApp
from pressroom.sdk import Rejected
from pressroom.testing.running import settings_for_test
from pressroom_search_performance.config import SearchPerformanceConfig
from pressroom_search_performance.connecting.signing_in import GoogleSignIns, fitting_properties
from pressroom_search_performance.connecting.store import SourceConnections
from pressroom_search_performance.sources import google as google_source
from pressroom_search_performance.tables import GoogleSignInRow, SourceConnectionRow
from sqlalchemy import select, update
from support.google_sign_in import CALLBACK, SigningIn, panel
from support.people import BrowserWithoutScreen
from support.polling import eventually
from support.standin_google import Google
from support.standin_google_accounts import CLIENT_ID, CLIENT_SECRET, SCOPE

from .conftest import HISTORY, Site, config_for, day

ADA = "ada@gmail.example"
ON_SQLITE = pytest.mark.parametrize("host", ["sqlite"], indirect=True)
"""For tests that do not depend on the database."""


@pytest.fixture
def person(site: Site) -> Iterator[SigningIn]:
    with BrowserWithoutScreen(site.client.host) as browser:
        yield signing_in(site, browser)


@pytest.fixture
def person_with_weeks(site_with_weeks: Site) -> Iterator[SigningIn]:
    with BrowserWithoutScreen(site_with_weeks.client.host) as browser:
        yield signing_in(site_with_weeks, browser)


def signing_in(site: Site, browser: BrowserWithoutScreen) -> SigningIn:
    return SigningIn(site.client.host, site.google, browser, site.client.user_id, site.website.id)


def owned(site: Site, *more: str) -> None:
    """Give Ada the Google property of a website, and others."""
    site.google.properties[ADA] |= {site.property, *more}


def stored(site: Site) -> dict[str, str]:
    """Return the credential stored for a website."""
    return dict(site.client.host.run(SourceConnections(site.plugin).credential(site.state())))


def wait_for_figures(site: Site) -> None:
    """Wait until the job started by connecting has fetched everything."""
    connections = SourceConnections(site.plugin)

    async def is_done() -> bool:
        connection = (await connections.of(site.client.user_id, site.website.id))["google"]
        waits = connection.due_at is not None and connection.due_at > datetime.now(UTC)
        return waits and await connections.days(connection) == site.plugin.config.history_days

    site.client.host.run(eventually(is_done, bool, seconds=30))


def end_token(site: Site) -> None:
    """Make the server request a new access token on the next use."""
    google_source.console_of(site.plugin.config).auth.forget(stored(site))


def test_the_matching_property_is_connected_and_every_tool_works(
    site_with_weeks: Site, person_with_weeks: SigningIn
) -> None:
    site, person = site_with_weeks, person_with_weeks
    owned(site, "https://unrelated.example/")
    site.google.add(day(), "compost", site.page(), 10, 100, 2.0)
    redirect = person.leave()
    assert redirect.status_code == 303
    url = urlsplit(redirect.headers["Location"])
    parameters = dict(parse_qsl(url.query))
    assert f"{url.scheme}://{url.netloc}" == site.google.url
    assert {
        name: parameters[name] for name in ("client_id", "scope", "access_type", "prompt", "code_challenge_method")
    } == {
        "client_id": CLIENT_ID,
        "scope": SCOPE,
        "access_type": "offline",
        "prompt": "consent",
        "code_challenge_method": "S256",
    }
    assert parameters["redirect_uri"] == f"{site.client.host.url}{CALLBACK}"

    page = person.browser.get(site.google.accounts.consent(redirect.headers["Location"]))
    assert (page.status, page.path) == (200, person.path)
    assert f"connected Clicks, impressions and positions in search, fetched every night. Property: {site.property}" in (
        panel(page)
    )
    (refresh_token,) = site.google.accounts.refresh_tokens
    assert refresh_token not in page.html
    assert stored(site) == {"signed_in_client": CLIENT_ID, "refresh_token": refresh_token}
    assert not site.state().uses_operators

    wait_for_figures(site)
    assert site.data("get_search_performance")["totals"]["clicks"] == 10
    assert site.data("get_search_performance", dimensions=["country", "query"])["rows"]
    assert site.data("inspect_url_index", url=site.page())["verdict"] == "PASS"
    message = site.data("submit_urls", sitemap_url=f"{site.property}sitemap.xml")["engines"][0]["told"]
    assert message == f"the sitemap {site.property}sitemap.xml"
    site.data("find_content_opportunities", kind="quick_wins")
    site.data("find_content_opportunities", kind="declining", days=7)


def test_of_several_properties_one_is_chosen(site: Site, person: SigningIn) -> None:
    root = f"{site.client.host.url}/"
    owned(site, root)
    page = person.sign_in()
    choices = page.tree.css("input[name=property][type=radio]")
    assert [choice.attributes["value"] for choice in choices] == [site.property, root]
    assert "Disconnect" not in page.text
    refused = person.send("choose", property="https://unrelated.example/")
    assert (refused.status, "Choose one of the properties" in panel(refused)) == (400, True)
    assert f"Property: {root}" in panel(person.send("choose", property=root))
    assert site.state().property == root
    assert not person.look().tree.css("input[type=radio]")


def test_an_abandoned_choice_is_forgotten_and_revoked(site: Site, person: SigningIn) -> None:
    owned(site, f"{site.client.host.url}/")
    person.sign_in()
    assert "Sign in with Google" in panel(person.send("cancel"))
    assert not site.google.accounts.refresh_tokens
    person.sign_in()
    sign_ins = GoogleSignIns(site.plugin)
    site.client.host.run(sign_ins.expire())
    assert person.look().tree.css("input[type=radio]"), "its time is not over yet"
    site.client.host.run(_age(site))
    assert not person.look().tree.css("input[type=radio]")
    assert "is already over" in panel(person.send("choose", property=site.property))
    site.client.host.run(sign_ins.expire())
    assert not site.google.accounts.refresh_tokens


async def _age(site: Site) -> None:
    past = datetime.now(UTC) - timedelta(seconds=1)
    async with site.plugin.services.database.writing() as session:
        await session.execute(
            update(GoogleSignInRow).where(GoogleSignInRow.user_id == site.client.user_id).values(expires_at=past)
        )


@ON_SQLITE
@pytest.mark.parametrize(
    ("at_google", "error", "expected"),
    [
        ({}, "access_denied", "only the accounts that its operator named may sign in. Sign in with Google again"),
        ({}, "temporarily_unavailable", "Google is not available right now"),
        ({}, "<b>made up</b>", "Google refused the sign-in (an unknown error)"),
        ({"leaves_out": True}, "", "tick the box for Search Console data"),
        ({"forgets_refresh_token": True}, "", "Remove this server at https://myaccount.google.com/connections"),
        ({"client_secret": "another one"}, "", "Ask the operator of this server to correct it"),
        ({"who": "bob@gmail.example"}, "", "has no property in Search Console that contains"),
    ],
)
def test_failures_are_reported_with_what_to_do(
    site: Site, person: SigningIn, at_google: dict[str, Any], error: str, expected: str
) -> None:
    owned(site)
    vars(site.google.accounts).update(at_google)
    page = person.sign_in(error)
    assert page.status == 400
    assert expected in page.one("#source-google [role=alert]")
    assert "made up" not in page.text
    assert not site.google.accounts.refresh_tokens, "what is not used is revoked"
    assert not site.client.host.run(SourceConnections(site.plugin).every(site.client.user_id))
    vars(site.google.accounts).update(
        leaves_out=False, forgets_refresh_token=False, client_secret=CLIENT_SECRET, who=ADA
    )
    form = page.fields(person.path) | {"source": "google", "do": "sign_in"}
    retried = person.browser.client.post(person.path, data=form, follow_redirects=False)
    retried_page = person.browser.get(site.google.accounts.consent(retried.headers["Location"]))
    assert f"Property: {site.property}" in panel(retried_page), "the form of the same page tries again"


@ON_SQLITE
def test_an_expired_code_of_google_is_reported(site: Site, person: SigningIn) -> None:
    owned(site)
    url = person.consent()
    site.google.accounts.codes.clear()
    assert "it took too long" in person.browser.get(url).text


@ON_SQLITE
def test_an_outage_of_google_is_reported(site: Site, person: SigningIn) -> None:
    owned(site)
    site.google.failing = 503, b"", {}
    assert "Google Search Console is not available right now" in person.sign_in().one("[role=alert]")


def test_two_concurrent_returns_exchange_one_code(site: Site, person: SigningIn) -> None:
    owned(site)
    url = person.consent()
    cookies = {"pressroom_session": person.browser.session_cookie()}

    def come_back(_: int) -> int:
        return httpx.get(url, cookies=cookies, timeout=30).status_code

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(come_back, range(4))) == [303, 403, 403, 403]
    assert site.google.accounts.exchanges == 1
    assert site.state().status == "active"


@ON_SQLITE
def test_a_sign_in_that_took_too_long_is_refused(site: Site, person: SigningIn) -> None:
    owned(site)
    url = person.consent()
    site.client.host.run(_age(site))
    page = person.browser.get(url)
    assert (page.status, "took longer than 15 minutes" in page.text) == (403, True)
    assert site.google.accounts.exchanges == 0


def test_a_sign_in_that_ended_needs_attention_and_is_renewed_without_losing_figures(
    site: Site, person: SigningIn
) -> None:
    owned(site)
    person.sign_in()
    wait_for_figures(site)
    site.google.accounts.end(ADA)
    end_token(site)
    refusal = site.client.refusal("inspect_url_index", website_id=site.website.id, url=site.page())
    assert "after seven days. Sign in with Google again. Renew the connection at" in refusal
    assert site.state().status == "error", "whoever looks at the page learns of it before the night"
    assert "does not work" in panel(person.look())

    site.again()
    site.fetch(site.state())
    assert "not used for six months" in site.state().last_error
    page = person.look()
    assert "Sign in with Google" in panel(page)

    before = site.state()
    owned(site, f"{site.client.host.url}/")
    page = person.sign_in()
    assert (site.state().id, site.state().status) == (before.id, "active"), "the property that it had is kept"
    assert f"{HISTORY} of {HISTORY} days have been fetched" in panel(page)
    assert site.data("inspect_url_index", url=site.page())["verdict"] == "PASS"


def test_disconnecting_revokes_the_last_sign_in_of_an_account_only(site: Site, person: SigningIn) -> None:
    other = site.other()
    owned(site)
    owned(other)
    person.sign_in()
    with BrowserWithoutScreen(site.client.host) as browser:
        signing_in(other, browser).sign_in()
    person.send("disconnect")
    assert not site.google.accounts.revocations, "Google would end the other one with it"
    assert other.data("inspect_url_index", url=other.page())["verdict"] == "PASS"
    with BrowserWithoutScreen(site.client.host) as browser:
        signing_in(other, browser).send("disconnect")
    assert len(site.google.accounts.revocations) == 1
    assert not site.google.accounts.refresh_tokens


@ON_SQLITE
def test_disconnecting_works_while_google_is_down(site: Site, person: SigningIn) -> None:
    owned(site)
    person.sign_in()
    site.google.failing = 503, b"", {}
    assert "Sign in with Google" in panel(person.send("disconnect"))
    assert not site.client.host.run(SourceConnections(site.plugin).every(site.client.user_id))


@ON_SQLITE
def test_a_credential_of_another_kind_replaces_the_sign_in(site: Site, person: SigningIn) -> None:
    owned(site)
    person.sign_in()
    site.google.refresh_tokens["1//pasted"] = ADA
    person.send(
        "connect", property=site.property, client_id="own", client_secret="own secret", refresh_token="1//pasted"
    )
    assert stored(site)["client_id"] == "own"
    assert len(site.google.accounts.revocations) == 1


def test_refresh_tokens_that_rotate_are_stored(site: Site, person: SigningIn) -> None:
    owned(site)
    person.sign_in()
    wait_for_figures(site)
    first = stored(site)
    site.google.accounts.rotates = True
    end_token(site)
    # Another process that decrypted the credential earlier finds the one stored by this process.
    connections = SourceConnections(site.plugin)
    late = site.client.host.run(connections.credential(site.state()))
    site.data("inspect_url_index", url=site.page())
    second = stored(site)
    assert second["refresh_token"] != first["refresh_token"]
    assert list(site.google.accounts.refresh_tokens) == [second["refresh_token"]]
    another_process = google_source.GoogleConsole(site.plugin.config)
    properties = site.client.host.run(another_process.sites(late, site.plugin.services.fetcher))
    assert site.property in properties
    assert list(site.google.accounts.refresh_tokens) == [stored(site)["refresh_token"]]
    assert site.state().status == "active"


@ON_SQLITE
def test_concurrent_calls_get_one_access_token(site: Site, person: SigningIn) -> None:
    owned(site)
    person.sign_in()
    wait_for_figures(site)
    end_token(site)
    credential, fetcher = stored(site), site.plugin.services.fetcher
    auth = google_source.console_of(site.plugin.config).auth
    grants = site.google.grants

    async def at_once() -> set[str]:
        headers = await asyncio.gather(*(auth.header(credential, fetcher) for _ in range(20)))
        return {header["Authorization"] for header in headers}

    assert len(site.client.host.run(at_once())) == 1
    assert site.google.grants == grants + 1


def test_access_tokens_and_the_verifier_are_not_in_the_database(site: Site, person: SigningIn) -> None:
    owned(site)
    person.leave()
    person.sign_in()

    async def rows() -> str:
        async with site.plugin.services.database.reading() as session:
            sign_ins = await session.scalars(
                select(GoogleSignInRow).where(GoogleSignInRow.user_id == site.client.user_id)
            )
            connected = await session.scalars(select(SourceConnectionRow))
            return str([vars(row) for row in (*sign_ins, *connected)])

    text = site.client.host.run(rows())
    assert not [secret for secret in (*site.google.tokens, *site.google.accounts.refresh_tokens) if secret in text]
    assert text.count("code_verifier") == 0


@ON_SQLITE
@pytest.mark.parametrize(
    ("client", "expected"),
    [
        ({"google_client_id": "other", "google_client_secret": "x"}, "another OAuth client"),
        ({}, "no longer offers signing in with Google"),
    ],
)
def test_a_sign_in_belongs_to_the_client_that_it_was_made_with(
    site: Site, client: dict[str, str], expected: str
) -> None:
    console = google_source.GoogleConsole(SearchPerformanceConfig.model_validate(client))
    credential = {"signed_in_client": CLIENT_ID, "refresh_token": "1//0"}
    with pytest.raises(Rejected, match=expected):
        site.client.host.run(console.sites(credential, site.plugin.services.fetcher))


def test_matching_properties_are_listed_with_the_domain_first() -> None:
    properties = [
        "https://example.com/",
        "https://example.com/blog/",
        "sc-domain:example.com",
        "https://example.org/",
        "x",
    ]
    assert fitting_properties(properties, "https://example.com/blog") == [
        "sc-domain:example.com",
        "https://example.com/blog/",
        "https://example.com/",
    ]


@pytest.mark.parametrize(
    ("client_id", "base_url", "status", "expected"),
    [
        ("", "https://press.example", "ok", "not offered"),
        (CLIENT_ID, "https://press.example", "ok", f"https://press.example{CALLBACK}"),
        (CLIENT_ID, "https://press.example/tools", "ok", f"https://press.example/tools{CALLBACK}"),
        (CLIENT_ID, "http://localhost:8000", "ok", f"http://localhost:8000{CALLBACK}"),
        (CLIENT_ID, "http://press.example", "error", "https only"),
        (CLIENT_ID, "https://203.0.113.7", "error", "public host names only"),
        ("my-client", "https://press.example", "warning", "does not end in .apps.googleusercontent.com"),
    ],
)
async def test_doctor_says_whether_people_can_sign_in(
    tmp_path: Path, client_id: str, base_url: str, status: str, expected: str
) -> None:
    config = config_for(Google(), google_client_id=client_id, google_client_secret=client_id and CLIENT_SECRET)
    config["base_url"] = base_url
    findings = await diagnose(LoadedApp(settings_for_test(config, tmp_path)), lambda: None)
    (result,) = (finding.result for finding in findings if finding.check == "search_performance: sign in with Google")
    assert (result.status, expected in result.message) == (status, True), result.message


@pytest.mark.parametrize("given", [{"google_client_id": CLIENT_ID}, {"google_client_secret": CLIENT_SECRET}])
def test_an_id_without_a_secret_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="google_client_id and google_client_secret need each other"):
        SearchPerformanceConfig.model_validate(given)
