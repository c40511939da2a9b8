"""Random walks of an article through the states of its post, using the tools. Checks that reports match the site."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, Final, Literal

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.websites.store import Websites

from support.content_client import Client, client_of
from support.sizes import rounds

WALKS: Final = rounds("PRESSROOM_TEST_WALKS", 1, soak=200)
STEPS: Final = 8

HOURS: Final = st.integers(min_value=2, max_value=9000)

_REPORTED: Final = {"published": "live", "scheduled": "scheduled", "draft": "draft"}
_DOWN: Final = {"draft": "draft", "trash": "trashed", "delete": "gone"}
_MESSAGES: Final = {
    "draft": "keeps it as a draft",
    "trashed": "in the trash of the site",
    "gone": "has no post of it",
    "delete": "deleted on the site",
}

DownMode = Literal["draft", "trash", "delete"]
OwnerState = Literal["draft", "trashed", "gone"]


@dataclass(frozen=True, slots=True)
class OwnersPost:
    """A post as its site shows it to the owner. `at` is its scheduled time, if any."""

    id: str
    state: str
    title: str
    at: datetime | None = None


Posts = Callable[[str], Sequence[OwnersPost]]
"""Returns all posts on a site with a word in the title, in any state."""

OwnerMoves = Callable[[str, str], None]
"""Changes a post's state directly on the site: to `draft`, `trashed` or `gone`."""


@dataclass(frozen=True, slots=True)
class Walked:
    """A client of an account with a website.

    `downs` are the platform's modes of unpublishing, `refused` those that it lacks, `owner_states` the states that its
    owner moves posts to. Unless `schedules` is set, a scheduled post is a draft on the site.
    """

    client: Client
    website: str
    posts: Posts
    downs: Collection[DownMode]
    refused: Collection[DownMode] = ()
    schedules: bool = True
    owner_moves: OwnerMoves | None = None
    owner_states: Collection[OwnerState] = ()

    def there(self, reported: str) -> str:
        """Return the state on the site of a post with the reported state `reported`."""
        return "draft" if reported == "scheduled" and not self.schedules else reported


class PublicationWalk(RuleBasedStateMachine):
    """One article, and the expected state of its post. `walked` is set by the test.

    `state` is the state on the site, `reported` the state reported by this server, which notices the owner's changes
    when it writes. `at` is the time of a scheduled post.
    """

    walked: Walked
    _numbers = count(1)

    def __init__(self) -> None:
        super().__init__()
        self.word = f"Walk{next(self._numbers):04d}"
        self.version = 1
        self.title = self.sent = f"{self.word} begins"
        self.state = self.reported = "gone"
        self.at: datetime | None = None
        self.publication = ""

    @property
    def pair(self) -> dict[str, str]:
        return {"content_id": self.content_id, "website_id": self.walked.website}

    @initialize()
    def write(self) -> None:
        made = self.walked.client.data("create_content", title=self.title, slug=self.word.lower(), body="Some words.")
        self.content_id = str(made["content_id"])

    def sends(self, state: str, at: datetime | None = None, **arguments: Any) -> None:
        """Publish, and check that report and site agree with the expected state."""
        result = self.walked.client.data("publish_content", **self.pair, **arguments)
        assert (result["error"], result["conflict"]) == ("", None), result
        assert _REPORTED[result["status"]] == state, result
        self.reported, self.state = state, self.walked.there(state)
        self.at, self.sent = at, self.title
        self.publication = result["publication_id"]
        self.agree()

    def is_refused(self, tool: str, **arguments: Any) -> None:
        assert self.walked.client.refusal(tool, **arguments)
        self.agree()

    def agree(self) -> None:
        """Compare the report with the owner's view of the site: one post in that state, or none."""
        rows = self.walked.client.data("list_publications", content_id=self.content_id)["publications"]
        posts = self.walked.posts(self.word)
        if not rows:
            assert posts == []
            return
        [row] = rows
        assert not row["error"], row
        if row["status"] == "unpublished":
            assert self.reported in _DOWN.values(), row
        else:
            assert _REPORTED[row["status"]] == self.reported, row
        if self.reported == "scheduled":
            assert datetime.fromisoformat(row["publish_at"]) == self.at
        if self.state == "gone":
            assert posts == []
            return
        [post] = posts
        assert (post.id, post.state, post.title) == (row["external_id"], self.state, self.sent)
        if self.state == "scheduled":
            assert post.at == self.at

    @rule()
    def publish(self) -> None:
        self.sends("live", mode="publish")

    @precondition(lambda self: self.walked.there(self.reported) == self.state not in ("gone", "trashed"))
    @rule()
    def publish_as_it_is(self) -> None:
        taken_down = self.is_down()
        self.sends("live" if taken_down else self.reported, None if taken_down else self.at)

    @rule()
    def save_as_draft_or_cancel(self) -> None:
        if self.reported == "live":
            self.is_refused("publish_content", **self.pair, mode="draft")
        else:
            self.sends("draft", mode="draft")

    @rule(hours=HOURS)
    def schedule_or_move(self, hours: int) -> None:
        at = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=hours)
        if self.reported == "live":
            self.is_refused("publish_content", **self.pair, publish_at=at.isoformat())
        else:
            self.sends("scheduled", at, publish_at=at.isoformat())

    @precondition(lambda self: self.publication)
    @rule(data=st.data())
    def take_down(self, data: st.DataObject) -> None:
        mode = data.draw(st.sampled_from([*self.walked.downs, *self.walked.refused]))
        arguments = {"publication_id": self.publication, "mode": mode, "confirm": True}
        if mode in self.walked.refused and self.reported != "gone":
            self.is_refused("unpublish_content", **arguments)
            return
        done = self.walked.client.call("unpublish_content", **arguments)
        assert done["structuredContent"]["status"] == "unpublished"
        # A post deleted by this tool cannot be taken down again.
        self.reported, self.at = "gone" if self.reported == "gone" else _DOWN[mode], None
        if self.state != "gone":
            self.state = self.reported
        assert _MESSAGES[mode if mode == "delete" else self.state] in done["content"][0]["text"]
        self.agree()

    @precondition(lambda self: self.walked.owner_states and self.state != "gone")
    @rule(data=st.data())
    def owner_moves_it_on_the_site(self, data: st.DataObject) -> None:
        assert self.walked.owner_moves is not None
        [post] = self.walked.posts(self.word)
        self.state = data.draw(st.sampled_from([*self.walked.owner_states]))
        self.walked.owner_moves(post.id, self.state)
        self.agree()

    @rule(number=st.integers(min_value=1, max_value=9))
    def edit(self, number: int) -> None:
        self.title = f"{self.word} for the {number}. time"
        done = self.walked.client.data(
            "update_content",
            content_id=self.content_id,
            expected_version=self.version,
            fields={"title": self.title},
        )
        self.version = done["version"]
        self.agree()

    def is_down(self) -> bool:
        [row] = self.walked.client.data("list_publications", content_id=self.content_id)["publications"]
        return bool(row["status"] == "unpublished")


@contextmanager
def walking(
    folder: Path,
    platform: str,
    url: str,
    credential: Mapping[str, str],
    posts: Posts,
    *,
    downs: Collection[DownMode],
    refused: Collection[DownMode] = (),
    schedules: bool = True,
    owner_moves: OwnerMoves | None = None,
    owner_states: Collection[OwnerState] = (),
    config: Mapping[str, Any] | None = None,
) -> Iterator[Walked]:
    """Yield a client on a server with a connected website. `config` is the configuration of the platform's plugin."""
    plugins = {"content": {}, platform: {"config": dict(config or {})}}
    values = {"fetch": {"private_networks": ["127.0.0.0/8"]}, "plugins": plugins}
    with RunningHost(settings_for_test({"builtin_plugins": False, **values}, folder / "data")) as host:
        ada = client_of(host, "ada@example.com")
        website = host.run(Websites(ada.plugin).add(ada.user_id, platform, name="Blog", url=url, credential=credential))
        yield Walked(ada, website.id, posts, downs, refused, schedules, owner_moves, owner_states)


def walk(walked: Walked) -> None:
    """Run random walks of many articles."""
    machine = type("PublicationWalkOnSite", (PublicationWalk,), {"walked": walked})
    sizes = settings(
        max_examples=WALKS,
        stateful_step_count=STEPS,
        deadline=None,
        derandomize=WALKS < 100,
        suppress_health_check=[*HealthCheck],
    )
    run_state_machine_as_test(machine, settings=sizes)
