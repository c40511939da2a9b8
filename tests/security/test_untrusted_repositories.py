"""Hostile Git servers: responses can neither stop the server nor fill its memory."""

from __future__ import annotations

import hashlib
import struct
import tracemalloc
import zlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any, cast

import pytest
from dulwich.objects import Blob, Tree
from pressroom.config.models import ExecutorsSettings
from pressroom.fetch import GuardedFetcher
from pressroom.pipeline.executors.workers import WorkerPool
from pressroom_content.contract import Post, SiteInfo, SiteRefused, SiteUnavailable
from pressroom_git import protocol, ssh_keys
from pressroom_git.config import GitConfig
from pressroom_git.connector import connector
from pressroom_git.site import GitSite
from pressroom_git.snapshot import Snapshot, read_pack, snapshot_of
from support.git_server import GitServer, serving_git
from support.ssh_git_server import serving_git_over_ssh

_BLOB, _TREE, _REF_DELTA = 3, 2, 7


def _pack(*objects: bytes) -> bytes:
    content = b"PACK" + struct.pack(">II", 2, len(objects)) + b"".join(objects)
    return content + hashlib.sha1(content, usedforsecurity=False).digest()


def _head(kind: int, size: int) -> bytes:
    head = bytearray([(kind << 4) | (size & 15)])
    size >>= 4
    while size:
        head[-1] |= 0x80
        head.append(size & 0x7F)
        size >>= 7
    return bytes(head)


def _number(value: int) -> bytes:
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])


def test_a_pack_of_many_small_pieces_cannot_fill_the_memory() -> None:
    count = 60_000
    base = Blob.from_string(b"a" * 16)
    delta = _number(16) + _number(2 * count) + b"\x02ab" * count
    pack = _pack(
        _head(_BLOB, 16) + zlib.compress(base.data),
        _head(_REF_DELTA, len(delta)) + bytes.fromhex(base.id.decode()) + zlib.compress(delta),
    )
    assert len(pack) < 1_000
    tracemalloc.start()
    try:
        objects = read_pack(pack)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [len(content) for _, content in objects.values()] == [16, 2 * count]
    assert peak < 1_500_000


def test_nested_folders_cannot_fill_the_memory() -> None:
    inner = Blob.from_string(b"a")
    trees = {}
    name, mode, sha = b"a", 0o100644, inner.id
    for _ in range(5_000):
        tree = Tree()
        tree.add(b"f", 0o100644, inner.id)
        tree.add(name, mode, sha)
        trees[tree.id.decode()] = tree.as_raw_string()
        name, mode, sha = b"t" * 20, 0o40000, tree.id
    root = Tree()
    root.add(b"posts", mode, sha)
    trees[root.id.decode()] = root.as_raw_string()
    with pytest.raises(SiteRefused, match="paths of more than 1000 characters"):
        Snapshot(root.id.decode(), trees).paths("posts")


def test_many_folders_cannot_fill_the_memory() -> None:
    head = "1" * 40
    commit = f"tree {'2' * 40}\nauthor A <a@b.example> 1 +0000\ncommitter A <a@b.example> 1 +0000\n\na\n".encode()
    trees = {f"{number:040}": (_TREE, bytes(100_000)) for number in range(100)}
    with pytest.raises(SiteRefused, match="too many files"):
        snapshot_of({head: (1, commit), **trees}, head)
    with pytest.raises(SiteUnavailable, match="cannot be read"):
        snapshot_of({head: (1, commit)}, head)
    with pytest.raises(SiteUnavailable, match="cannot be read"):
        Snapshot("2" * 40, {"2" * 40: b"broken"}).blob("posts/tea.md")


@pytest.mark.parametrize("serve", [serving_git, serving_git_over_ssh], ids=["http", "ssh"])
async def test_nothing_from_a_git_server_is_parsed_in_the_server_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, serve: Callable[[Path], AbstractContextManager[GitServer]]
) -> None:
    def refuse(_pack: bytes) -> None:
        raise AssertionError("a pack of a stranger is read in the server itself")

    def load(key: str, *, checked: bool) -> Any:
        assert checked, "a key of a stranger is checked in the server itself"
        return loaded(key, checked=checked)

    loaded = ssh_keys._loaded
    monkeypatch.setattr(ssh_keys, "_loaded", load)
    monkeypatch.setattr(protocol, "read_pack", refuse)  # workers use the unpatched function
    monkeypatch.setattr(protocol, "_QUICK_BYTES", 0)  # as if there were a huge number of branches
    workers = WorkerPool(ExecutorsSettings(plugin_processes=1, niceness=0))
    try:
        async with GuardedFetcher(private_networks=[IPv4Network("127.0.0.0/8")]) as fetcher:
            with serve(tmp_path / "repositories") as server:
                server.commit({"content/posts/tea.md": "---\ntitle: Tea\n---\nWords.\n"})
                values = {**server.credential, "generator": "hugo"}
                info = SiteInfo("w_1", "u_1", "Test", "https://blog.example.org")
                site = cast("GitSite", connector(GitConfig()).open(info, values, fetcher))
                site.workers = workers
                created = await site.create(Post(marker="m", title="Milk", slug="milk", html="<p>a</p>", markdown="a"))
                await site.set_state(created.id, "live")
                assert sorted([post.fields["title"] async for post in site.posts(None, 10)]) == ["Milk", "Tea"]
    finally:
        await workers.close()
