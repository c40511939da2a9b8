"""Conversion of posts between the content plugin's models and Ghost's Admin API."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from html import escape, unescape
from typing import Any, Final, Literal
from urllib.parse import unquote, urlsplit

from pressroom_content.contract import Post, PostState, RemotePost, SiteGone, SiteRefused, field_text

from pressroom_ghost.lexical import document_of, is_document

Kind = Literal["post", "page"]

RESOURCES: Final[Mapping[Kind, str]] = {"post": "posts", "page": "pages"}
"""Resource names in the API's paths and documents."""

_STATES: Final[Mapping[str, PostState]] = {
    "published": "live",
    "sent": "live",
    "scheduled": "scheduled",
    "draft": "draft",
}
_TAG = re.compile(r"<[^<>]*+>")
_MARKER = re.compile(r"<!-- pressroom:([A-Za-z0-9_-]+) -->")

_ORIGIN: Final = re.compile(r"^https?://[^/]++", re.IGNORECASE)
"""Scheme and host of an image URL, which change if the site moves to another domain."""

_ID = re.compile(r"(?:(page)-)?([0-9a-f]{24})")
_EDITOR = re.compile(r"editor/(post|page)/([0-9a-f]{24})")
_PREVIEW = re.compile(r"(?:^|/)p/([0-9a-f-]{36})$")

MAX_LENGTHS: Final = {"title": 255, "slug": 185, "custom_excerpt": 300, "meta_title": 300, "meta_description": 500}
"""Ghost's length limits in characters; it rejects a post with a longer field."""


_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "excerpt": ("custom_excerpt",),
    "author": ("authors",),
    "featured": ("feature_image", "feature_image_alt", "feature_image_caption"),
    "featured_alt": ("feature_image_alt",),
    "featured_caption": ("feature_image_caption",),
}
"""Ghost's names for fields of `Post`, if they differ."""

_TIERS: Final = "tiers"
_MAX_AUDIENCE_LENGTH: Final = 1000
_MAX_URL_LENGTH: Final = 2048
_BODY: Final = frozenset({"body", "html", "markdown", "raw"})


def document(post: Post) -> dict[str, Any]:
    """Return the API document of a post, without body, state and the fields to keep."""
    fields: dict[str, Any] = {
        "title": post.title,
        "slug": post.slug,
        "custom_excerpt": post.excerpt or None,
        "meta_title": post.meta_title or None,
        "meta_description": post.meta_description or None,
        "canonical_url": post.canonical_url or None,
        "tags": [{"name": name} for name in post.tags],
        "feature_image": post.featured.url if post.featured else None,
        "feature_image_alt": post.featured_alt[:191] or None if post.featured else None,
        "feature_image_caption": escape(post.featured_caption, quote=False) or None if post.featured else None,
    }
    if post.marker:
        # An invisible comment at the end of the page, where Ghost leaves it unchanged.
        fields["codeinjection_foot"] = comment(post.marker)
    for name, max_length in MAX_LENGTHS.items():
        if fields[name] and len(fields[name]) > max_length:
            fields[name] = _shortened(fields[name], max_length)
    if post.term_ids.get("author"):
        fields["authors"] = [{"id": post.term_ids["author"][0]}]
    unchanged = {name for field in post.kept for name in _NAMES.get(field, (field,))}
    return {name: value for name, value in fields.items() if name not in unchanged}


def body_of(post: Post) -> str:
    """Return the body to send. Call this in a worker. Raises `SiteRefused` if Ghost cannot display the raw body."""
    if not post.raw:
        return document_of(post.html)
    if not is_document(post.raw):
        raise SiteRefused(
            "the body is not in the format of Ghost's editor, so it can be kept, but not changed. Open the post in "
            "Ghost, change it and save it, which converts it; then read it from there again"
        )
    return post.raw


def is_body_unchanged(post: Post) -> bool:
    """Return whether to keep the body on the site unchanged."""
    return bool(post.kept & _BODY)


def changes_of(post: Post, existing: RemotePost) -> dict[str, Any]:
    """Return the API document of an update, without the body.

    Tags are omitted if the post already has them in this order, and the author if it is already the first one, since
    Ghost would remove the other authors.
    """
    fields = document(post)
    if [tag["name"] for tag in fields.get("tags", ())] == [*existing.fields["tags"]]:
        fields.pop("tags", None)
    if post.author and post.author == existing.fields["author"]:
        fields.pop("authors", None)
    return fields


def comment(marker: str) -> str:
    """Return the HTML comment that stores a marker in a post."""
    return f"<!-- pressroom:{marker} -->"


def post_of(row: Mapping[str, Any], kind: Kind = "post") -> RemotePost:
    """Convert a post or page. The ID of a page gets a prefix, since the API has separate endpoints."""
    state = _STATES.get(str(row.get("status")), "draft")
    match = _MARKER.search(str(row.get("codeinjection_foot") or ""))
    tags, authors = _names(row, "tags"), _names(row, "authors")
    return RemotePost(
        id=f"page-{row['id']}" if kind == "page" else str(row["id"]),
        url=str(row.get("url") or ""),
        state=state,
        revision=_revision(row),
        html=str(row.get("html") or ""),
        fields={
            "title": str(row.get("title") or ""),
            "slug": str(row.get("slug") or ""),
            "excerpt": str(row.get("custom_excerpt") or ""),
            "meta_title": str(row.get("meta_title") or ""),
            "meta_description": str(row.get("meta_description") or ""),
            "canonical_url": str(row.get("canonical_url") or ""),
            "tags": tags,
            "author": authors[0] if authors else "",
            "featured": _ORIGIN.sub("", field_text(row.get("feature_image"))),
            "featured_alt": str(row.get("feature_image_alt") or ""),
            "featured_caption": unescape(_TAG.sub("", field_text(row.get("feature_image_caption")))),
        },
        featured=bool(row.get("feature_image")),
        publish_at=moment(row.get("published_at")) if state == "scheduled" else None,
        marker=match[1] if match else "",
        updated_at=moment(row.get("updated_at")),
        raw=str(row.get("lexical") or row.get("mobiledoc") or ""),
        kind=kind,
        audience=_audience_of(row),
    )


def _audience_of(row: Mapping[str, Any]) -> str:
    """Return the audience of a post: `members`, `paid`, or `tiers` with their IDs; empty if public."""
    visibility = str(row.get("visibility") or "public")
    if visibility != _TIERS:
        return "" if visibility == "public" else visibility[:_MAX_AUDIENCE_LENGTH]
    tiers = row.get("tiers")
    ids = [str(tier.get("id", "")) for tier in (tiers if isinstance(tiers, list) else ()) if isinstance(tier, dict)]
    return " ".join([_TIERS, *ids])[:_MAX_AUDIENCE_LENGTH]


def visibility_of(audience: str) -> dict[str, Any]:
    """Return the API fields for an audience; empty if public."""
    if not audience:
        return {}
    visibility, *tiers = audience.split()
    return {"visibility": visibility} | ({"tiers": [{"id": tier} for tier in tiers]} if visibility == _TIERS else {})


def _names(row: Mapping[str, Any], member: str) -> tuple[str, ...]:
    entries = row.get(member)
    return tuple(
        str(entry.get("name", ""))
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict)
    )


def updated_at(revision: str) -> str:
    """Return the modification time in a revision, which Ghost requires with every update."""
    return revision.partition(" ")[0]


def _revision(row: Mapping[str, Any]) -> str:
    """Return the modification time, which has a resolution of seconds, with a digest to tell changes apart."""
    fields = [str(row.get(name) or "") for name in ("title", "slug", "html", "status", *MAX_LENGTHS, "feature_image")]
    digest = hashlib.sha256("\0".join(fields).encode(errors="surrogatepass")).hexdigest()
    return f"{row.get('updated_at') or ''} {digest[:16]}"


def moment(value: Any) -> datetime | None:
    """Parse a time in Ghost's format, UTC with milliseconds; `None` if it is invalid."""
    try:
        timestamp = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return timestamp if timestamp.tzinfo else timestamp.replace(tzinfo=UTC)


def path_of(post_id: str) -> tuple[str, Kind]:
    """Return the API path of a post or page, and which of them it is. Raises `SiteGone` if the ID is invalid."""
    match = _ID.fullmatch(post_id)
    if match is None:
        raise SiteGone("the post is no longer on the site")
    kind: Kind = "page" if match[1] else "post"
    return f"/{RESOURCES[kind]}/{match[2]}/", kind


def count_of(row: Mapping[str, Any]) -> int | None:
    """Return the number of posts of a tag or author, or `None` if Ghost did not send it."""
    count = row.get("count")
    return count.get("posts") if isinstance(count, dict) else None


def quoted(text: str) -> str:
    """Escape a text for a string of Ghost's filter language. Backslashes are removed."""
    return text.replace("\\", "").replace("'", "\\'")


def is_settled(post: RemotePost, date: str) -> bool:
    """Return whether Ghost responded after the second of the post's last change, by its `Date` header."""
    try:
        responded_at = parsedate_to_datetime(date).astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        return False
    return post.updated_at is not None and post.updated_at < responded_at


def filters_for_url(url: str, site: str) -> list[tuple[Kind, str]]:
    """Return the API filters that find the post or page at a URL, each with its kind.

    A URL with a slug is that of a live post; preview and editor URLs also find drafts and scheduled posts.
    """
    try:
        parts, site_parts = urlsplit(url), urlsplit(site)
        path = unquote(parts.path).strip("/")
    except ValueError:
        return []
    if parts.netloc.lower() == site_parts.netloc.lower():
        if match := _EDITOR.search(parts.fragment):
            return [("page" if match[1] == "page" else "post", f"id:'{match[2]}'")]
        if match := _PREVIEW.search(path):
            return [(kind, f"uuid:'{match[1]}'") for kind in RESOURCES]
    slug = path.rpartition("/")[2]
    return [(kind, f"slug:'{quoted(slug)}'") for kind in RESOURCES] if slug else []


def is_at(post_url: str, url: str, site: str) -> bool:
    """Return whether two URLs are the same page, ignoring scheme and trailing slash.

    Args:
        post_url: the URL of a post.
        url: the URL to compare. Its host may also be that of `site`.
        site: the URL of the site.
    """
    if len(post_url) > _MAX_URL_LENGTH:
        return False
    try:
        parts, post_parts, site_parts = urlsplit(url), urlsplit(post_url), urlsplit(site)
    except ValueError:
        return False
    hosts = {post_parts.netloc.lower(), site_parts.netloc.lower()}
    return parts.netloc.lower() in hosts and unquote(parts.path).rstrip("/") == unquote(post_parts.path).rstrip("/")


def changed_at(post: RemotePost | None) -> datetime:
    """Return the time of a post's last change as a sort key; `datetime.min` if unknown."""
    return (post.updated_at if post else None) or datetime.min.replace(tzinfo=UTC)


def ghost_time(at: datetime) -> str:
    """Format a time for Ghost."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _shortened(text: str, max_length: int) -> str:
    cut = text[: max_length - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"
