"""Bringing what was edited in a post on its website into the article, so that publishing overwrites nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from pressroom.sdk import InvalidInput, PluginContext
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.articles.fields import Draft
from pressroom_content.articles.store import Articles, ArticleUpdate
from pressroom_content.contract import BlockSite, Post, RemotePost
from pressroom_content.publishing.bodies import SiteBody, read_body, with_known_texts
from pressroom_content.publishing.compared import compared
from pressroom_content.publishing.comparing import is_as_it_was, seen_of
from pressroom_content.publishing.known import KnownBody, can_be_kept, known_body, remember_body, shown_fields
from pressroom_content.publishing.merging import MergeConflict, MergedBody, Side, diff_of, merge
from pressroom_content.publishing.posts import capabilities_of, fields_of, sent_fields
from pressroom_content.publishing.store import record, shortened
from pressroom_content.publishing.taking_down import changing
from pressroom_content.records import Article, Publication, Website
from pressroom_content.rendering.pieces import pieces_of
from pressroom_content.websites import settings as site_settings
from pressroom_content.websites.connectors import connector_of
from pressroom_content.websites.store import Websites

_FIELDS: Final = (
    "title", "slug", "excerpt", "meta_title", "meta_description", "canonical_url", "tags", "categories",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FieldConflict:
    """A field that was changed on both sides."""

    name: str
    before: str
    article: str
    site: str


@dataclass(frozen=True, slots=True)
class SiteEdits:
    """What was edited on a website, and the outcome.

    `diff` is a unified diff of the body's markdown, `fields` the new values of other fields. `made` is the article's
    new version; it is `None` while there are conflicts that nobody decided, for a dry run, and where nothing was edited
    or the article has it already.
    """

    publication: Publication
    edited: bool
    diff: str = ""
    fields: Mapping[str, Any] | None = None
    conflicts: tuple[MergeConflict, ...] = ()
    field_conflicts: tuple[FieldConflict, ...] = ()
    made: ArticleUpdate | None = None


@dataclass(frozen=True, slots=True)
class _FieldMerge:
    changes: Mapping[str, Any]
    edited: Mapping[str, Any]
    conflicts: tuple[FieldConflict, ...]


async def merge_edits(
    plugin: PluginContext,
    user_id: str,
    publication_id: str,
    choices: Mapping[str, Side],
    *,
    dry_run: bool = False,
    origin: str = "",
) -> SiteEdits:
    """Write a new version of an article with what was edited in its post on the website. Safe to repeat.

    `choices` says whose text is taken of conflicts, by their numbers, and of fields, by their names. Nothing is
    written while any is missing, and nothing is written to the website at all.

    Raises:
        NotFound: the account has no such publication.
        InvalidInput: it is being worked on, is not on its website, or its platform's bodies cannot be merged.
        SiteError: the website could not be asked.
    """
    async with changing(plugin, user_id, publication_id) as held:
        row = held.row
        website = await Websites(plugin).get(user_id, row.website_id)
        _, site = await Websites(plugin).open(user_id, row.website_id)
        async with plugin.services.database.reading() as session:
            known = await known_body(session, row.id)
        if not isinstance(site, BlockSite) or not row.external_id or known is None:
            raise InvalidInput(
                "publication_id",
                "has no body on its website that could be merged; publish_content says what was edited there, and "
                "force writes over it",
            )
        remote = await site.read(row.external_id)
        publication = record(row)
        if await compared(plugin, is_as_it_was, remote, row.sent_hash):
            return SiteEdits(publication, edited=False)
        if not can_be_kept(remote.raw):
            raise InvalidInput("publication_id", "has a body on its website by now that cannot be kept: it is too long")
        article = await Articles(plugin).get(user_id, row.article_id)
        run = plugin.services.workers.run
        numbers = {int(name): side for name, side in choices.items() if name.isdecimal() and len(name) < 9}
        merged, now, diff = await run(
            _merged, known.body, remote.raw, site.codec, article, numbers, owner=user_id, what="the post"
        )
        fields = _merged_fields(known, remote, _post(plugin, website, article, row.options or {}), choices)
        found = SiteEdits(publication, True, diff, fields.edited, merged.conflicts, fields.conflicts)
        if found.conflicts or found.field_conflicts or dry_run:
            return found
        body = {"body": merged.text, "body_format": "markdown"} if remote.raw != known.body.raw else {}
        draft = Draft.of(article).with_changes({**fields.changes, **body})
        made = await Articles(plugin).write(article, draft, origin=origin)
        seen, digest = await compared(plugin, seen_of, remote)
        for name, detail in (("read_back", {"seen": seen}), ("draft", {"post_hash": ""})):
            held.note(name, held.steps[name].state, {**held.steps[name].detail, **detail})
        now_sent = sent_fields(_post(plugin, website, made.article, row.options or {}), "")
        sent = {**known.sent, **{name: now_sent[name] for name in fields.edited if choices.get(name) != "article"}}

        async def remember(session: AsyncSession) -> None:
            await remember_body(session, row.id, now, remote, sent)

        await held.save(remember, revision=shortened(remote.revision), sent_hash=digest, error="")
        return replace(found, made=made)


def _merged(
    known: SiteBody, raw: str, codec: Any, article: Article, choices: Mapping[int, Side]
) -> tuple[MergedBody, SiteBody, str]:
    now = with_known_texts(known, read_body(raw, codec))
    pieces = pieces_of(article.body, article.body_format)
    return merge(known, now, pieces, choices), now, diff_of(known, now)


def _post(plugin: PluginContext, website: Website, article: Article, options: Mapping[str, Any]) -> Post:
    able = capabilities_of(website, connector_of(plugin, website.platform))
    return fields_of(article, site_settings.read(website.settings), able, options)


def _merged_fields(known: KnownBody, remote: RemotePost, post: Post, choices: Mapping[str, Side]) -> _FieldMerge:
    changes: dict[str, Any] = {}
    edited: dict[str, Any] = {}
    conflicts = []
    shown, mine = shown_fields(remote), sent_fields(post, "")
    for name in _FIELDS:
        if name not in shown or name not in known.fields or shown[name] == known.fields[name]:
            continue
        edited[name] = shown[name]
        if mine[name] == shown[name]:
            continue
        chosen = choices.get(name)
        if mine[name] != known.sent.get(name) and chosen is None:
            texts = (_text(one) for one in (known.fields[name], mine[name], shown[name]))
            conflicts.append(FieldConflict(name, *texts))
        elif chosen != "article":
            changes[name] = tuple(shown[name]) if isinstance(shown[name], list) else shown[name]
    return _FieldMerge(changes, edited, tuple(conflicts))


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
