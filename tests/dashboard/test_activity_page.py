"""The list of all calls: its content, filters and pagination."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pressroom.accounts.records import Connection, User
from pressroom.storage.database.tables import ActivityRow
from pressroom.testing import RunningHost
from support.people import HOSTILE, BrowserWithoutScreen, Page, add_person

PATH = "/dashboard/activity"
NOW = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=1)
"""Far enough from midnight that a call an hour earlier falls on the same day."""


def day(before: int) -> str:
    """Return the date this many days before the last calls."""
    return f"{NOW - timedelta(days=before):%Y-%m-%d}"


@pytest.fixture(scope="module")
def person(host: RunningHost) -> User:
    return add_person(host)


@pytest.fixture(scope="module")
def keys(host: RunningHost, person: User) -> list[Connection]:
    """Return two connections, the second of them revoked."""
    keys = [host.run(host.host.accounts.api_keys.create(person.id, name))[0] for name in ("Laptop", HOSTILE[:60])]
    host.run(host.host.accounts.connections.revoke(person.id, keys[1].id))
    return keys


@pytest.fixture(scope="module", autouse=True)
def _calls(host: RunningHost, person: User, keys: list[Connection]) -> None:
    """Add 130 calls of the person, ten on each of thirteen days."""
    codes = ("ok", "ok", "validation_error", "ok", "quota_exceeded")
    tools = ("create_content", "generate_qr_code")

    async def add() -> None:
        async with host.host.database.writing() as session:
            for number in reversed(range(130)):
                session.add(
                    ActivityRow(
                        user_id=person.id,
                        connection_id=keys[number % 2].id if number % 13 else "",
                        at=NOW - timedelta(days=number // 10, minutes=number % 10),
                        tool=tools[number % 2],
                        code=codes[number % 5],
                        cached=number == 0,
                        duration=0.25,
                        address=f"203.0.113.{number}",
                    )
                )
                await session.flush()

    host.run(add())


def rows(page: Page) -> list[list[str]]:
    return [[" ".join(cell.text().split()) for cell in row.css("th, td")] for row in page.tree.css(".audit tbody tr")]


def test_a_call_shows_its_tool_result_connection_ip_address_and_time(signed_in: BrowserWithoutScreen) -> None:
    calls = rows(signed_in.get(PATH))
    assert calls[1] == [
        "generate_qr_code",
        "ok",
        HOSTILE[:60],
        "203.0.113.1",
        "250 ms",
        f"{NOW.day} {NOW:%b %Y}, 11:59",
    ]
    assert calls[0][1] == "from the cache"
    assert calls[0][2] == "—"
    assert calls[2][1] == "validation error"


def test_it_is_in_the_navigation_and_states_the_retention_period(signed_in: BrowserWithoutScreen) -> None:
    page = signed_in.get(PATH)
    assert page.one(".account-nav [aria-current]") == "Activity"
    assert page.title == "Activity · Pressroom"
    assert "kept for 90 days" in page.text
    assert signed_in.get("/dashboard").tree.css_first(f'main a[href="{PATH}"]') is not None


def test_every_call_is_on_one_of_the_pages(signed_in: BrowserWithoutScreen) -> None:
    page, collected = signed_in.get(PATH), []
    for expected in (50, 50, 30):
        calls = rows(page)
        assert len(calls) == expected
        collected += calls
        link = page.tree.css_first("a[rel=next]")
        if link is not None:
            page = signed_in.get(str(link.attributes["href"]))
    assert page.tree.css_first("a[rel=next]") is None
    assert "Back to the latest" in page.text
    assert [row[3] for row in collected] == [f"203.0.113.{number}" for number in range(130)]


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("tool=create_content", [*range(0, 130, 2)]),
        ("outcome=ok", [number for number in range(130) if number % 5 in (0, 1, 3)]),
        ("outcome=error", [number for number in range(130) if number % 5 in (2, 4)]),
        ("outcome=quota_exceeded", [*range(4, 130, 5)]),
        ("day={two_days_before}", [*range(20, 30)]),
        ("day={two_days_before}&tool=create_content&outcome=error", [22, 24]),
        ("day={next_day}", []),
        ("day=1970-01-01", []),
        ("tool=nothing_like_it", []),
        ("outcome=nothing_like_it", []),
        ("connection=c_nobodys", []),
    ],
)
def test_the_list_can_be_filtered(signed_in: BrowserWithoutScreen, query: str, numbers: list[int]) -> None:
    query = query.format(two_days_before=day(2), next_day=day(-1))
    page, collected = signed_in.get(f"{PATH}?{query}"), []
    while True:
        collected += [int(row[3].rpartition(".")[2]) for row in rows(page)]
        link = page.tree.css_first("a[rel=next]")
        if link is None:
            break
        page = signed_in.get(str(link.attributes["href"]))
    assert collected == numbers
    if not numbers:
        assert "No calls match" in page.text
    selected = {
        str(option.parent.attributes["name"]): option.attributes["value"]  # type: ignore[union-attr]
        for option in page.tree.css("option[selected]")
    }
    for name, value in (pair.split("=") for pair in query.split("&")):
        assert name == "day" or selected[name] == value


def test_connections_including_revoked_ones_are_chosen_by_name(
    signed_in: BrowserWithoutScreen, keys: list[Connection]
) -> None:
    options = {
        option.text(): option.attributes["value"] for option in signed_in.get(PATH).tree.css("#f-connection option")
    }
    assert options == {"Anybody": "", "Laptop": keys[0].id, f"{HOSTILE[:60]} (revoked)": keys[1].id}
    for key in keys:
        page = signed_in.get(f"{PATH}?connection={key.id}")
        assert {row[2] for row in rows(page)} == {key.name}
        link = page.tree.css_first(".audit td a")
        assert link is not None
        assert signed_in.get(str(link.attributes["href"])).one("h1") == key.name
    links = [
        str(link.attributes["href"]) for link in signed_in.get(f"/dashboard/connections/{keys[0].id}").tree.css("a")
    ]
    assert f"{PATH}?connection={keys[0].id}" in links


@pytest.mark.parametrize(
    "day", ["2026-13-01", "yesterday", "2026-11", "20261118", "9999-12-31", "0001-01-01", "%E2%85%A8"]
)
def test_an_invalid_day_is_explained(signed_in: BrowserWithoutScreen, day: str) -> None:
    page = signed_in.get(f"{PATH}?day={day}&tool=create_content")
    assert page.status == 400
    assert page.one(".field-error") == "Enter a day such as 2026-11-21."
    assert rows(page) == []
    assert page.tree.css_first('option[selected][value="create_content"]') is not None


@pytest.mark.parametrize("name", ["tool", "connection", "outcome", "before"])
@pytest.mark.parametrize("value", [HOSTILE, "%00", "%F0%9F%92%A9" * 40, "%ED%A0%80", "' OR 1=1 --", "-1"])
def test_odd_query_values_are_not_an_error(signed_in: BrowserWithoutScreen, name: str, value: str) -> None:
    page = signed_in.get(f"{PATH}?{name}={value.replace('&', '%26').replace('#', '%23')}")
    assert page.status == 200
    assert not page.tree.css("img")


@pytest.fixture
def newcomer(host: RunningHost, second: BrowserWithoutScreen) -> BrowserWithoutScreen:
    second.enter(host, host.run(host.host.accounts.users.add("grace@example.org")))
    return second


def test_an_account_without_calls_learns_how_to_make_some(newcomer: BrowserWithoutScreen) -> None:
    page = newcomer.get(PATH)
    assert "No calls yet" in page.text
    assert page.one("main a.button") == "Connect a client"
    assert page.tree.css_first("main form[role=search]") is None


def test_a_signed_out_visitor_is_sent_to_sign_in_and_back(browser: BrowserWithoutScreen) -> None:
    page = browser.get(f"{PATH}?tool=create_content")
    assert page.path == "/sign-in"
    assert "tool%3Dcreate_content" in str(page.response.url)
