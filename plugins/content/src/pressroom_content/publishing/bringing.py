"""Bringing an article to a website, whatever is there already."""

from __future__ import annotations

from pressroom.sdk import InvalidInput, PluginContext

from pressroom_content.articles.store import Articles
from pressroom_content.publishing.asking import BegunPublication, PublishRequest
from pressroom_content.publishing.originals import check_original
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.taking_down import cancel


async def bring(
    plugin: PluginContext, user_id: str, content_id: str, website_id: str, request: PublishRequest
) -> BegunPublication:
    """Begin what is asked for. A scheduled post that is to be a draft is cancelled on its site before anything else.

    Raises:
        NotFound: the account has no such article, website or original.
        InvalidInput: it cannot be done so; the message says why.
        ControlNotProven: the website of the original is not proven to control its URL.
        SiteError: the site, which was to publish it at a time, did not cancel that.
    """
    publications = Publications(plugin)
    if request.canonical_of is not None:
        await original_url(plugin, user_id, content_id, website_id, request.canonical_of)
    if request.mode == "draft":
        known = await publications.of_pair(user_id, content_id, website_id)
        if known is not None and known.status == "scheduled":
            known = await cancel(plugin, user_id, known.id)
            newest = (await Articles(plugin).get(user_id, content_id)).version
            as_it_was = request.options is None and request.canonical_of is None
            if not known.external_id or (newest == known.article_version and as_it_was):
                return BegunPublication(known, begun=True, new=False)
    return await publications.begin(user_id, content_id, website_id, request)


async def original_url(
    plugin: PluginContext, user_id: str, content_id: str, website_id: str, publication_id: str
) -> str:
    """Return the URL of the publication that a copy is to name as its original. Raises what `bring` does."""
    original = await Publications(plugin).get(user_id, publication_id)
    if original.status != "published" or not original.url:
        raise InvalidInput(
            "canonical_publication_id",
            f"is {original.status}; the original has to be live first: bring it live with publish_content",
        )
    if original.article_id != content_id:
        raise InvalidInput(
            "canonical_publication_id",
            "is a publication of another article; list_publications with content_id shows those of this one",
        )
    if original.website_id == website_id:
        raise InvalidInput("canonical_publication_id", "is on this very website; leave it out to update the original")
    await check_original(plugin, user_id, original.website_id, original.url)
    return original.url
