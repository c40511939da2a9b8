"""Shared by the tools: the plugin's context, article fields, times, and the user's consent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal, overload
from zoneinfo import ZoneInfo

from pressroom.sdk import Call, InvalidInput, Params, PluginContext
from pydantic import BaseModel, Field

from pressroom_content.contract import Score
from pressroom_content.records import Article

MAX_LINE_LENGTH = 500
MAX_LIST_ITEMS = 100


def context(call: Call) -> PluginContext:
    """Return the plugin's context. Raises `RuntimeError` in a worker, which has none."""
    if call.plugin is None:
        raise RuntimeError("this tool runs on the event loop only")
    return call.plugin


def confirmed(*, confirm: bool) -> None:
    """Raise `InvalidInput` unless the user has agreed."""
    if not confirm:
        raise InvalidInput("confirm", "must be true; ask the user for permission first")


def plural(count: int, singular: str, plural_form: str = "") -> str:
    """Return a count with its noun: `1 article`, `2,000 articles`."""
    return f"{count:,} {singular if count == 1 else plural_form or singular + 's'}"


ContentId = Annotated[str, Field(min_length=1, max_length=64, description="The article, from list_content.")]
Term = Annotated[str, Field(min_length=1, max_length=200)]
Terms = Annotated[list[Term], Field(max_length=MAX_LIST_ITEMS)]
BodyFormatName = Literal["markdown", "html"]

WEBSITE: Final = "The website it is for."

Excerpt = Annotated[str | None, Field(max_length=5000, description="Plain text.")]
Keyphrase = Annotated[str | None, Field(max_length=200, description="The phrase it should rank for.")]
Synonyms = Annotated[Terms | None, Field(description="Synonyms of the keyphrase.")]
MetaTitle = Annotated[str | None, Field(max_length=MAX_LINE_LENGTH, description="Title in search results.")]
MetaDescription = Annotated[str | None, Field(max_length=2000, description="Description in search results.")]
TagNames = Annotated[Terms | None, Field(description="Tag names.")]
CategoryNames = Annotated[Terms | None, Field(description="Category names.")]
LanguageTag = Annotated[str | None, Field(max_length=35, description="Language tag, such as de-CH.")]
CanonicalUrl = Annotated[str | None, Field(max_length=2048, description="URL of the original, if elsewhere.")]
Author = Annotated[str | None, Field(max_length=200, description="Byline.")]
"""Fields of an article as parameters of tools: an omitted field is empty, or unchanged in an update."""


class FieldChanges(Params):
    """New values of fields."""

    title: str | None = Field(default=None, max_length=MAX_LINE_LENGTH, description="Plain text.")
    body: str | None = Field(default=None, description="The whole body; to change parts, use edits.")
    body_format: BodyFormatName | None = Field(default=None, description="Only with body.")
    website_id: str | None = Field(default=None, max_length=64, description=WEBSITE)
    slug: str | None = Field(default=None, max_length=200, description="End of its URL.")
    excerpt: Excerpt = None
    keyphrase: Keyphrase = None
    synonyms: Synonyms = None
    meta_title: MetaTitle = None
    meta_description: MetaDescription = None
    tags: TagNames = None
    categories: CategoryNames = None
    language: LanguageTag = None
    canonical_url: CanonicalUrl = None
    author: Author = None

    def given(self) -> dict[str, Any]:
        """Return the fields that were given. `website_id` is `None` if it was cleared."""
        fields = {name: value for name, value in self.model_dump().items() if value is not None}
        if fields.get("website_id") == "":
            fields["website_id"] = None
        return fields


class Seo(BaseModel):
    """The article's result in the checks of check_blog_seo."""

    score: int | None = Field(description="From 0 to 100; null if this server has no scorer.")
    top_fixes: list[str] = Field(description="What would raise the score most, best first; at most three.")
    delta: int | None = Field(default=None, description="The change of the score; null for the first score.")


class ArticleView(BaseModel):
    """An article without its body."""

    content_id: str = Field(description="The article's id.")
    version: int = Field(description="The version that is shown; give it to update_content as expected_version.")
    status: str = Field(description="draft, scheduled, published or trashed.")
    title: str = Field(description="The headline.")
    slug: str = Field(description="The part of the URL that names it.")
    website_id: str | None = Field(description="The website that it belongs to; null for none.")
    body_format: str = Field(description="The format in which the body is stored: edits apply to that.")
    body_chars: int = Field(description="How many characters the stored body has.")
    word_count: int = Field(description="How many words readers see.")
    excerpt: str = Field(description="The summary for lists.")
    keyphrase: str = Field(description="The phrase it should rank for.")
    synonyms: list[str] = Field(description="Other words for the keyphrase.")
    meta_title: str = Field(description="The title in search results.")
    meta_description: str = Field(description="The text in search results.")
    tags: list[str] = Field(description="Names of tags.")
    categories: list[str] = Field(description="Names of categories.")
    language: str = Field(description="The language tag; may be empty.")
    canonical_url: str = Field(description="Where the original is; may be empty.")
    author: str = Field(description="The author; may be empty.")
    featured_media_id: str = Field(description="The featured image; empty if absent.")
    featured_alt: str = Field(description="The alternative text of the featured image.")
    score: int | None = Field(description="The SEO score of the version; null if this server has no scorer.")
    urls: list[str] = Field(description="Where it is published.")
    preview_url: str = Field(description="A page of the dashboard that shows it to its owner.")
    created_at: datetime = Field(description="When it was made. All times are in timezone.")
    updated_at: datetime = Field(description="When it was last changed.")
    published_at: datetime | None = Field(description="When it first went live.")
    trashed_at: datetime | None = Field(description="When it was moved to the trash; null if it is not there.")
    timezone: str = Field(description="The website's time zone; UTC without a website.")


def article_view(article: Article, urls: tuple[str, ...], call: Call, zone: ZoneInfo) -> ArticleView:
    """Return an article as tools show it; `zone` is the time zone of its website."""
    names = ArticleView.model_fields.keys() - {"content_id", "body_chars", "urls", "preview_url", "timezone"}
    values = {name: getattr(article, name) for name in names}
    times = {name: local_time(value, zone) for name, value in values.items() if isinstance(value, datetime)}
    lists = {name: list(value) for name, value in values.items() if isinstance(value, tuple)}
    return ArticleView(
        content_id=article.id,
        body_chars=len(article.body),
        urls=list(urls),
        preview_url=preview_url(call, article.id),
        timezone=zone.key,
        **{**values, **lists, **times},
    )


_SHOWN: Final = (
    "slug", "website_id", "language", "keyphrase", "synonyms", "meta_title", "meta_description", "excerpt", "tags",
    "categories", "author", "canonical_url", "featured_media_id", "featured_alt", "preview_url",
)  # fmt: skip

_UNSURE: Final = "the latest attempt to publish failed or is in progress; list_publications shows it"


def field_lines(view: ArticleView) -> Iterator[str]:
    """Yield an article's fields as lines of text, since some clients show models only the text of a result."""
    zone = ZoneInfo(view.timezone)
    yield f"title: {view.title}"
    yield (
        f"content_id: {view.content_id}, version {view.version}, status {view.status}, body stored as "
        f"{view.body_format}, {plural(view.word_count, 'word')}, {plural(view.body_chars, 'character')}"
    )
    yield f"SEO score: {'none' if view.score is None else view.score}"
    # A post stays live while an update of it is in progress, or after one that failed.
    nowhere = _UNSURE if view.status == "published" else "nowhere"
    yield f"published at: {', '.join(view.urls) or nowhere}"
    for name in _SHOWN:
        value = getattr(view, name)
        if value:
            yield f"{name}: {', '.join(value) if isinstance(value, list) else ' '.join(str(value).split())}"
    empty = [name for name in _SHOWN if not getattr(view, name)]
    if empty:
        yield f"empty: {', '.join(empty)}"
    moments = (
        ("created", view.created_at),
        ("changed", view.updated_at),
        ("first published", view.published_at),
        ("trashed", view.trashed_at),
    )
    times_text = ", ".join(f"{name} {time_text(at, zone)}" for name, at in moments if at is not None)
    yield f"times ({view.timezone}): {times_text}"


def preview_url(call: Call, content_id: str) -> str:
    """Return the URL of the page that shows an article to its owner."""
    return f"{call.base_url}/dashboard/articles/{content_id}"


def seo_of(score: Score | None, delta: int | None = None) -> Seo:
    """Return a score as tools show it."""
    return Seo(score=score.score if score else None, top_fixes=list(score.top_fixes[:3]) if score else [], delta=delta)


def seo_line(seo: Seo) -> str:
    """Return a score as text for the model."""
    if seo.score is None:
        return "This server does not score articles."
    delta = f" ({seo.delta:+d})" if seo.delta is not None else ""
    fixes = "".join(f"\n- {fix}" for fix in seo.top_fixes)
    return f"SEO score: {seo.score}{delta}.{' What would raise it most:' if fixes else ''}{fixes}"


UTC_ZONE: Final = ZoneInfo("UTC")


def website_zone(zones: Mapping[str, ZoneInfo], website_id: str | None) -> ZoneInfo:
    """Return the time zone of a website, or UTC without a website."""
    return zones.get(website_id or "", UTC_ZONE)


@overload
def local_time(at: datetime, zone: ZoneInfo) -> datetime: ...
@overload
def local_time(at: datetime | None, zone: ZoneInfo) -> datetime | None: ...
def local_time(at: datetime | None, zone: ZoneInfo) -> datetime | None:
    """Return a time in a time zone, without fractions of a second."""
    return None if at is None else at.astimezone(zone).replace(microsecond=0)


def time_text(at: datetime, zone: ZoneInfo) -> str:
    """Return a time as text for models: `2026-12-24 08:00 +01:00`, or `2026-12-24 07:00 UTC`."""
    local = at.astimezone(zone)
    offset = "UTC" if zone.key == "UTC" else local.isoformat()[-6:]
    return f"{local:%Y-%m-%d %H:%M} {offset}"
