"""Bringing an article to a website, whatever is there already."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from pressroom.sdk import InvalidInput, PluginContext

from pressroom_content.articles.store import Articles
from pressroom_content.publishing.asking import BegunPublication, PublishRequest
from pressroom_content.publishing.known import check_original
from pressroom_content.publishing.posts import Manuscript, removals
from pressroom_content.publishing.publications import Publications
from pressroom_content.publishing.taking_down import cancel
from pressroom_content.publishing.terms import author_warnings
from pressroom_content.publishing.verifying import RemoteState, look
from pressroom_content.records import Article, Publication, Website

_LOOKED_AT: Final = ("published", "draft", "scheduled")


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a website would get. `known` is the post that is there; `warnings` are in words."""

    manuscript: Manuscript
    article: Article
    website: Website
    known: Publication | None
    warnings: tuple[str, ...]


async def dry_run(
    plugin: PluginContext, user_id: str, content_id: str, website_id: str, request: PublishRequest
) -> DryRun:
    """Return what `bring` would send. Nothing changes. Raises what `bring` does."""
    publications = Publications(plugin)
    known = await publications.of_pair(user_id, content_id, website_id)
    options = request.options
    if options is None:
        options = known.options if known is not None else {}
    canonical_url = ""
    if request.canonical_of is not None:
        canonical_url = await original_url(plugin, user_id, content_id, website_id, request.canonical_of)
    made, article, website = await publications.preview(user_id, content_id, website_id, options, canonical_url)
    warnings = [f"{website.name} cannot hold: {name}" for name in made.unsupported]
    warnings += removals(made.removed)
    warnings += made.warnings
    warnings += await author_warnings(plugin, website, made.post)
    return DryRun(made, article, website, known, tuple(warnings))


async def look_again(
    plugin: PluginContext, user_id: str, found: BegunPublication, request: PublishRequest
) -> tuple[BegunPublication, RemoteState | None]:
    """Look at a post for which nothing was to be done: it may have been edited or removed on its site.

    One that is not there any more, or not live, is brought back. Nothing else is sent.
    """
    known = found.publication
    if found.begun or found.repeated or known.status not in _LOOKED_AT:
        return found, None
    state = await look(plugin, known)
    if state.lost:
        again = PublishRequest(again=True, request_id=request.request_id)
        return await Publications(plugin).begin(user_id, known.article_id, known.website_id, again), None
    return BegunPublication(await Publications(plugin).get(user_id, known.id), begun=False, new=False), state


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
            if known.status == "unpublished" and known.external_id:  # somebody deleted it there: it is made anew
                request = replace(request, again=True)
            elif not known.external_id or (newest == known.article_version and as_it_was):
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
