"""The life of an article on a real Ghost."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.ghost import Ghost
from support.story import play_story

pytestmark = pytest.mark.timeout(900)  # the first test on a machine installs Ghost


def test_a_client_writes_illustrates_publishes_updates_and_takes_down(blog: Ghost, tmp_path: Path) -> None:
    play_story(tmp_path, "ghost", blog.url, {"admin_api_key": blog.admin_key})
