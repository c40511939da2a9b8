"""Members who try to exceed their role, and outsiders with an invitation that is not theirs."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import httpx
import pytest
import structlog
from pressroom.accounts.records import User
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support import third_party
from support.content_client import Client, client_of
from support.members import SWITCH, invite, make_member, switch
from support.oauth import Flow
from support.people import BrowserWithoutScreen, Page, add_person

ARTICLES, WEBSITES, MEMBERS = "/dashboard/articles", "/dashboard/websites", "/dashboard/members"
JAR, SAFE, NOTE = "/dashboard/jar", "/dashboard/safe", "/dashboard/note"
OF_OWNER = ["/dashboard/connections", "/dashboard/activity", "/dashboard/account", "/dashboard/search", SAFE]

_numbers = count(1)

SOURCE = (
    third_party.HEAD
    + """
def page_of(path):
    async def page(request):
        if request.method == "POST":
            said = f"{request.role} {request.person} changed {request.subject}"
            return HttpResponse(f"<h1>{said} {request.form.get('text', '')}</h1>".encode())
        form = f"<form method=post action={path}><input type=hidden name=csrf value={request.csrf_token}></form>"
        return HttpResponse(f"<h1>{path} of {request.subject}</h1>{form}".encode())
    return page


@hookimpl
def pressroom_routes():
    both = ("GET", "POST")
    return [
        Route("/dashboard/jar", page_of("/dashboard/jar"), both, DashboardPage("Jar")),
        Route("/dashboard/safe", page_of("/dashboard/safe"), both, DashboardPage("Safe", sees="owner")),
        Route("/dashboard/note", page_of("/dashboard/note"), both, DashboardPage("Note"), max_body_bytes=200_000),
    ]
"""
)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    """Return a host with the content plugin, a third-party plugin and an operator."""
    folder: Path = tmp_path_factory.mktemp("site")
    plugin = third_party.write_plugin(folder, SOURCE)
    config = {
        "plugins": {"content": {}, "images": {}, "search_performance": {}, plugin: {}},
        "accounts": {"operators": ["root@example.org"]},
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("data"))) as running:
            yield running


@pytest.fixture
def client(host: RunningHost) -> Client:
    """Return a client of Ada's account, with an article and a website; each test has its own Ada."""
    client = client_of(host, f"ada.{next(_numbers)}@example.org")
    client.data("create_content", title="Tea", body="Leaves.")
    client.data("connect_website", platform="builtin", name="Mine")
    return client


@pytest.fixture
def ada(host: RunningHost, client: Client) -> User:
    return host.run(host.host.accounts.users.get(client.user_id))


@pytest.fixture
def mallory(host: RunningHost) -> User:
    return add_person(host, f"mallory.{next(_numbers)}@example.net", name="Mallory")


@pytest.fixture
def browser(host: RunningHost, mallory: User) -> Iterator[BrowserWithoutScreen]:
    """Return Mallory's browser, working in Mallory's own account."""
    with BrowserWithoutScreen(host) as fresh:
        fresh.enter(host, mallory)
        yield fresh


@pytest.fixture
def article(client: Client) -> str:
    """Return the path of the page of Ada's article."""
    return f"{ARTICLES}/{client.data('list_content')['items'][0]['content_id']}"


@pytest.fixture
def website(client: Client) -> str:
    """Return the path of the page of Ada's website."""
    return f"{WEBSITES}/{client.data('list_websites')['websites'][0]['id']}"


def asks_the_owner(page: Page) -> bool:
    return page.status == 403 and "ask ada." in page.text


def token_of(browser: BrowserWithoutScreen, path: str) -> str:
    """Return the token of a form whose action is a path, with any query string."""
    (field, *_) = browser.get(path).tree.css(f'form[method=post][action^="{path}"] input[name=csrf]')
    return field.attributes["value"] or ""


def test_a_reader_cannot_change_anything(
    host: RunningHost, ada: User, mallory: User, browser: BrowserWithoutScreen, article: str, website: str
) -> None:
    make_member(host, ada, mallory, "editor")
    switch(browser, ada)
    # Mallory opened the forms while still an editor.
    forms = [
        (f"{article}/edit", {"do": "save", "title": "Pwned", "version": "1"}),
        (article, {"do": "trash"}),
        (article, {"do": "export", "format": "markdown"}),
        ("/dashboard/calendar", {"do": "add", "title": "x"}),
        ("/dashboard/media", {"do": "upload"}),
        (JAR, {}),
        (NOTE, {"text": "a long text"}),
    ]
    tokens = {path: token_of(browser, path) for path, _ in forms}
    make_member(host, ada, mallory, "reader")
    for path, typed in forms:
        page = browser.post(path, {**typed, "csrf": tokens[path]})
        assert page.status == 403, path
        assert "to make you an editor" in page.text
        # The submitted text is not lost.
        assert path != NOTE or page.fields(NOTE)["text"] == "a long text"
    assert browser.get(f"{article}/edit").status == 403
    article_page = browser.get(article)
    assert (article_page.status, "Leaves." in article_page.html) == (200, True)
    assert browser.get(website).status == 200


def test_an_editor_writes_but_cannot_manage_the_account(
    host: RunningHost, ada: User, mallory: User, browser: BrowserWithoutScreen, article: str, website: str
) -> None:
    make_member(host, ada, mallory, "editor")
    switch(browser, ada)
    with structlog.testing.capture_logs() as logs:
        written = browser.submit(browser.get(JAR), JAR)
    assert written.one("h1") == f"editor {mallory.id} changed {ada.id}"
    (line,) = (line for line in logs if line["event"] == "a member used an account")
    assert (line["account"], line["person"], line["role"], line["path"]) == (ada.id, mallory.id, "editor", JAR)
    host.run(host.host.accounts.activity_log.flush())
    calls = [call for call in host.run(host.host.accounts.activity(ada.id)) if call.member]
    assert [(call.tool, call.member, call.connection) for call in calls] == [(JAR, f"Mallory ({mallory.email})", "")]
    assert host.run(host.host.accounts.activity(ada.id, connection=mallory.id)) == calls
    for path in OF_OWNER:
        assert asks_the_owner(browser.get(path)), path
    connection, _ = host.run(host.host.accounts.api_keys.create(ada.id, "Ada's"))
    connection_path = f"/dashboard/connections/{connection.id}"
    assert asks_the_owner(browser.get(connection_path))
    csrf = browser.get(JAR).fields(JAR)["csrf"]
    for path in (*OF_OWNER, connection_path, MEMBERS):
        assert browser.post(path, {"csrf": csrf, "action": "revoke-all"}).status in (403, 405), path
    # Websites are visible, but their credentials and settings belong to the owner.
    for path, typed in (
        (WEBSITES, {"platform": "builtin", "name": "Mallory's"}),
        (website, {"do": "disconnect"}),
        (website, {"do": "reconnect"}),
        (website, {"do": "settings", "name": "Mallory's"}),
        (website, {"do": "check"}),
    ):
        assert asks_the_owner(browser.post(path, {**typed, "csrf": token_of(browser, path)})), typed
    # The owner's link does not let another person enter a credential.
    link = client_of(host, ada.email).data("connect_website", platform="wordpress", url="https://a.example")
    assert asks_the_owner(browser.get("/dashboard/connect/" + link["connect_url"].rpartition("/")[2]))


def test_versions_of_an_article_name_the_member_who_wrote_them(
    host: RunningHost, ada: User, mallory: User, client: Client, browser: BrowserWithoutScreen
) -> None:
    article = client.data("create_content", title="Ours", body="Ada's.")["content_id"]
    edit, older = f"{ARTICLES}/{article}/edit", f"{ARTICLES}/{article}/versions/1"
    make_member(host, ada, mallory, "editor")
    with BrowserWithoutScreen(host) as owner_browser:
        owner_browser.enter(host, ada)
        owner_browser.submit(owner_browser.get(edit), edit, do="save", body="Ada's own.")
    switch(browser, ada)
    browser.submit(browser.get(edit), edit, do="save", body="Mallory's.")
    browser.submit(browser.get(older), older)
    versions = client.data("get_content", content_id=article, versions=True)["versions"]
    author = f"Mallory ({mallory.email}) on the dashboard"
    assert [version["client"] for version in versions][:3] == [author, author, "the dashboard"]
    assert browser.get(f"{ARTICLES}/{article}/versions").text.count(f"by {author}") == 2


def test_a_member_can_neither_invite_nor_raise_a_role(
    host: RunningHost, ada: User, mallory: User, browser: BrowserWithoutScreen
) -> None:
    csrf = browser.get(MEMBERS).fields(MEMBERS, "invite")["csrf"]
    make_member(host, ada, mallory, "editor")
    switch(browser, ada)
    for typed in ({"action": "invite", "role": "editor"}, {"action": "role", "id": mallory.id, "role": "owner"}):
        assert browser.post(MEMBERS, {"csrf": csrf, **typed}).status == 403
    assert [membership.role for membership in host.run(host.host.accounts.memberships.of_account(ada.id))] == ["editor"]
    assert host.run(host.host.accounts.invitations.list(ada.id)) == []


def test_an_app_that_a_member_connects_gets_their_own_account(
    host: RunningHost, ada: User, mallory: User, browser: BrowserWithoutScreen
) -> None:
    make_member(host, ada, mallory, "editor")
    switch(browser, ada)
    with (
        httpx.Client(base_url=host.url) as http,
        httpx.Client(base_url=host.url, cookies=browser.client.cookies, headers={"Origin": host.url}) as member_client,
    ):
        flow = Flow(host.url, http, member_client)
        flow.register()
        page = flow.authorize()
        assert f"gets access to <strong>your own account</strong>, {mallory.email}" in page.text
        assert flow.decide().status_code == 303
    before = host.run(host.host.accounts.connections.list(ada.id))
    assert not [connection for connection in before if connection.kind == "oauth"]
    assert [connection.kind for connection in host.run(host.host.accounts.connections.list(mallory.id))] == ["oauth"]


def test_a_removed_member_with_an_open_tab_is_back_in_their_own_account(
    host: RunningHost, ada: User, mallory: User, browser: BrowserWithoutScreen, article: str
) -> None:
    make_member(host, ada, mallory, "editor")
    switch(browser, ada)
    jar, note = browser.get(JAR), browser.get(NOTE)
    host.run(host.host.accounts.memberships.remove(ada.id, mallory.id))
    late = browser.submit(jar, JAR)
    assert late.status == 403
    assert "no longer have access to that account" in late.text
    refused = browser.submit(note, NOTE, text="what I wrote")
    assert (refused.status, refused.fields(NOTE)["text"]) == (403, "what I wrote")
    missing = browser.get(article)
    assert (missing.status, "no longer have access to that account" in missing.text) == (404, True)
    page = browser.get(JAR)
    assert page.one("h1") == f"{JAR} of {mallory.id}"
    assert "no longer have access to that account" in page.text
    assert browser.post(SWITCH, page.fields(SWITCH) | {"account": ada.id}).status == 404
    assert "no longer have access to that account" not in browser.submit(page, SWITCH, account="").text


def test_a_form_of_one_account_does_not_act_in_another(
    host: RunningHost, ada: User, mallory: User, browser: BrowserWithoutScreen
) -> None:
    make_member(host, ada, mallory, "editor")
    carol = add_person(host, "carol@example.org", name="Carol")
    make_member(host, carol, mallory, "editor")
    accounts = (None, ada, carol)
    open_pages: list[tuple[User | None, Page, Page]] = []
    for account in accounts:
        switch(browser, account)
        open_pages.append((account, browser.get(JAR), browser.get(NOTE)))
    for account in accounts:
        switch(browser, account)
        for tab_account, jar, note in open_pages:
            short, long = browser.submit(jar, JAR), browser.submit(note, NOTE, text="mine")
            if tab_account is account:
                assert (short.status, long.status) == (200, 200)
                continue
            assert short.status == 403
            assert "switched to another account" in short.text
            # The text is not lost, and the page says which account it would go to.
            assert (long.status, long.fields(NOTE)["text"]) == (403, "mine")
            assert (account.email if account else "your own account") in long.text
    # Signing out and switching accounts work in every tab, whatever happened in the others.
    for _, jar, _ in open_pages:
        assert browser.post(SWITCH, jar.fields(SWITCH) | {"account": ""}).status == 200
    assert browser.submit(open_pages[1][1], "/sign-out").path == "/sign-in"


def test_a_member_of_an_operators_account_is_not_an_operator(
    host: RunningHost, ada: User, mallory: User, browser: BrowserWithoutScreen
) -> None:
    root = add_person(host, "root@example.org", name="Root")
    make_member(host, root, mallory, "editor")
    switch(browser, root)
    users = "/dashboard/users"
    csrf = browser.get(JAR).fields(JAR)["csrf"]
    assert browser.get(users).status == 404
    assert browser.post(users, {"csrf": csrf, "email": "eve@example.net", "plan": "free"}).status in (403, 404)
    assert "/dashboard/users" not in browser.get("/dashboard").html
    # An operator remains one while working in another account.
    make_member(host, ada, root, "reader")
    with BrowserWithoutScreen(host) as theirs:
        theirs.enter(host, root)
        switch(theirs, ada)
        page = theirs.get(f"{users}/{mallory.id}")
        assert page.status == 200
        assert theirs.submit(page, f"{users}/{mallory.id}", action="plan", plan="free").status == 200


def test_a_plugins_page_without_a_role_accepts_forms_from_editors_only(
    host: RunningHost, ada: User, mallory: User, browser: BrowserWithoutScreen
) -> None:
    make_member(host, ada, mallory, "reader")
    switch(browser, ada)
    page = browser.get(JAR)
    assert page.status == 200
    refused = browser.submit(page, JAR)
    assert asks_the_owner(refused)
    assert asks_the_owner(browser.get(SAFE))


def test_a_link_is_not_used_by_opening_it_or_by_another_site(
    host: RunningHost, ada: User, browser: BrowserWithoutScreen
) -> None:
    path = invite(host, ada, "editor")
    eve = add_person(host, "eve@example.org", name="Eve")
    browser.enter(host, eve)
    page = browser.get(path)
    assert page.response.headers["Cache-Control"] == "no-store"
    csrf = page.fields(path)["csrf"]
    assert browser.client.head(path).status_code in (200, 405)
    assert browser.post(path, {"csrf": csrf}, Origin="https://evil.example").status == 403
    assert browser.post(path, {"csrf": "x"}).status == 403
    assert browser.post(path, {"csrf": browser.get(JAR).fields(JAR)["csrf"]}).status == 403
    assert eve.id not in {
        membership.member.id for membership in host.run(host.host.accounts.memberships.of_account(ada.id))
    }
    assert browser.submit(page, path).path == "/dashboard"


def test_two_concurrent_uses_of_a_link_admit_one(host: RunningHost, ada: User) -> None:
    path = invite(host, ada, "reader")
    people = [add_person(host, f"twice{number}@example.org") for number in range(2)]
    browsers = [BrowserWithoutScreen(host) for _ in people]
    for browser, person in zip(browsers, people, strict=True):
        browser.enter(host, person)
    pages = [browser.get(path) for browser in browsers]
    with ThreadPoolExecutor() as pool:
        outcomes = list(pool.map(lambda pair: pair[0].submit(pair[1], path).status, zip(browsers, pages, strict=True)))
    for browser in browsers:
        browser.client.close()
    assert sorted(outcomes) == [200, 404]
    members = {membership.member.id for membership in host.run(host.host.accounts.memberships.of_account(ada.id))}
    assert len(members & {person.id for person in people}) == 1


def test_logs_do_not_contain_the_link(host: RunningHost, ada: User, capfd: pytest.CaptureFixture[str]) -> None:
    path = invite(host, ada, "reader")
    with BrowserWithoutScreen(host) as anonymous:
        anonymous.get(path)
        anonymous.post(path, {})
        anonymous.post(f"{path}/account", {})
    printed = capfd.readouterr()
    assert path.rpartition("/")[2] not in printed.out + printed.err


def test_guesses_of_a_link_are_counted(tmp_path: Path) -> None:
    config = {"accounts": {"sign_in_rate_ip": "3/hour"}, "plugins": {"content": {"enabled": False}}}
    with RunningHost(settings_for_test(config, tmp_path)) as host, BrowserWithoutScreen(host) as anonymous:
        ada = add_person(host)
        valid_link = invite(host, ada, "reader")
        for _ in range(5):
            assert anonymous.get(valid_link).status == 200  # a valid link does not count towards the limit
        guesses = [anonymous.get(f"/dashboard/join/{token}").status for token in ("A" * 43, "x", "b" * 43, "c" * 43)]
        assert guesses == [404, 404, 404, 429]
        assert anonymous.get(valid_link).status == 429
