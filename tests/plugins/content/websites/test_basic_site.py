"""A site derived from the base class refuses what its platform cannot do, with the platform's own message if any."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, ClassVar, get_args

import pytest
from pressroom_content.contract import (
    BasicSite,
    Capabilities,
    ConnectionReport,
    MediaFile,
    Post,
    PostState,
    RemotePost,
    Site,
    SiteRefused,
)
from pressroom_devto.site import DevtoSite
from pressroom_ghost.site import GhostSite
from pressroom_git.site import GitSite
from pressroom_webhook.site import WebhookSite

FILE = MediaFile("m_1", "cup.png", "image/png", "https://example.com/cup.png", "A cup", "download")
POST = Post("m", "Tea", "tea", "", "")
REMOTE = RemotePost("1", "", "draft", "")


class PlainSite(BasicSite):
    """Supports posts and nothing else."""

    async def check(self) -> ConnectionReport:
        return ConnectionReport((), self.capabilities)

    async def find(self, post: Post) -> RemotePost | None:
        return None

    async def create(self, post: Post) -> RemotePost:
        return REMOTE

    async def read(self, post_id: str) -> RemotePost:
        return REMOTE

    async def update(self, post_id: str, post: Post, revision: str) -> RemotePost:
        return REMOTE

    async def set_state(self, post_id: str, state: PostState, at: object = None) -> RemotePost:
        self.require_state(state)
        return REMOTE


def refused(verb: Coroutine[Any, Any, object]) -> str:
    with pytest.raises(SiteRefused) as error:
        asyncio.run(verb)
    return error.value.message


def test_unsupported_operations_are_refused() -> None:
    site: Site = PlainSite()
    assert refused(site.upload(FILE, "m")) == "this platform takes no files: cup.png can only be linked"
    assert refused(site.redirects()) == "this platform has no redirects"
    assert refused(site.add_redirect("/a", "/b", permanent=True)) == "this platform has no redirects"
    assert refused(site.remove_redirect("1")) == "this platform has no redirects"
    with pytest.raises(SiteRefused, match="posts cannot be imported from this platform"):
        site.posts(None, 1)


def test_optional_methods_return_nothing_by_default() -> None:
    site = PlainSite()
    assert asyncio.run(site.terms("tag", "", 9)) == []
    assert asyncio.run(site.ensure_terms(POST)) == {}
    assert asyncio.run(site.find_media("m")) is None


@pytest.mark.parametrize(
    ("capabilities", "allowed"),
    [
        (Capabilities(), {"live"}),
        (Capabilities(unpublish=True), {"live", "draft"}),
        (Capabilities(schedule=True), {"live", "scheduled"}),
        (Capabilities(delete=True), {"live", "trashed", "gone"}),
        (Capabilities(delete=True, trash=False), {"live", "gone"}),
    ],
)
def test_states_depend_on_the_capabilities(capabilities: Capabilities, allowed: set[str]) -> None:
    site = type("Declared", (PlainSite,), {"capabilities": capabilities})()
    reached = set()
    for state in get_args(PostState):
        try:
            asyncio.run(site.set_state("1", state))
            reached.add(state)
        except SiteRefused:
            pass
    assert reached == allowed


def test_the_platforms_refusal_messages_take_precedence() -> None:
    class Archive(PlainSite):
        capabilities = Capabilities(delete=True)
        refusals: ClassVar = {"trash": "an archive has no trash", "upload": "an archive takes no files"}

    site = Archive()
    assert refused(site.set_state("1", "trashed")) == "an archive has no trash"
    assert asyncio.run(site.set_state("1", "gone")) == REMOTE
    assert refused(site.upload(FILE, "m")) == "an archive takes no files: cup.png can only be linked"


@pytest.mark.parametrize("site", [DevtoSite, GhostSite, GitSite, WebhookSite])
def test_a_site_without_a_trash_declares_that(site: type[BasicSite]) -> None:
    opened = site.__new__(site)
    try:
        opened.require_state("trashed")
    except SiteRefused:
        assert not (site.capabilities.trash and site.capabilities.delete)
    else:
        assert site.capabilities.trash
        assert site.capabilities.delete


def test_a_platform_that_cannot_delete_has_no_trash_either() -> None:
    class Stone(PlainSite):
        refusals: ClassVar = {"delete": "what is carved stays"}

    assert refused(Stone().set_state("1", "trashed")) == "what is carved stays"
    assert refused(Stone().set_state("1", "gone")) == "what is carved stays"


@pytest.mark.parametrize(
    ("capabilities", "missing"),
    [
        (Capabilities(upload=True), "find_media, upload"),
        (Capabilities(import_posts=True), "posts"),
        (Capabilities(redirects=True), "redirects, add_redirect, remove_redirect"),
    ],
)
def test_a_capability_without_its_methods_is_an_error(capabilities: Capabilities, missing: str) -> None:
    with pytest.raises(TypeError, match=f"Wrong declares the capability .*; define {missing} too"):
        type("Wrong", (PlainSite,), {"capabilities": capabilities})
