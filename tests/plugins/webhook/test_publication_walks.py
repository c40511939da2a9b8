"""Random walks of articles through the states of their posts at a webhook receiver, using the tools."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from support.publication_walks import OwnersPost, walk, walking
from support.webhook_receiver import Receiver

pytestmark = pytest.mark.timeout(3600)


@pytest.mark.parametrize("names_posts", [True, False], ids=["the receiver names posts", "posts keep their marker"])
def test_the_reported_state_is_that_of_the_receiver_after_every_step(
    receiver: Receiver, tmp_path: Path, names_posts: bool
) -> None:
    receiver.names_posts = names_posts

    def posts(word: str) -> Sequence[OwnersPost]:
        return [
            OwnersPost(name, post["state"], post["title"])
            for name, post in receiver.posts.items()
            if word in post["title"]
        ]

    # A receiver cannot be queried, so its owner's changes to a post stay unknown.
    with walking(
        tmp_path,
        "webhook",
        receiver.site,
        receiver.credential,
        posts,
        downs=("draft", "trash", "delete"),
        schedules=False,
    ) as walked:
        walk(walked)
