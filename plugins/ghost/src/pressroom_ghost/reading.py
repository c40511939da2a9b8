"""Posts as Ghost's Admin API shows and takes them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import datetime
from html import escape
from typing import Any, Final

from pressroom_content.contract import Post, PostState, RemotePost

_STATES: Final[Mapping[str, PostState]] = {
    "published": "live",
    "sent": "live",
    "scheduled": "scheduled",
    "draft": "draft",
}
_MARKER = re.compile(r"<!-- pressroom:([A-Za-z0-9_-]+) -->")

MAX_LENGTHS: Final = {"title": 255, "slug": 185, "custom_excerpt": 300, "meta_title": 300, "meta_description": 500}
"""What Ghost takes, in characters; it refuses a whole post for one field that is longer."""


def document(post: Post) -> dict[str, Any]:
    """Return what is sent for a post; its state is not in it."""
    fields: dict[str, Any] = {
        "title": post.title,
        "slug": post.slug,
        "html": post.html,
        "custom_excerpt": post.excerpt or None,
        "meta_title": post.meta_title or None,
        "meta_description": post.meta_description or None,
        "canonical_url": post.canonical_url or None,
        "tags": [{"name": name} for name in post.tags],
        "feature_image": post.featured.url if post.featured else None,
        "feature_image_alt": post.featured_alt[:191] or None if post.featured else None,
        "feature_image_caption": escape(post.featured_caption, quote=False) or None if post.featured else None,
        # A comment at the end of the page, where nobody sees it, and where Ghost leaves it as it is.
        "codeinjection_foot": comment(post.marker),
    }
    for name, most in MAX_LENGTHS.items():
        if fields[name] and len(fields[name]) > most:
            fields[name] = _shortened(fields[name], most)
    if post.term_ids.get("author"):
        fields["authors"] = [{"id": post.term_ids["author"][0]}]
    return fields


def comment(marker: str) -> str:
    """Return the marker as it is in a post."""
    return f"<!-- pressroom:{marker} -->"


def post_of(row: Mapping[str, Any]) -> RemotePost:
    """Return a post."""
    state = _STATES.get(str(row.get("status")), "draft")
    match = _MARKER.search(str(row.get("codeinjection_foot") or ""))
    tags = [tag for tag in row.get("tags") or () if isinstance(tag, dict)]
    return RemotePost(
        id=str(row["id"]),
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
            "tags": tuple(str(tag.get("name", "")) for tag in tags),
        },
        featured=bool(row.get("feature_image")),
        publish_at=moment(row.get("published_at")) if state == "scheduled" else None,
        marker=match[1] if match else "",
        updated_at=moment(row.get("updated_at")),
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
        return datetime.fromisoformat(str(value))
    except ValueError:
        return None


def _shortened(text: str, most: int) -> str:
    cut = text[: most - 1]
    return f"{cut.rpartition(' ')[0] or cut}…"
