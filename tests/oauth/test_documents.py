"""Client ID Metadata Documents over HTTP: only if the operator allows them, and fetched only for signed-in people."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from html import unescape

import httpx
import pytest
from pressroom.oauth.metadata import check_metadata
from pressroom.testing import RunningHost
from support.oauth import LOOPBACK, Flow, Person

Start = Callable[..., RunningHost]
FlowOf = Callable[[RunningHost, str], Flow]

DOCUMENT = "https://editor.example/client.json"
INSIDE = "https://127.0.0.1/client.json"


def keep(host: RunningHost, *redirect_uris: str) -> None:
    """Store a document in the server as if it had just been fetched."""
    metadata = check_metadata(
        {"client_name": "My editor", "redirect_uris": list(redirect_uris), "token_endpoint_auth_method": "none"}
    )
    host.run(host.host.authorization_server.clients.keep_document(DOCUMENT, metadata))


@pytest.fixture
def flow_of() -> Iterator[FlowOf]:
    """Return a function that makes a client whose ID is a URL, with a person's browser."""
    with ExitStack() as stack:

        def make(host: RunningHost, client_id: str) -> Flow:
            http, person = stack.enter_context(httpx.Client(base_url=host.url)), Person(host)
            stack.callback(person.browser.close)
            return Flow(host.url, http, person.browser, {"client_id": client_id})

        yield make


@pytest.fixture
def host(start: Start) -> RunningHost:
    return start(oauth={"client_metadata_documents": True, "registration_rate": "3/hour"})


def test_the_page_names_the_site_of_the_document(host: RunningHost, flow_of: FlowOf) -> None:
    keep(host, LOOPBACK, "https://editor.example/callback", "https://other.example/callback")
    flow = flow_of(host, DOCUMENT)
    page = flow.authorize().text
    assert "published at <strong>editor.example</strong>" in page
    assert "a different site" not in page
    assert "a different site" not in flow.authorize(redirect_uri="https://editor.example/callback").text
    assert "a different site" in flow.authorize(redirect_uri="https://other.example/callback").text
    tokens = flow.connect()
    assert flow.call(tokens["access_token"]).status_code == 200
    assert flow.refresh(tokens["refresh_token"]).status_code == 200


def test_a_redirect_uri_missing_from_the_document_is_refused(host: RunningHost, flow_of: FlowOf) -> None:
    keep(host, "https://editor.example/callback")
    assert flow_of(host, DOCUMENT).authorize().status_code == 400


def test_nothing_is_fetched_for_anonymous_callers(host: RunningHost, flow_of: FlowOf) -> None:
    response = flow_of(host, INSIDE).http.get("/oauth/authorize", params={"client_id": INSIDE})
    assert response.status_code == 303
    assert response.headers["location"].startswith("/sign-in?")


def test_fetches_from_internal_addresses_are_refused_and_rate_limited(host: RunningHost, flow_of: FlowOf) -> None:
    flow = flow_of(host, INSIDE)
    for _ in range(3):
        refused = flow.authorize()
        assert refused.status_code == 400
        assert "public internet" in refused.text
    refused = flow.authorize()
    assert refused.status_code == 429
    assert "the limit of 3 per hour registrations by one account is used up" in unescape(refused.text).lower()


def test_when_disabled_a_url_is_not_a_client_id(start: Start, flow_of: FlowOf) -> None:
    host = start()
    keep(host, LOOPBACK)
    assert flow_of(host, DOCUMENT).authorize().status_code == 400
