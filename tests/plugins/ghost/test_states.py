"""All state changes of a post on a real Ghost, in any order: the connector reports the actual state."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Network
from itertools import count
from typing import Any, Literal, TypeVar

import httpx
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from pressroom.fetch import GuardedFetcher
from pressroom_content.contract import Post, PostState, RemoteChanged, RemotePost, SiteGone, SiteRefused
from pressroom_ghost.requests import token
from pressroom_ghost.site import GhostSite
from support.ghost import Ghost
from support.sizes import SOAK

from .conftest import site_of
from .test_site import a_post

pytestmark = pytest.mark.timeout(3600)  # the first test on a machine installs Ghost, and a soak test runs for long

WALKS = 200 if SOAK else 3
STEPS = 20 if SOAK else 12
STATES = {"published": "live", "draft": "draft", "scheduled": "scheduled"}
HOURS = st.integers(min_value=1, max_value=24 * 400)

T = TypeVar("T")
_numbers = count(1)


class PostOnGhost(RuleBasedStateMachine):
    """A post that goes through its states. The test sets `blog`."""

    blog: Ghost

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.owner = httpx.Client(timeout=60)
        self.opened = GuardedFetcher(private_networks=[IPv4Network("127.0.0.0/8")])
        self.run(self.opened.__aenter__())
        self.state: PostState = "gone"
        self.post: Post = a_post()
        self.at: datetime | None = None
        self.id = ""

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def teardown(self) -> None:
        self.run(self.opened.__aexit__(None, None, None))
        self.runner.close()
        self.owner.close()

    def site(self) -> GhostSite:
        """Return the site as a later publication opens it, without any cached state."""
        return site_of(self.blog, self.opened)

    def there(self) -> dict[str, Any] | None:
        """Return the post as its owner sees it, bypassing the connector."""
        path = f"{self.blog.url}/ghost/api/admin/posts/{self.id}/?formats=html,lexical"
        headers = {"Authorization": f"Ghost {token(self.blog.admin_key)}", "Accept-Version": "v5.0"}
        response = self.owner.get(path, headers=headers)
        if response.status_code == 404:
            return None
        row: dict[str, Any] = response.raise_for_status().json()["posts"][0]
        return row

    def agree(self, remote: RemotePost | None) -> None:
        """Check that the reported state, the state read back and the actual post match the expected state."""
        row = self.there()
        if self.state == "gone":
            assert row is None
            with pytest.raises(SiteGone):
                self.run(self.site().read(self.id))
            assert self.run(self.site().find(self.post)) is None
            return
        assert row is not None
        assert STATES[row["status"]] == self.state
        match = self.run(self.site().find(self.post))
        assert match is not None
        for post in filter(None, (remote, match, self.run(self.site().read(self.id)))):
            assert (post.id, post.state, post.raw) == (self.id, self.state, row["lexical"])
            assert post.fields["title"] == row["title"] == self.post.title
            assert post.publish_at == (self.at if self.state == "scheduled" else None)
        published = datetime.fromisoformat(row["published_at"]) if row["published_at"] else None
        if self.state == "scheduled":
            assert published == self.at
        if self.state == "live":
            # It is not scheduled, and visitors see it.
            assert published is not None
            assert published <= datetime.now(UTC) + timedelta(seconds=5)
        assert self.owner.get(f"{self.blog.url}/{row['slug']}/").status_code == (200 if self.state == "live" else 404)

    def move(self, state: Literal["draft", "scheduled", "live", "gone"], at: datetime | None = None) -> None:
        remote = self.run(self.site().set_state(self.id, state, at))
        assert remote.state == state
        self.state, self.at = state, at
        self.agree(remote)

    @initialize()
    def make(self) -> None:
        number = next(_numbers)
        self.post = a_post(marker=f"walk-{number}-{id(self)}", slug=f"walk-{number}", title=f"Walk {number}")
        made = self.run(self.site().create(self.post))
        self.id, self.state, self.at = made.id, "draft", None
        self.agree(made)

    @precondition(lambda self: self.state == "gone")
    @rule()
    def make_again(self) -> None:
        self.make()

    @precondition(lambda self: self.state in ("draft", "scheduled"))
    @rule(hours=HOURS)
    def schedule_or_move(self, hours: int) -> None:
        self.move("scheduled", datetime.now(UTC).replace(microsecond=0) + timedelta(hours=hours))

    @precondition(lambda self: self.state == "live")
    @rule(hours=HOURS)
    def scheduling_what_is_live_is_refused(self, hours: int) -> None:
        self.refused(lambda: self.site().set_state(self.id, "scheduled", datetime.now(UTC) + timedelta(hours=hours)))

    @precondition(lambda self: self.state in ("draft", "scheduled"))
    @rule()
    def scheduling_for_no_time_is_refused(self) -> None:
        self.refused(lambda: self.site().set_state(self.id, "scheduled"))

    @precondition(lambda self: self.state == "scheduled")
    @rule()
    def cancel(self) -> None:
        self.move("draft")

    @precondition(lambda self: self.state != "gone")
    @rule()
    def publish(self) -> None:
        self.move("live")

    @precondition(lambda self: self.state == "live")
    @rule()
    def unpublish(self) -> None:
        self.move("draft")

    @precondition(lambda self: self.state != "gone")
    @rule()
    def trash_is_refused(self) -> None:
        self.refused(lambda: self.site().set_state(self.id, "trashed"))

    @precondition(lambda self: self.state != "gone")
    @rule()
    def delete(self) -> None:
        self.move("gone")

    @precondition(lambda self: self.state == "gone")
    @rule(state=st.sampled_from(["draft", "live", "gone"]))
    def what_is_gone_cannot_be_moved(self, state: Literal["draft", "live", "gone"]) -> None:
        with pytest.raises(SiteGone):
            self.run(self.site().set_state(self.id, state))
        with pytest.raises(SiteGone):
            self.run(self.site().update(self.id, self.post, ""))
        self.agree(None)

    @precondition(lambda self: self.state != "gone")
    @rule(number=st.integers(0, 9))
    def write(self, number: int) -> None:
        self.post = a_post(marker=self.post.marker, slug=self.post.slug, title=f"Walk on {number}")
        self.agree(self.run(self.site().update(self.id, self.post, "")))

    @precondition(lambda self: self.state != "gone")
    @rule(number=st.integers(0, 9))
    def an_edit_made_there_is_not_overwritten(self, number: int) -> None:
        before = self.run(self.site().read(self.id))
        edited = a_post(marker=self.post.marker, slug=self.post.slug, title=f"Their own {number} of {next(_numbers)}")
        self.run(self.site().update(self.id, edited, ""))
        with pytest.raises(RemoteChanged):
            self.run(self.site().update(self.id, self.post, before.revision))
        self.post = edited
        self.agree(None)

    def refused(self, ask: Callable[[], Coroutine[Any, Any, RemotePost]]) -> None:
        with pytest.raises(SiteRefused):
            self.run(ask())
        self.agree(None)


def test_the_reported_state_is_the_real_one_after_every_step(blog: Ghost) -> None:
    machine = type("PostOnThisGhost", (PostOnGhost,), {"blog": blog})
    run_state_machine_as_test(
        machine,
        settings=settings(max_examples=WALKS, stateful_step_count=STEPS, suppress_health_check=[*HealthCheck]),
    )
