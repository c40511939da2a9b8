"""Fidelity: what readers of a webhook receiver see of every construct that an article can contain."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
from pressroom.testing.running import settings_for_test
from pressroom_webhook.site import CONNECTOR
from support.fidelity import compare, notes_of, publish_everything
from support.installing import on_path
from support.long_articles import TITLE, long_body, shows_all
from support.publishing_world import configuration, world
from support.standin_plugin import distribution
from support.webhook_receiver import Receiver


async def test_the_published_page_matches_the_documented_fidelity(receiver: Receiver, tmp_path: Path) -> None:
    config = configuration({})
    config["plugins"]["webhook"] = {}
    credential = receiver.credential
    with on_path(distribution(tmp_path / "site")):
        async with world(settings_for_test(config, tmp_path / "data")) as plugin:
            publication = await publish_everything(plugin, "webhook", receiver.site, credential)
            page = (await asyncio.to_thread(httpx.get, publication.url, timeout=60)).text
            notes = await notes_of(plugin, publication, page)
    compare(notes, CONNECTOR, "webhook/src/pressroom_webhook/site.py")


async def test_a_long_article_is_published_completely(receiver: Receiver, tmp_path: Path) -> None:
    config = configuration({})
    config["plugins"]["webhook"] = {}
    credential = receiver.credential
    with on_path(distribution(tmp_path / "site")):
        async with world(settings_for_test(config, tmp_path / "data")) as plugin:
            publication = await publish_everything(
                plugin, "webhook", receiver.site, credential, title=TITLE, body=long_body()
            )
    shows_all((await asyncio.to_thread(httpx.get, publication.url, timeout=60)).text, publication)
