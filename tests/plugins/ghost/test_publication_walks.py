"""Random walks of articles through the states of their posts on a real Ghost, using the tools."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import httpx
import pytest
from pressroom_ghost.requests import token
from support.ghost import Ghost
from support.publication_walks import OwnersPost, walk, walking

pytestmark = pytest.mark.timeout(3600)  # the first test on a machine installs Ghost

STATES = {"published": "live", "scheduled": "scheduled", "draft": "draft"}


def test_the_reported_state_is_that_of_the_site_after_every_step(blog: Ghost, tmp_path: Path) -> None:
    admin = f"{blog.url}/ghost/api/admin"

    def headers() -> dict[str, str]:
        return {"Authorization": f"Ghost {token(blog.admin_key)}", "Accept-Version": "v5.0"}

    def owner_moves(post: str, state: str) -> None:
        url = f"{admin}/posts/{post}/"
        if state == "gone":
            httpx.delete(url, headers=headers(), timeout=30).raise_for_status()
            return
        [row] = httpx.get(url, headers=headers(), timeout=30).json()["posts"]
        changed = {"posts": [{"status": "draft", "updated_at": row["updated_at"]}]}
        httpx.put(url, json=changed, headers=headers(), timeout=30).raise_for_status()

    def posts(word: str) -> Sequence[OwnersPost]:
        query = {"limit": "100", "filter": f"title:~'{word}'"}
        response = httpx.get(f"{admin}/posts/", params=query, headers=headers(), timeout=30)
        return [
            OwnersPost(
                id=row["id"],
                state=STATES[row["status"]],
                title=row["title"],
                at=datetime.fromisoformat(row["published_at"]) if row["status"] == "scheduled" else None,
            )
            for row in response.json()["posts"]
        ]

    credential = {"admin_api_key": blog.admin_key}
    with walking(
        tmp_path,
        "ghost",
        blog.url,
        credential,
        posts,
        downs=("draft", "delete"),
        refused=["trash"],
        owner_moves=owner_moves,
        owner_states=("draft", "gone"),
    ) as walked:
        walk(walked)
