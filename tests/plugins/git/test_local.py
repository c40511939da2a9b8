"""The connector against real local repositories."""

from __future__ import annotations

import asyncio
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from pressroom_content.contract import (
    MediaFile,
    MediaSite,
    RemoteChanged,
    RemoteMedia,
    SiteGone,
    SiteRefused,
    SiteUnavailable,
)
from pressroom_content.publishing.comparing import differences
from support.needs import program

from .conftest import Repo, a_post, site_of

IMAGE = MediaFile("m_1", "beans.png", "image/png", "", "Beans", "download", content=b"\x89PNG\r\n\x1a\n\x00\xff")


@pytest.mark.parametrize(("generator", "form"), [("hugo", "yaml"), ("hugo", "toml"), ("jekyll", ""), ("astro", "")])
async def test_a_post_goes_through_its_states(repo: Repo, generator: str, form: str) -> None:
    site = site_of(repo, generator, **({"front_matter": form} if form else {}))
    post = a_post(
        excerpt="Short",
        meta_title="Cold: brew",
        meta_description="About #coffee",
        canonical_url="https://example.org/original",
        author="Ada",
        tags=("Coffee", "R&D"),
        categories=("Guides",),
        featured=RemoteMedia("x", "https://blog.example.org/images/x.png"),
    )
    remote = await site.create(post)
    assert remote.state == "draft"
    read = await site.read(remote.id)
    assert (read.revision, read.marker, read.html.strip()) == (remote.revision, post.marker, post.markdown)
    assert differences(post, read) == []
    assert repo.git("rev-parse", f"HEAD:{remote.id}").strip() == remote.revision
    live = await site.set_state(remote.id, "live")
    assert (live.state, (await site.read(remote.id)).state) == ("live", "live")
    assert await site.set_state(remote.id, "live") == live  # nothing to commit
    updated = await site.update(remote.id, replace(post, title="Another", excerpt=""), live.revision)
    assert (updated.state, updated.fields["title"], updated.fields["excerpt"]) == ("live", "Another", "")
    assert (await site.set_state(remote.id, "draft")).state == "draft"
    assert (await site.set_state(remote.id, "gone")).state == "gone"
    with pytest.raises(SiteGone):
        await site.read(remote.id)
    assert repo.git("log", "--format=%s").splitlines() == [
        "Delete Another",
        "Unpublish Another",
        "Update Another",
        f"Publish {post.title}",
        f"Add {post.title}",
    ]
    assert repo.git("status", "--porcelain") == ""
    assert "dangling commit" not in repo.git("fsck", "--strict")


async def test_jekyll_gets_a_dated_file_and_matching_urls(repo: Repo) -> None:
    post = a_post(slug="cold-brew", categories=("Guides",), markdown="Liquid: {% include x %} {{ y }}")
    remote = await site_of(repo, "jekyll").create(post)
    today = datetime.now(UTC)
    assert remote.id == f"_posts/{today:%Y-%m-%d}-cold-brew.md"
    assert remote.url == f"https://blog.example.org/guides/{today:%Y/%m/%d}/cold-brew.html"
    front = yaml.safe_load(repo.show(remote.id).split("---")[1])
    assert (front["published"], front["layout"]) == (False, "post")
    assert "{% raw %}\nLiquid: {% include x %} {{ y }}\n{% endraw %}" in repo.show(remote.id)


async def test_the_date_is_that_of_the_first_publication(repo: Repo) -> None:
    site = site_of(repo)
    remote = await site.create(a_post())
    repo.edit(remote.id, repo.show(remote.id).replace(f"date: {datetime.now(UTC).year}", "date: 2001"))
    first = await site.set_state(remote.id, "live")
    repo.edit(remote.id, repo.show(remote.id).replace(f"date: {datetime.now(UTC).year}", "date: 2002"))
    await site.set_state(remote.id, "draft")
    second = await site.set_state(remote.id, "live")
    assert first.updated_at is not None
    assert second.updated_at is not None
    assert (first.updated_at.year, second.updated_at.year) == (datetime.now(UTC).year, 2002)


@pytest.mark.parametrize(
    ("slug", "name"),
    [
        ("冷萃咖啡", "冷萃咖啡"),
        ("हिन्दी-लेख", "हिन्दी-लेख"),
        ("../../etc/passwd", "etc-passwd"),
        ("..", None),
        (".git/hooks/post-commit", "git-hooks-post-commit"),
        ("a\\..\\b\x00c", "a-b-c"),
        ("con:<>|?*\n", "con"),
        ("x" * 200, "x" * 120),
        ("😀" * 50, None),
    ],
)
async def test_slugs_are_file_names_in_any_script_and_cannot_leave_the_folder(
    repo: Repo, slug: str, name: str | None
) -> None:
    post = a_post(slug=slug)
    remote = await site_of(repo).create(post)
    assert remote.id == f"content/posts/{name or post.marker}.md"
    assert [str(path.relative_to(repo.folder)) for path in repo.folder.glob("content/**/*.md")] == [remote.id]
    match = await site_of(repo).find(post)
    assert match is not None
    assert match.fields["slug"] == (name or post.marker)


@pytest.mark.parametrize(
    "path", ["../outside.md", "content/posts/../../x.md", "content/posts/.git/x.md", "/etc/passwd", "README.md", ""]
)
async def test_an_id_that_is_not_a_post_is_reported_as_gone(repo: Repo, path: str) -> None:
    repo.edit("README.md", "hello")
    site = site_of(repo)
    for attempt in (site.read(path), site.update(path, a_post(), ""), site.set_state(path, "gone")):
        with pytest.raises(SiteGone):
            await attempt
    assert repo.show("README.md") == "hello"


async def test_concurrent_commits_are_all_kept(repo: Repo, tmp_path: Path) -> None:
    bare = Repo(tmp_path / "bare.git")
    repo.git("init", "-q", "--bare", "-b", "main", str(bare.folder))
    posts = [a_post() for _ in range(12)]
    remotes = await asyncio.gather(*(site_of(bare).create(post) for post in posts))
    assert len(bare.git("rev-list", "HEAD").split()) == 12
    assert sorted(bare.git("ls-tree", "-r", "--name-only", "HEAD").split()) == sorted(post.id for post in remotes)


async def test_one_of_two_writers_of_a_post_gets_a_conflict(repo: Repo, tmp_path: Path) -> None:
    bare = Repo(tmp_path / "bare.git")
    repo.git("init", "-q", "--bare", "-b", "main", str(bare.folder))
    remote = await site_of(bare).create(a_post())
    writers = (site_of(bare).update(remote.id, a_post(title=f"Title {n}"), remote.revision) for n in range(6))
    results = await asyncio.gather(*writers, return_exceptions=True)
    assert sum(isinstance(result, RemoteChanged) for result in results) == 5, results


async def test_an_edit_on_the_site_is_detected_and_its_additions_are_kept(repo: Repo) -> None:
    site = site_of(repo)
    remote = await site.create(a_post())
    repo.edit(remote.id, repo.show(remote.id).replace("draft: true", "draft: true\nweight: 7"))
    with pytest.raises(RemoteChanged):
        await site.update(remote.id, a_post(), remote.revision)
    await site.update(remote.id, a_post(title="Ours"), "")
    assert "weight: 7" in repo.show(remote.id)
    assert "title: Ours" in repo.show(remote.id)


async def test_another_post_of_the_same_name_is_not_overwritten(repo: Repo) -> None:
    repo.edit("content/posts/mine.md", "---\ntitle: Mine\n---\nwords")
    with pytest.raises(SiteRefused, match="another post"):
        await site_of(repo).create(a_post(slug="mine"))
    assert "words" in repo.show("content/posts/mine.md")
    post = a_post()
    remote = await site_of(repo).create(post)
    assert (await site_of(repo).create(post)).id == remote.id  # creating the same post twice makes one post


async def test_uncommitted_changes_are_not_overwritten(repo: Repo) -> None:
    site = site_of(repo)
    remote = await site.create(a_post())
    (repo.folder / remote.id).write_text("half a sentence")
    with pytest.raises(SiteRefused, match="not committed"):
        await site.update(remote.id, a_post(), remote.revision)
    assert (repo.folder / remote.id).read_text() == "half a sentence"


async def test_an_executable_file_stays_executable(repo: Repo) -> None:
    path = "content/posts/tea.md"
    repo.edit(path, "---\ntitle: Tea\n---\nwords\n")
    (repo.folder / path).chmod(0o755)
    repo.git("commit", "-qam", "Executable")
    await site_of(repo).update(path, a_post(), "")
    assert repo.git("ls-tree", "HEAD", path).startswith("100755 ")
    assert repo.git("status", "--porcelain") == ""
    assert (repo.folder / path).stat().st_mode & 0o777 == 0o755


async def test_a_symlink_out_of_the_repository_is_not_followed(repo: Repo, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (repo.folder / "content").mkdir()
    (repo.folder / "content/posts").symlink_to(outside)
    with pytest.raises(SiteRefused):
        await site_of(repo).create(a_post())
    assert list(outside.iterdir()) == []


async def test_an_unused_image_is_removed(repo: Repo) -> None:
    site = site_of(repo)
    assert isinstance(site, MediaSite)
    media = await site.upload(IMAGE, "m0123")
    for _ in range(2):
        await site.remove_media(media)
    assert await site.find_media("m0123") is None


async def test_an_image_is_committed_once_and_found(repo: Repo) -> None:
    site = site_of(repo)
    assert await site.find_media("m0123") is None
    media = await site.upload(IMAGE, "m0123")
    assert media == RemoteMedia("static/images/m0123.png", "https://blog.example.org/images/m0123.png")
    assert (repo.folder / media.id).read_bytes() == IMAGE.content
    assert await site.upload(IMAGE, "m0123") == media
    assert await site.find_media("m0123") == media
    with pytest.raises(SiteRefused):
        await site.upload(replace(IMAGE, media_type="image/svg+xml"), "m0124")


async def test_the_files_of_another_checked_out_branch_are_not_changed(repo: Repo) -> None:
    repo.edit("README.md", "hello")
    repo.git("branch", "posts")
    remote = await site_of(repo, branch="posts").create(a_post())
    assert not (repo.folder / remote.id).exists()
    assert remote.id in repo.git("ls-tree", "-r", "--name-only", "posts")


async def test_a_missing_repository_is_reported_without_its_path(tmp_path: Path, repo: Repo) -> None:
    with pytest.raises(SiteUnavailable) as caught:
        await site_of(Repo(tmp_path / "nowhere")).check()
    assert str(tmp_path) not in caught.value.message
    with pytest.raises(SiteRefused, match="no repository named"):
        site_of(repo, repository="other")
    with pytest.raises(SiteRefused, match="no branch"):
        await site_of(repo, branch="other").check()
    assert (await site_of(repo).check()).ok


@pytest.mark.parametrize("form", ["yaml", "toml"])
async def test_hugo_builds_the_site(repo: Repo, tmp_path: Path, form: str) -> None:
    hugo = program("hugo")
    repo.edit("hugo.toml", 'baseURL = "https://blog.example.org/"\ntitle = "Test"\n')
    repo.edit("config.toml", 'baseURL = "https://blog.example.org/"\ntitle = "Test"\n')
    page = "<title>{{ .Title }}</title>{{ with .Params.images }}<img src='{{ index . 0 }}'>{{ end }}{{ .Content }}"
    repo.edit("layouts/_default/single.html", page)
    repo.edit("layouts/_default/list.html", "{{ range .Pages }}<a href='{{ .Permalink }}'></a>{{ end }}")
    site = site_of(repo, front_matter=form)
    media = await site.upload(IMAGE, "m0123")
    posts = [
        a_post(featured=media, tags=("a: b", "#c")),
        a_post(slug="冷萃咖啡", title='"Quotes": \\ and — dashes\n'),
        a_post(
            slug="shortcodes", markdown="Use `{{< figure src=x >}}` or {{% nothing %}}, {{</* done */>}}, and {{< open"
        ),
        a_post(slug="html", html="<p>In <b>HTML</b></p>", markdown="<p>In <b>HTML</b></p>"),
    ]
    live = [await site.set_state((await site.create(post)).id, "live") for post in posts]
    hidden = await site.create(a_post(slug="hidden"))
    output = tmp_path / "public"
    command = [hugo, "-s", str(repo.folder), "-d", str(output)]
    await asyncio.to_thread(subprocess.run, command, check=True, capture_output=True, timeout=60)
    for post, remote in zip(posts, live, strict=True):
        folder = output / unquote(urlsplit(remote.url).path).strip("/")
        built = (folder / "index.html").read_text()
        assert "<title>" in built
        assert remote.fields["title"] == post.title
    assert "{{&lt; figure src=x &gt;}}" in (output / "posts/shortcodes/index.html").read_text()
    assert "<b>HTML</b>" in (output / "posts/html/index.html").read_text()
    assert media.url in (output / "posts" / posts[0].slug / "index.html").read_text()
    assert (output / "images/m0123.png").read_bytes() == IMAGE.content
    assert not (output / "posts" / hidden.id.rpartition("/")[2].removesuffix(".md")).exists()
