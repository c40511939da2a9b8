"""Remote repositories, against Git's own HTTP server and, over SSH, OpenSSH's server."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
import struct
import sys
from collections.abc import AsyncIterator, Iterator
from ipaddress import IPv4Network
from pathlib import Path

import pytest
from dulwich.objects import Blob, Tree
from hypothesis import given
from hypothesis import strategies as st
from pressroom.fetch import GuardedFetcher
from pressroom_content.contract import (
    BlockSite,
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
from pressroom_git.config import GitConfig
from pressroom_git.connector import connector
from pressroom_git.repository import Authorship
from pressroom_git.snapshot import Snapshot, read_pack
from support.git_server import GitServer, serving_git
from support.ssh_git_server import serving_git_over_ssh

from .conftest import a_post

TEA = "---\ntitle: Tea\n---\nWords.\n"


@pytest.fixture(params=["http", "ssh"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[GitServer]:
    over_ssh = request.param == "ssh"
    folder = tmp_path / "repositories"
    with serving_git_over_ssh(folder) if over_ssh else serving_git(folder) as serving:
        yield serving


@pytest.fixture
def http_server(tmp_path: Path) -> Iterator[GitServer]:
    with serving_git(tmp_path / "repositories") as serving:
        yield serving


@pytest.fixture
async def fetcher() -> AsyncIterator[GuardedFetcher]:
    async with GuardedFetcher(private_networks=[IPv4Network("127.0.0.0/8")]) as opened:
        yield opened


def site_at(server: GitServer, fetcher: GuardedFetcher, **fields: str) -> Site:
    values = {**server.credential, "generator": "hugo", **fields}
    info = SiteInfo("w_1", f"u_{server.port}", "Test", "https://blog.example.org")
    return connector(GitConfig()).open(info, values, fetcher)


@pytest.mark.parametrize(
    ("filters", "old", "by_name"),
    [(True, False, False), (False, False, False), (False, True, False), (True, True, False), (True, True, True)],
)
async def test_a_post_is_written_and_read_back(
    server: GitServer, fetcher: GuardedFetcher, filters: bool, old: bool, by_name: bool
) -> None:
    server.old_protocol = old
    server.git("config", "uploadpack.allowFilter", str(filters).lower())
    server.git("config", "uploadpack.allowAnySHA1InWant", str(by_name).lower())
    site = site_at(server, fetcher, author="Ada Baker <ada@example.org>", sign_off="yes")
    post = a_post(slug="cold-brew")
    remote = await site.create(post)  # the first commit of an empty repository
    assert remote.id == "content/posts/cold-brew.md"
    assert (await site.check()).ok
    live = await site.set_state(remote.id, "live")
    assert (live.state, (await site_at(server, fetcher).read(remote.id)).revision) == ("live", live.revision)
    image = MediaFile("m_1", "x.png", "image/png", "", "", "download", content=bytes(range(256)) * 4096)
    media = await site.upload(image, "m0123")
    assert await site_at(server, fetcher).find_media("m0123") == media
    match = await site_at(server, fetcher).find(post)
    assert match is not None
    assert match.id == remote.id
    log = server.git("log", "--format=%an <%ae>|%cn|%s|%(trailers:key=Signed-off-by,valueonly,separator=%x2C)", "main")
    assert log.splitlines()[-1] == f"Ada Baker <ada@example.org>|Ada Baker|Add {post.title}|Ada Baker <ada@example.org>"
    await site.set_state(remote.id, "gone")
    with pytest.raises(SiteGone):
        await site.read(remote.id)
    server.git("fsck", "--strict")


async def test_concurrent_writers_lose_nothing(server: GitServer, fetcher: GuardedFetcher) -> None:
    server.commit({"content/posts/tea.md": TEA})
    sites = [site_at(server, fetcher) for _ in range(4)]
    remotes = await asyncio.gather(*(site.create(a_post()) for site in sites))
    listed = server.git("ls-tree", "-r", "--name-only", "main").split()
    assert {post.id for post in remotes} | {"content/posts/tea.md"} == set(listed)
    assert len(server.git("log", "--format=%H", "main").split()) == 5


async def test_a_rejected_push_is_repeated_on_top_of_the_new_commit(server: GitServer, fetcher: GuardedFetcher) -> None:
    server.commit({"content/posts/tea.md": TEA, "content/posts/milk.md": TEA})
    site = site_at(server, fetcher)
    tea = await site.read("content/posts/tea.md")
    server.before_push = lambda: server.commit({"content/posts/milk.md": TEA + "Theirs."})
    await site.update(tea.id, a_post(title="Ours"), tea.revision)
    assert "Theirs." in server.show("content/posts/milk.md")
    assert "title: Ours" in server.show("content/posts/tea.md")
    tea = await site.read(tea.id)
    server.before_push = lambda: server.commit({"content/posts/tea.md": TEA + "Theirs."})
    with pytest.raises(RemoteChanged):
        await site.update(tea.id, a_post(title="Again"), tea.revision)
    assert server.show("content/posts/tea.md") == TEA + "Theirs."


async def test_a_rewritten_history_is_detected(server: GitServer, fetcher: GuardedFetcher) -> None:
    server.commit({"content/posts/tea.md": TEA, "content/posts/milk.md": TEA, "content/posts/same.md": TEA})
    site = site_at(server, fetcher)
    posts = {name: await site.read(f"content/posts/{name}.md") for name in ("tea", "milk", "same")}
    server.commit({"content/posts/tea.md": TEA + "Theirs.", "content/posts/same.md": TEA}, rewrite=True)
    with pytest.raises(RemoteChanged):
        await site.update(posts["tea"].id, a_post(), posts["tea"].revision)
    with pytest.raises(SiteGone):
        await site.update(posts["milk"].id, a_post(), posts["milk"].revision)
    await site.update(posts["same"].id, a_post(title="Ours"), posts["same"].revision)
    assert "title: Ours" in server.show("content/posts/same.md")
    assert len(server.git("log", "--format=%H", "main").split()) == 2


async def test_a_wrong_token_and_a_wrong_location_are_reported(http_server: GitServer, fetcher: GuardedFetcher) -> None:
    server = http_server
    server.commit({"content/posts/tea.md": TEA})
    wrong = await site_at(server, fetcher, token="glpat-of-somebody-else").check()
    assert not wrong.ok
    with pytest.raises(SiteRejected) as caught:
        await site_at(server, fetcher, token="glpat-of-somebody-else").create(a_post())
    assert "somebody-else" not in caught.value.message
    assert not (await site_at(server, fetcher, branch="gone").check()).ok
    assert not (await site_at(server, fetcher, repository=server.url.replace("blog", "other")).check()).ok
    async with GuardedFetcher() as strict:
        with pytest.raises(SiteRefused):
            await site_at(server, strict).check()


async def test_a_commit_refused_by_the_server_reports_the_reason(server: GitServer, fetcher: GuardedFetcher) -> None:
    server.commit({"content/posts/tea.md": TEA})
    hook = server.bare / "hooks/pre-receive"
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(SiteRefused, match="pre-receive hook declined"):
        await site_at(server, fetcher).create(a_post())


@pytest.mark.parametrize("lose", ["before", "after"])
async def test_a_lost_response_creates_no_second_post(server: GitServer, fetcher: GuardedFetcher, lose: str) -> None:
    server.commit({"content/posts/tea.md": TEA})
    post = a_post()
    server.lose = "before" if lose == "before" else "after"
    with pytest.raises(UnknownOutcome):
        await site_at(server, fetcher).create(post)
    match = await site_at(server, fetcher).find(post)
    assert (match is None) is (lose == "before")
    remote = await site_at(server, fetcher).create(post)
    assert remote.marker == post.marker
    assert len(server.git("log", "--format=%H", "main").split()) == 2


PUBLISHING = """
import asyncio, json, sys
from ipaddress import IPv4Network
from pressroom.fetch import GuardedFetcher
from pressroom_content.contract import Post, SiteInfo
from pressroom_git.config import GitConfig
from pressroom_git.connector import connector

async def main():
    async with GuardedFetcher(private_networks=[IPv4Network("127.0.0.0/8")]) as fetcher:
        values = json.loads(sys.argv[1])
        site = connector(GitConfig()).open(SiteInfo("w", "u", "T", "https://blog.example.org"), values, fetcher)
        await site.create(Post("pr-killed", "Killed", "killed", "<p>x</p>", "x"))

asyncio.run(main())
"""


async def test_a_process_killed_during_a_push_leaves_one_post(server: GitServer, fetcher: GuardedFetcher) -> None:
    server.commit({"content/posts/tea.md": TEA})
    values = json.dumps({**server.credential, "generator": "hugo"})
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", PUBLISHING, values)
    server.before_push = lambda: os.kill(process.pid, signal.SIGKILL)
    assert await process.wait() == -signal.SIGKILL
    site, post = site_at(server, fetcher), a_post(marker="pr-killed", title="Killed", slug="killed")
    await site.find(post)
    remote = await site.create(post)
    assert (remote.marker, remote.id) == ("pr-killed", "content/posts/killed.md")
    server.git("fsck", "--strict")
    assert server.git("log", "--format=%s", "main").split("\n").count("Add Killed") == 1


async def test_a_repository_with_thousands_of_files_needs_few_requests(
    server: GitServer, fetcher: GuardedFetcher
) -> None:
    server.commit({f"content/posts/{number}.md": f"---\ntitle: T{number}\n---\nWords.\n" for number in range(5000)})
    site = site_at(server, fetcher)
    assert isinstance(site, BlockSite)
    server.requests.clear()
    await site.create(a_post())
    assert len(server.requests) <= 8, server.requests
    match = await site.locate("https://blog.example.org/posts/4711/")
    assert match is not None
    assert match.fields["title"] == "T4711"
    server.requests.clear()
    assert len([post async for post in site_at(server, fetcher).posts(None, 10_000)]) == 5000
    assert len(server.requests) <= 40


async def test_a_host_that_is_not_a_git_server_is_reported(server: GitServer, fetcher: GuardedFetcher) -> None:
    url = server.url.replace(str(server.port), "1")
    with pytest.raises((SiteRefused, SiteUnavailable)):
        await site_at(server, fetcher, repository=url).read("content/posts/tea.md")


async def test_an_executable_file_stays_executable(http_server: GitServer, fetcher: GuardedFetcher) -> None:
    http_server.commit({"content/posts/tea.md": TEA})
    blob = http_server.git("rev-parse", "main:content/posts/tea.md").strip()
    edit = (
        "commit refs/heads/main\ncommitter E <e@example.org> 1700000000 +0000\ndata 4\nMode\nfrom refs/heads/main^0\n"
    )
    http_server.git("fast-import", "--quiet", stdin=f"{edit}M 755 {blob} content/posts/tea.md\n".encode())
    await site_at(http_server, fetcher).update("content/posts/tea.md", a_post(), "")
    assert http_server.git("ls-tree", "main", "content/posts/tea.md").startswith("100755 ")


def test_a_damaged_repository_is_distinguished_from_a_file_where_a_folder_should_be() -> None:
    blob, missing = Blob.from_string(b"words"), Tree().id
    root = Tree()
    root.add(b"file", 0o100644, blob.id)
    root.add(b"damaged", 0o040000, missing)
    snapshot = Snapshot(root.id.decode(), {root.id.decode(): root.as_raw_string()})
    author = Authorship("Ada Baker <ada@example.org>")
    with pytest.raises(SiteRefused, match="is a file in the repository, not a folder"):
        snapshot.with_change("", "file/b.md", b"x", "Add b", author)
    with pytest.raises(SiteUnavailable, match="cannot be read"):
        snapshot.with_change("", "damaged/b.md", b"x", "Add b", author)


@given(st.binary(max_size=200))
def test_a_pack_of_anything_is_no_harm(data: bytes) -> None:
    headed = b"PACK\0\0\0\2\0\0\0\1" + data
    for content in (data, headed, headed + hashlib.sha1(headed, usedforsecurity=False).digest()):
        with pytest.raises(SiteUnavailable):
            read_pack(content)


@pytest.mark.parametrize("part", [b"\xb1" + b"\x80" * 2_000_000, b"\xe1" + b"\xff" * 2_000_000, b"\xe1" + b"\x80" * 99])
def test_a_pack_with_endless_numbers_is_refused_immediately(part: bytes) -> None:
    pack = b"PACK" + struct.pack(">II", 2, 1) + part
    with pytest.raises(SiteUnavailable, match="cannot be read"):
        read_pack(pack + hashlib.sha1(pack, usedforsecurity=False).digest())
