"""Random walks of articles through the states of their posts on a real WordPress, using the tools."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.publication_walks import OwnersPost, walk, walking
from support.wordpress import WordPress

pytestmark = pytest.mark.timeout(3600)  # the first test on a machine downloads WordPress

STATES = {"publish": "live", "future": "scheduled", "draft": "draft", "trash": "trashed"}


def test_the_reported_state_is_that_of_the_site_after_every_step(blog: WordPress, tmp_path: Path) -> None:
    def posts(word: str) -> Sequence[OwnersPost]:
        rows = blog.get("/wp/v2/posts", search=word, status=",".join(STATES), context="edit", per_page=100).json()
        return [
            OwnersPost(
                id=str(row["id"]),
                state=STATES[row["status"]],
                title=row["title"]["raw"],
                at=datetime.fromisoformat(row["date_gmt"]).replace(tzinfo=UTC) if row["status"] == "future" else None,
            )
            for row in rows
            if word in row["title"]["raw"]
        ]

    def owner_moves(post: str, state: str) -> None:
        if state == "draft":
            response = blog.send("POST", f"/wp/v2/posts/{post}", {"status": "draft"})
        else:
            response = blog.send("DELETE", f"/wp/v2/posts/{post}{'?force=true' if state == 'gone' else ''}")
        assert response.is_success or response.json()["code"] == "rest_already_trashed", response.text

    credential = {"username": "admin", "application_password": blog.passwords["admin"]}
    with walking(
        tmp_path,
        "wordpress",
        blog.url,
        credential,
        posts,
        downs=("draft", "trash", "delete"),
        owner_moves=owner_moves,
        owner_states=("draft", "trashed", "gone"),
    ) as walked:
        walk(walked)
