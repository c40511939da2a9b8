"""Existing posts of a repository: they are found, and unchanged parts stay byte for byte."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from pressroom_content.contract import BlockSite, Post, RemoteChanged, RemotePost, Site, SiteGone, SiteRefused

from .conftest import Repo, a_post, site_of

HUGO = """---
# Written by hand
title:   "Tea: a primer"   # keep
date: 2021-03-04T05:06:07+02:00
tags: [tea,   hot]
author: Ada
weight: 7

params: {a: 1}
---


First *words*.

{{< figure src="a.png" >}}

## Second

- one
- two
"""
JEKYLL = "---\r\nlayout: wide\r\ntitle: Tea\r\ntags: tea hot\r\n---\r\nText with {{ site.url }}.\r\n\r\nMore.\r\n"
ASTRO = "+++\nx = 1\n+++\n\nNo YAML\n"
TOML = '+++\ntitle = "Tea" # keep\ntags = [\n  "tea",\n]\ndate = 2021-03-04\n\n[params]\ntitle = "other"\n+++\nBody\n'


def there(remote: RemotePost, raw: str = "", **fields: object) -> Post:
    """Return an existing post as it is adopted."""
    same = {name: value for name, value in remote.fields.items() if name != "date"}
    return replace(Post("", "", "", "<p>x</p>", "x"), **{**same, "raw": raw or remote.raw, **fields})


async def only(site: Site) -> RemotePost:
    (remote,) = [post async for post in site.posts(None, 10)]
    return remote


@pytest.mark.parametrize(
    ("generator", "path", "content"),
    [
        ("hugo", "content/posts/tea.md", HUGO),
        ("hugo", "content/posts/2021/tea/index.md", HUGO),
        ("hugo", "content/posts/tea.md", TOML),
        ("jekyll", "_posts/2021-03-04-tea.md", JEKYLL),
        ("astro", "src/content/blog/tea.md", ASTRO),
        ("hugo", "content/posts/none.md", "No front matter at all"),
    ],
)
async def test_adopting_a_post_without_changes_preserves_every_byte(
    repo: Repo, generator: str, path: str, content: str
) -> None:
    repo.edit(path, "")
    (repo.folder / path).write_bytes(content.encode())
    repo.git("commit", "-qam", "As it was")
    site = site_of(repo, generator)
    assert isinstance(site, BlockSite)
    remote = await only(site)
    assert remote.id == path
    joined = site.codec.join([block.source for block in site.codec.split(remote.raw)], remote.raw)
    updated = await site.update(path, there(remote, joined), remote.revision)
    assert updated.revision == remote.revision
    await site.set_state(path, "live")
    assert repo.git("log", "--format=%s").split("\n")[0] == "As it was"


async def test_only_changes_are_written(repo: Repo) -> None:
    repo.edit("content/posts/tea.md", HUGO)
    site = site_of(repo)
    remote = await only(site)
    raw = remote.raw.replace("First *words*.", "Other words.")
    post = there(remote, raw, title="Coffee", meta_description="New", tags=("tea", "hot"), author="Bob")
    await site.update(remote.id, replace(post, kept=frozenset({"author"})), remote.revision)
    expected = HUGO.replace('title:   "Tea: a primer"   # keep', "title: Coffee").replace(
        "First *words*", "Other words"
    )
    expected = expected.replace("params: {a: 1}\n", "params: {a: 1}\ndescription: New\n")
    assert repo.show("content/posts/tea.md") == expected


async def test_toml_members_stay_outside_its_tables(repo: Repo) -> None:
    repo.edit("content/posts/tea.md", TOML)
    site = site_of(repo)
    remote = await only(site)
    await site.update(remote.id, there(remote, meta_description="New", tags=("tea", "new")), remote.revision)
    text = repo.show("content/posts/tea.md")
    assert 'title = "Tea" # keep\ntags = [\n    "tea",\n    "new",\n]\ndate' in text
    assert '\ndescription = "New"\n[params]\ntitle = "other"\n+++\nBody\n' in text


async def test_an_existing_post_keeps_its_date_when_unpublished_and_republished(repo: Repo) -> None:
    repo.edit("content/posts/tea.md", HUGO)
    site = site_of(repo)
    hidden = await site.set_state("content/posts/tea.md", "draft")
    assert hidden.state == "draft"
    assert [post async for post in site.posts(None, 10)] == []
    live = await site.set_state("content/posts/tea.md", "live")
    assert (live.state, live.updated_at) == ("live", hidden.updated_at)
    assert "pressroom" not in repo.show("content/posts/tea.md")


async def test_posts_are_read_from_their_files(repo: Repo) -> None:
    repo.edit("content/posts/tea.md", HUGO)
    repo.edit("content/posts/_index.md", "---\ntitle: All posts\n---\n")
    repo.edit("content/posts/later/milk.md", "---\ntitle: Milk\nslug: white\ndate: 2022-01-01\n---\nText\n")
    repo.edit("content/posts/own.md", "---\ntitle: Own\nurl: /own-page/\ndate: 2020-01-01\n---\nText\n")
    repo.edit("content/posts/draft.md", "---\ntitle: Draft\ndraft: true\n---\nText\n")
    site = site_of(repo)
    assert isinstance(site, BlockSite)
    listed = [post async for post in site.posts(datetime(2026, 1, 1, tzinfo=UTC), 10)]
    assert [(post.url, post.fields["slug"]) for post in listed] == [
        ("https://blog.example.org/posts/later/white/", "white"),
        ("https://blog.example.org/posts/tea/", "tea"),
        ("https://blog.example.org/own-page/", "own"),
    ]
    assert (listed[1].fields["title"], listed[1].fields["tags"]) == ("Tea: a primer", ("tea", "hot"))
    assert (listed[1].fields["author"], listed[1].raw) == ("Ada", HUGO.rpartition("---\n\n\n")[2])
    assert len([post async for post in site.posts(None, 2)]) == 2
    for post in listed:
        located = await site.locate(post.url)
        assert located is not None
        assert located.id == post.id
    assert await site.locate("https://blog.example.org/posts/nowhere/") is None


async def test_jekyll_posts_have_the_dates_of_their_file_names(repo: Repo) -> None:
    repo.edit("_posts/2021-03-04-tea.md", JEKYLL)
    remote = await only(site_of(repo, "jekyll"))
    assert remote.url == "https://blog.example.org/2021/03/04/tea.html"
    assert (remote.fields["tags"], remote.updated_at) == (("tea", "hot"), datetime(2021, 3, 4, tzinfo=UTC))


async def test_a_rewritten_history_does_not_overwrite_anything(repo: Repo) -> None:
    repo.edit("content/posts/tea.md", HUGO)
    repo.edit("content/posts/milk.md", HUGO)
    site = site_of(repo)
    tea, milk = await site.read("content/posts/tea.md"), await site.read("content/posts/milk.md")
    repo.git("checkout", "-q", "--orphan", "other")
    repo.git("rm", "-qrf", "content")
    repo.edit("content/posts/tea.md", HUGO.replace("First", "Their first"))
    repo.edit("content/posts/renamed.md", HUGO)
    repo.git("branch", "-qM", "main")
    with pytest.raises(RemoteChanged):
        await site.update(tea.id, there(tea), tea.revision)
    with pytest.raises(SiteGone):
        await site.update(milk.id, there(milk), milk.revision)
    assert "Their first" in repo.show("content/posts/tea.md")


async def test_a_post_without_a_marker_is_never_matched(repo: Repo) -> None:
    repo.edit("content/posts/tea.md", HUGO)
    site = site_of(repo)
    remote = await only(site)
    assert await site.find(there(remote)) is None


async def test_a_file_that_is_not_utf_8_is_not_changed(repo: Repo) -> None:
    repo.edit("content/posts/tea.md", "x")
    (repo.folder / "content/posts/tea.md").write_bytes(b"---\ntitle: T\n---\ncaf\xe9\n")
    repo.git("commit", "-qam", "Latin")
    site = site_of(repo)
    remote = await only(site)
    assert (remote.raw, remote.html) == ("", "caf\ufffd\n")
    with pytest.raises(SiteRefused, match="UTF-8"):
        await site.set_state(remote.id, "draft")
    assert (await site.set_state(remote.id, "gone")).state == "gone"
    assert repo.git("log", "-1", "--format=%s") == "Delete T\n"
    assert repo.git("ls-files") == ""


async def test_executable_content_is_refused_in_a_shared_repository(repo: Repo) -> None:
    repo.edit("content/posts/tea.md", HUGO)
    site = site_of(repo)
    remote = await only(site)
    with pytest.raises(SiteRefused, match="as a program"):
        await site.update(remote.id, there(remote, remote.raw + "\n{{< evil >}}\n"), remote.revision)
    with pytest.raises(SiteRefused, match="as a program"):
        await site.create(a_post(raw="{{< evil >}}\n"))
    await site.update(remote.id, there(remote, remote.raw.replace("one", "1")), remote.revision)
    assert "- 1\n" in repo.show(remote.id)


async def test_raw_jekyll_bodies_are_correct_with_and_without_liquid(repo: Repo) -> None:
    site = site_of(repo, "jekyll")
    assert isinstance(site, BlockSite)
    raw = "".join(site.codec.encode("", "Now {{ y }}."))
    repo.edit("_posts/2021-03-04-old.md", "---\ntitle: Old\npressroom: pr-1\nrender_with_liquid: false\n---\n{{ x }}\n")
    for post in (a_post(raw=raw), a_post(markdown="Now {{ y }}.")):
        await site.update("_posts/2021-03-04-old.md", post, "")
        assert repo.show("_posts/2021-03-04-old.md").rstrip().endswith("---\nNow {{ y }}.")
    new = await site.create(a_post(raw=raw))
    assert "render_with_liquid" not in repo.show(new.id)
    assert "{% raw %}\nNow {{ y }}.\n{% endraw %}" in repo.show(new.id)
