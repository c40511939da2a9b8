"""Fidelity: what readers of a site built by Hugo, Jekyll or Astro see of every construct an article can contain."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from pressroom.sdk import PluginContext
from pressroom.testing.running import settings_for_test
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.verifying import look
from pressroom_content.records import Publication
from pressroom_content.websites.connecting import fidelity_of
from pressroom_content.websites.store import Websites
from pressroom_git.config import GitConfig
from pressroom_git.connector import connector
from pressroom_git.front_matter import Generator
from support.fidelity import compare, notes_of, publish_everything
from support.installing import on_path
from support.long_articles import TITLE, long_body, shows_all
from support.origins import Visit, origin
from support.publishing_world import ADA, configuration, world
from support.standin_plugin import distribution
from support.static_sites import SOURCES, built, page_of

from .conftest import Repo

pytestmark = pytest.mark.timeout(900)  # the first test on a machine installs Astro


@dataclass(frozen=True, slots=True)
class Shown:
    """A publication whose page was built and checked, and the page."""

    plugin: PluginContext
    done: Publication
    html: str


@asynccontextmanager
async def published(repo: Repo, folder: Path, generator: Generator, **article: str) -> AsyncIterator[Shown]:
    """Publish an article to a repository, and yield what readers see once the generator has built the site."""
    page = b""
    for path, source in SOURCES[generator].items():
        repo.edit(path, source)
    config = configuration({})
    config["plugins"]["git"] = {"config": {"repositories": {"blog": str(repo.folder)}}}

    async def reply(visit: Visit) -> None:
        await visit.answer(page, "Content-Type: text/html", status="200 OK" if page else "404 Not Found")

    async with origin(reply) as pages:
        url, credential = f"http://127.0.0.1:{pages.port}", {"repository": "blog", "generator": generator}
        with on_path(distribution(folder / "site")):
            async with world(settings_for_test(config, folder / "data")) as plugin:
                done = await publish_everything(plugin, "git", url, credential, **article)
                assert any("is being built" in one for one in done.warnings)
                output = await asyncio.to_thread(built, generator, repo.folder, folder / "public", url)
                page = page_of(output, done.url)
                await look(plugin, done)
                yield Shown(plugin, await Publications(plugin).get(ADA, done.id), page.decode())


@pytest.mark.parametrize("generator", ["hugo", "jekyll", "astro"])
async def test_what_readers_get(repo: Repo, tmp_path: Path, generator: Generator) -> None:
    async with published(repo, tmp_path, generator) as shown:
        notes = await notes_of(shown.plugin, shown.done, shown.html)
    compare(notes, connector(GitConfig()), "git/src/pressroom_git/connector.py", generator)


@pytest.mark.parametrize("generator", ["hugo", "jekyll", "astro"])
async def test_a_long_article_arrives_whole(repo: Repo, tmp_path: Path, generator: Generator) -> None:
    async with published(repo, tmp_path, generator, title=TITLE, body=long_body()) as shown:
        shows_all(shown.html, shown.done)


async def test_a_website_tells_what_its_own_generator_shows(repo: Repo, tmp_path: Path) -> None:
    config = configuration({})
    config["plugins"]["git"] = {"config": {"repositories": {"blog": str(repo.folder)}}}
    told = {}
    with on_path(distribution(tmp_path / "site")):
        async with world(settings_for_test(config, tmp_path / "data")) as plugin:
            for generator in ("hugo", "jekyll"):
                credential = {"repository": "blog", "generator": generator}
                made = await Websites(plugin).add(
                    ADA, "git", name="Blog", url="https://blog.example", credential=credential
                )
                told[generator] = await fidelity_of(plugin, ADA, made.id)
    assert told["hugo"]["details"] == "lost with a warning"
    assert "details" not in told["jekyll"]


def test_a_platform_cannot_tell_of_options_that_it_lacks() -> None:
    with pytest.raises(ValueError, match="'generator' has no option 'gatsby'"):
        replace(connector(GitConfig()), fidelity_by={"generator": {"gatsby": {}}})
    with pytest.raises(ValueError, match="'token' has no option 'x'"):
        replace(connector(GitConfig()), fidelity_by={"token": {"x": {}}})
