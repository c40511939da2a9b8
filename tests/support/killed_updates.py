"""Kill a server while it updates a real site's existing posts, and check the final state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from support.holding_proxy import When
from support.killed_server import Point, Stage
from support.taking_over import SENTENCE

OTHER: Final = "Another paragraph, which its owner edits."
"""A sentence in a separate paragraph of every post, exactly once."""

LONG: Final = "A long post has many paragraphs like this one, which nobody on any side ever edits."
"""Filler: with thirty of these paragraphs, changing one sentence affects only a small part of a post's words."""

_WRITES: Final = ("POST ", "PUT ")


class OldPosts(Protocol):
    """A website with posts, as its owner uses it directly."""

    url: str

    def write(self, number: int) -> str:
        """Create a post, distinct for each number, with `SENTENCE` and `OTHER` in it, and return its URL."""

    def state(self, url: str) -> tuple[str, Mapping[str, Any]]:
        """Return the stored body of the post at a URL, and all its other relevant fields."""

    def replace(self, url: str, old: str, new: str) -> None:
        """Edit the body of the post at a URL."""

    def blocks(self, raw: str) -> Sequence[str]:
        """Return the blocks of a stored body."""

    def count(self) -> int:
        """Return the number of posts and pages, in any state."""


@dataclass(slots=True)
class _TakenOver:
    """A post that was taken over, and its original state."""

    url: str
    content_id: str
    version: int
    raw: str
    others: Mapping[str, Any]
    sentence: str = SENTENCE


def _take_over(stage: Stage, site: OldPosts, number: int) -> _TakenOver:
    url = site.write(number)
    raw, others = site.state(url)
    assert (raw.count(SENTENCE), raw.count(OTHER)) == (1, 1)
    arguments = {"url": url.replace(site.url, stage.proxy.url), "website_id": stage.website_id}
    imported = stage.call("import_content", **arguments)
    assert imported["publication_id"], imported
    article = stage.call("get_content", content_id=imported["content_id"])["content"]
    return _TakenOver(url, str(imported["content_id"]), article["version"], raw, others)


def _edit(stage: Stage, post: _TakenOver, new: str) -> None:
    edits = [{"find": post.sentence, "replace": new}]
    result = stage.call("update_content", content_id=post.content_id, expected_version=post.version, edits=edits)
    post.version, post.sentence = result["version"], new


def _check(stage: Stage, site: OldPosts, post: _TakenOver, other: str) -> None:
    """Check that the post has the article's sentence and its owner's paragraph, and is otherwise unchanged."""
    raw, others = site.state(post.url)
    assert (raw.count(post.sentence), raw.count(other)) == (1, 1), raw
    before = [block for block in site.blocks(post.raw) if SENTENCE not in block and OTHER not in block]
    assert [block for block in site.blocks(raw) if post.sentence not in block and other not in block] == before
    assert others == post.others


def _publish(stage: Stage, post: _TakenOver) -> None:
    """Publish undisturbed."""
    stage.call("publish_content", content_id=post.content_id, website_id=stage.website_id)
    publication = stage.stands(post.content_id, "published", "failed")
    assert (publication["status"], publication["error"]) == ("published", ""), publication


def points_of_an_update(stage: Stage, site: OldPosts, number: int) -> Sequence[Point]:
    """Update a post undisturbed; return its requests, writes first, each with the stages to interrupt it at."""
    post = _take_over(stage, site, number)
    _edit(stage, post, "A sentence of the article.")
    stage.proxy.requests.clear()
    _publish(stage, post)
    _check(stage, site, post, OTHER)
    timings: Mapping[bool, tuple[When, ...]] = {True: ("before", "after", "late"), False: ("before",)}
    requests = sorted(dict.fromkeys(stage.proxy.requests), key=lambda request: not request.startswith(_WRITES))
    return [(request, when) for request in requests for when in timings[request.startswith(_WRITES)]]


def updates_killed_at_each_step(stage: Stage, site: OldPosts, rounds: int) -> dict[str, int]:
    """Take over and update `rounds` posts; kill the server once during each, at every point in turn.

    In every other round the owner edits the post while the server is down. Return the number of kills at each point.
    """
    points = points_of_an_update(stage, site, 0)
    before, posts = Counter(stage.kills), site.count()
    for number in range(1, rounds + 1):
        point = points[(number - 1) % len(points)]
        post, other = _take_over(stage, site, number), OTHER
        _edit(stage, post, f"The sentence of round {number}.")
        hold = stage.proxy.hold(*point)
        stage.publish(post.content_id)
        assert hold.met.wait(120), f"nobody asked {point[0]}"
        stage.kill()
        stage.kills[point] += 1
        stage.proxy.release()
        if point[1] == "late":
            assert hold.over.wait(60)
        if (number // len(points) + number) % 2:
            other = f"What the owner wrote in round {number}."
            site.replace(post.url, OTHER, other)
        stage.start()
        publication = stage.stands(post.content_id, "published", "failed")
        assert publication["status"] == "published", publication
        if publication["error"]:
            assert other != OTHER, publication
            raw, _ = site.state(post.url)
            assert (raw.count(other), raw.count(OTHER)) == (1, 0), raw
            merge = stage.call("merge_site_edits", publication_id=publication["publication_id"])
            assert merge["conflicts"] == [], merge
            _publish(stage, post)
        _check(stage, site, post, other)
    assert site.count() == posts + rounds
    kills = stage.kills - before
    assert kills.total() == rounds
    return {f"{request} {when}": count for (request, when), count in kills.items()}
