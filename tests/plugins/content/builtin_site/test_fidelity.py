"""Fidelity: how a built-in site shows readers every construct that an article can contain."""

from __future__ import annotations

from pathlib import Path

from pressroom.testing.running import settings_for_test
from pressroom_content.builtin_site.connector import builtin_connector
from pressroom_content.builtin_site.routes import fetched
from support.fidelity import compare, notes_of, publish_everything
from support.installing import on_path
from support.long_articles import TITLE, long_body, shows_all
from support.publishing_world import configuration, world
from support.standin_plugin import distribution


async def test_the_published_page_matches_the_documented_fidelity(tmp_path: Path) -> None:
    with on_path(distribution(tmp_path / "site")):
        async with world(settings_for_test(configuration({}), tmp_path / "data")) as plugin:
            publication = await publish_everything(plugin, "builtin", "", {})
            page = (await fetched(plugin, publication.url)).content.decode()
            notes = await notes_of(plugin, publication, page)
            compare(notes, builtin_connector(plugin), "content/src/pressroom_content/builtin_site/connector.py")


async def test_a_long_article_is_published_completely(tmp_path: Path) -> None:
    config = configuration({})
    with on_path(distribution(tmp_path / "site")):
        async with world(settings_for_test(config, tmp_path / "data")) as plugin:
            publication = await publish_everything(plugin, "builtin", "", {}, title=TITLE, body=long_body())
            shows_all((await fetched(plugin, publication.url)).content.decode(), publication)
