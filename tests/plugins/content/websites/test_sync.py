"""Syncing a website's posts into the index over several calls; posts leave it with their pages."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from pressroom_content.tables import PageRow, WordRow
from pressroom_content.websites.store import Websites
from sqlalchemy import func, select
from support.standin_platform import TOKEN, StandInPlatform
from support.standin_plugin import PLATFORM

from ..conftest import Client  # noqa: TID252 - the client of the whole plugin

ALL = "All posts were read."


@pytest.fixture
def website(ada: Client, platform: StandInPlatform) -> str:
    """Return a website on the stand-in platform."""
    connecting = Websites(ada.plugin).add(
        ada.user_id, PLATFORM, name="Stand-in", url=platform.url, credential={"token": TOKEN}
    )
    return ada.host.run(connecting).id


def write(platform: StandInPlatform, *names: str, html: str = "<p>Meadows and rivers</p>") -> None:
    """Add live posts to the platform, with their names as IDs and slugs."""
    for name in names:
        platform.posts[name] = {
            "id": name, "slug": name, "title": f"Post {name}", "html": html, "state": "live", "revision": 1,
            "featured": None, "marker": "", "tags": [], "categories": [],
        }  # fmt: skip


def sync(client: Client, website: str, **arguments: Any) -> dict[str, Any]:
    """Sync the posts, and return the job's result without the website ID."""
    job = client.data("sync_website_content", website_id=website, **arguments)["job_id"]
    for _ in range(1000):
        status = client.host.run(client.plugin.services.jobs.status(job))
        if status.state == "succeeded":
            result = dict(status.result or {})
            assert result.pop("website_id") == website
            return result
        assert status.state in ("queued", "running"), status
        time.sleep(0.02)
    raise AssertionError(job)


def figures(result: dict[str, Any]) -> tuple[int, int, int, int]:
    """Return the number of new, changed, unchanged and gone posts."""
    assert result["posts"] == result["new"] + result["changed"] + result["unchanged"]
    return result["new"], result["changed"], result["unchanged"], result["gone"]


def indexed(client: Client, website: str) -> list[str]:
    """Return the names of the posts in the index."""

    async def found() -> list[str]:
        async with client.plugin.services.database.reading() as session:
            urls = await session.scalars(select(PageRow.url).where(PageRow.website_id == website))
            return sorted(url.rpartition("/")[2] for url in urls)

    return client.host.run(found())


def documents(client: Client, stem: str) -> int:
    """Return how many documents of the account contain a word."""

    async def counted() -> int:
        statement = select(func.count()).select_from(WordRow)
        async with client.plugin.services.database.reading() as session:
            return int(
                await session.scalar(statement.where(WordRow.user_id == client.user_id, WordRow.stem == stem)) or 0
            )

    return client.host.run(counted())


def test_existing_posts_are_indexed_once(ada: Client, website: str, platform: StandInPlatform) -> None:
    write(platform, "a", "b", "c")
    first = sync(ada, website)
    assert (figures(first), first["next_cursor"], first["note"]) == ((3, 0, 0, 0), None, ALL)
    write(platform, "a", html="<p>Meadows and mountains</p>")
    assert figures(sync(ada, website)) == (0, 1, 2, 0)
    assert (indexed(ada, website), documents(ada, "meadow")) == (["a", "b", "c"], 3)


def test_more_posts_are_read_with_the_cursor_of_the_previous_job(
    ada: Client, website: str, platform: StandInPlatform
) -> None:
    write(platform, *"abcde")
    first = sync(ada, website, max_items=2)
    assert (figures(first), indexed(ada, website)) == ((2, 0, 0, 0), ["a", "b"])
    assert re.fullmatch(r"The website has more posts: call sync_website_content again with cursor \S+\.", first["note"])
    assert first["next_cursor"] in first["note"]
    second = sync(ada, website, max_items=2, cursor=first["next_cursor"])
    assert (figures(second), indexed(ada, website)) == ((2, 0, 0, 0), ["a", "b", "c", "d"])
    third = sync(ada, website, max_items=2, cursor=second["next_cursor"])
    assert (figures(third), third["next_cursor"], third["note"]) == ((1, 0, 0, 0), None, ALL)
    assert indexed(ada, website) == list("abcde")


def test_the_requested_number_of_posts_is_the_whole_list(ada: Client, website: str, platform: StandInPlatform) -> None:
    write(platform, "a", "b")
    assert sync(ada, website, max_items=2)["next_cursor"] is None


def test_changes_between_two_calls_are_not_missed(ada: Client, website: str, platform: StandInPlatform) -> None:
    write(platform, *"bcdef")
    first = sync(ada, website, max_items=3)
    del platform.posts["b"], platform.posts["c"]
    write(platform, "a")
    write(platform, "d", html="<p>Meadows and mountains</p>")
    second = sync(ada, website, max_items=3, cursor=first["next_cursor"])
    assert (figures(second)[:2], second["next_cursor"]) == ((3, 1), None)
    assert set(indexed(ada, website)) >= set("adef")
    assert figures(sync(ada, website)) == (0, 0, 4, 2)
    assert indexed(ada, website) == list("adef")


def test_deleted_pages_are_removed_after_a_complete_pass(ada: Client, website: str, platform: StandInPlatform) -> None:
    write(platform, *"abcd")
    sync(ada, website)
    del platform.posts["a"], platform.posts["d"]
    assert figures(sync(ada, website, since="2026-01-01")) == (0, 0, 2, 0)
    first = sync(ada, website, max_items=1)
    assert (figures(first), indexed(ada, website)) == ((0, 0, 1, 0), list("abcd"))
    second = sync(ada, website, max_items=1, cursor=first["next_cursor"])
    assert (figures(second), indexed(ada, website)) == ((0, 0, 1, 2), ["b", "c"])
    assert documents(ada, "meadow") == 2


def test_nothing_is_removed_for_an_unreadable_website(ada: Client, website: str, platform: StandInPlatform) -> None:
    write(platform, "a", "b")
    sync(ada, website)
    del platform.posts["b"]
    platform.token = "revoked"
    ada.data("sync_website_content", website_id=website)
    error = ""
    for _ in range(1000):
        if error := ada.host.run(Websites(ada.plugin).get(ada.user_id, website)).last_error:
            break
        time.sleep(0.02)
    assert "no longer accepts the token" in error
    assert indexed(ada, website) == ["a", "b"]


def test_a_cursor_keeps_the_date_of_the_first_call(ada: Client, website: str, platform: StandInPlatform) -> None:
    write(platform, *"abc")
    sync(ada, website)
    del platform.posts["c"]
    cursor = sync(ada, website, max_items=1, since="2026-01-01")["next_cursor"]
    assert "cursor keeps it" in ada.refusal(
        "sync_website_content", website_id=website, cursor=cursor, since="2026-01-01"
    )
    assert figures(sync(ada, website, cursor=cursor))[3] == 0
    assert indexed(ada, website) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "cursor",
    ["x", "5", "1-", "-1-5", "1-5-2026-02-31", "1-5-", f"{10**17}-5", f"{10**18 - 1}-5", "1-9999999", "1-5\n", "٣-5"],
)
def test_an_invalid_cursor_is_refused(ada: Client, website: str, cursor: str) -> None:
    message = ada.refusal("sync_website_content", website_id=website, cursor=cursor)
    assert "must be the next_cursor of an earlier job of this tool; leave it out to start over" in message
