"""Shared repositories: no account can write to the files that the site's builder executes."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from pressroom.fetch import GuardedFetcher
from pressroom_content.contract import MediaFile, Post, Site, SiteInfo, SiteRefused
from pressroom_git.config import GitConfig
from pressroom_git.connector import connector
from pydantic import ValidationError
from support.needs import program

POST = Post(
    marker="pr-000000000000000000000001",
    title="List",
    slug="list",
    html='<p>{{ getenv "HOME" }}{{ readFile "config.toml" }}</p>',
    markdown='<p>{{ getenv "HOME" }}{{ readFile "config.toml" }}</p>',
)
RUN_BY = {
    "hugo": [
        "layouts/_default",
        "layouts/shortcodes",
        "layouts",
        "themes/own/layouts",
        "archetypes",
        "data",
        "i18n",
        "assets",
        "static",
        "config",
        "_vendor",
        "contents",
        "public/content",
        "resources",
    ],
    "jekyll": [
        "_layouts",
        "_includes",
        "_data",
        "_plugins",
        "_sass",
        "_site",
        "_templates",
        "_posts/_includes",
        "_layouts/_posts",
        "posts",
        "assets",
        "_POSTS",
        "_postsx",
        "_includes/posts",
    ],
    "astro": [
        "src/pages",
        "src/layouts",
        "src/components",
        "src/content",
        "src",
        "public",
        "src/contents/blog",
        "integrations",
        "node_modules/x",
        "src/middleware",
    ],
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "blog"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    return folder


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Editor", "-c", "user.email=editor@example.org", "-c", "commit.gpgsign=false")
    command = [program("git"), "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def opened(repository: Path, generator: str, folders: tuple[str, ...] = (), **fields: str) -> Site:
    config = GitConfig(repositories={"blog": repository}, folders={"blog": folders} if folders else {})
    info = SiteInfo("w_1", "u_1", "Test", "https://blog.example.org")
    credential = {"repository": "blog", "generator": generator, **fields}
    return connector(config).open(info, credential, GuardedFetcher())


@pytest.mark.parametrize(
    ("generator", "folder"), [(generator, folder) for generator, folders in RUN_BY.items() for folder in folders]
)
def test_posts_cannot_be_written_into_folders_that_build_the_site(
    repository: Path, generator: str, folder: str
) -> None:
    with pytest.raises(SiteRefused, match="may not be written"):
        opened(repository, generator, content_folder=folder)


@pytest.mark.parametrize(
    ("generator", "folder"),
    [
        ("hugo", "layouts"),
        ("hugo", "themes/own/static"),
        ("jekyll", "_includes"),
        ("jekyll", "_data"),
        ("astro", "src/pages"),
        ("astro", "src"),
    ],
)
def test_images_cannot_be_written_into_folders_that_build_the_site(
    repository: Path, generator: str, folder: str
) -> None:
    with pytest.raises(SiteRefused, match="images may not be written"):
        opened(repository, generator, images_folder=folder)


@pytest.mark.parametrize(
    ("generator", "folder"),
    [
        ("hugo", ""),
        ("hugo", "content"),
        ("hugo", "content/en/notes"),
        ("jekyll", ""),
        ("jekyll", "_drafts"),
        ("jekyll", "recipes/_posts"),
        ("astro", ""),
        ("astro", "src/content/notes"),
    ],
)
async def test_the_usual_folders_are_accepted(repository: Path, generator: str, folder: str) -> None:
    site = opened(repository, generator, content_folder=folder)
    remote = await site.create(POST)
    assert remote.id.endswith((".md", ".html"))
    image = MediaFile("m_1", "a.png", "image/png", "", "", "download", content=b"\x89PNG")
    assert (await site.upload(image, "marker")).id.endswith(".png")


async def test_only_the_folders_named_by_the_operator_are_accepted(repository: Path) -> None:
    site = opened(repository, "jekyll", ("_recipes",), content_folder="_recipes/cakes")
    assert (await site.create(POST)).id.startswith("_recipes/cakes/")
    with pytest.raises(SiteRefused, match="below _recipes"):
        opened(repository, "jekyll", ("_recipes",), content_folder="_posts")
    with pytest.raises(SiteRefused, match="below _recipes"):
        opened(repository, "jekyll", ("_recipes",), content_folder="_recipes2")


@pytest.mark.parametrize("folder", ["", "/etc", "../x", "content/../layouts", ".git/hooks", "content/.x", "content/"])
def test_an_invalid_folder_prevents_the_start(folder: str) -> None:
    with pytest.raises(ValidationError):
        GitConfig(folders={"blog": (folder,)})


async def test_a_post_renamed_to_mdx_is_not_written_again(repository: Path) -> None:
    site = opened(repository, "astro")
    remote = await site.create(POST)
    renamed = remote.id.replace(".md", ".mdx")
    git(repository, "reset", "-q", "--hard")
    git(repository, "mv", remote.id, renamed)
    git(repository, "commit", "-qm", "Use components")
    evil = replace(POST, markdown="import fs from 'fs'\n\n{fs.readFileSync('/etc/passwd', 'utf8')}\n")
    post = await site.read(renamed)
    with pytest.raises(SiteRefused, match="runs as a program"):
        await site.update(renamed, evil, post.revision)
    assert "readFileSync" not in git(repository, "show", f"HEAD:{renamed}")


@pytest.mark.parametrize("slug", ["index", "_index", "INDEX", ".index."])
async def test_a_post_named_index_does_not_hide_the_others(repository: Path, slug: str) -> None:
    site = opened(repository, "hugo")
    post = replace(POST, slug=slug)
    remote = await site.create(post)
    assert remote.id.rpartition("/")[2].partition(".")[0] == "index-post"
    match = await site.find(post)
    assert match is not None
    assert match.id == remote.id


@pytest.mark.parametrize(
    "text",
    [
        "x\n---\nrender_with_liquid: true\nlayout: evil\n",
        "---\n",
        "...\nlayout: x",
        "x\r\n---\r\nlayout: evil\r\n",
        "\u2028---\u2028a: b",
        "\x85---\x85a: b",
    ],
)
@pytest.mark.parametrize("generator", ["jekyll", "hugo", "astro"])
async def test_no_field_can_end_the_front_matter(repository: Path, generator: str, text: str) -> None:
    site = opened(repository, generator)
    post = replace(POST, title=text, excerpt=text, meta_title=text, meta_description=text, author=text)
    post = replace(post, tags=(text, "a"), categories=(text,), markdown=text, canonical_url=text)
    remote = await site.create(post)
    lines = git(repository, "show", f"HEAD:{remote.id}").split("\n")
    end = lines.index("---", 1)
    assert not any(line.startswith(("---", "...")) for line in lines[1:end])
    front = yaml.safe_load("\n".join(lines[1:end]))
    assert {"x", "a: b", "evil"}.isdisjoint(front)
    assert front.get("layout", "post") == "post"
    assert front.get("render_with_liquid", False) is False
