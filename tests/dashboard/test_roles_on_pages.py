"""Roles on pages: the dashboard shows members only what their role allows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import parse_qs, urljoin, urlsplit

import pytest
from pressroom.accounts.records import User
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from selectolax.lexbor import LexborHTMLParser, LexborNode
from support.content_client import client_of
from support.members import make_member, switch
from support.people import BrowserWithoutScreen, add_person

ELSEWHERE: Final = ("/sign-out", "/dashboard/switch", "/dashboard/members/leave")
"""Paths that would end the walk instead of changing the account."""

OF_OWNERS: Final = ("Add a website", "Connect", "Check the connection")
CHANGES: Final = (*OF_OWNERS, "New", "Write", "Edit", "Publish", "Restore", "Upload")
"""First words of links that lead to a change."""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    config = {
        "builtin_plugins": False,
        "plugins": {name: {} for name in ("content", "images", "search_performance", "seo", "account")},
    }
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("data"))) as running:
        yield running


@pytest.fixture(scope="module")
def ada(host: RunningHost) -> User:
    """Return a person with an empty account."""
    return add_person(host, "ada@example.org", name="Ada")


@pytest.fixture(scope="module")
def grace(host: RunningHost) -> User:
    """Return a person with articles in all states, websites and ideas."""
    client = client_of(host, "grace@example.org")
    site = client.data("connect_website", platform="builtin", name="The kitchen table")["website_id"]
    client.data("connect_website", platform="builtin", name="Another one")
    live, planned, trashed, _ = (
        client.data("create_content", title=f"Tea {number}", body="Leaves in water.")["content_id"]
        for number in range(4)
    )
    client.data("publish_content", content_id=live, website_id=site)
    client.data("update_content", content_id=live, expected_version=1, fields={"body": "Leaves in *hot* water."})
    later = (datetime.now(UTC) + timedelta(days=9)).isoformat()
    client.data("publish_content", content_id=planned, website_id=site, publish_at=later)
    client.data("delete_content", content_id=trashed, confirm=True)
    client.data("save_content_idea", title="Coffee")
    return host.run(host.host.accounts.users.get(client.user_id))


def shown_links(tree: LexborHTMLParser, path: str) -> Iterator[str]:
    for link in tree.css("a[href]"):
        url = urlsplit(urljoin(path, link.attributes["href"] or ""))
        if not url.netloc and url.path.startswith("/dashboard"):
            yield url.path + (f"?{url.query}" if url.query else "")


def shown_forms(tree: LexborHTMLParser) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the target and fields of each form, once for each visible button."""
    hides = tree.css_first(".account-main.read-only") is not None
    for form in tree.css("form[method=post]"):
        action, whose_form = form.attributes["action"] or "", "whose" in (form.attributes.get("class") or "")
        inside = any(node.mem_id == form.mem_id for node in tree.css(".account-main form"))
        if action in ELSEWHERE or (hides and inside and not whose_form):
            continue
        fields = dict(_values(form))
        buttons = form.css("button[type=submit], button:not([type])")
        yield from ((action, fields | _value(button)) for button in buttons)


def _value(button: LexborNode) -> dict[str, str]:
    name = button.attributes.get("name")
    return {name: button.attributes.get("value") or ""} if name else {}


def _values(form: LexborNode) -> Iterator[tuple[str, str]]:
    for node in form.css("input[name], select[name], textarea[name]"):
        name, kind = str(node.attributes["name"]), node.attributes.get("type", "")
        if node.tag == "textarea":
            yield name, node.text()
        elif node.tag == "select":
            option = node.css_first("option[selected]") or node.css_first("option")
            yield name, (option.attributes.get("value") or "") if option is not None else ""
        elif kind not in ("checkbox", "radio", "file") or "checked" in node.attributes:
            yield name, node.attributes.get("value") or ""


def kind_of(path: str) -> tuple[str, frozenset[str]]:
    """Return a key for the kind and state of a page, so that only one of each is visited."""
    url = urlsplit(path)
    return url.path, frozenset(parse_qs(url.query)) - {"cursor", "before", "month", "days"}


@pytest.mark.parametrize("role", ["reader", "editor"])
@pytest.mark.parametrize("whose", ["empty", "full"])
def test_no_form_that_is_shown_is_refused(host: RunningHost, ada: User, grace: User, whose: str, role: str) -> None:
    owner = ada if whose == "empty" else grace
    member = add_person(host, f"{role}-{whose}@example.org")
    make_member(host, owner, member, role)
    with BrowserWithoutScreen(host) as browser:
        browser.enter(host, member)
        switch(browser, owner)
        waiting = ["/dashboard", "/dashboard/articles?status=trashed"]
        visited, refused, buttons = {*map(kind_of, waiting)}, [], set()
        forms: list[tuple[str, str, dict[str, str]]] = []
        while waiting:
            path = waiting.pop()
            page = browser.get(path)
            if page.status == 403:
                refused.append(path)
                continue
            assert page.status < 500, path
            buttons |= {link.text().strip() for link in page.tree.css(".account-main a.button")}
            for link in shown_links(page.tree, path):
                if (kind := kind_of(link)) not in visited:
                    visited.add(kind)
                    waiting.append(link)
            forms += [(path, action, fields) for action, fields in shown_forms(page.tree)]
        assert refused == []
        assert len(visited) >= (25 if whose == "full" else 6)
        assert not [button for button in buttons if button.startswith(OF_OWNERS if role == "editor" else CHANGES)], (
            buttons
        )
        statuses = {(path, action): browser.post(action, fields).status for path, action, fields in forms}
        assert {where: status for where, status in statuses.items() if status in (403, 405) or status >= 500} == {}
        assert bool(statuses) == (role == "editor")


@pytest.mark.parametrize(("role", "offered"), [("owner", True), ("editor", True), ("reader", False)])
def test_new_article_is_offered_to_members_who_may_write(
    host: RunningHost, grace: User, role: str, offered: bool
) -> None:
    with BrowserWithoutScreen(host) as browser:
        if role == "owner":
            browser.enter(host, grace)
        else:
            member = add_person(host, f"new-{role}@example.org")
            make_member(host, grace, member, role)
            browser.enter(host, member)
            switch(browser, grace)
        for path in ("/dashboard", "/dashboard/articles"):
            assert ("New article" in browser.get(path).text) == offered, path
        assert "Add a website" not in browser.get("/dashboard").text
