"""Form tokens: a stolen token of one form is useless for any other form."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from pressroom.accounts.records import User
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support import third_party
from support.oauth import Flow
from support.people import PASSWORD, BrowserWithoutScreen, add_person

ACCOUNT = "/dashboard/account"
CONNECTIONS = "/dashboard/connections"
SHELF = "/dashboard/shelf"

SOURCE = (
    third_party.HEAD
    + """
def form(request, action, token):
    return f'<form method="post" action="{action}"><input type="hidden" name="csrf" value="{token}"></form>'


async def shelf(request):
    if request.method == "POST":
        return HttpResponse(b"<h1>shelf changed</h1>")
    other = form(request, "/dashboard/shelf/7%20b", request.csrf_token_for("/dashboard/shelf/7 b"))
    return HttpResponse((form(request, "/dashboard/shelf", request.csrf_token) + other).encode())


async def book(request):
    return HttpResponse(f"<h1>book {request.path_params['id']} changed</h1>".encode())


@hookimpl
def pressroom_routes():
    page = DashboardPage("Shelf")
    return [
        Route("/dashboard/shelf", shelf, ("GET", "POST"), page),
        Route("/dashboard/shelf/<id>", book, ("POST",), page),
    ]
"""
)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """Return a host with a plugin that has two pages."""
    folder: Path = tmp_path_factory.mktemp("site")
    plugin = third_party.write_plugin(folder, SOURCE)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        with RunningHost(settings_for_test({"plugins": {plugin: {}}}, tmp_path_factory.mktemp("data"))) as running:
            yield running


@pytest.fixture(scope="module")
def person(host: RunningHost) -> User:
    return add_person(host)


@pytest.fixture
def browser(host: RunningHost, person: User) -> Iterator[BrowserWithoutScreen]:
    """Return a browser in which the person is signed in."""
    with BrowserWithoutScreen(host) as fresh:
        fresh.enter(host, person)
        yield fresh


@pytest.fixture
def flow(host: RunningHost, browser: BrowserWithoutScreen) -> Iterator[Flow]:
    """Return an OAuth client that anybody could have registered, and the person's browser."""
    headers = {"Origin": host.url}
    with (
        httpx.Client(base_url=host.url) as http,
        httpx.Client(base_url=host.url, cookies=browser.client.cookies, headers=headers) as client,
    ):
        yield Flow(host.url, http, client)


def stolen(browser: BrowserWithoutScreen) -> list[str]:
    """Return every form token on the pages whose content other people can write."""
    page = browser.get(SHELF)
    return [page.fields(action)["csrf"] for action in ("/sign-out", SHELF, "/dashboard/shelf/7%20b")]


def test_a_page_token_cannot_change_the_account(host: RunningHost, person: User, browser: BrowserWithoutScreen) -> None:
    connection, _ = host.run(host.host.accounts.api_keys.create(person.id, "Restricted"))
    host.run(host.host.accounts.connections.set_disabled_tools(person.id, connection.id, ["generate_qr_code"]))
    for csrf in stolen(browser):
        for path, fields in (
            (ACCOUNT, {"action": "name", "name": "Mallory"}),
            (ACCOUNT, {"action": "sign-out-everywhere"}),
            (CONNECTIONS, {"name": "A key for Mallory"}),
            (
                f"{CONNECTIONS}/{connection.id}",
                {"action": "tools", "shown": "generate_qr_code", "on": "generate_qr_code"},
            ),
            (f"{CONNECTIONS}/{connection.id}", {"action": "revoke"}),
        ):
            assert browser.post(path, {"csrf": csrf, **fields}).status == 403, (path, fields)
    assert host.run(host.host.accounts.users.get(person.id)).name == "Ada Lovelace"
    connections = {row.id: row for row in host.run(host.host.accounts.connections.list(person.id))}
    assert "A key for Mallory" not in {row.name for row in connections.values()}
    assert connections[connection.id].revoked_at is None
    assert connections[connection.id].disabled_tools == {"generate_qr_code"}


def test_a_page_token_cannot_approve_a_client(browser: BrowserWithoutScreen, flow: Flow) -> None:
    flow.register()
    for csrf in stolen(browser):
        response = flow.browser.post(f"/oauth/authorize?{flow.query()}", data={"csrf": csrf, "decision": "allow"})
        assert response.status_code == 403
        assert "location" not in response.headers


def test_one_clients_token_cannot_approve_another_client(browser: BrowserWithoutScreen, flow: Flow) -> None:
    honest = flow.register()
    page = flow.authorize()
    csrf = page.text.partition('name="csrf" value="')[2].partition('"')[0]
    flow.register()
    assert flow.client_id != honest["client_id"]
    response = flow.browser.post(f"/oauth/authorize?{flow.query()}", data={"csrf": csrf, "decision": "allow"})
    assert response.status_code == 403
    assert flow.decide().status_code == 303


def test_a_page_token_cannot_sign_in_another_account(host: RunningHost, browser: BrowserWithoutScreen) -> None:
    mallory = add_person(host, "mallory@example.net")
    before = browser.session_cookie()
    for csrf in stolen(browser):
        fields = {"csrf": csrf, "email": mallory.email, "password": PASSWORD}
        assert browser.post("/sign-in", fields).status == 403
    assert browser.session_cookie() == before


def test_one_form_of_a_page_cannot_be_submitted_as_another(
    host: RunningHost, person: User, browser: BrowserWithoutScreen
) -> None:
    fields = browser.get(ACCOUNT).fields(ACCOUNT, "name")
    assert browser.post(ACCOUNT, {**fields, "action": "sign-out-everywhere"}).status == 403
    assert (
        browser.post(ACCOUNT, {**fields, "action": "password", "current": PASSWORD, "password": "x" * 20}).status == 403
    )
    assert browser.post(ACCOUNT, {**fields, "action": "name", "name": "Ada Lovelace"}).status == 200


def test_plugin_pages_get_tokens_for_the_paths_they_declare(browser: BrowserWithoutScreen) -> None:
    page = browser.get(SHELF)
    path = "/dashboard/shelf/7%20b"
    assert browser.submit(page, SHELF).one("h1") == "shelf changed"
    assert browser.submit(page, path).one("h1") == "book 7%20b changed"
    assert browser.post(path, page.fields(SHELF)).status == 403
    assert browser.post(SHELF, page.fields(path)).status == 403
    assert browser.post("/dashboard/shelf/8", page.fields(path)).status == 403
    assert browser.post("/dashboard/shelf/7%2520b", page.fields(path)).status == 403
    # The same path, percent-encoded differently.
    assert browser.post("/dashboard/shelf/%37%20b", page.fields(path)).status == 200
