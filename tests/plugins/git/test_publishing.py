"""Publishing to a repository through the content plugin."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from pressroom.sdk import InvalidInput, PluginContext
from pressroom.testing.running import settings_for_test
from pressroom_content.articles.store import Articles
from pressroom_content.publishing.operations import unpublish
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.verifying import look
from pressroom_content.records import Publication
from pressroom_content.rendering.markdown import html_of_markdown
from pressroom_content.tools.publication_parts import publication_text
from pressroom_content.websites.connecting import check_website
from pressroom_content.websites.store import Websites
from pressroom_content.websites.sync import Taxonomies
from selectolax.lexbor import LexborHTMLParser
from support.installing import on_path
from support.origins import Visit, origin
from support.publishing_world import ADA, configuration, recheck, world, write
from support.standin_plugin import distribution

from .conftest import Repo


@pytest.fixture
async def plugin(repo: Repo, tmp_path: Path) -> AsyncIterator[PluginContext]:
    config = {**configuration({}), "builtin_plugins": False}
    config["plugins"]["git"] = {"config": {"repositories": {"blog": str(repo.folder)}}}
    with on_path(distribution(tmp_path / "site")):
        async with world(settings_for_test(config, tmp_path / "data")) as context:
            yield context


async def ended(plugin: PluginContext, publication: Publication) -> Publication:
    current = publication
    for _ in range(400):
        current = await Publications(plugin).wait(current, 0.1)
        if current.status not in ("queued", "publishing", "unknown"):
            break
        await asyncio.sleep(0.05)
    return current


async def test_a_page_is_reported_as_being_built_until_it_exists(plugin: PluginContext, repo: Repo) -> None:
    status = "404 Not Found"

    async def reply(visit: Visit) -> None:
        await visit.respond(b"<title>Hello world</title><h1>Hello world</h1>", "Content-Type: text/html", status=status)

    async with origin(reply) as pages:
        website = await Websites(plugin).add(
            ADA,
            "git",
            name="B",
            url=f"http://127.0.0.1:{pages.port}",
            credential={"repository": "blog", "generator": "hugo"},
        )
        article = await write(plugin, featured_media_id="", body="Text.")
        publication = await ended(plugin, await Publications(plugin).publish(ADA, article, website.id))
        assert publication.status == "published"
        assert [warning for warning in publication.warnings if "is being built" in warning]
        assert not [warning for warning in publication.warnings if "404" in warning]
        assert "the site is being built" in publication_text(publication, ZoneInfo("UTC"))

        status = "200 OK"
        await look(plugin, publication)
        current = await Publications(plugin).get(ADA, publication.id)

    assert not [warning for warning in current.warnings if "built" in warning]
    assert (current.verified["http_status"], current.verified["title_found"]) == (200, True)
    assert "responds with 200" in publication_text(current, ZoneInfo("UTC"))


@pytest.mark.parametrize("status", ["404 Not Found", "403 Forbidden", "410 Gone"])
async def test_a_page_that_is_still_being_built_is_checked_again_automatically(
    plugin: PluginContext, repo: Repo, status: str
) -> None:
    body = b""

    async def reply(visit: Visit) -> None:
        await visit.respond(body, "Content-Type: text/html", status=status)

    def minutes(publication: Publication) -> int:
        assert publication.due_at is not None
        return round((publication.due_at - datetime.now(UTC)).total_seconds() / 60)

    async with origin(reply) as pages:
        credential = {"repository": "blog", "generator": "hugo"}
        url = f"http://127.0.0.1:{pages.port}"
        website = await Websites(plugin).add(ADA, "git", name="B", url=url, credential=credential)
        article = await write(plugin, featured_media_id="", body="# Text\n\nSome words are here.")
        current = await ended(plugin, await Publications(plugin).publish(ADA, article, website.id))
        assert (current.status, minutes(current)) == ("published", 2)

        current = await recheck(plugin, current)
        assert (current.status, minutes(current)) == ("published", 5)
        current = await recheck(plugin, current)
        assert (minutes(current), ["is being built" in warning for warning in current.warnings]) == (15, [True])
        abandoned = await recheck(plugin, current)
        assert abandoned.due_at is None
        assert ["was not built" in warning for warning in abandoned.warnings] == [True]
        assert ["may not see" in warning for warning in abandoned.warnings] == [status == "403 Forbidden"]

        status, body = (
            "200 OK",
            b"<title>Hello world</title><h1>Hello world</h1><h1>Text</h1><p>Some words are here.</p>",
        )
        await look(plugin, current)
        current = await Publications(plugin).get(ADA, current.id)
        assert (current.verified["http_status"], current.warnings) == (200, ())

        changes = {"body": "# Text\n\nOther words are there now."}
        await Articles(plugin).update(ADA, article, expected_version=1, changes=changes)
        updated = await ended(plugin, await Publications(plugin).update(ADA, current.id))
        assert ["still shows an older version" in warning for warning in updated.warnings] == [True]
        assert minutes(updated) == 2
        body = body.replace(b"Some words are here", b"Other words are there now")
        updated = await recheck(plugin, updated)

    assert (updated.status, updated.due_at, updated.warnings) == ("published", None, ())


@pytest.mark.parametrize("trouble", ["too large", "gone"])
async def test_a_page_that_cannot_be_fetched_is_not_reported_as_built(
    plugin: PluginContext, repo: Repo, trouble: str
) -> None:
    page = b""

    async def reply(visit: Visit) -> None:
        await visit.respond(page, "Content-Type: text/html", status="200 OK" if page else "404 Not Found")

    async with AsyncExitStack() as site:
        pages = await site.enter_async_context(origin(reply))
        credential = {"repository": "blog", "generator": "hugo"}
        url = f"http://127.0.0.1:{pages.port}"
        website = await Websites(plugin).add(ADA, "git", name="B", url=url, credential=credential)
        article = await write(plugin, featured_media_id="", body="Some words.")
        publication = await ended(plugin, await Publications(plugin).publish(ADA, article, website.id))
        assert ["is being built" in warning for warning in publication.warnings] == [True]

        if trouble == "too large":
            page, looks = b"<title>Hello world</title>" + b" " * 10_000_000, 1
        else:
            looks = 3
            await site.aclose()
        for _ in range(looks):
            assert publication.due_at is not None
            publication = await recheck(plugin, publication)

    (warning,) = publication.warnings
    assert warning.startswith("the page could not be checked: ")
    assert ("sends more than 10000000 bytes" in warning) == (trouble == "too large")
    assert (publication.status, publication.due_at, publication.verified["http_status"]) == ("published", None, None)


async def test_listing_terms_of_a_repository_is_refused_without_a_site_error(plugin: PluginContext, repo: Repo) -> None:
    credential = {"repository": "blog", "generator": "hugo"}
    website = await Websites(plugin).add(ADA, "git", name="B", url="http://127.0.0.1:1", credential=credential)
    with pytest.raises(InvalidInput, match="name them in tags and categories of create_content"):
        await Taxonomies(plugin).terms(ADA, website.id, "tag", "")
    assert (await Websites(plugin).get(ADA, website.id)).last_error == ""


HOSTILE = """Good words, *kept* and `<script>shown()</script>`.

<script>alert(1)</script>

Inline <img src="https://example.org/x.png" alt="x" onerror="alert(2)"> and [a link](javascript:alert(3)).

<form action="https://example.org/"><input name="password"><button>Send</button></form>

{::nomarkdown}\\<script>alert(4)</script>{:/}

*words*{:onclick="alert(5)"}

    <b>code</b>
"""


@pytest.mark.parametrize("generator", ["hugo", "jekyll", "astro"])
async def test_no_executable_content_is_committed(plugin: PluginContext, repo: Repo, generator: str) -> None:
    credential = {"repository": "blog", "generator": generator}
    website = await Websites(plugin).add(ADA, "git", name="B", url="http://127.0.0.1:1", credential=credential)
    article = await write(plugin, body=HOSTILE, featured_media_id="")

    publication = await ended(plugin, await Publications(plugin).publish(ADA, article, website.id))

    assert publication.status == "published", publication
    text = repo.show(publication.external_id)
    html = html_of_markdown(text.rpartition("---\n")[2])
    elements = LexborHTMLParser(html).css("script, form, input, [onerror], [onclick], [href^=javascript]")
    assert [node.html for node in elements] == []
    assert "Good words, *kept* and `<script>shown()</script>`." in text
    assert "alert(1)" not in text
    if generator == "jekyll":
        assert "{:" not in text.replace("{:/}", "")


@pytest.mark.parametrize("generator", ["hugo", "jekyll", "astro"])
async def test_safe_markdown_is_committed_unchanged(plugin: PluginContext, repo: Repo, generator: str) -> None:
    body = "One[^1].\n\n<!--more-->\n\n- [x] done\n\n| a |\n|:-:|\n| b |\n\n[^1]: Note.\n"
    credential = {"repository": "blog", "generator": generator}
    website = await Websites(plugin).add(ADA, "git", name="B", url="http://127.0.0.1:1", credential=credential)
    article = await write(plugin, body=body, featured_media_id="")
    publication = await ended(plugin, await Publications(plugin).publish(ADA, article, website.id))
    assert repo.show(publication.external_id).endswith(f"---\n\n{body}")


async def test_an_article_is_published_edited_on_the_site_and_taken_down(plugin: PluginContext, repo: Repo) -> None:
    credential = {"repository": "blog", "generator": "hugo"}
    website = await Websites(plugin).add(
        ADA, "git", name="Blog", url="http://127.0.0.1:1", credential=credential, finding=None
    )
    _, finding = await check_website(plugin, ADA, website.id)
    assert finding.ok, finding.checks
    article = await write(plugin)
    publication = await ended(plugin, await Publications(plugin).publish(ADA, article, website.id))
    assert (publication.status, publication.external_id) == ("published", "content/posts/hello-world.md"), publication
    assert not [
        warning for warning in publication.warnings if "dropped" in warning or "words of the body" in warning
    ], publication.warnings
    text = repo.show(publication.external_id)
    assert "draft: false" in text
    assert "library.example" not in text
    assert len(list(repo.folder.glob("static/images/*.png"))) == 1
    assert (await look(plugin, publication)).edited is False
    repo.edit(publication.external_id, text + "An editor's own words, which are many and not ours.\n")
    assert (await look(plugin, publication)).edited is True
    await Articles(plugin).update(ADA, article, expected_version=1, changes={"title": "Another title"})
    refused = await ended(plugin, await Publications(plugin).update(ADA, publication.id))
    assert "edited on the site" in refused.error
    forced = await ended(plugin, await Publications(plugin).update(ADA, publication.id, force=True))
    assert (forced.status, forced.error) == ("published", "")
    assert "title: Another title" in repo.show(publication.external_id)
    assert (await unpublish(plugin, ADA, publication.id, "draft")).publication.status == "unpublished"
    assert "draft: true" in repo.show(publication.external_id)
    assert (await unpublish(plugin, ADA, publication.id, "delete")).publication.external_id == ""
    assert publication.external_id not in repo.git("ls-tree", "-r", "--name-only", "HEAD")
