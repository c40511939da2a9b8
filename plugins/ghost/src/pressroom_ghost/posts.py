"""Posts as Ghost's Admin API shows and takes them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from html import escape, unescape
from typing import Any, Final, Literal
from urllib.parse import unquote, urlsplit

from pressroom_content.contract import Post, PostState, RemotePost, SiteRefused, field_text

from pressroom_ghost.lexical import document_of, is_document

Kind = Literal["post", "page"]

RESOURCES: Final[Mapping[Kind, str]] = {"post": "posts", "page": "pages"}
"""What Ghost's API calls them, in paths and in documents."""

_STATES: Final[Mapping[str, PostState]] = {
    "published": "live",
    "sent": "live",
    "scheduled": "scheduled",
    "draft": "draft",
}
_TAG = re.compile(r"<[^<>]*+>")
_MARKER = re.compile(r"<!-- pressroom:([A-Za-z0-9_-]+) -->")

_ORIGIN: Final = re.compile(r"^https?://[^/]++", re.IGNORECASE)
"""The part of a URL that changes for all images where a site moves to another domain."""

_EDITOR = re.compile(r"editor/(post|page)/([0-9a-f]{24})")
_PREVIEW = re.compile(r"(?:^|/)p/([0-9a-f-]{36})$")

MAX_LENGTHS: Final = {"title": 255, "slug": 185, "custom_excerpt": 300, "meta_title": 300, "meta_description": 500}
"""What Ghost takes, in characters; it refuses a whole post for one field that is longer."""


_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "excerpt": ("custom_excerpt",),
    "author": ("authors",),
    "featured": ("feature_image", "feature_image_alt", "feature_image_caption"),
    "featured_alt": ("feature_image_alt",),
    "featured_caption": ("feature_image_caption",),
}
"""What fields of `Post` are called in Ghost, where that is something else."""

_TIERS: Final = "tiers"
_MAX_AUDIENCE_LENGTH: Final = 1000
_MAX_URL_LENGTH: Final = 2048
_BODY: Final = frozenset({"body", "html", "markdown", "raw"})


def document(post: Post) -> dict[str, Any]:
    """Return what is sent for a post but its body and its state, without the fields that are kept."""
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
        # A comment at the end of the page, where nobody sees it, and where Ghost leaves it as it is.
        fields["codeinjection_foot"] = comment(post.marker)
    for name, most in MAX_LENGTHS.items():
        if fields[name] and len(fields[name]) > most:
            fields[name] = _shortened(fields[name], most)
    if post.term_ids.get("author"):
        fields["authors"] = [{"id": post.term_ids["author"][0]}]
    kept = {name for one in post.kept for name in _NAMES.get(one, (one,))}
    return {name: value for name, value in fields.items() if name not in kept}


def body_of(post: Post) -> str:
    """Return the body to send. Call it in a worker. Raises `SiteRefused` for what Ghost could not show."""
    if not post.raw:
        return document_of(post.html)
    if not is_document(post.raw):
        raise SiteRefused(
            "the body is not in the format of Ghost's editor, so it can be kept, but not changed; open the post in "
            "Ghost, change and save it there, which converts it, then read it from there again"
        )
    return post.raw


def is_body_kept(post: Post) -> bool:
    """Tell whether the body is to stay as it is on the site."""
    return bool(post.kept & _BODY)


def changes_of(post: Post, there: RemotePost) -> dict[str, Any]:
    """Return what an update sends of a post but its body.

    It leaves out the tags where the post has these in this order, and the author where it is the first of its authors:
    Ghost would take the others away.
    """
    fields = document(post)
    if [tag["name"] for tag in fields.get("tags", ())] == [*there.fields["tags"]]:
        fields.pop("tags", None)
    if post.author and post.author == there.fields["author"]:
        fields.pop("authors", None)
    return fields


def comment(marker: str) -> str:
    """Return the marker as it is in a post."""
    return f"<!-- pressroom:{marker} -->"


def post_of(row: Mapping[str, Any], kind: Kind = "post") -> RemotePost:
    """Return a post or a page. The id of a page says that it is one: the API has them in another place."""
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
    """Return who may read a post: `members`, `paid`, or `tiers` with their ids; empty for everybody."""
    visibility = str(row.get("visibility") or "public")
    if visibility != _TIERS:
        return "" if visibility == "public" else visibility[:_MAX_AUDIENCE_LENGTH]
    tiers = row.get("tiers")
    ids = [str(one.get("id", "")) for one in (tiers if isinstance(tiers, list) else ()) if isinstance(one, dict)]
    return " ".join([_TIERS, *ids])[:_MAX_AUDIENCE_LENGTH]


def visibility_of(audience: str) -> dict[str, Any]:
    """Return what Ghost is told of who may read a post; nothing where everybody may."""
    if not audience:
        return {}
    visibility, *tiers = audience.split()
    return {"visibility": visibility} | ({"tiers": [{"id": one} for one in tiers]} if visibility == _TIERS else {})


def _names(row: Mapping[str, Any], member: str) -> tuple[str, ...]:
    found = row.get(member)
    return tuple(
        str(one.get("name", "")) for one in (found if isinstance(found, list) else ()) if isinstance(one, dict)
    )


def updated_at(revision: str) -> str:
    """Return the time in a revision, which Ghost wants to see with every change."""
    return revision.partition(" ")[0]


def _revision(row: Mapping[str, Any]) -> str:
    """Return the time of the last change, in seconds, with a digest: two changes may fall into one second."""
    shown = [str(row.get(name) or "") for name in ("title", "slug", "html", "status", *MAX_LENGTHS, "feature_image")]
    digest = hashlib.sha256("\0".join(shown).encode(errors="surrogatepass")).hexdigest()
    return f"{row.get('updated_at') or ''} {digest[:16]}"


def moment(value: Any) -> datetime | None:
    """Return a time of Ghost, which is in UTC with milliseconds."""
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def quoted(text: str) -> str:
    """Return a text as it may be in a string of Ghost's filter language."""
    return text.replace("\\", "").replace("'", "\\'")


def is_settled(post: RemotePost, date: str) -> bool:
    """Tell whether the second of a post's last change was over when Ghost answered, by Ghost's own clock."""
    try:
        answered = parsedate_to_datetime(date).astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        return False
    return post.updated_at is not None and post.updated_at < answered


def looked_for(url: str, site: str) -> list[tuple[Kind, str]]:
    """Return the filters with which the API finds what a URL shows, and the kinds that they go with.

    Only what is live has a page with its slug; previews and the editor show drafts and scheduled posts too.
    """
    try:
        parts, own = urlsplit(url), urlsplit(site)
        path = unquote(parts.path).strip("/")
    except ValueError:
        return []
    if parts.netloc.lower() == own.netloc.lower():
        if match := _EDITOR.search(parts.fragment):
            return [("page" if match[1] == "page" else "post", f"id:'{match[2]}'")]
        if match := _PREVIEW.search(path):
            return [(kind, f"uuid:'{match[1]}'") for kind in RESOURCES]
    slug = path.rpartition("/")[2]
    return [(kind, f"slug:'{quoted(slug)}'") for kind in RESOURCES] if slug else []


def is_at(shown: str, url: str, site: str) -> bool:
    """Tell whether the URL of a post is another one, whatever their scheme and the slash at their ends."""
    if len(shown) > _MAX_URL_LENGTH:
        return False
    try:
        asked, found, own = urlsplit(url), urlsplit(shown), urlsplit(site)
    except ValueError:
        return False
    hosts = {found.netloc.lower(), own.netloc.lower()}
    return asked.netloc.lower() in hosts and unquote(asked.path).rstrip("/") == unquote(found.path).rstrip("/")


def changed_at(post: RemotePost | None) -> datetime:
    """Return the time of a post's last change, for sorting."""
    return (post.updated_at if post else None) or datetime.min.replace(tzinfo=UTC)


def ghost_time(at: datetime) -> str:
    """Return a time as Ghost takes it."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _shortened(text: str, most: int) -> str:
    cut = text[: most - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"
