"""Random walks of articles through the states of their posts on DEV, using the tools."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from support.publication_walks import OwnersPost, walk, walking
from support.standin_forem import KEY, Forem

pytestmark = pytest.mark.timeout(3600)


def test_the_reported_state_is_that_of_the_account_after_every_step(forem: Forem, tmp_path: Path) -> None:
    def posts(word: str) -> Sequence[OwnersPost]:
        return [
            OwnersPost(str(number), "live" if article["published"] else "draft", article["title"])
            for number, article in forem.articles.items()
            if word in article["title"]
        ]

    def owner_moves(post: str, state: str) -> None:
        if state == "gone":
            del forem.articles[int(post)]
        else:
            forem.articles[int(post)]["published"] = False

    with walking(
        tmp_path,
        "devto",
        "",
        {"api_key": KEY},
        posts,
        downs=["draft"],
        refused=("trash", "delete"),
        schedules=False,
        owner_moves=owner_moves,
        owner_states=("draft", "gone"),
        config={"api_url": forem.url, "write_interval": 0},
    ) as walked:
        walk(walked)
