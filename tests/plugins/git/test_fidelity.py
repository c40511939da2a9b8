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
from .test_bodies import GENERATORS, POSTS, own_post, shows_own_post

pytestmark = pytest.mark.timeout(900)  # the first test on a machine installs Astro


@dataclass(frozen=True, slots=True)
class Shown:
    """A publication, and its page."""

    done: Publication
    html: str


@dataclass(frozen=True, slots=True)
class Built:
    """A site that its generator has built: two articles that were published to it, and a post of its owner."""

    plugin: PluginContext
    everything: Shown
    long: Shown
    own: str


async def looked_at(plugin: PluginContext, publication: Publication, public: Path) -> Shown:
    """Return a publication after its page was checked, and the page."""
    await look(plugin, publication)
    return Shown(await Publications(plugin).get(ADA, publication.id), page_of(public, publication.url).decode())


@asynccontextmanager
async def built_site(repo: Repo, folder: Path, generator: Generator) -> AsyncIterator[Built]:
    """Publish to a repository, and yield what readers see. All posts are in one build, since each takes seconds."""
    public, is_built = folder / "public", False
    path_of_post, url_of_post = POSTS[generator]
    for path, source in {**SOURCES[generator], path_of_post: own_post(generator)}.items():
        repo.edit(path, source)
    config = configuration({})
    config["plugins"]["git"] = {"config": {"repositories": {"blog": str(repo.folder)}}}

    async def reply(visit: Visit) -> None:
        page = page_of(public, visit.target) if is_built else b""
        await visit.respond(page, "Content-Type: text/html", status="200 OK" if page else "404 Not Found")

    async with origin(reply) as pages:
        url, credential = f"http://127.0.0.1:{pages.port}", {"repository": "blog", "generator": generator}
        with on_path(distribution(folder / "site")):
            async with world(settings_for_test(config, folder / "data")) as plugin:
                publications = [
                    await publish_everything(plugin, "git", url, credential),
                    await publish_everything(plugin, "git", url, credential, title=TITLE, body=long_body()),
                ]
                assert all(
                    any("is being built" in warning for warning in publication.warnings) for publication in publications
                )
                await asyncio.to_thread(built, generator, repo.folder, public, url)
                is_built = True
                everything, long = [await looked_at(plugin, publication, public) for publication in publications]
                yield Built(plugin, everything, long, page_of(public, url_of_post).decode())


@pytest.mark.parametrize("generator", GENERATORS)
async def test_every_construct_and_a_long_article_are_rendered_by_the_generator(
    repo: Repo, tmp_path: Path, generator: Generator
) -> None:
    async with built_site(repo, tmp_path, generator) as site:
        notes = await notes_of(site.plugin, site.everything.done, site.everything.html)
    compare(notes, connector(GitConfig()), "git/src/pressroom_git/connector.py", generator)
    shows_all(site.long.html, site.long.done)
    shows_own_post(site.own, generator)


async def test_a_website_reports_the_fidelity_of_its_generator(repo: Repo, tmp_path: Path) -> None:
    config = configuration({})
    config["plugins"]["git"] = {"config": {"repositories": {"blog": str(repo.folder)}}}
    fidelities = {}
    with on_path(distribution(tmp_path / "site")):
        async with world(settings_for_test(config, tmp_path / "data")) as plugin:
            for generator in ("hugo", "jekyll"):
                credential = {"repository": "blog", "generator": generator}
                website = await Websites(plugin).add(
                    ADA, "git", name="Blog", url="https://blog.example", credential=credential
                )
                fidelities[generator] = await fidelity_of(plugin, ADA, website.id)
    assert fidelities["hugo"]["details"] == "lost with a warning"
    assert "details" not in fidelities["jekyll"]


def test_a_platform_cannot_declare_options_that_it_lacks() -> None:
    with pytest.raises(ValueError, match="'generator' has no option 'gatsby'"):
        replace(connector(GitConfig()), fidelity_by={"generator": {"gatsby": {}}})
    with pytest.raises(ValueError, match="'token' has no option 'x'"):
        replace(connector(GitConfig()), fidelity_by={"token": {"x": {}}})
