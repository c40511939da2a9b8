"""Fidelity: what readers of a real Ghost see of every construct that an article can contain."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest
from pressroom.testing.running import settings_for_test
from pressroom_ghost.connector import CONNECTOR
from support.fidelity import compare, looked_at, notes_of, publish_everything
from support.ghost import Ghost
from support.installing import on_path
from support.long_articles import TITLE, long_body, shows_all
from support.publishing_world import configuration, world
from support.standin_plugin import distribution

pytestmark = pytest.mark.timeout(900)  # the first test on a machine installs Ghost


async def test_the_published_page_matches_the_documented_fidelity(blog: Ghost, tmp_path: Path) -> None:
    config = configuration({})
    config["plugins"]["ghost"] = {}
    credential = {"admin_api_key": blog.admin_key}
    with on_path(distribution(tmp_path / "site")):
        async with world(settings_for_test(config, tmp_path / "data")) as plugin:
            publication = await publish_everything(plugin, "ghost", blog.url, credential)
            page = (await asyncio.to_thread(httpx.get, publication.url, timeout=60)).text
            notes = await notes_of(plugin, publication, page)
    compare(notes, CONNECTOR, "ghost/src/pressroom_ghost/connector.py")


async def test_a_long_article_is_published_completely(blog: Ghost, tmp_path: Path) -> None:
    config = configuration({})
    config["plugins"]["ghost"] = {}
    credential = {"admin_api_key": blog.admin_key}
    with on_path(distribution(tmp_path / "site")):
        async with world(settings_for_test(config, tmp_path / "data")) as plugin:
            publication = await publish_everything(plugin, "ghost", blog.url, credential, title=TITLE, body=long_body())
            publication = await looked_at(plugin, publication)
    shows_all((await asyncio.to_thread(httpx.get, publication.url, timeout=60)).text, publication)
