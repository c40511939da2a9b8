"""Attacks through Google sign-in on another person's website, code or token."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
import structlog
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.websites.store import Websites
from pressroom_search_performance.connecting.store import SourceConnection, SourceConnections
from support.content_client import Client, client_of
from support.google_sign_in import CALLBACK, SigningIn
from support.people import PASSWORD, BrowserWithoutScreen, Page, add_person
from support.standin_google import Google, serving
from support.standin_google_accounts import AUTHORIZE, CLIENT_ID, CLIENT_SECRET, REVOKE

MALLORY = "mallory@gmail.example"
_numbers = count(1)


@pytest.fixture(scope="module")
def running_google() -> Iterator[Google]:
    with serving(Google()) as running:
        yield running


@pytest.fixture
def google(running_google: Google) -> Google:
    fresh = Google()
    vars(running_google).update({**vars(fresh), "url": running_google.url})
    running_google.accounts.who = MALLORY
    return running_google


@pytest.fixture(scope="module")
def host(running_google: Google, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    figures = {
        "google_url": running_google.url,
        "google_token_url": f"{running_google.url}/token",
        "google_client_id": CLIENT_ID,
        "google_client_secret": CLIENT_SECRET,
        "google_authorization_url": f"{running_google.url}{AUTHORIZE}",
        "google_revocation_url": f"{running_google.url}{REVOKE}",
        "history_days": 7,
        "sweep_seconds": 86_400,
    }
    config: dict[str, Any] = {
        "builtin_plugins": False,
        "plugins": {"content": {}, "search_performance": {"config": figures}},
        "fetch": {"private_networks": ["127.0.0.0/8"]},
    }
    folder: Path = tmp_path_factory.mktemp("sign_in")
    with RunningHost(settings_for_test(config, folder)) as running:
        failed = [record for record in running.host.compiled.plugins.failed if record.id in config["plugins"]]
        assert not failed, failed
        yield running


class Person:
    """A person with an account and a website, whose property Mallory's Google account also has."""

    def __init__(self, host: RunningHost, google: Google, browser: BrowserWithoutScreen) -> None:
        self.client: Client = client_of(host, f"person.{next(_numbers)}@example.com")
        adding = Websites(self.client.plugin).add(
            self.client.user_id, "builtin", name=f"Notes {next(_numbers)}", url="", credential={}
        )
        website = host.run(adding)
        self.property = f"{website.url}/"
        google.properties[MALLORY].add(self.property)
        self.browser = browser
        self.signing_in = SigningIn(host, google, browser, self.client.user_id, website.id)

    def connections(self) -> list[SourceConnection]:
        """Return the account's connections."""
        plugin = self.client.host.host.compiled.plugins.contexts["search_performance"]
        return list(self.client.host.run(SourceConnections(plugin).every(self.client.user_id)))


@pytest.fixture
def mallory(host: RunningHost, google: Google) -> Iterator[Person]:
    with BrowserWithoutScreen(host) as browser:
        yield Person(host, google, browser)


@pytest.fixture
def victim(host: RunningHost, google: Google) -> Iterator[Person]:
    with BrowserWithoutScreen(host) as browser:
        yield Person(host, google, browser)


def assert_refused(page: Page, google: Google, *people: Person) -> None:
    """Check that nobody was connected, and that no code was sent to Google."""
    assert page.status == 403
    assert "did not start in this browser" in page.text
    assert google.accounts.exchanges == 0
    assert not [connection for person in people for connection in person.connections()]


def test_a_victim_who_opens_the_attackers_return_url_gets_nothing_connected(
    mallory: Person, victim: Person, google: Google
) -> None:
    url = mallory.signing_in.consent()
    page = Page(victim.browser.client.get(url, headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}))
    assert_refused(page, google, mallory, victim)
    assert_refused(mallory.browser.get(url), google, mallory, victim)


def test_an_attackers_code_with_the_victims_state_connects_nothing(
    mallory: Person, victim: Person, google: Google
) -> None:
    code = dict(parse_qsl(urlsplit(mallory.signing_in.consent()).query))["code"]
    parameters = dict(parse_qsl(urlsplit(victim.signing_in.leave().headers["Location"]).query))
    page = victim.browser.get(f"{CALLBACK}?{urlencode({'code': code, 'state': parameters['state']})}")
    assert page.status == 400
    assert not victim.connections(), "Google refuses the code: the verifier is another one"


def test_a_return_only_counts_in_the_session_that_left(host: RunningHost, victim: Person, google: Google) -> None:
    url = victim.signing_in.consent()
    user = host.run(host.host.accounts.users.get(victim.client.user_id))
    with BrowserWithoutScreen(host) as elsewhere:
        elsewhere.enter(host, user)
        assert_refused(elsewhere.get(url), google, victim)


def test_a_return_url_from_a_log_or_a_history_is_used_up(victim: Person, google: Google) -> None:
    google.accounts.who = MALLORY
    url = victim.signing_in.consent()
    assert victim.browser.get(url).status == 200
    (connection,) = victim.connections()
    assert connection.property == victim.property
    assert "is already over" in victim.browser.get(url).text
    assert google.accounts.exchanges == 1


@pytest.mark.parametrize("state", ["", "x", "0" * 43, "\ud800", "a\0b", "x" * 7000])
def test_forged_states_are_refused(victim: Person, google: Google, state: str) -> None:
    query = urlencode({"code": "4/0A", "state": state.encode("utf-8", "surrogatepass")})
    assert_refused(victim.browser.get(f"{CALLBACK}?{query}"), google, victim)


def test_without_a_session_no_code_is_exchanged(host: RunningHost, mallory: Person, google: Google) -> None:
    url = mallory.signing_in.consent()
    with BrowserWithoutScreen(host) as anonymous:
        assert anonymous.get(url).path == "/sign-in"
    assert google.accounts.exchanges == 0


def test_a_sign_in_for_another_accounts_website_cannot_be_started(mallory: Person, victim: Person) -> None:
    fields = mallory.signing_in.look().fields(mallory.signing_in.path) | {"source": "google", "do": "sign_in"}
    assert mallory.browser.post(victim.signing_in.path, fields).status == 403
    assert mallory.browser.get(victim.signing_in.path).status == 404


def test_another_site_cannot_start_a_sign_in(victim: Person) -> None:
    fields = victim.signing_in.look().fields(victim.signing_in.path) | {"source": "google", "do": "sign_in"}
    page = victim.browser.post(victim.signing_in.path, fields, Origin="https://evil.example")
    assert page.status == 403


def test_a_property_of_another_website_is_refused(victim: Person, mallory: Person, google: Google) -> None:
    google.properties[MALLORY] = {victim.property}
    page = mallory.signing_in.sign_in()
    assert (page.status, "has no property in Search Console that contains" in page.text) == (400, True)
    assert mallory.signing_in.send("choose", property=victim.property).status == 400
    assert not mallory.connections()


def test_the_return_redirects_only_to_the_page_of_the_website(victim: Person) -> None:
    url = victim.signing_in.consent()
    extra_query = urlencode(
        {"return_to": "https://evil.example", "redirect_uri": "//evil.example", "website_id": "w_x"}
    )
    response = victim.browser.client.get(f"{url}&{extra_query}", follow_redirects=False)
    assert (response.status_code, response.headers["Location"]) == (303, victim.signing_in.path)
    assert response.headers["Cache-Control"] == "no-store"


def test_codes_and_tokens_are_in_neither_logs_nor_pages(victim: Person, google: Google) -> None:
    with structlog.testing.capture_logs() as logs:
        left = victim.signing_in.leave()
        url = google.accounts.consent(left.headers["Location"])
        page = victim.browser.get(url)
    secrets = [
        dict(parse_qsl(urlsplit(url).query))["code"],
        dict(parse_qsl(urlsplit(url).query))["state"],
        CLIENT_SECRET,
        *google.accounts.refresh_tokens,
        *google.tokens,
    ]
    assert len(secrets) >= 5
    assert not [secret for secret in secrets if secret in page.html or secret in str(logs)]
    assert CLIENT_SECRET not in left.headers["Location"]


def test_the_session_cookie_is_sent_on_the_return_from_google(host: RunningHost) -> None:
    person = add_person(host, f"cookie.{next(_numbers)}@example.com")
    with BrowserWithoutScreen(host) as browser:
        page = browser.get("/sign-in")
        fields = page.fields("/sign-in") | {"email": person.email, "password": PASSWORD}
        response = browser.client.post(
            "/sign-in", data=fields, headers={"Origin": browser.origin}, follow_redirects=False
        )
    (cookie,) = (
        header for header in response.headers.get_list("set-cookie") if header.startswith("pressroom_session=")
    )
    assert "samesite=lax" in cookie.lower()
