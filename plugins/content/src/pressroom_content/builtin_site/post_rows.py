"""Conversion between posts of websites and the rows of built-in sites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Literal, cast
from urllib.parse import quote

from slugify import slugify

from pressroom_content.builtin_site.tables import BuiltinPostRow
from pressroom_content.contract import Post, RemotePost, SiteRefused, TermKind
from pressroom_content.contract.sites import PostState

_KINDS: Final = ("post", "page")

_FIELDS: Final = (
    "excerpt", "meta_title", "meta_description", "canonical_url", "language", "author", "keyphrase",
)  # fmt: skip


def state_of(row: BuiltinPostRow) -> PostState:
    """Return the state of a post. A scheduled one whose time has come is live."""
    due = row.state == "scheduled" and row.publish_at is not None and row.publish_at <= datetime.now(UTC)
    return "live" if due else cast("PostState", row.state)


def remote_post(row: BuiltinPostRow, site_url: str) -> RemotePost:
    """Convert a row to the post of a website."""
    fields = dict(row.fields)
    return RemotePost(
        id=row.id,
        url=f"{site_url}/{quote(row.slug)}",
        state=state_of(row),
        revision=str(row.revision),
        html=row.html,
        fields={
            "title": row.title,
            "slug": row.slug,
            "tags": tuple(fields.get("tags", ())),
            "categories": tuple(fields.get("categories", ())),
            **{name: fields.get(name, "") for name in _FIELDS if name != "keyphrase"},
        },
        featured=bool(row.featured),
        publish_at=row.publish_at,
        marker=row.marker,
        updated_at=row.updated_at,
        kind=cast("Literal['post', 'page']", row.kind),
    )


def slug_of_post(post: Post) -> str:
    """Return the slug of a post, given or derived from its title. It may be taken."""
    return (post.slug or slugify(post.title, max_length=100) or post.marker)[:200]


def _kind_of(post: Post) -> str:
    """Return the requested kind of a post. Raises `SiteRefused` if it is not supported."""
    kind = post.options.get("kind", "post")
    if kind not in _KINDS:
        raise SiteRefused(
            f"options.kind is {str(kind)[:40]!r}; a built-in site has post and page", hint="Give options.kind as page."
        )
    return str(kind)


def fill(row: BuiltinPostRow, post: Post, slug: str, now: datetime) -> None:
    """Fill a row from a post as its next revision. Raises `SiteRefused` for an unsupported kind."""
    row.slug, row.title, row.html, row.markdown = slug, post.title, post.html, post.markdown
    row.kind = _kind_of(post)
    row.fields = {
        **{name: getattr(post, name) for name in _FIELDS},
        "tags": list(post.tags),
        "categories": list(post.categories),
    }
    row.featured = (
        {"id": post.featured.id, "url": post.featured.url, "alt": post.featured_alt, "caption": post.featured_caption}
        if post.featured
        else {}
    )
    row.size = len(post.html.encode("utf-8", "replace")) + len(post.markdown.encode("utf-8", "replace"))
    row.revision = (row.revision or 0) + 1
    row.updated_at = now


def is_past(at: datetime | None, now: datetime) -> bool:
    """Check whether a time is set and has passed."""
    return at is not None and at <= now


def term_names(fields: Mapping[str, Any], kind: TermKind) -> Sequence[str]:
    """Return the names of a post's terms of one kind."""
    match kind:
        case "tag":
            return list(fields.get("tags", ()))
        case "category":
            return list(fields.get("categories", ()))
        case "author":
            return [fields["author"]] if fields.get("author") else []
        case _:
            return []
