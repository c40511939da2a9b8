"""Random walks through the states of a post on a real WordPress: the connector reports the actual state."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Network
from typing import Any, Literal, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from pressroom.fetch import GuardedFetcher
from pressroom_content.contract import PostState, RemotePost, SiteGone
from support.sizes import rounds
from support.wordpress import WordPress

from .conftest import site_of
from .test_site import a_post

WALKS = rounds("PRESSROOM_TEST_WALKS", 4, soak=200)
STEPS = 7

STATES: dict[str, PostState] = {"publish": "live", "future": "scheduled", "draft": "draft", "trash": "trashed"}
hours = st.integers(min_value=1, max_value=9000)

pytestmark = pytest.mark.timeout(3600)

Result = TypeVar("Result")


class PostWalk(RuleBasedStateMachine):
    """One post and its expected state."""

    def __init__(self, blog: WordPress) -> None:
        super().__init__()
        self.blog = blog
        self.runner = asyncio.Runner()
        self.fetcher = GuardedFetcher(private_networks=[IPv4Network("127.0.0.0/8")])
        self.run(self.fetcher.__aenter__())
        self.site = site_of(blog, self.fetcher)
        self.post = a_post()
        self.id = ""
        self.state: PostState = "gone"
        self.at: datetime | None = None

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        return self.runner.run(coroutine)

    def teardown(self) -> None:
        if self.state == "gone":
            assert self.run(self.site.find(self.post)) is None
        else:
            match = self.run(self.site.find(self.post))
            assert match is not None
            assert (match.id, match.state) == (self.id, self.state)
        self.run(self.fetcher.__aexit__(None, None, None))
        self.runner.close()

    def move(self, state: Literal["draft", "scheduled", "live", "trashed", "gone"], at: datetime | None = None) -> None:
        remote = self.run(self.site.set_state(self.id, state, at))
        self.state, self.at = state, at
        self.compare(remote)

    def compare(self, remote: RemotePost) -> None:
        """Compare the reported post with the site itself, bypassing the connector."""
        assert (remote.id, remote.state) == (self.id, self.state)
        response = self.blog.get(f"/wp/v2/posts/{self.id}", context="edit")
        if self.state == "gone":
            assert response.status_code == 404
            return
        row = response.json()
        read = self.run(self.site.read(self.id))
        assert STATES[row["status"]] == self.state == read.state
        assert row["title"]["raw"] == self.post.title == read.fields["title"]
        assert remote.publish_at == read.publish_at == (self.at if self.state == "scheduled" else None)
        date = datetime.fromisoformat(row["date_gmt"]).replace(tzinfo=UTC) if row["date_gmt"] else None
        if self.state == "scheduled":
            assert date == self.at
        if self.state == "live":
            assert date is not None
            assert date <= datetime.now(UTC) + timedelta(seconds=2)
        assert read.fields["slug"] == self.post.slug
        assert read.marker == self.post.marker

    @initialize()
    def write(self) -> None:
        self.again()

    @precondition(lambda self: self.state == "gone")
    @rule()
    def again(self) -> None:
        created = self.run(self.site.create(self.post))
        assert created.id != self.id
        self.id, self.state, self.at = created.id, "draft", None
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

    @precondition(lambda self: self.state == "gone")
    @rule(state=st.sampled_from(["draft", "live", "trashed", "gone"]))
    def do_something_with_what_is_gone(self, state: Literal["draft", "live", "trashed", "gone"]) -> None:
        with pytest.raises(SiteGone):
            self.run(self.site.set_state(self.id, state))
        with pytest.raises(SiteGone):
            self.run(self.site.update(self.id, self.post, ""))


def test_any_walk_through_the_states_ends_as_expected(blog: WordPress) -> None:
    class Walk(PostWalk):
        def __init__(self) -> None:
            super().__init__(blog)

    sizes = settings(max_examples=WALKS, stateful_step_count=STEPS, deadline=None, derandomize=WALKS < 100)
    run_state_machine_as_test(Walk, settings=sizes)
