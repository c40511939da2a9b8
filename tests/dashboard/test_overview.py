"""The dashboard overview: plan, quotas, calls."""

from __future__ import annotations

import pytest
from pressroom.accounts.records import User
from pressroom.testing import RunningHost
from support.people import BrowserWithoutScreen, Page, add_person, fill


@pytest.fixture(scope="module")
def person(host: RunningHost) -> User:
    """Return an account with 45 calls."""
    user = add_person(host)
    fill(host, user, calls=45)
    return user


def rows(page: Page) -> list[str]:
    return [" ".join(row.text(separator=" ").split()) for row in page.tree.css(".calls tbody tr")]


def test_each_quota_shows_what_is_left_and_when_it_resets(signed_in: BrowserWithoutScreen) -> None:
    page = signed_in.get("/dashboard")
    text = page.one("section[aria-labelledby=plan]")
    assert "Starter plan" in text
    assert "Articles created 12 of 40" in text
    assert "28 left; starts again on 1 " in text
    assert "SEO reports 10 of 10" in text
    assert "Used up; starts again on 1 " in text
    states = [str(meter.attributes["class"]).split()[1:] for meter in page.tree.css(".meter")]
    assert states == [[], ["low"], [], ["over"]]
    bars = [(bar.attributes["value"], bar.attributes["max"]) for bar in page.tree.css("progress")]
    assert bars == [("12", "40"), ("17", "20"), ("0", "300"), ("10", "10")]


def test_calls_are_paged_to_the_end(signed_in: BrowserWithoutScreen) -> None:
    calls: list[str] = []
    page = signed_in.get("/dashboard")
    for expected in (20, 20, 5):
        page_calls = rows(page)
        assert len(page_calls) == expected
        calls += page_calls
        link = page.tree.css_first(".pager a[href*=before]")
        if link is not None:
            page = signed_in.get(str(link.attributes["href"]))
    assert page.tree.css_first(".pager a[href*=before]") is None
    assert "Back to the latest" in page.text
    assert len(calls) == 45
    assert "7 minutes ago" in calls[0]


def test_calls_can_be_filtered_to_errors(signed_in: BrowserWithoutScreen) -> None:
    page = signed_in.get("/dashboard?show=errors")
    assert rows(page)
    for row in rows(page):
        assert "validation error" in row or "quota exceeded" in row


@pytest.mark.parametrize("before", ["0", "1", "x", "-1", "9" * 18, "9" * 19, "9" * 60, "%F0%9F%92%A9", "1e3"])
def test_odd_page_parameters_are_not_an_error(signed_in: BrowserWithoutScreen, before: str) -> None:
    assert signed_in.get(f"/dashboard?before={before}").status == 200


def test_calls_of_other_accounts_are_not_shown(host: RunningHost, second: BrowserWithoutScreen) -> None:
    second.enter(host, add_person(host, "grace@example.org"))
    page = second.get("/dashboard")
    assert "No calls yet" in page.text
    assert "12 of 40" not in page.text
    assert "0 of 40" in page.text
