"""Lost responses, unavailable sites and dropped content: nothing is sent twice or lost."""

from __future__ import annotations

import asyncio
import re
import threading
from typing import Any

import pytest
from pressroom.sdk import InvalidInput, NotFound, PluginContext
from pressroom_content.articles.store import Articles
from pressroom_content.contract import RemoteMedia
from pressroom_content.publishing import operations
from pressroom_content.publishing.operations import unpublish
from pressroom_content.publishing.posts import removals
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.site_resources import author_warnings
from pressroom_content.rendering.markdown import html_of_markdown
from pressroom_content.tools.publication_parts import raise_failure
from pressroom_content.websites.store import Websites
from support.hostile_codec import HostileCodec, raises
from support.publishing_world import ADA, connect, ended, publish, write
from support.standin_platform import StandInPlatform
from support.standin_plugin import BLOCKS, CAPTIONED, HOTLINK, PHOTO, StandInBlockSite

pytestmark = pytest.mark.asyncio(loop_scope="module")

MAKING = ["POST /api/terms/tag", "POST /api/media", "POST /api/posts", "POST /api/posts/"]


async def test_an_article_is_published_completely(plugin: PluginContext, platform: StandInPlatform) -> None:
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin, slug="whole")
    publication = await publish(plugin, article, website)
    (post,) = platform.posts.values()
    assert (publication.status, publication.url, publication.external_id) == (
        "published",
        f"{platform.url}/whole",
        post["id"],
    )
    assert publication.verified["http_status"] == 200
    assert publication.verified["title_found"] is True
    assert post["tags"] == ["news", "tools"]
    assert post["meta_description"] == "Everything about hello."
    (media,) = platform.media.values()
    assert f'src="{media["url"]}"' in post["html"]
    assert post["featured"] == media["url"]
    assert "library.example" not in post["html"]
    assert (await Articles(plugin).get(ADA, article)).status == "published"
    assert not [warning for warning in publication.warnings if "canonical" not in warning]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("request_line", MAKING)
async def test_after_a_lost_response_the_post_is_looked_up_before_anything_is_sent_again(
    plugin: PluginContext, platform: StandInPlatform, request_line: str, when: Any, impatient: None
) -> None:
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin)
    platform.fault(request_line, when=when, lose=True)
    publication = await ended(plugin, await publish(plugin, article, website))
    assert publication.status == "published", publication
    assert [post["state"] for post in platform.posts.values()] == ["live"]
    assert len(platform.media) == 1
    if request_line == "POST /api/posts":
        assert platform.count("GET /api/posts?marker=") >= 1
        assert platform.requests.count("POST /api/posts") == (2 if when == "before" else 1)


async def test_concurrent_publishes_create_one_post(plugin: PluginContext, platform: StandInPlatform) -> None:
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin)
    publications = await asyncio.gather(*(Publications(plugin).publish(ADA, article, website) for _ in range(8)))
    assert len({publication.id for publication in publications}) == 1
    published = await ended(plugin, publications[0])
    assert published.status == "published"
    assert len(platform.posts) == 1
    repeated = await publish(plugin, article, website)
    assert (repeated.id, repeated.attempt) == (published.id, published.attempt)
    assert platform.count("POST /api/posts") == 2  # the post and its state


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ((503, "application/json", b"{}", {}), "overloaded"),
        ((200, "text/html", b"<h1>Welcome</h1>", {}), "no JSON"),
        ((302, "text/html", b"", {"Location": "http://10.0.0.1/secret"}), "not on the public internet"),
    ],
)
async def test_an_unavailable_site_is_retried_and_the_reason_is_reported(
    plugin: PluginContext, platform: StandInPlatform, response: Any, expected: str, impatient: None
) -> None:
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin)
    platform.fault("GET /api/terms", response=response, times=1000)
    publication = await ended(plugin, await publish(plugin, article, website))
    assert publication.status == "failed"
    assert expected in publication.error
    assert (await Websites(plugin).get(ADA, website)).last_error
    assert not platform.posts
    platform.faults.clear()
    publications = Publications(plugin)
    retried = await publications.wait(await publications.retry(ADA, publication.id), 20)
    assert (retried.status, retried.attempt) == ("published", 2)
    assert len(platform.posts) == 1


async def test_with_the_site_down_the_call_returns_at_once_and_publishing_continues_by_itself(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    website, article = await connect(plugin, "http://127.0.0.1:1", platform.token), await write(plugin)
    waiting = await publish(plugin, article, website)
    assert waiting.status == "queued"
    assert "retried automatically" in waiting.error


async def test_a_credential_revoked_midway_loses_nothing(plugin: PluginContext, platform: StandInPlatform) -> None:
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin)
    platform.fault("POST /api/posts/", response=(401, "application/json", b"{}", {}))
    publication = await publish(plugin, article, website)
    assert publication.status == "failed"
    assert "Connect the site again" in publication.error
    assert (await Websites(plugin).get(ADA, website)).status == "error"
    assert [post["state"] for post in platform.posts.values()] == ["draft"]
    publications = Publications(plugin)
    retried = await publications.wait(await publications.retry(ADA, publication.id), 20)
    assert retried.status == "published"
    assert [post["state"] for post in platform.posts.values()] == ["live"]
    assert (await Websites(plugin).get(ADA, website)).status == "active"


async def test_a_connector_that_fails_before_sending_is_named(
    plugin: PluginContext, platform: StandInPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StandInBlockSite, "codec", HostileCodec(raises))
    website = await connect(plugin, platform.url, platform.token, platform=BLOCKS)
    failed = await ended(plugin, await publish(plugin, await write(plugin, slug="broken"), website))
    log = f"the operator finds it in the log under {failed.id}."
    assert (failed.status, failed.error) == (
        "failed",
        f"the plugin standin failed while the article was published; {log}",
    )
    assert not platform.posts


@pytest.mark.parametrize(
    ("dropped", "expected"),
    [
        ("tags", "dropped the tags news, tools"),
        ("categories", "dropped the categories Engineering"),
        ("meta_description", "dropped the meta description"),
        ("featured", "dropped the featured image"),
        ("html", "kept nothing of the body"),
        ("half", "words of the body"),
    ],
)
async def test_what_the_platform_drops_silently_is_reported(
    plugin: PluginContext, platform: StandInPlatform, dropped: str, expected: str
) -> None:
    platform.drops.add(dropped)
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin)
    publication = await publish(plugin, article, website)
    assert publication.status == "published"
    assert any(expected in warning for warning in publication.warnings), publication.warnings


async def test_a_featured_image_is_sent_with_its_alternative_text(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    website = await connect(plugin, platform.url, platform.token)
    await publish(plugin, await write(plugin, featured_alt="Bread on a table"), website)
    assert "Bread on a table" in [media["alt"] for media in platform.media.values()]


async def test_images_are_copied_only_if_the_licence_allows_it(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    body = f"![one](https://library.example/{PHOTO}.png)\n\n![two](https://library.example/{HOTLINK}.jpg)\n"
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin, body=body)
    publication = await publish(plugin, article, website)
    (post,) = platform.posts.values()
    assert len(platform.media) == 1
    assert 'src="https://stock.example/hot.jpg"' in post["html"]
    assert 'Photo: <a href="https://example.org/ada"' in post["html"]
    assert "script" not in post["html"]
    assert publication.status == "published"


CAPTION_HTML = "Bread &amp; butter, *warm* &lt;from&gt; the oven"


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("![Bread]({})", "<figure><img{}><figcaption>{}<br><small>"),
        (
            "[![Bread]({})](https://example.com/)",
            '<figure><a href="https://example.com/"><img{}></a><figcaption>{}<br>',
        ),
        ("Warm ![Bread]({}) today", "Warm <img{}><br><small>"),
        ('<figure><img src="{}" alt="Bread"></figure>', "<figure><img{}><figcaption>{}<br><small>"),
        ('<figure><img src="{}" alt="B"><figcaption>Mine</figcaption></figure>', "<img{}><figcaption>Mine<br><small>"),
    ],
)
async def test_a_caption_is_below_its_image(
    plugin: PluginContext, platform: StandInPlatform, body: str, shown: str
) -> None:
    body = body.format(f"https://library.example/{CAPTIONED}.png")
    website = await connect(plugin, platform.url, platform.token)
    article = await write(plugin, body=body, featured_media_id="")

    publication = await publish(plugin, article, website)

    html = re.sub(r"<img[^>]*>", "<img{}>", next(iter(platform.posts.values()))["html"])
    assert shown.replace("<figcaption>{}", f"<figcaption>{CAPTION_HTML}") in html
    assert html.count(CAPTION_HTML) == ("Mine" not in body)
    assert (publication.status, [warning for warning in publication.warnings if "canonical" not in warning]) == (
        "published",
        [],
    )


async def test_a_caption_is_in_the_markdown_too(plugin: PluginContext, platform: StandInPlatform) -> None:
    website = await connect(plugin, platform.url, platform.token)
    body = f"![Bread](https://library.example/{CAPTIONED}.png)\n\nThe end."
    article = await write(plugin, body=body, featured_media_id=CAPTIONED)
    preview, _, _ = await Publications(plugin).preview(ADA, article, website, {})

    post = preview.completed({}, {CAPTIONED: RemoteMedia("1", "https://blog.example/bread.png")})

    assert html_of_markdown(post.markdown).count(f"<em>{CAPTION_HTML}</em>") == 1
    assert "caption of the featured image" in preview.unsupported


@pytest.mark.parametrize("known", [True, False])
async def test_an_author_unknown_to_the_site_is_reported(
    plugin: PluginContext, platform: StandInPlatform, known: bool
) -> None:
    if known:
        platform.terms.append({"id": "t9", "kind": "author", "name": "Grace"})
    website = await connect(plugin, platform.url, platform.token)
    article = await write(plugin, author="Grace", tags=(), categories=(), featured_media_id="", body="Text.")
    post, site = (await Publications(plugin).preview(ADA, article, website, {}))[0].post, Websites(plugin)

    before = await author_warnings(plugin, await site.get(ADA, website), post)
    assert not platform.posts
    publication = await publish(plugin, article, website)

    warned = [warning for warning in publication.warnings if "author" in warning]
    assert list(before) == warned
    assert [warning.startswith("the site has no author 'Grace'") for warning in warned] == ([] if known else [True])
    (published,) = platform.posts.values()
    assert published["term_ids"]["author"] == (["t9"] if known else [])


async def test_what_sanitising_removed_is_reported_for_the_real_post_as_before(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    website = await connect(plugin, platform.url, platform.token)
    article = await write(plugin, featured_media_id="", body='Text\n\n<video src="https://a.example/b.mp4"></video>')
    before = removals((await Publications(plugin).preview(ADA, article, website, {}))[0].removed)
    publication = await publish(plugin, article, website)
    assert (
        [warning for warning in publication.warnings if "removed" in warning]
        == before
        == ["removed from the body: <video>"]
    )


async def test_an_author_unknown_to_the_site_is_refused_before_anything_is_sent(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    platform.terms.append({"id": "t9", "kind": "author", "name": "Grace"})
    website = await connect(plugin, platform.url, platform.token)
    article = await write(plugin, author="Ada", tags=("new",), featured_media_id="", body="Text.")
    post = (await Publications(plugin).preview(ADA, article, website, {}))[0].post

    with pytest.raises(InvalidInput, match="the site has no author 'Ada'; it has Grace"):
        await author_warnings(plugin, await Websites(plugin).get(ADA, website), post)
    refused = await publish(plugin, article, website)

    assert (refused.status, await Publications(plugin).problem(refused)) == ("failed", InvalidInput.code)
    assert "the site has no author 'Ada'; it has Grace" in refused.error
    assert not platform.posts
    assert [term["kind"] for term in platform.terms] == ["author"]
    with pytest.raises(InvalidInput, match="it has Grace"):
        raise_failure(refused, InvalidInput.code)

    await Publications(plugin).publish(ADA, article, website, options={"author": "Grace"})
    publication = await ended(plugin, refused)
    assert publication.status == "published"
    (published,) = platform.posts.values()
    assert (published["term_ids"]["author"], len(published["term_ids"]["tag"])) == (["t9"], 1)


async def test_an_image_that_left_the_library_is_reported(plugin: PluginContext, platform: StandInPlatform) -> None:
    missing = "m_" + "0" * 22
    website = await connect(plugin, platform.url, platform.token)
    article = await write(plugin, featured_media_id="", body=f"Text ![x](https://library.example/{missing}.png) more")
    publication = await publish(plugin, article, website)
    assert publication.status == "published"
    assert any(missing in warning for warning in publication.warnings)
    assert all("<img" not in post["html"] for post in platform.posts.values())


async def test_websites_and_publications_of_other_accounts_are_not_found(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin)
    publication = await publish(plugin, article, website)
    for attempt in (
        Publications(plugin).publish("u_eve", article, website),
        Publications(plugin).get("u_eve", publication.id),
        Publications(plugin).retry("u_eve", publication.id),
        Publications(plugin).update("u_eve", publication.id),
        unpublish(plugin, "u_eve", publication.id, "delete"),
        Websites(plugin).open("u_eve", website),
        Websites(plugin).disconnect("u_eve", website),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert len(platform.posts) == 1


async def test_a_running_publication_cannot_be_changed_into_another(
    plugin: PluginContext, platform: StandInPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Shorter than the timeout of the held request.
    monkeypatch.setattr(operations, "_BUSY_SECONDS", 0.5)
    website, article, response = (
        await connect(plugin, platform.url, platform.token),
        await write(plugin),
        threading.Event(),
    )
    fault = platform.fault("POST /api/posts", delay=response)
    publication = await Publications(plugin).publish(ADA, article, website)
    assert await asyncio.to_thread(fault.met.wait, 10)
    with pytest.raises(InvalidInput, match="is publishing"):
        await Publications(plugin).publish(ADA, article, website, mode="draft")
    with pytest.raises(InvalidInput, match="processed"):
        await unpublish(plugin, ADA, publication.id, "draft")
    response.set()
    assert (await ended(plugin, publication)).status == "published"


async def test_nothing_is_sent_to_a_disconnected_website(plugin: PluginContext, platform: StandInPlatform) -> None:
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin)
    publication = await publish(plugin, article, website)
    assert await Websites(plugin).disconnect(ADA, website) == 1
    with pytest.raises(NotFound):
        await Publications(plugin).update(ADA, publication.id)
    assert [post["state"] for post in platform.posts.values()] == ["live"]


async def test_an_id_that_cannot_be_stored_does_not_create_a_second_post(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    website, article = await connect(plugin, platform.url, platform.token), await write(plugin)
    platform.id_length = 300
    publication = await publish(plugin, article, website)
    assert publication.status == "unknown"
    assert "id of 300 characters" in publication.error
    await publish(plugin, article, website)
    assert len(platform.posts) == 1
