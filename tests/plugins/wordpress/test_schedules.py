"""Schedules on a real WordPress: a cancelled post does not go live there."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.native_schedules import schedule_and_cancel
from support.wordpress import WordPress

pytestmark = pytest.mark.timeout(900)  # the first test on a machine installs WordPress

STATES = {"publish": "live", "future": "scheduled", "draft": "draft", "trash": "trashed"}


def test_a_post_is_scheduled_moved_cancelled_and_trashed(blog: WordPress, tmp_path: Path) -> None:
    def state(post_id: str) -> str:
        return STATES[blog.get(f"/wp/v2/posts/{post_id}", context="edit").json()["status"]]

    credential = {"username": "admin", "application_password": blog.passwords["admin"]}
    schedule_and_cancel(tmp_path, "wordpress", blog.url, credential, state, trash=True)
