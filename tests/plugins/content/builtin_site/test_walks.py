"""Random walks through the states of a post on a built-in site: visitors see what the connector reports."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, Literal, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from pressroom.testing import RunningHost
from pressroom_content.builtin_site.tables import BuiltinPostRow
from pressroom_content.contract import Post, PostState, RemotePost, SiteGone
from pressroom_content.websites.store import Websites
from sqlalchemy import select
from support.publication_walks import OwnersPost, Walked, walk
from support.sizes import rounds

from ..conftest import Client  # noqa: TID252 - the client of the whole plugin
from .test_pages import Site

WALKS = rounds("PRESSROOM_TEST_WALKS", 8, soak=200)
STEPS = 12

hours = st.integers(min_value=1, max_value=9000)
numbers = count(1)

pytestmark = pytest.mark.timeout(3600)

Result = TypeVar("Result")


class BuiltinPostWalk(RuleBasedStateMachine):
    """One post and its expected state."""

    def __init__(self, host: RunningHost, client: Client, walked: Site) -> None:
        super().__init__()
        self.host = host
        self.shown = walked
        _, self.site = host.run(Websites(client.plugin).open(client.user_id, walked.id))
        number = next(numbers)
        self.post = Post(
            marker=f"pr-walk{number:020d}",
            title=f"Walk {number}",
            slug=f"walk-{number:04d}",
            html="<p>Text</p>",
            markdown="Text",
        )
        self.id = ""
        self.state: PostState = "gone"
        self.was_live = False

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        return self.host.run(coroutine)

    def move(self, state: Literal["draft", "scheduled", "live", "trashed", "gone"], at: datetime | None = None) -> None:
        remote = self.run(self.site.set_state(self.id, state, at))
        self.state = state
        self.compare(remote, at)

    def compare(self, remote: RemotePost, at: datetime | None = None) -> None:
        """Check that visitors see what the connector reported."""
        assert (remote.id, remote.state) == (self.id, self.state)
        if self.state == "gone":
            with pytest.raises(SiteGone):
                self.run(self.site.read(self.id))
        else:
            read = self.run(self.site.read(self.id))
            assert (read.state, read.fields["title"]) == (self.state, self.post.title)
            if at is not None:
                assert read.publish_at == remote.publish_at == at
        is_live = self.state == "live"
        self.was_live |= is_live
        page = self.shown.get(f"/{self.post.slug}")
        assert page.status_code == (200 if is_live else 410 if self.was_live else 404)
        if is_live:
            assert self.post.title in page.text
        for listing in ("", "/feed.xml", "/sitemap.xml"):
            assert (f"/{self.post.slug}" in self.shown.get(listing).text) is is_live, listing

    @initialize()
    def write(self) -> None:
        self.again()

    @precondition(lambda self: self.state == "gone")
    @rule()
    def again(self) -> None:
        created = self.run(self.site.create(self.post))
        self.id, self.state = created.id, "draft"
        self.compare(created)

    @precondition(lambda self: self.state != "gone")
    @rule(hours=hours)
    def schedule_or_move(self, hours: int) -> None:
        self.move("scheduled", datetime.now(UTC).replace(microsecond=0) + timedelta(hours=hours))

    @precondition(lambda self: self.state != "gone")
    @rule()
    def cancel_or_unpublish(self) -> None:
        self.move("draft")

    @precondition(lambda self: self.state != "gone")
    @rule()
    def publish(self) -> None:
        self.move("live")

    @precondition(lambda self: self.state != "gone")
    @rule()
    def trash(self) -> None:
        self.move("trashed")

    @precondition(lambda self: self.state != "gone")
    @rule()
    def delete(self) -> None:
        self.move("gone")

    @precondition(lambda self: self.state != "gone")
    @rule(number=st.integers(min_value=1, max_value=9))
    def edit(self, number: int) -> None:
        self.post = replace(self.post, title=f"Title {number}", html=f"<p>Text {number}</p>")
        self.compare(self.run(self.site.update(self.id, self.post, "")))


def test_visitors_see_every_state_of_a_post_as_reported(host: RunningHost, ada: Client) -> None:
    walked = Site(host, ada, "Walks")

    class Walk(BuiltinPostWalk):
        def __init__(self) -> None:
            super().__init__(host, ada, walked)

    sizes = settings(max_examples=WALKS, stateful_step_count=STEPS, deadline=None, derandomize=WALKS < 100)
    run_state_machine_as_test(Walk, settings=sizes)


def test_the_reported_state_is_that_of_the_site_after_every_step(host: RunningHost, ada: Client) -> None:
    site = Site(host, ada, "Told walks")

    async def rows(word: str) -> Sequence[BuiltinPostRow]:
        statement = select(BuiltinPostRow).where(
            BuiltinPostRow.website_id == site.id, BuiltinPostRow.title.contains(word)
        )
        async with ada.plugin.services.database.reading() as session:
            return list(await session.scalars(statement))

    def posts(word: str) -> Sequence[OwnersPost]:
        return [OwnersPost(row.id, row.state, row.title, row.publish_at) for row in host.run(rows(word))]

    walk(Walked(ada, site.id, posts, downs=("draft", "trash", "delete")))
