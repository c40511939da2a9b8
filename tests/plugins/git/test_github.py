"""The connector against a stand-in that follows GitHub's documentation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from ipaddress import IPv4Network

import pytest
from pressroom.fetch import GuardedFetcher
from pressroom_content.contract import (
    MediaFile,
    RemoteChanged,
    Site,
    SiteGone,
    SiteInfo,
    SiteRefused,
    SiteRejected,
    SiteUnavailable,
    UnknownOutcome,
)
from pressroom_content.publishing.comparing import differences
from pressroom_git.config import GitConfig
from pressroom_git.connector import connector
from pressroom_git.github import GitHubRepository
from pressroom_git.repository import MAX_FILE_BYTES
from support.standin_github import TOKEN, GitHub, blob, standing_in_for_github

from .conftest import a_post


@pytest.fixture
def github() -> Iterator[GitHub]:
    with standing_in_for_github() as serving:
        yield serving


@pytest.fixture
async def fetcher() -> AsyncIterator[GuardedFetcher]:
    async with GuardedFetcher(private_networks=[IPv4Network("127.0.0.0/8")]) as opened:
        yield opened


def site_of(github: GitHub, fetcher: GuardedFetcher, **fields: str) -> Site:
    site_connector = connector(GitConfig(github_api=github.url))
    values = {"repository": "ada/blog", "token": TOKEN, "generator": "hugo", **fields}
    return site_connector.open(SiteInfo("w_1", "u_1", "Test", "https://blog.example.org"), values, fetcher)


@pytest.fixture
def site(github: GitHub, fetcher: GuardedFetcher) -> Site:
    return site_of(github, fetcher)


async def test_a_check_reports_what_the_token_may_do(github: GitHub, fetcher: GuardedFetcher) -> None:
    assert (await site_of(github, fetcher).check()).ok
    assert (await site_of(github, fetcher, branch="main").check()).ok
    for wrong in ({"token": "0" * 30}, {"repository": "ada/other"}, {"branch": "gone"}):
        report = await site_of(github, fetcher, **wrong).check()
        assert [check.id for check in report.checks if check.status == "error"] == ["credential"], wrong
    github.push = False
    assert not (await site_of(github, fetcher).check()).ok


@pytest.mark.parametrize("branch", ["", "main"])
async def test_a_post_goes_through_its_states(github: GitHub, fetcher: GuardedFetcher, branch: str) -> None:
    site = site_of(github, fetcher, branch=branch)
    post = a_post(slug="冷萃-咖啡", tags=("Coffee",), excerpt="Short")
    assert await site.find(post) is None
    remote = await site.create(post)
    assert remote.revision == blob(github.files[remote.id])
    read = await site.read(remote.id)
    assert differences(post, read) == []
    match = await site.find(post)
    assert match is not None
    assert match.id == remote.id
    assert (await site.set_state(remote.id, "live")).state == "live"
    updated = await site.update(remote.id, replace(post, title="Another"), "")
    assert (updated.state, updated.fields["title"]) == ("live", "Another")
    assert (await site.set_state(remote.id, "draft")).state == "draft"
    assert (await site.set_state(remote.id, "gone")).state == "gone"
    assert github.files == {}
    with pytest.raises(SiteGone):
        await site.read(remote.id)
    with pytest.raises(SiteGone):
        await site.set_state(remote.id, "gone")
    assert len(github.commits) == 5


async def test_an_edit_on_the_site_is_detected(github: GitHub, site: Site) -> None:
    remote = await site.create(a_post())
    github.files[remote.id] += b"more"
    with pytest.raises(RemoteChanged):
        await site.update(remote.id, a_post(), remote.revision)
    assert github.files[remote.id].endswith(b"more")


async def test_one_of_two_writers_of_a_post_gets_a_conflict(github: GitHub, site: Site) -> None:
    remote = await site.create(a_post())
    writers = (site.update(remote.id, a_post(title=f"Title {n}"), remote.revision) for n in range(4))
    results = await asyncio.gather(*writers, return_exceptions=True)
    assert sum(isinstance(result, RemoteChanged) for result in results) == 3, results
    assert len(github.commits) == 2


async def test_a_concurrent_commit_of_another_file_is_not_an_edit_of_the_post(github: GitHub, site: Site) -> None:
    post = a_post()
    github.conflicts = 1
    remote = await site.create(post)
    github.conflicts = 1
    await site.update(remote.id, a_post(), remote.revision)
    assert len(github.commits) == 2
    github.conflicts = 100
    with pytest.raises(SiteUnavailable, match="nothing was committed"):
        await site.create(a_post())


async def test_the_author_of_commits_can_be_chosen(github: GitHub, fetcher: GuardedFetcher) -> None:
    site = site_of(github, fetcher, author="Ada Baker <ada@example.org>", sign_off="yes")
    post = a_post()
    await site.create(post)
    assert github.commits == [f"Add {post.title}\n\nSigned-off-by: Ada Baker <ada@example.org>"]
    with pytest.raises(SiteRefused, match="author"):
        site_of(github, fetcher, sign_off="yes")


async def test_another_post_of_the_same_name_is_not_overwritten(github: GitHub, site: Site) -> None:
    github.files["content/posts/mine.md"] = b"words"
    with pytest.raises(SiteRefused, match="another post"):
        await site.create(a_post(slug="mine"))
    assert github.files["content/posts/mine.md"] == b"words"
    github.files["content/posts/folder.md/x.md"] = b"words"
    with pytest.raises(SiteRefused, match="not a file"):
        await site.read("content/posts/folder.md")


@pytest.mark.parametrize(("lose", "there"), [("before", False), ("after", True)])
async def test_a_lost_response_leaves_the_outcome_unknown(github: GitHub, site: Site, lose: str, there: bool) -> None:
    post = a_post()
    github.lose = lose  # type: ignore[assignment]
    with pytest.raises(UnknownOutcome):
        await site.create(post)
    assert (await site.find(post) is not None) == there


async def test_an_image_and_a_body_of_two_megabytes_are_committed(github: GitHub, site: Site) -> None:
    image = MediaFile("m_1", "x.png", "image/png", "", "", "download", content=bytes(range(256)) * 8192)
    media = await site.upload(image, "m0123")
    assert github.files[media.id] == image.content
    assert await site.upload(image, "m0123") == media
    assert await site.find_media("m0123") == media
    post = a_post(markdown="words " * 350_000)
    remote = await site.create(post)
    assert (await site.read(remote.id)).html == post.markdown.rstrip() + "\n"


async def test_a_file_deleted_meanwhile_is_reported_as_gone_and_not_written(
    github: GitHub, fetcher: GuardedFetcher
) -> None:
    repository = GitHubRepository(github.url, "ada/blog", "", TOKEN, fetcher)
    sha = await repository.write("a.md", b"one", "Add a", "")
    del github.files["a.md"]
    with pytest.raises(SiteGone):
        await repository.write("a.md", b"two", "Update a", sha)
    with pytest.raises(SiteGone):
        await repository.delete("a.md", "Delete a", sha)
    github.files["a.md"] = b"theirs"
    with pytest.raises(RemoteChanged):
        await repository.write("a.md", b"two", "Update a", sha)


async def test_a_file_that_is_too_large_is_not_read(github: GitHub, fetcher: GuardedFetcher) -> None:
    github.files |= {"posts/large.md": bytes(MAX_FILE_BYTES + 1), "posts/fits.md": bytes(MAX_FILE_BYTES)}
    repository = GitHubRepository(github.url, "ada/blog", "", TOKEN, fetcher)
    with pytest.raises(SiteRefused, match="larger than 12000000 bytes"):
        await repository.read("posts/large.md")
    paths = sorted(github.files)
    assert [path async for path, _ in repository.read_all(paths)] == ["posts/fits.md"]


async def test_a_rate_limit_is_not_a_bad_token(github: GitHub, site: Site) -> None:
    github.limited = True
    with pytest.raises(SiteUnavailable):
        await site.create(a_post())
    github.limited = False
    with pytest.raises(SiteRejected):
        await site_of(github, site._repository._api._fetcher, token="0" * 30).create(a_post())  # type: ignore[attr-defined]
