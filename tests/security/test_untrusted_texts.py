"""Untrusted text is processed where it can be interrupted, at a cost proportional to its size."""

from __future__ import annotations

import ast
import inspect
import io
import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import httpx
import pytest
from dulwich.repo import Repo
from PIL import Image
from pressroom.config.models import ExecutorsSettings
from pressroom.fetch import GuardedFetcher
from pressroom.pipeline.executors.workers import WorkerPool
from pressroom.sdk import InvalidInput
from pressroom.testing import RunningHost
from pressroom.testing.running import settings_for_test
from pressroom_content.articles import edits
from pressroom_content.builtin_site import feeds
from pressroom_content.contract import MediaFile, Post, SiteInfo, SiteRefused
from pressroom_content.pages import article
from pressroom_content.publishing import images
from pressroom_content.publishing.images import PostImage, placed
from pressroom_git.config import GitConfig
from pressroom_git.connector import connector
from pressroom_git.post_files import PostFile
from pressroom_git.site import GitSite
from pressroom_images.library.files import InspectedImage
from pressroom_images.library.store import Library
from pressroom_search_performance.sources.credentials import key_file
from support.content_client import client_of
from support.growth import cpu, modules
from support.people import BrowserWithoutScreen


def _image(number: int) -> PostImage:
    file = MediaFile(
        id=f"m_{number:022d}",
        filename="a.png",
        media_type="image/png",
        url=f"https://a.example/{number}.png",
        alt="",
        hosting="either",
        credit_html=f"<b>by {number}</b>",
        credit_text=f"by {number}",
        caption=f"caption {number}",
    )
    return PostImage(file, "link")


IMAGES: Mapping[str, PostImage] = {image.file.id: image for image in map(_image, range(100))}


@pytest.mark.parametrize("image", ['<p><img src="/media/{}"></p>\n', "![a](/media/{})\n\n"])
def test_an_article_of_many_images_cannot_stop_publishing(image: str) -> None:
    def place(limit: int) -> None:
        names = list(IMAGES)[:limit]
        text = "".join(image.format(names[number % limit]) + "a " * 500 for number in range(300))
        html = text if "<" in text else "".join(f'<p><img src="{name}"></p>' for name in names)
        placed(html, text, IMAGES, {})

    assert cpu(place, 100) < 25 * cpu(place, 1) + 0.1


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHost]:
    config = {
        "builtin_plugins": False,
        "plugins": {"content": {}, "images": {}},
        "accounts": {"connections": 1000},
    }
    with RunningHost(settings_for_test(config, tmp_path_factory.mktemp("texts"))) as running:
        yield running


def _refuse(*_: object, **__: object) -> None:
    raise AssertionError("a stranger's text is worked on in the server itself")


def test_no_text_of_an_article_is_processed_in_the_server_itself(
    host: RunningHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The patches affect the server's process; workers use the unpatched functions.
    monkeypatch.setattr(edits, "_edited", _refuse)
    monkeypatch.setattr(images, "_captioned", _refuse)
    monkeypatch.setattr(article, "_without_foreign", _refuse)
    monkeypatch.setattr(feeds, "absolute_links", _refuse)
    alice = client_of(host, "alice@example.com")
    buffer = io.BytesIO()
    Image.new("RGB", (4, 4), "#b9502a").save(buffer, "PNG")
    file = InspectedImage("image/png", 4, 4, buffer.getvalue())
    library = Library(host.host.compiled.plugins.contexts["images"])
    media = host.run(library.add_user_image(alice.user_id, file, name="tea.png", alt_text="Tea")).id
    blog = alice.data("connect_website", platform="builtin", name="Tea")
    body = f"One cup.\n\n![Tea](/media/{media})\n"
    id_ = alice.data("create_content", title="Tea", body=body, website_id=blog["website_id"])["content_id"]
    change = {"find": "One", "replace": "Two"}
    alice.data("update_content", content_id=id_, expected_version=1, edits=[change])
    with BrowserWithoutScreen(host) as browser:
        browser.enter(host, host.run(host.host.accounts.users.get(alice.user_id)))
        assert "Two cup" in browser.get(f"/dashboard/articles/{id_}").html
    url = str(alice.data("publish_content", content_id=id_, website_id=blog["website_id"])["url"])
    assert "<img" in httpx.get(url).text
    feed = httpx.get(f"{url.rpartition('/')[0]}/feed.xml")
    assert "Two cup" in feed.text


def test_no_untrusted_image_is_decoded_in_the_server_itself(host: RunningHost, monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = io.BytesIO()
    Image.effect_noise((600, 600), 90).save(buffer, "PNG")  # large enough to get a thumbnail
    alice = client_of(host, "alice.images@example.com")
    with BrowserWithoutScreen(host) as browser:
        browser.enter(host, host.run(host.host.accounts.users.get(alice.user_id)))
        monkeypatch.setattr(Image, "open", _refuse)
        link = alice.data("create_upload_url", content_type="image/png")["upload_url"]
        response = httpx.put(link, content=buffer.getvalue())
        assert response.status_code == 201, response.text
        [media] = alice.data("list_media")["media"]
        thumbnail = browser.client.get(f"/media/thumbnails/{media['id']}")
    assert (thumbnail.status_code, thumbnail.headers["content-type"]) == (200, "image/webp")


THREADS: Mapping[str, str] = {
    "pressroom.accounts.passwords": "hashes of passwords of bounded length, a few at a time",
    "pressroom.fetch.target": "names, looked up by the system",
    "pressroom.http.compression": "zlib and a hash, on answers of the server, two at a time",
    "pressroom.http.web_fonts": "fonts that come with the server",
    "pressroom.pipeline.previews": "images that a generator's worker just made, of bounded size",
    "pressroom.interfaces.tools_api.gallery": "images of the server's own examples",
    "pressroom.interfaces.tools_api.routes": "forms of at most 64 KiB without a credential, in linear time",
    "pressroom.validation.json": "JSON, whose brackets are counted before it is parsed, in linear time",
    "pressroom.storage.files.local": "the end of threads that write files",
    "pressroom_content.builtin_site.cards": "at most 660 characters, which are looked up in fonts",
    "pressroom_git.local": "repositories of the operator on this machine",
    "pressroom_search_performance.sources.google_auth": "a signature with a key that a worker process checked",
    "pressroom_seo.plugin": "the import of parsers, which is given no text",
    "pressroom_seo.reports.store": "records of pages, whose texts and lists are bounded when a worker makes them",
    "pressroom_seo.reports.crawl_job": "the same records",
}
"""Modules that use threads, and for what. A thread cannot be killed, so untrusted text and files go to workers."""


def test_threads_are_used_only_where_callers_cannot_keep_them_busy() -> None:
    used = set()
    for module in modules():
        if module.__name__.startswith("pressroom.testing"):
            continue
        try:
            tree = ast.parse(inspect.getsource(module))
        except OSError:  # an empty file
            continue
        names = (node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute))
        if not {"to_thread", "run_in_executor"}.isdisjoint(names):
            used.add(module.__name__)
    assert used <= THREADS.keys(), "use plugin.services.workers, or say why nobody can keep this thread busy"
    assert used >= THREADS.keys() - {"pressroom.storage.files.local"}, "leave out what uses no thread any more"


def test_a_key_that_takes_minutes_to_parse_is_refused() -> None:
    document = {"client_email": "a@b.example", "private_key": f"-----BEGIN PRIVATE KEY-----\n{'A' * 6_000}"}
    with pytest.raises(InvalidInput, match="at most 4096 bits"):
        key_file(json.dumps(document))


async def test_a_file_of_a_repository_that_takes_too_long_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "blog"
    Repo.init(folder, mkdir=True).close()
    git_connector = connector(GitConfig(repositories={"blog": folder}))
    info = SiteInfo("w_1", "u_1", "Test", "https://blog.example.org")
    site = cast("GitSite", git_connector.open(info, {"repository": "blog", "generator": "hugo"}, GuardedFetcher()))
    workers = WorkerPool(ExecutorsSettings(plugin_processes=1, niceness=0))
    monkeypatch.setattr(PostFile, "of", _refuse)
    site.workers = workers
    try:
        post = await site.create(Post(marker="m", title="Tea", slug="tea", html="<p>a</p>", markdown="a"))
        assert (post.state, post.raw.strip()) == ("draft", "a")
        assert [post.id async for post in site.posts(None, 10)] == []
        with pytest.raises(SiteRefused, match=r"A file took longer than 0\.5 s"):
            await site.run_in_worker(time.sleep, 60, what="a file", seconds=0.5)
    finally:
        await workers.close()
