"""The fields of an article as tools take and show them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pressroom.sdk import Call, Params
from pydantic import BaseModel, Field

from pressroom_content.contract import Score
from pressroom_content.records import Article

MAX_LINE_LENGTH = 500
MAX_LIST_ITEMS = 100

ContentId = Annotated[str, Field(min_length=1, max_length=64, description="The article, as list_content names it.")]
Term = Annotated[str, Field(min_length=1, max_length=200)]
Terms = Annotated[list[Term], Field(max_length=MAX_LIST_ITEMS)]


class FieldChanges(Params):
    """Fields of an article; those that are left out stay as they are, and an empty text or list empties the field."""

    title: str | None = Field(default=None, max_length=MAX_LINE_LENGTH, description="The headline, without markup.")
    body: str | None = Field(default=None, description="The whole body in body_format. For small changes use edits.")
    body_format: Literal["markdown", "html"] | None = Field(
        default=None, description="The format of body; it changes only together with body."
    )
    website_id: str | None = Field(
        default=None, max_length=64, description="The website it is meant for, as list_websites names it; empty: none."
    )
    slug: str | None = Field(default=None, max_length=200, description="The part of the URL that names it.")
    excerpt: str | None = Field(default=None, max_length=5000, description="A summary for lists, as plain text.")
    keyphrase: str | None = Field(default=None, max_length=200, description="What it is to be found by.")
    synonyms: Terms | None = Field(default=None, description="Other words for the keyphrase.")
    meta_title: str | None = Field(default=None, max_length=MAX_LINE_LENGTH, description="The title in search results.")
    meta_description: str | None = Field(default=None, max_length=2000, description="The text in search results.")
    tags: Terms | None = Field(default=None, description="Names of tags.")
    categories: Terms | None = Field(default=None, description="Names of categories of the website.")
    language: str | None = Field(default=None, max_length=35, description="Such as en, de-CH or pt-BR (BCP 47).")
    canonical_url: str | None = Field(default=None, max_length=2048, description="Where the original is, if elsewhere.")
    author: str | None = Field(default=None, max_length=200, description="Whom the text is by.")

    def given(self) -> dict[str, Any]:
        """Return the fields that were given. `website_id` is `None` where it was emptied."""
        found = {name: value for name, value in self.model_dump().items() if value is not None}
        if found.get("website_id") == "":
            found["website_id"] = None
        return found


class Seo(BaseModel):
    """How the article does in the checks of check_blog_seo."""

    score: int | None = Field(description="From 0 to 100; null where this server scores nothing.")
    top_fixes: list[str] = Field(description="What would raise the score most, best first; at most three.")
    delta: int | None = Field(default=None, description="The change of the score; null for the first score.")


class ArticleView(BaseModel):
    """An article without its body."""

    content_id: str = Field(description="The article's id.")
    version: int = Field(description="The version that is shown; give it to update_content as expected_version.")
    status: str = Field(description="draft, scheduled, published or trashed.")
    title: str = Field(description="The headline.")
    slug: str = Field(description="The part of the URL that names it.")
    website_id: str | None = Field(description="The website that it is meant for; null for none.")
    body_format: str = Field(description="The format in which the body is stored: edits apply to that.")
    body_chars: int = Field(description="How many characters the stored body has.")
    word_count: int = Field(description="How many words readers see in the newest version.")
    excerpt: str = Field(description="The summary for lists.")
    keyphrase: str = Field(description="What it is to be found by.")
    synonyms: list[str] = Field(description="Other words for the keyphrase.")
    meta_title: str = Field(description="The title in search results.")
    meta_description: str = Field(description="The text in search results.")
    tags: list[str] = Field(description="Names of tags.")
    categories: list[str] = Field(description="Names of categories.")
    language: str = Field(description="The language tag; may be empty.")
    canonical_url: str = Field(description="Where the original is; may be empty.")
    author: str = Field(description="Whom the text is by; may be empty.")
    featured_media_id: str = Field(description="The featured image; empty if absent.")
    featured_alt: str = Field(description="The alternative text of the featured image.")
    score: int | None = Field(description="The SEO score of the newest version; null where it has none.")
    urls: list[str] = Field(description="Where it is published.")
    preview_url: str = Field(description="A page of the dashboard that shows it to its owner.")
    created_at: datetime = Field(description="When it was made (UTC).")
    updated_at: datetime = Field(description="When it was last changed (UTC).")
    published_at: datetime | None = Field(description="When it first went live (UTC).")
    trashed_at: datetime | None = Field(description="When it went to the trash (UTC); null where it is not there.")


def article_view(article: Article, urls: tuple[str, ...], call: Call) -> ArticleView:
    """Return an article as tools show it."""
    names = ArticleView.model_fields.keys() - {"content_id", "body_chars", "urls", "preview_url"}
    values = {name: getattr(article, name) for name in names}
    lists = {name: list(value) for name, value in values.items() if isinstance(value, tuple)}
    return ArticleView(
        content_id=article.id,
        body_chars=len(article.body),
        urls=list(urls),
        preview_url=preview_url(call, article.id),
        **{**values, **lists},
    )


def preview_url(call: Call, content_id: str) -> str:
    """Return the URL of the page that shows an article to its owner."""
    return f"{call.base_url}/dashboard/articles/{content_id}"


def seo_of(score: Score | None, delta: int | None = None) -> Seo:
    """Return a score as tools show it."""
    return Seo(score=score.score if score else None, top_fixes=list(score.top_fixes[:3]) if score else [], delta=delta)


def seo_line(seo: Seo) -> str:
    """Return a score in a line for the model."""
    if seo.score is None:
        return "This server does not score articles."
    delta = f" ({seo.delta:+d})" if seo.delta is not None else ""
    fixes = "".join(f"\n- {fix}" for fix in seo.top_fixes)
    return f"SEO score: {seo.score}{delta}.{' What would raise it most:' if fixes else ''}{fixes}"
