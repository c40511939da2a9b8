"""Article exports: Markdown with front matter, JSON, and WordPress eXtended RSS."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal
from xml.sax.saxutils import escape, quoteattr

from pressroom.columns import as_id, hash_of, new_secret
from pressroom.sdk import Database, HttpRequest, HttpResponse, InvalidInput, NotFound, PluginContext, Route
from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite

from pressroom_content.articles.fields import FIELDS, article_of, body_as
from pressroom_content.contract.articles import as_slug, free_slugs
from pressroom_content.records import Article
from pressroom_content.tables import ArticleRow, ExportRow
from pressroom_content.websites.store import Websites

Format = Literal["markdown", "json", "wxr"]

PATH: Final = "/content/exports"
LIFETIME: Final = timedelta(hours=1)
MAX_ARTICLES: Final = 2_000
MAX_BYTES: Final = 33_554_432
"""Maximum total size of the bodies in an export, in bytes."""

_BATCH: Final = 100
_LISTS: Final = ("tags", "categories", "synonyms")


@dataclass(frozen=True, slots=True)
class Export:
    """An export file. Anyone with `url` can download it until `expires_at`."""

    url: str
    expires_at: datetime
    items: int


async def export(
    plugin: PluginContext, user_id: str, form: Format, *, website_id: str | None, content_ids: Sequence[str] | None
) -> Export:
    """Create a file of articles: the listed ones, those of a website, or all that are not in the trash.

    It replaces the account's earlier export in the same format, whose link stops working.

    Raises:
        InvalidInput: the articles are too many or too large for one file, nothing is selected, or a listed article is
            not of the website.
        NotFound: one of the listed articles does not exist, or the website.
    """
    articles = await _articles(plugin, user_id, website_id, content_ids)
    if not articles:
        if website_id is not None:
            await Websites(plugin).get(user_id, website_id)
        raise InvalidInput("", "there are no articles to export")
    content, ending, media_type = await plugin.services.workers.run(
        _written, articles, form, owner=user_id, what="the export", seconds=60
    )
    token, expires_at = new_secret(), datetime.now(UTC) + LIFETIME
    row = {
        "token_hash": hash_of(token),
        "user_id": user_id,
        "filename": f"articles-{datetime.now(UTC):%Y-%m-%d}.{ending}",
        "media_type": media_type,
        "content": content,
        "expires_at": expires_at,
    }
    await _keep(plugin.services.database, row)
    return Export(f"{plugin.base_url}{PATH}/{token}", expires_at, len(articles))


def routes(plugin: PluginContext) -> Sequence[Route]:
    """Return the route for downloading exports."""

    async def serve(request: HttpRequest) -> HttpResponse:
        statement = select(ExportRow).where(ExportRow.token_hash == hash_of(request.path_params["token"]))
        async with plugin.services.database.reading() as session:
            row = await session.scalar(statement)
        if row is None or row.expires_at <= datetime.now(UTC):
            raise NotFound("this link is invalid or has expired; create a new export")
        headers = {
            "Content-Disposition": f'attachment; filename="{row.filename}"',
            "Cache-Control": "private, no-store",
            "X-Robots-Tag": "noindex",
        }
        return HttpResponse(row.content, media_type=row.media_type, headers=headers)

    return [Route(f"{PATH}/<token>", serve)]


async def _keep(database: Database, row: dict[str, Any]) -> None:
    """Store an export, replacing the account's previous one with the same media type."""
    insert = sqlite.insert if database.dialect == "sqlite" else postgresql.insert
    adding = insert(ExportRow).values(row)
    adding = adding.on_conflict_do_update(index_elements=[ExportRow.user_id, ExportRow.media_type], set_=row)
    async with database.writing() as session:
        await session.execute(adding)


async def _articles(
    plugin: PluginContext, user_id: str, website_id: str | None, content_ids: Sequence[str] | None
) -> list[Article]:
    statement = select(ArticleRow).where(ArticleRow.user_id == user_id)
    if content_ids is not None:
        statement = statement.where(ArticleRow.id.in_([as_id(content_id) for content_id in content_ids]))
    else:
        statement = statement.where(ArticleRow.status != "trashed")
        if website_id is not None:
            statement = statement.where(ArticleRow.website_id == as_id(website_id))
    articles: list[Article] = []
    size, last = 0, ""
    async with plugin.services.database.reading() as session:
        while rows := (
            await session.scalars(statement.where(ArticleRow.id > last).order_by(ArticleRow.id).limit(_BATCH))
        ).all():
            articles += [article_of(row) for row in rows]
            size += sum(len(row.body.encode("utf-8", "replace")) for row in rows)
            last = rows[-1].id
            if len(articles) > MAX_ARTICLES or size > MAX_BYTES:
                raise InvalidInput(
                    "content_ids",
                    f"must name at most {MAX_ARTICLES:,} articles with {MAX_BYTES >> 20} MB together; export in parts",
                )
            session.expunge_all()
    missing = set(content_ids or ()) - {article.id for article in articles}
    if missing:
        raise NotFound(f"this account has no article {min(missing)[:40]!r}; list_content shows the ones it has")
    for article in articles:
        if website_id is not None and article.website_id != website_id:
            raise InvalidInput("content_ids", f"names the article {article.id}, which is not of that website")
    return articles


def _written(articles: Sequence[Article], form: Format) -> tuple[bytes, str, str]:
    """Return the file, its extension and its media type."""
    if form == "json":
        document = {"generator": "Pressroom", "articles": [_plain(article) for article in articles]}
        return json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8", "replace"), "json", "application/json"
    if form == "wxr":
        return _wxr(articles).encode("utf-8", "replace"), "xml", "application/xml; charset=utf-8"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        names: set[str] = set()
        for article in articles:
            name = as_slug(article.slug)[:80] or article.id
            name = name if name not in names else f"{name}-{article.id}"
            names.add(name)
            archive.writestr(f"{name}.md", markdown_file(article).encode("utf-8", "replace"))
    return buffer.getvalue(), "zip", "application/zip"


def markdown_file(article: Article) -> str:
    """Return an article as Markdown with YAML front matter; every value is JSON, which is valid YAML 1.2."""
    lines = ["---"]
    for name, value in _plain(article).items():
        if name not in ("body", "body_format") and value not in ("", None, []):
            lines.append(f"{name}: {json.dumps(value, ensure_ascii=False)}")
    return "\n".join([*lines, "---", "", body_as(article, "markdown")])


def _plain(article: Article) -> dict[str, Any]:
    values = {name: getattr(article, name) for name in FIELDS}
    timestamps = {
        name: timestamp.isoformat() if timestamp else None
        for name in ("created_at", "updated_at", "published_at")
        for timestamp in [getattr(article, name)]
    }
    return {"id": article.id, "status": article.status, **values, **{n: list(values[n]) for n in _LISTS}, **timestamps}


def _wxr(articles: Sequence[Article]) -> str:
    """Return a WordPress eXtended RSS document, version 1.2."""
    head = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0" '
        'xmlns:excerpt="http://wordpress.org/export/1.2/excerpt/" '
        'xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        'xmlns:wp="http://wordpress.org/export/1.2/">\n<channel>\n<title>Pressroom</title>\n'
        "<wp:wxr_version>1.2</wp:wxr_version>\n"
    )
    slugs = _term_slugs(articles)
    return "".join([head, *(_wxr_item(article, slugs) for article in articles), "</channel>\n</rss>\n"])


_Term = tuple[str, str]
"""The taxonomy and the name of a tag or category, as WordPress names them."""


def _terms(article: Article) -> Sequence[_Term]:
    return [("post_tag", tag) for tag in article.tags] + [("category", name) for name in article.categories]


def _term_slugs(articles: Sequence[Article]) -> Mapping[_Term, str]:
    """Return the slug of each term, with the name in lower case. WordPress takes terms with the same slug for one."""
    slugs: dict[_Term, str] = {}
    taken: set[_Term] = set()
    candidates: dict[_Term, Iterator[str]] = {}
    for taxonomy, name in (term for article in articles for term in _terms(article)):
        if (taxonomy, name.lower()) not in slugs:
            plain = as_slug(name) or "term"
            numbered = candidates.setdefault((taxonomy, plain), free_slugs(plain))
            slug = next(slug for slug in numbered if (taxonomy, slug) not in taken)
            taken.add((taxonomy, slug))
            slugs[taxonomy, name.lower()] = slug
    return slugs


def _wxr_item(article: Article, slugs: Mapping[_Term, str]) -> str:
    at = article.published_at or article.created_at
    status = "publish" if article.status == "published" else "draft"
    lines = [
        "<item>",
        f"<title>{_text(article.title)}</title>",
        f"<pubDate>{at:%a, %d %b %Y %H:%M:%S +0000}</pubDate>",
        f"<dc:creator>{_text(article.author)}</dc:creator>",
        f'<guid isPermaLink="false">{_text(article.id)}</guid>',
        f"<content:encoded>{_cdata(body_as(article, 'html'))}</content:encoded>",
        f"<excerpt:encoded>{_cdata(article.excerpt)}</excerpt:encoded>",
        f"<wp:post_name>{_text(article.slug)}</wp:post_name>",
        f"<wp:post_date_gmt>{at:%Y-%m-%d %H:%M:%S}</wp:post_date_gmt>",
        f"<wp:status>{status}</wp:status>",
        "<wp:post_type>post</wp:post_type>",
    ]
    for domain, name in _terms(article):
        nicename = quoteattr(slugs[domain, name.lower()])
        lines.append(f'<category domain="{domain}" nicename={nicename}>{_cdata(name)}</category>')
    metas = {"_yoast_wpseo_title": article.meta_title, "_yoast_wpseo_metadesc": article.meta_description}
    for key, value in {**metas, "_yoast_wpseo_focuskw": article.keyphrase}.items():
        if value:
            lines.append(
                f"<wp:postmeta><wp:meta_key>{key}</wp:meta_key><wp:meta_value>{_cdata(value)}</wp:meta_value></wp:postmeta>"
            )
    return "\n".join([*lines, "</item>", ""])


def _text(text: str) -> str:
    return escape(_allowed(text))


def _cdata(text: str) -> str:
    return f"<![CDATA[{_allowed(text).replace(']]>', ']]]]><![CDATA[>')}]]>"


def _allowed(text: str) -> str:
    """Return a text without characters that XML 1.0 does not allow (section 2.2)."""
    return "".join(
        character
        for character in text
        if character in "\t\n\r" or (character >= " " and character not in "\ufffe\uffff")
    )
