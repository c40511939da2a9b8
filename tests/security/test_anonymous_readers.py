"""Anonymous readers of published pages cannot keep the owner, or anybody else, from working."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from pressroom.errors import CallTimeout
from pressroom.pipeline.chain import InternalCalls
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.articles.fields import read_as
from pressroom_content.builtin_site import bodies
from pressroom_content.builtin_site.post_lists import MAX_SEARCHES, search_slot
from support.content_client import Client, client_of

POSTS = 6


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    config = {"builtin_plugins": False, "plugins": {"content": {}, "image_generator": {}}}
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("readers"))) as running:
        yield running


@pytest.fixture(scope="module")
def alice(host: RunningHost) -> Client:
    return client_of(host, "alice@example.com")


@pytest.fixture(scope="module")
def blog(alice: Client) -> str:
    return str(alice.data("connect_website", platform="builtin", name="Tea")["website_id"])


def _published(alice: Client, blog: str, title: str, body: str) -> str:
    article = alice.data("create_content", title=title, body=body, website_id=blog)["content_id"]
    return str(alice.data("publish_content", content_id=article, website_id=blog)["url"])


def _read_at_once(urls: list[str]) -> list[int]:
    async def all_of_them() -> list[int]:
        async with httpx.AsyncClient(timeout=60) as client:
            return [response.status_code for response in await asyncio.gather(*(client.get(url) for url in urls))]

    return asyncio.run(all_of_them())


@pytest.mark.parametrize(("fails", "status"), [(False, 200), (True, 503)])
def test_many_readers_of_a_text_cost_its_owner_one_conversion(
    alice: Client, blog: str, monkeypatch: pytest.MonkeyPatch, fails: bool, status: int
) -> None:
    url = f"{_published(alice, blog, f'Milk {fails}', 'Milk is **white**.')}/llms.txt"
    started: list[str] = []

    async def counted(*args: Any) -> str:
        started.append(args[2])
        if fails:
            raise CallTimeout("The article took longer than 20 s to work on")
        return await read_as(*args)

    monkeypatch.setattr("pressroom_content.text_index.published.read_as", counted)
    assert _read_at_once([url] * 8) == [status] * 8
    assert httpx.get(url).status_code == status
    assert started == ["text"]


def test_readers_waiting_for_a_text_cannot_fill_the_memory(
    alice: Client, blog: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{_published(alice, blog, 'Coffee', 'Coffee is **black**.')}/llms.txt"

    refused = threading.Event()
    statuses: list[int] = []

    async def slowly(*args: Any) -> str:
        await asyncio.to_thread(refused.wait)
        return await read_as(*args)

    async def ask(client: httpx.AsyncClient) -> None:
        statuses.append((await client.get(url)).status_code)
        if len(statuses) == 40 - 16:
            refused.set()

    async def all_of_them() -> None:
        async with httpx.AsyncClient(timeout=60) as client:
            await asyncio.gather(*(ask(client) for _ in range(40)))

    monkeypatch.setattr("pressroom_content.text_index.published.read_as", slowly)
    asyncio.run(all_of_them())
    assert sorted(statuses) == [200] * 16 + [503] * 24


def test_readers_of_many_posts_leave_room_for_callers_of_generators(
    alice: Client, blog: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = [_published(alice, blog, f"Cup {number}", "One cup.") for number in range(POSTS)]
    under_way = most = 0
    make_file = InternalCalls.make_file

    async def counted(self: InternalCalls, slug: str, params: Any) -> tuple[bytes, str]:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        try:
            return await make_file(self, slug, params)
        finally:
            under_way -= 1

    monkeypatch.setattr(InternalCalls, "make_file", counted)
    cards = ["/cards/".join(url.rsplit("/", 1)) + ".png" for url in urls]
    assert _read_at_once(cards) == [200] * POSTS
    assert most <= 2


def test_no_long_post_is_rendered_in_the_server_itself_for_its_readers(
    alice: Client, blog: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = _published(alice, blog, "Images", '![tea](https://a.example/"tea".png)\n\n' * 2_500)

    def refuse(*_: object) -> None:
        raise AssertionError("a long body is worked on in the server itself")

    monkeypatch.setattr(bodies, "names_in", refuse)  # workers use the unpatched function
    page = httpx.get(url).text
    assert page.count('loading="lazy"') >= 2_500
    assert httpx.get(url).text == page


async def _while_searched(website: str, ask: Callable[[], list[httpx.Response]]) -> list[httpx.Response]:
    """Send requests while the maximum number of searches of a site is running."""
    enough = asyncio.Event()

    async def wait() -> None:
        async with search_slot(website):
            await enough.wait()

    async with asyncio.TaskGroup() as tasks:
        for _ in range(MAX_SEARCHES):
            tasks.create_task(wait())
        try:
            return await asyncio.to_thread(ask)
        finally:
            enough.set()


def test_many_searches_of_a_large_blog_do_not_block_other_searches(host: RunningHost, alice: Client, blog: str) -> None:
    other = str(alice.data("connect_website", platform="builtin", name="Milk")["website_id"])
    urls = [_published(alice, site, "Found", "Some words.").rpartition("/")[0] for site in (blog, other)]

    def ask() -> list[httpx.Response]:
        return [httpx.get(f"{url}/search?q=words", timeout=30) for url in urls]

    refused, response = host.run(_while_searched(blog, ask))
    assert (refused.status_code, response.status_code) == (503, 200)
    assert int(refused.headers["retry-after"]) >= 1
    assert "Found" in response.text
    assert "Found" in httpx.get(f"{urls[0]}/search?q=words", timeout=30).text
