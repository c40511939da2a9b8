"""Adopting existing posts: they are changed and merged, and untouched parts stay byte for byte."""

from __future__ import annotations

import asyncio
from typing import Literal

import pytest
from pressroom.sdk import InvalidInput, NotFound, PluginContext
from pressroom_content.articles.store import Articles
from pressroom_content.contract import RemotePost
from pressroom_content.publishing.adopting import AdoptedPost, adopt
from pressroom_content.publishing.operations import unpublish
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.site_edits import merge_edits
from pressroom_content.publishing.verifying import look
from pressroom_content.tables import PageRow
from pressroom_content.websites.store import Websites
from pressroom_content.websites.sync import keep
from sqlalchemy import select
from support.publishing_world import ADA, connect, write
from support.standin_platform import StandInPlatform

from .taken_over import RAW, Blog, blog_on, written

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_adopting_a_post_sends_nothing(plugin: PluginContext, platform: StandInPlatform) -> None:
    blog = await blog_on(plugin, platform)
    before = dict(blog.post)
    adopted = await blog.adopted()
    article = adopted.article
    assert (article.title, article.slug, article.tags) == ("An old post", "old-post", ("news",))
    assert (article.meta_description, article.categories) == ("Old.", ("Engineering",))
    assert article.body.startswith("One\n\n<!-- block:")
    assert adopted.block_names == ("gallery", "form")
    publication = await blog.publish(article.id)
    assert (publication.id, publication.status, publication.external_id) == (adopted.publication_id, "published", "old")
    assert publication.url == f"{platform.url}/old-post"
    assert (await Articles(plugin).get(ADA, article.id)).status == "published"
    assert (blog.post, blog.puts()) == (before, 0)


async def test_only_changes_are_sent(plugin: PluginContext, platform: StandInPlatform) -> None:
    blog = await blog_on(plugin, platform)
    adopted = await blog.adopted()
    await blog.replaced(adopted.article.id, "Two words.", "Two **better** words.")
    publication = await blog.publish(adopted.article.id)
    assert (publication.status, publication.external_id, publication.error) == ("published", "old", "")
    assert blog.post["html"] == RAW.replace(
        "<p>Two words.</p>", "<!-- made here --><p>Two <strong>better</strong> words.</p>"
    ).replace("<p>Three", "<p>Three\n\n")
    names = ("title", "slug", "tags", "featured", "state", "comments", "marker")
    assert {name: blog.post[name] for name in names} == {
        "title": "An old post", "slug": "old-post", "tags": ["news"], "state": "live", "comments": 4, "marker": "",
        "featured": "https://library.example/there.png",
    }  # fmt: skip
    assert len(platform.posts) == 1


async def test_a_field_changed_and_changed_back_is_sent_twice(plugin: PluginContext, platform: StandInPlatform) -> None:
    blog = await blog_on(plugin, platform)
    adopted = await blog.adopted()
    for title in ("Another title", "An old post"):
        await blog.change(adopted.article.id, title=title)
        assert (await blog.publish(adopted.article.id)).status == "published"
        assert blog.post["title"] == title
    assert (blog.post["html"], blog.post["excerpt"]) == (RAW, "")


async def test_one_post_is_bound_to_one_article(plugin: PluginContext, platform: StandInPlatform) -> None:
    blog = await blog_on(plugin, platform)
    results = await asyncio.gather(*(blog.adopted() for _ in range(4)), return_exceptions=True)
    adopted = [result for result in results if isinstance(result, AdoptedPost)]
    errors = [result for result in results if not isinstance(result, AdoptedPost)]
    assert len({post.article.id for post in adopted}) == 1
    assert all(isinstance(error, InvalidInput) for error in errors)
    assert (await blog.adopted()).update is None
    article = await write(plugin, title="Ours", slug="ours", featured_media_id="")
    publication = await blog.publish(article)
    assert (await blog.adopted(publication.url.rpartition("/")[2])).article.id == article
    assert publication.status == "published"


async def test_a_url_unknown_to_the_site_is_not_adopted(plugin: PluginContext, platform: StandInPlatform) -> None:
    blog = await blog_on(plugin, platform)
    assert await adopt(plugin, ADA, blog.website, f"{platform.url}/elsewhere") is None
    with pytest.raises(NotFound):
        await adopt(plugin, "u_eve", blog.website, f"{platform.url}/old-post")
    plain = await connect(plugin, platform.url, platform.token)
    assert await adopt(plugin, ADA, plain, f"{platform.url}/old-post") is None


@pytest.mark.parametrize("state", ["draft", "scheduled"])
async def test_a_post_that_is_not_live_keeps_its_state(
    plugin: PluginContext, platform: StandInPlatform, state: str
) -> None:
    blog = await blog_on(plugin, platform)
    at = "2099-01-02T03:04:05+00:00" if state == "scheduled" else None
    blog.post.update(state=state, at=at)
    adopted = await blog.adopted()
    known = await Publications(plugin).get(ADA, adopted.publication_id)
    assert known.status == state
    await blog.change(adopted.article.id, title="A better title")
    publication = await blog.publish(adopted.article.id)
    assert (publication.status, blog.post["title"]) == (state, "A better title")
    assert blog.post["state"] != "live"


@pytest.mark.parametrize("down", ["trash", "draft"])
async def test_an_unpublished_post_is_a_draft_where_a_draft_is_requested(
    plugin: PluginContext, platform: StandInPlatform, down: Literal["trash", "draft"]
) -> None:
    blog = await blog_on(plugin, platform)
    adopted = await blog.adopted()
    await unpublish(plugin, ADA, adopted.publication_id, down)
    publication = await blog.publish(adopted.article.id, mode="draft")
    assert (publication.status, blog.post["state"], publication.warnings) == ("draft", "draft", ())


async def test_a_post_trashed_by_its_owner_stays_in_the_trash(plugin: PluginContext, platform: StandInPlatform) -> None:
    blog = await blog_on(plugin, platform)
    adopted = await blog.adopted()
    await blog.change(adopted.article.id, title="A better title")
    blog.post.update(state="trashed")
    publication = await blog.publish(adopted.article.id)
    assert "to the trash of its site; nothing was written" in publication.error
    assert (blog.post["state"], blog.post["title"]) == ("trashed", "An old post")
    publication = await blog.publish(adopted.article.id, force=True)
    assert (publication.status, publication.error, blog.post["state"]) == ("published", "", "live")
    assert [warning for warning in publication.warnings if "somebody had moved the post to the trash" in warning]


@pytest.mark.parametrize("down", ["trash", "draft"])
async def test_a_post_unpublished_here_is_republished_without_a_warning(
    plugin: PluginContext, platform: StandInPlatform, down: Literal["trash", "draft"]
) -> None:
    blog = await blog_on(plugin, platform)
    adopted = await blog.adopted()
    await blog.change(adopted.article.id, title="A better title")
    await unpublish(plugin, ADA, adopted.publication_id, down)
    publication = await blog.publish(adopted.article.id)
    assert (publication.status, blog.post["state"], blog.post["title"]) == ("published", "live", "A better title")
    assert not [warning for warning in publication.warnings if "trash" in warning]

    blog.post.update(state="trashed")
    await blog.change(adopted.article.id, title="The best title")
    assert "to the trash of its site" in (await blog.publish(adopted.article.id)).error


async def test_a_post_of_ours_trashed_by_its_owner_is_republished_with_a_warning(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    blog = await blog_on(plugin, platform)
    article = await write(plugin, slug="ours", featured_media_id="")
    post = platform.posts[(await blog.publish(article)).external_id]
    post.update(state="trashed", revision=post["revision"] + 1)
    await blog.change(article, title="A better title")
    publication = await blog.publish(article)
    assert (publication.status, publication.error, post["state"]) == ("published", "", "live")
    assert [warning for warning in publication.warnings if "somebody had moved the post to the trash" in warning]


async def test_a_draft_that_its_owner_published_is_reported_with_a_warning(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    blog = await blog_on(plugin, platform)
    blog.post.update(state="draft")
    adopted = await blog.adopted()
    blog.post.update(state="live")
    state = await look(plugin, await Publications(plugin).get(ADA, adopted.publication_id))
    assert state.drift == ("the post is live on the site, although it is a draft here",)
    await blog.change(adopted.article.id, title="A better title")
    publication = await blog.publish(adopted.article.id)
    assert [warning for warning in publication.warnings if "it is live there" in warning]
    assert blog.post["state"] == "live"


async def test_an_edit_on_the_site_is_merged(plugin: PluginContext, platform: StandInPlatform) -> None:
    blog = await blog_on(plugin, platform)
    adopted = await blog.adopted()
    content_id, publication_id = adopted.article.id, adopted.publication_id
    await blog.replaced(content_id, "Two words.", "Two better words.")
    platform.edit("old", html=RAW.replace("One", "Uno").replace("[form 7]", "[form 8]"), title="A new title")
    publication = await blog.publish(content_id)
    assert "the body now says 'Uno'" in publication.error
    assert (publication.status, blog.puts()) == ("published", 0)
    preview = await merge_edits(plugin, ADA, publication_id, {}, dry_run=True)
    assert (preview.edited, preview.update, preview.conflicts) == (True, None, ())
    assert "-One\n+Uno" in preview.diff
    assert preview.fields == {"title": "A new title"}
    merged = await merge_edits(plugin, ADA, publication_id, {})
    assert merged.update is not None
    assert merged.update.article.title == "A new title"
    second = await merge_edits(plugin, ADA, publication_id, {})
    assert (second.edited, second.update) == (False, None)
    publication = await blog.publish(content_id)
    assert (publication.status, publication.error) == ("published", "")
    assert blog.post["title"] == "A new title"
    assert blog.post["html"].startswith(
        '<p style="color:red">Uno</p>\n\n[gallery 1, 2]\n\n<!-- made here --><p>Two better'
    )
    assert "[form 8]" in blog.post["html"]


async def test_changes_on_both_sides_need_a_decision(plugin: PluginContext, platform: StandInPlatform) -> None:
    blog = await blog_on(plugin, platform)
    adopted = await blog.adopted()
    content_id, publication_id = adopted.article.id, adopted.publication_id
    await blog.replaced(content_id, "Two words.", "Two better words.")
    await blog.change(content_id, title="Mine")
    platform.edit("old", html=RAW.replace("Two words.", "Two other words."), title="Theirs")
    merged = await merge_edits(plugin, ADA, publication_id, {})
    assert [(conflict.article.strip(), conflict.site.strip()) for conflict in merged.conflicts] == [
        ("Two better words.", "Two other words.")
    ]
    assert [
        (conflict.name, conflict.before, conflict.article, conflict.site) for conflict in merged.field_conflicts
    ] == [("title", "An old post", "Mine", "Theirs")]
    assert merged.update is None
    assert (await merge_edits(plugin, ADA, publication_id, {"1": "site"})).update is None
    decided = await merge_edits(plugin, ADA, publication_id, {"1": "site", "title": "article"})
    assert decided.update is not None
    assert (await blog.publish(content_id)).error == ""
    assert (blog.post["title"], blog.post["html"]) == ("Mine", RAW.replace("Two words.", "Two other words."))


async def test_edits_of_a_post_created_here_are_also_merged(plugin: PluginContext, platform: StandInPlatform) -> None:
    blog = await blog_on(plugin, platform)
    content_id = await write(plugin, title="Ours", slug="ours", body="One.\n\nTwo.\n\nThree.\n", featured_media_id="")
    publication = await blog.publish(content_id)
    identifier = publication.external_id
    sent = platform.posts[identifier]["html"]
    platform.edit(identifier, html=sent.replace("One.", "Uno.") + "[poll 3]\n\n")
    await blog.replaced(content_id, "Three.", "Tre.")
    assert "[poll 3]" in (await blog.publish(content_id)).error
    assert (await merge_edits(plugin, ADA, publication.id, {})).update is not None
    assert (await blog.publish(content_id)).error == ""
    html = platform.posts[identifier]["html"]
    assert ("Uno." in html, "Tre." in html, html.endswith("[poll 3]\n\n")) == (True, True, True)


async def test_force_overwrites_an_edit(plugin: PluginContext, platform: StandInPlatform) -> None:
    blog = await blog_on(plugin, platform)
    adopted = await blog.adopted()
    platform.edit("old", html="<p>Vandals</p>")
    await blog.change(adopted.article.id, title="Back")
    publication = await blog.publish(adopted.article.id, force=True)
    assert (publication.error, blog.post["html"], blog.post["title"]) == ("", RAW, "Back")


@pytest.mark.parametrize("arrives", [False, True])
async def test_a_lost_response_is_not_mistaken_for_an_edit_made_there_meanwhile(
    plugin: PluginContext, platform: StandInPlatform, *, arrives: bool
) -> None:
    blog = await blog_on(plugin, platform)
    written(platform, html=f"{RAW}</p>\n\n<p>The end.</p>")
    adopted = await blog.adopted()
    await blog.replaced(adopted.article.id, "Two words.", "Two better words.")

    def edit() -> None:
        platform.edit("old", html=blog.post["html"].replace("The end.", "Their end."))

    platform.fault("PUT /api/posts/old", when="after" if arrives else "before", act=edit)
    publication = await blog.publish(adopted.article.id)
    if not arrives:
        assert "Their end." in publication.error
        assert "Two better words." not in blog.post["html"]
        assert (await merge_edits(plugin, ADA, adopted.publication_id, {})).update is not None
        publication = await blog.publish(adopted.article.id)
    assert (publication.status, publication.error) == ("published", "")
    assert ("Two better words." in blog.post["html"], "Their end." in blog.post["html"]) == (True, True)


async def test_blocks_removed_from_the_article_cause_a_warning(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    blog = await blog_on(plugin, platform)
    adopted = await blog.adopted()
    await blog.change(adopted.article.id, body="All new.")
    publication = await blog.publish(adopted.article.id)
    assert [warning for warning in publication.warnings if "gallery" in warning]
    assert [warning for warning in publication.warnings if "form" in warning]


async def test_a_post_deleted_on_the_site_is_recreated_only_on_request(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    blog = await blog_on(plugin, platform)
    adopted = await blog.adopted()
    del platform.posts["old"]
    await blog.change(adopted.article.id, title="Again")
    publication = await blog.publish(adopted.article.id)
    assert publication.status == "failed"
    assert "no longer on the site" in publication.error
    assert platform.posts == {}
    publication = await blog.publish(adopted.article.id, force=True)
    assert (publication.status, publication.error) == ("published", "")
    post = platform.posts[publication.external_id]
    assert (post["title"], post["html"], post["tags"]) == ("Again", RAW, ["news"])
    assert [len(post["term_ids"][kind]) for kind in ("tag", "category")] == [1, 1]
    assert [warning for warning in publication.warnings if "created again" in warning]
    assert post["marker"] != ""


async def test_a_restricted_post_does_not_become_public(plugin: PluginContext, platform: StandInPlatform) -> None:
    blog = await blog_on(plugin, platform)
    platform.posts["old"]["audience"] = "members"
    adopted = await blog.adopted()
    del platform.posts["old"]
    for _ in range(2):
        publication = await blog.publish(adopted.article.id, force=True)
        assert publication.status == "failed"
        assert "was not for everybody (members)" in publication.error
    assert platform.posts == {}
    await unpublish(plugin, ADA, adopted.publication_id, "delete")
    publication = await blog.publish(adopted.article.id)
    assert (publication.status, len(platform.posts)) == ("published", 1)


async def test_another_post_with_the_same_id_is_never_overwritten(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    blog = await blog_on(plugin, platform)
    adopted = await blog.adopted()
    written(platform, title="A recipe", slug="recipe", html="<p>Flour and water.</p>")
    await blog.change(adopted.article.id, title="Mine")
    for force in (False, True):
        publication = await blog.publish(adopted.article.id, force=force)
        assert publication.status == "failed"
        assert "another one by now ('A recipe')" in publication.error
    assert (blog.post["title"], blog.puts()) == ("A recipe", 0)


async def test_an_unpublished_post_can_be_adopted_again(plugin: PluginContext, platform: StandInPlatform) -> None:
    blog = await blog_on(plugin, platform)
    adopted = await blog.adopted()
    await unpublish(plugin, ADA, adopted.publication_id, "delete")
    assert platform.posts == {}
    written(platform)
    second = await blog.adopted()
    assert second.article.id != adopted.article.id


async def test_an_article_does_not_compete_with_its_own_page(plugin: PluginContext, platform: StandInPlatform) -> None:
    blog = await blog_on(plugin, platform)
    website = await Websites(plugin).get(ADA, blog.website)
    page = RemotePost("old", f"{platform.url}/old-post", "live", "3", html=RAW, fields={"title": "An old post"})
    assert await keep(plugin, website, page) == "new"
    adopted = await blog.adopted()
    async with plugin.services.database.reading() as session:
        rows = await session.execute(select(PageRow.article_id).where(PageRow.website_id == blog.website))
    assert [row.article_id for row in rows] == [adopted.article.id]


async def test_without_adoption_support_our_own_posts_are_recognised_by_url(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    written(platform)
    blog = Blog(plugin, platform, await connect(plugin, platform.url, platform.token))
    content_id = await write(plugin, slug="ours", featured_media_id="")
    publication = await blog.publish(content_id)
    for url in (publication.url, f"{publication.url}/", f"{publication.url}#part"):
        adopted = await adopt(plugin, ADA, blog.website, url)
        assert adopted is not None
        assert (adopted.article.id, adopted.publication_id, adopted.update) == (content_id, publication.id, None)
    other = await connect(plugin, platform.url, platform.token)
    assert await adopt(plugin, ADA, other, publication.url) is None
    assert await adopt(plugin, ADA, blog.website, f"{publication.url}?p=7") is None
    await unpublish(plugin, ADA, publication.id, "trash")
    assert await adopt(plugin, ADA, blog.website, publication.url) is None


async def test_another_post_at_the_url_of_a_deleted_one_is_adopted(
    plugin: PluginContext, platform: StandInPlatform
) -> None:
    blog = await blog_on(plugin, platform)
    content_id = await write(plugin, slug="replaced", featured_media_id="")
    publication = await blog.publish(content_id)
    assert (await blog.adopted("replaced")).article.id == content_id
    del platform.posts[publication.external_id]
    assert (await blog.adopted("replaced")).article.id == content_id
    blog.post["slug"] = "replaced"
    adopted = await blog.adopted("replaced")
    assert (adopted.update is not None, adopted.article.title) == (True, "An old post")
