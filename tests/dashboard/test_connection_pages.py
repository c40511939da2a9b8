"""API keys and connected clients in the dashboard."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pressroom.accounts.records import AccessChoice, Connection, User
from pressroom.columns import new_id
from pressroom.sdk import Credentials, Rejected
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from support.people import HOSTILE, BrowserWithoutScreen, Page, add_person, fill

LIST = "/dashboard/connections"
KEY = re.compile(r"prk_key_[0-9A-Za-z]+_[0-9A-Za-z]+")


@pytest.fixture
def person(host: RunningHost) -> User:
    """Return an account that only one test uses."""
    return add_person(host, f"{new_id('p').lower()}@example.org")


def connections(host: RunningHost, person: User) -> list[Connection]:
    return list(host.run(host.host.accounts.connections.list(person.id, revoked=True)))


def works(host: RunningHost, key: str) -> bool:
    try:
        return host.run(host.host.accounts.api_keys.authenticate(Credentials(key, "127.0.0.1", {}))) is not None
    except Rejected:
        return False


def make(browser: BrowserWithoutScreen, name: str) -> Page:
    return browser.submit(browser.get(LIST), LIST, name=name)


def test_a_new_key_is_shown_once_and_works(host: RunningHost, person: User, signed_in: BrowserWithoutScreen) -> None:
    page = make(signed_in, "Laptop")
    key = page.one("#key")
    assert works(host, key)
    assert page.response.headers["Cache-Control"] == "no-store"
    assert not page.response.history
    assert key not in str(page.response.url)
    assert f"Bearer {key}" in page.html
    (connection,) = connections(host, person)
    assert connection.name == "Laptop"
    for path in (LIST, f"{LIST}/{connection.id}", "/dashboard"):
        assert KEY.search(signed_in.get(path).html) is None
    assert f"prk_key_…{key[-4:]}" in signed_in.get(LIST).text


def test_reloading_the_result_creates_no_second_key(
    host: RunningHost, person: User, signed_in: BrowserWithoutScreen
) -> None:
    fields = {**signed_in.get(LIST).fields(LIST), "name": "Once"}
    assert signed_in.post(LIST, fields).status == 200
    repeated = signed_in.post(LIST, fields)
    assert repeated.status == 400
    assert "You already have a key with this name." in repeated.text
    renamed = signed_in.post(LIST, {**fields, "name": "Twice"})
    assert renamed.status == 409
    assert "no second key was created" in renamed.text
    assert KEY.search(repeated.html + renamed.html) is None
    assert [connection.name for connection in connections(host, person)] == ["Once"]


def test_resending_the_form_after_revoking_the_key_creates_none(
    host: RunningHost, person: User, signed_in: BrowserWithoutScreen
) -> None:
    fields = {**signed_in.get(LIST).fields(LIST), "name": "Gone"}
    signed_in.post(LIST, fields)
    (connection,) = connections(host, person)
    path = f"{LIST}/{connection.id}"
    signed_in.submit(signed_in.get(path), path, action="revoke")
    assert signed_in.post(LIST, fields).status == 409
    assert len(connections(host, person)) == 1


def test_concurrent_submissions_of_a_form_create_one_key(
    host: RunningHost, person: User, signed_in: BrowserWithoutScreen
) -> None:
    fields = {**signed_in.get(LIST).fields(LIST), "name": "Impatient"}
    with ThreadPoolExecutor(8) as threads:
        pages = list(threads.map(lambda _: signed_in.post(LIST, fields), range(8)))
    assert sorted(page.status for page in pages).count(200) == 1
    assert len(connections(host, person)) == 1


@pytest.mark.parametrize("form_id", ["", "x", "f_" + "a" * 23, "../../etc", "f_" + "é" * 22])
def test_a_form_without_its_id_creates_no_key(
    host: RunningHost, person: User, signed_in: BrowserWithoutScreen, form_id: str
) -> None:
    page = signed_in.submit(signed_in.get(LIST), LIST, name="Forged", form_id=form_id)
    assert page.status == 409
    assert connections(host, person) == []


@pytest.mark.parametrize("name", ["", "   ", "x" * 101, "a\0b"])
def test_an_invalid_name_is_explained_beside_its_field(
    host: RunningHost, person: User, signed_in: BrowserWithoutScreen, name: str
) -> None:
    page = make(signed_in, name)
    assert page.status == 400
    assert page.tree.css_first("#f-name").attributes["aria-invalid"] == "true"  # type: ignore[union-attr]
    assert page.one("#f-name-error")
    assert connections(host, person) == []


def test_names_are_escaped(host: RunningHost, person: User, signed_in: BrowserWithoutScreen) -> None:
    page = make(signed_in, HOSTILE)
    assert page.status == 200
    (connection,) = connections(host, person)
    for shown_page in (page, signed_in.get(LIST), signed_in.get(f"{LIST}/{connection.id}")):
        assert shown_page.tree.css("img[onerror]") == []
        assert HOSTILE in shown_page.text
        assert "49" not in shown_page.one("h1")


def test_connections_of_an_account_are_limited(tmp_path: Path) -> None:
    settings = settings_for_test({"accounts": {"connections": 1}}, tmp_path)
    with RunningHost(settings) as host, BrowserWithoutScreen(host) as browser:
        browser.enter(host, add_person(host))
        assert make(browser, "One").status == 200
        page = make(browser, "Two")
        assert page.status == 400
        assert "revoke one" in page.one(".notice")
        assert page.tree.css("#f-name-error") == []
        assert page.tree.css_first("#f-name").attributes["value"] == "Two"  # type: ignore[union-attr]


def test_revoking_takes_effect_immediately(host: RunningHost, person: User, signed_in: BrowserWithoutScreen) -> None:
    key = make(signed_in, "Short-lived").one("#key")
    assert works(host, key)
    (connection,) = connections(host, person)
    path = f"{LIST}/{connection.id}"
    page = signed_in.submit(signed_in.get(path), path, action="revoke")
    assert page.path == LIST
    assert "is revoked" in page.text
    assert "Short-lived" not in page.one("section[aria-labelledby=yours]")
    assert not works(host, key)
    after = signed_in.get(path)
    assert "Revoked" in after.text
    assert after.tree.css("form[method=post] [name=action]") == []


def test_tools_are_switched_off_and_on(host: RunningHost, person: User, signed_in: BrowserWithoutScreen) -> None:
    make(signed_in, "Careful")
    (connection,) = connections(host, person)
    path = f"{LIST}/{connection.id}"
    page = signed_in.get(path)
    names = [str(box.attributes["value"]) for box in page.tree.css("input[name=on]")]
    assert "generate_qr_code" in names
    csrf = page.fields(path, "tools")["csrf"]
    enabled = [name for name in names if name != "generate_qr_code"]
    page = signed_in.post(path, {"csrf": csrf, "action": "tools", "shown": names, "on": enabled})
    assert "What the app may do changes at once" in page.text
    assert connections(host, person)[0].disabled_tools == {"generate_qr_code"}
    assert "1 tool off" in signed_in.get(LIST).text
    signed_in.post(path, {"csrf": csrf, "action": "tools", "shown": names, "on": names})
    assert connections(host, person)[0].disabled_tools == frozenset()


def test_a_key_has_its_chosen_access(host: RunningHost, person: User, signed_in: BrowserWithoutScreen) -> None:
    form = signed_in.get(LIST)
    assert [box.attributes["value"] for box in form.tree.css("input[name=access][checked]")] == ["drafts"]
    fields = {**form.fields(LIST), "name": "Reader", "access": "read"}
    sets = [str(box.attributes["value"]) for box in form.tree.css("input[name=set]")]
    page = signed_in.post(LIST, {**fields, "shown_set": sets, "set": ["generators"]})
    assert "Its access is Read only ." in page.text
    (connection,) = connections(host, person)
    assert connection.choice == AccessChoice("read", frozenset({"generators"}))
    assert "Read only" in signed_in.get(LIST).one(".rows > li")


def test_the_default_access_of_a_key_is_drafts(
    host: RunningHost, person: User, signed_in: BrowserWithoutScreen
) -> None:
    make(signed_in, "Careful")
    (connection,) = connections(host, person)
    assert connection.choice == AccessChoice("drafts", None)


def test_an_invalid_name_preserves_the_chosen_access(
    host: RunningHost, person: User, signed_in: BrowserWithoutScreen
) -> None:
    page = signed_in.submit(signed_in.get(LIST), LIST, name="", access="publish")
    assert page.status == 400
    assert [box.attributes["value"] for box in page.tree.css("input[name=access][checked]")] == ["publish"]
    assert connections(host, person) == []


def test_access_and_sets_are_changed_together_with_the_switches(
    host: RunningHost, person: User, signed_in: BrowserWithoutScreen
) -> None:
    key = make(signed_in, "Changing").one("#key")
    (connection,) = connections(host, person)
    path = f"{LIST}/{connection.id}"
    page = signed_in.get(path)
    sets = [str(box.attributes["value"]) for box in page.tree.css("input[name=set]")]
    names = [str(box.attributes["value"]) for box in page.tree.css("input[name=on]")]
    assert len(names) == len(set(names)) == len(host.host.compiled.catalog.plans["free"].mcp_tools)
    fields = {"csrf": page.fields(path, "tools")["csrf"], "action": "tools"}
    changes = {"access": "full", "shown_set": sets, "set": ["account"], "shown": names, "on": names[1:]}
    page = signed_in.post(path, {**fields, **changes})
    (changed,) = connections(host, person)
    assert changed.choice == AccessChoice("full", frozenset({"account"}))
    assert changed.disabled_tools == {names[0]}
    assert [box.attributes["value"] for box in page.tree.css("input[name=set][checked]")] == ["account"]
    identity = host.run(host.host.accounts.api_keys.authenticate(Credentials(key, "127.0.0.1", {})))
    assert identity is not None
    assert identity.access == "full"


@pytest.mark.parametrize("wrong", [{"access": "superuser"}, {"shown_set": "../x"}, {"set": "all"}])
def test_values_that_no_page_offers_are_refused(
    host: RunningHost, person: User, signed_in: BrowserWithoutScreen, wrong: dict[str, str]
) -> None:
    make(signed_in, "Steady")
    (connection,) = connections(host, person)
    path = f"{LIST}/{connection.id}"
    csrf = signed_in.get(path).fields(path, "tools")["csrf"]
    assert signed_in.post(path, {"csrf": csrf, "action": "tools", **wrong}).status == 400
    assert connections(host, person) == [connection]


def test_sets_and_tools_show_their_last_use_and_required_access(tmp_path: Path) -> None:
    with RunningHost(settings_for_test({}, tmp_path)) as host, BrowserWithoutScreen(host) as browser:
        person = add_person(host)
        browser.enter(host, person)
        fill(host, person)
        (chat,) = (connection for connection in connections(host, person) if connection.name == "ChatGPT")
        host.run(host.host.accounts.connections.set_access(person.id, chat.id, "publish", None))
        page = browser.get(f"{LIST}/{chat.id}")
    assert [box.attributes["value"] for box in page.tree.css("input[name=set][checked]")] == ["core"]
    generators = next(item for item in page.tree.css(".tool-sets > li") if item.css("[value=generators]"))
    text = " ".join(generators.text(separator=" ").split())
    assert "4 tools · used 35 minutes ago" in text
    assert text.count("Used 35 minutes ago") == 1
    assert text.count("Not used") == 3
    tools = {
        str(switch.css_first("[name=on]").attributes["value"]): switch.text()  # type: ignore[union-attr]
        for switch in page.tree.css("[data-switch]")
    }
    assert "needs the access “Everything”" in tools["disconnect_website"]
    assert "needs the access" not in tools["publish_content"]


def test_a_tool_not_on_the_page_keeps_its_switch(
    host: RunningHost, person: User, signed_in: BrowserWithoutScreen
) -> None:
    make(signed_in, "Elsewhere")
    (connection,) = connections(host, person)
    host.run(host.host.accounts.connections.set_disabled_tools(person.id, connection.id, ["publish_content"]))
    path = f"{LIST}/{connection.id}"
    csrf = signed_in.get(path).fields(path, "tools")["csrf"]
    signed_in.post(path, {"csrf": csrf, "action": "tools", "shown": "generate_qr_code"})
    assert connections(host, person)[0].disabled_tools == {"publish_content", "generate_qr_code"}


def test_a_connection_can_be_renamed(host: RunningHost, person: User, signed_in: BrowserWithoutScreen) -> None:
    make(signed_in, "Old")
    (connection,) = connections(host, person)
    path = f"{LIST}/{connection.id}"
    page = signed_in.submit(signed_in.get(path), path, action="rename", name="  New   name ")
    assert page.one("h1") == "New name"
    page = signed_in.submit(page, path, action="rename", name="x" * 101)
    assert page.status == 400
    assert "100" in page.one("#f-name-error")


def test_other_accounts_cannot_see_or_change_a_connection(
    host: RunningHost, person: User, signed_in: BrowserWithoutScreen, second: BrowserWithoutScreen
) -> None:
    make(signed_in, "Mine")
    (connection,) = connections(host, person)
    other = add_person(host, f"other-{person.email}")
    second.enter(host, other)
    path = f"{LIST}/{connection.id}"
    assert second.get(path).status == 404
    csrf = second.get("/dashboard").fields("/sign-out")["csrf"]
    for action in ("revoke", "rename", "tools"):
        assert second.post(path, {"csrf": csrf, "action": action, "name": "Taken"}).status == 403
    # A token for one of the other person's own connections does not work either.
    make(second, "Theirs")
    (other_connection,) = connections(host, other)
    page = second.get(f"{LIST}/{other_connection.id}")
    for action in ("revoke", "rename", "tools"):
        fields = page.fields(f"{LIST}/{other_connection.id}", action)
        assert second.post(path, {**fields, "action": action, "name": "Taken"}).status == 403
    assert "Mine" not in second.get(LIST).text
    assert connections(host, person)[0].revoked_at is None


def test_both_types_of_connection_are_listed_with_their_differences(
    host: RunningHost, person: User, signed_in: BrowserWithoutScreen
) -> None:
    fill(host, person)
    text = signed_in.get(LIST).one("section[aria-labelledby=yours]")
    assert "ChatGPT Signed-in client chatgpt.com" in text
    assert "used 4 minutes ago" in text
    assert "Nightly publishing job API key 1 tool off" in text


def test_long_lists_have_pages(host: RunningHost, person: User, signed_in: BrowserWithoutScreen) -> None:
    for number in range(27):
        host.run(host.host.accounts.api_keys.create(person.id, f"Key {number:02}"))
    first, last = signed_in.get(LIST), signed_in.get(f"{LIST}?page=2")
    assert len(first.tree.css(".rows > li")) == 25
    assert len(last.tree.css(".rows > li")) == 2
    assert "Key 26" in first.text
    assert "Key 00" in last.text
    assert "Page 2 of 2" in signed_in.get(f"{LIST}?page=999999999").text
    for invalid in ("-1", "x", "0", "9" * 40, "%00"):
        assert signed_in.get(f"{LIST}?page={invalid}").status == 200


def test_somebody_without_any_learns_how_to_start(signed_in: BrowserWithoutScreen) -> None:
    assert "No connections yet" in signed_in.get(LIST).text
    page = signed_in.get("/dashboard")
    assert "Connect your first AI client" in page.text
    assert f"{signed_in.url}/api/mcp" in page.text


def test_a_disabled_tool_that_no_longer_exists_is_not_counted(
    host: RunningHost, person: User, signed_in: BrowserWithoutScreen
) -> None:
    connections_of = host.host.accounts.connections
    key, _ = host.run(host.host.accounts.api_keys.create(person.id, "laptop"))
    host.run(connections_of.set_disabled_tools(person.id, key.id, ["a_tool_of_old", "list_activity"]))
    assert "1 tool off" in signed_in.get(LIST).text
