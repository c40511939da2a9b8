"""The life of an article on a real WordPress."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.story import play_story
from support.wordpress import WordPress

pytestmark = pytest.mark.timeout(900)  # the first test on a machine installs WordPress


def test_a_client_writes_illustrates_publishes_updates_and_takes_down(blog: WordPress, tmp_path: Path) -> None:
    play_story(tmp_path, "wordpress", blog.url, {"username": "admin", "application_password": blog.passwords["admin"]})
