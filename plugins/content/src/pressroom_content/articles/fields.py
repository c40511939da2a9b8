"""The fields of articles: normalisation, storage, body formats and slugs."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import Any, Final, Literal, Self

from pressroom.columns import as_id
from pressroom.sdk import Database, InvalidInput, NotFound, PluginContext
from sqlalchemy import ColumnElement, exists, func, select, true
from sqlalchemy.ext.asyncio import AsyncSession

from pressroom_content.contract.articles import MAX_SLUG_LENGTH, as_slug, cut, free_slugs, slug_of
from pressroom_content.records import Article, BodyFormat
from pressroom_content.rendering.from_html import text_of, to_markdown
from pressroom_content.rendering.sanitising import render
from pressroom_content.tables import ArticleRow, WebsiteRow

MEDIA_ID = re.compile(r"(?<![0-9A-Za-z])m_[0-9A-Za-z]{22}(?![0-9A-Za-z])", re.ASCII)
"""The ID of an image in a media library."""

_SPACES = re.compile(r"\s+")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*", re.ASCII)
_LINES: Final = ("title", "keyphrase", "meta_title", "author")
_TEXTS: Final = ("excerpt", "meta_description", "featured_alt")
_LISTS: Final = ("synonyms", "tags", "categories")


@dataclass(frozen=True, slots=True)
class Draft:
    """The content of an article: everything that a version stores. An empty `slug` is generated from the title."""

    title: str
    body: str
    body_format: BodyFormat = "markdown"
    website_id: str | None = None
    slug: str = ""
    excerpt: str = ""
    keyphrase: str = ""
    synonyms: tuple[str, ...] = ()
    meta_title: str = ""
    meta_description: str = ""
    tags: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    language: str = ""
    canonical_url: str = ""
    author: str = ""
    featured_media_id: str = ""
    featured_alt: str = ""

    @classmethod
    def of(cls, article: Article) -> Self:
        """Return the content of an article."""
        return cls(**{name: getattr(article, name) for name in FIELDS})

    @classmethod
    def of_version(cls, stored: Mapping[str, Any], body: str) -> Self:
        """Return the content of a stored version. Fields that it lacks have their defaults."""
        known = {name: value for name, value in stored.items() if name in FIELDS}
        return cls(**{**known, **{name: tuple(known.get(name, ())) for name in _LISTS}, "body": body})

    def with_changes(self, changes: Mapping[str, Any]) -> Draft:
        """Return the draft with some fields changed and normalised.

        Raises:
            InvalidInput: a field is invalid; its path is the field's name.
        """
        return replace(self, **dict(_normalised(changes)))

    def normalised(self) -> Draft:
        """Return the draft with all fields normalised. Raises `InvalidInput`."""
        return self.with_changes({name: getattr(self, name) for name in FIELDS})

    def stored(self) -> dict[str, Any]:
        """Return all fields except the body as JSON values."""
        values = {name: getattr(self, name) for name in FIELDS if name != "body"}
        return {**values, **{name: list(values[name]) for name in _LISTS}}

    def body_size(self) -> int:
        """Return the stored size of the body in bytes."""
        return len(self.body.encode("utf-8", "replace"))

    def size(self) -> int:
        """Return the stored size of a version with this content in bytes."""
        return self.body_size() + len(json.dumps(self.stored()))

    def columns(self) -> dict[str, Any]:
        """Return the values of the columns of an article row."""
        return {**self.stored(), "body": self.body, "slug_scope": self.website_id or ""}

    def changed_from(self, other: Draft) -> tuple[str, ...]:
        """Return the names of the fields that differ."""
        return tuple(name for name in FIELDS if getattr(self, name) != getattr(other, name))


FIELDS: Final = tuple(field.name for field in fields(Draft))
"""The names of the article fields that users write."""


def article_of(row: ArticleRow) -> Article:
    """Return the record of an article row."""
    values: dict[str, Any] = {name: getattr(row, name) for name in FIELDS}
    return Article(
        id=row.id,
        user_id=row.user_id,
        status=row.status,  # type: ignore[arg-type]
        version=row.version,
        word_count=row.word_count,
        score=row.score,
        created_at=row.created_at,
        updated_at=row.updated_at,
        published_at=row.published_at,
        trashed_at=row.trashed_at,
        **{**values, **{name: tuple(values[name]) for name in _LISTS}},
    )


def media_ids_of(article: Article) -> Collection[str]:
    """Return the IDs that may refer to images of an article, without duplicates, the featured image first."""
    return dict.fromkeys(filter(None, [article.featured_media_id, *MEDIA_ID.findall(article.body)])).keys()


def _normalised(changes: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in changes.items():
        if name in _LINES:
            yield name, _SPACES.sub(" ", value).strip()
        elif name in _TEXTS:
            yield name, value.strip()
        elif name in _LISTS:
            lines = (_SPACES.sub(" ", line).strip() for line in value)
            yield name, tuple(dict.fromkeys(line for line in lines if line))
        elif name == "slug":
            yield name, _slug(value)
        elif name == "language":
            yield name, _language(value)
        elif name == "canonical_url":
            yield name, _address(value)
        else:
            yield name, value
    if "title" in changes and not changes["title"].strip():
        raise InvalidInput("title", "must not be empty")


def _slug(text: str) -> str:
    if not text.strip():
        return ""
    slug = cut(as_slug(text), MAX_SLUG_LENGTH)
    if not slug:
        raise InvalidInput("slug", "must contain letters or digits; leave it out to have it made from the title")
    return slug


def _language(tag: str) -> str:
    tag = tag.strip().replace("_", "-")
    if tag and not _LANGUAGE.fullmatch(tag):
        raise InvalidInput("language", "must be a language tag such as en, de-CH or pt-BR (BCP 47)")
    return tag


def _address(url: str) -> str:
    url = url.strip()
    if url and not re.fullmatch(r"https?://[^\s/?#<>\"'\\]+[^\s<>\"'\\]*", url):
        raise InvalidInput("canonical_url", "must be a full URL that begins with https:// or http://")
    return url


Form = Literal["markdown", "html", "text"]


def body_as(article: Article, form: Form) -> str:
    """Return a body in a form: unchanged if it is stored in that form, otherwise converted and sanitised.

    Conversion takes about a second per megabyte: use `read_as` in a server. Raises `InvalidInput`.
    """
    if form == article.body_format:
        return article.body
    if form == "markdown":
        return to_markdown(article.body)
    html = render(article.body, article.body_format).html
    return html if form == "html" else text_of(html)


async def read_as(plugin: PluginContext, article: Article, form: Form) -> str:
    """Return a body in a form, converted in a worker process if necessary. Raises `CallError`."""
    if form == article.body_format:
        return article.body
    return await plugin.services.workers.run(body_as, article, form, owner=article.user_id, what="the article")


_AT_ONCE: Final = 50
_MAX_NUMBER: Final = 25_000


async def slug_for(database: Database, draft: Draft) -> str:
    """Return the slug that a new article gets if it is free: the draft's, or one generated from its title.

    A title without a language is assumed to be in the language of its website.
    """
    if draft.slug:
        return draft.slug
    language = draft.language
    if not language and draft.website_id is not None:
        settings = select(WebsiteRow.settings).where(WebsiteRow.id == as_id(draft.website_id))
        async with database.reading() as session:
            language = str((await session.scalar(settings) or {}).get("language", ""))
    return slug_of(draft.title, language=language)


async def available_slug(session: AsyncSession, user_id: str, draft: Draft, max_articles: int) -> str:
    """Return the slug of a new article: the draft's, with a number at its end if another article has it.

    Raises:
        InvalidInput: the account already has `max_articles` articles, or all numbers are taken.
        NotFound: the account has not connected the website.
    """
    slug, is_owned = next(free_slugs(draft.slug)), ArticleRow.user_id == user_id
    connected = true() if draft.website_id is None else _is_connected(user_id, draft.website_id)
    slug_exists = exists().where(is_owned, ArticleRow.slug_scope == (draft.website_id or ""), ArticleRow.slug == slug)
    count = select(func.count()).select_from(ArticleRow).where(is_owned).scalar_subquery()
    number, is_connected, is_taken = (await session.execute(select(count, connected, slug_exists))).one()
    if number >= max_articles:
        raise InvalidInput("", f"this account has {number:,} articles, the maximum; delete some that are not needed")
    if draft.website_id is not None and not is_connected:
        raise _no_website(draft.website_id)
    return await _free_slug(session, user_id, draft.website_id, slug) if is_taken else slug


async def check_website(session: AsyncSession, user_id: str, website_id: str | None) -> None:
    """Raise `NotFound` if the account has not connected a website."""
    if website_id is not None and not await session.scalar(select(_is_connected(user_id, website_id))):
        raise _no_website(website_id)


def _is_connected(user_id: str, website_id: str) -> ColumnElement[bool]:
    return exists().where(
        WebsiteRow.id == as_id(website_id), WebsiteRow.user_id == user_id, WebsiteRow.disconnected_at.is_(None)
    )


def _no_website(website_id: str) -> NotFound:
    return NotFound(f"this account has no website {website_id[:40]!r}; list_websites shows the ones it has")


async def explicit_slug(session: AsyncSession, user_id: str, content_id: str, draft: Draft) -> None:
    """Raise `InvalidInput` if another article has the slug on that website. The message contains a free one."""
    taken = await _taken(session, user_id, draft.website_id, [draft.slug])
    holder = taken.get(draft.slug, content_id)
    if holder != content_id:
        free = await _free_slug(session, user_id, draft.website_id, draft.slug)
        raise InvalidInput("fields.slug", f"{draft.slug} is taken by the article {holder}; {free} is free")


async def _free_slug(session: AsyncSession, user_id: str, website_id: str | None, slug: str) -> str:
    """Return a free slug that consists of a taken one and a number. Raises `InvalidInput`."""
    numbered = islice(free_slugs(slug), 1, 1 + _MAX_NUMBER)
    while batch := list(islice(numbered, _AT_ONCE)):
        taken = await _taken(session, user_id, website_id, batch)
        for candidate in batch:
            if candidate not in taken:
                return candidate
    raise InvalidInput("slug", "is taken, with every number at its end; choose another one")


async def _taken(session: AsyncSession, user_id: str, website_id: str | None, slugs: list[str]) -> dict[str, str]:
    statement = select(ArticleRow.slug, ArticleRow.id).where(
        ArticleRow.user_id == user_id, ArticleRow.slug_scope == (website_id or ""), ArticleRow.slug.in_(slugs)
    )
    return {row.slug: row.id for row in await session.execute(statement)}
