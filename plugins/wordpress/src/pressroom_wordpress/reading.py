"""Posts as WordPress shows them with `context=edit`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from html import unescape
from typing import Any, Final

from pressroom_content.contract import PostState, RemotePost

from pressroom_wordpress import seo_meta

_STATES: Final[Mapping[str, PostState]] = {
    "publish": "live",
    "private": "live",
    "future": "scheduled",
    "draft": "draft",
    "pending": "draft",
    "trash": "trashed",
}
_TRASHED = re.compile(r"__trashed(?:-\d+)?\Z")
_MARKER = re.compile(r"(?<!\s)\s*+<!-- pressroom:([A-Za-z0-9_-]++) -->")


def body_with_marker(html: str, marker: str) -> str:
    """Return the body with the marker as a comment at its end, where WordPress keeps it and nobody sees it."""
    return f"{html}\n<!-- pressroom:{marker} -->"


def marker_of(row: Mapping[str, Any]) -> str:
    """Return the marker of a post; empty where it has none."""
    match = _MARKER.search(_raw(row.get("content")))
    return match[1] if match else ""


def post_of(row: Mapping[str, Any], keys: Mapping[str, tuple[str, ...]]) -> RemotePost:
    """Return a post. Tags and categories are still ids; `keys` are the meta keys that the site shows."""
    state = _STATES.get(str(row.get("status")), "draft")
    fields: dict[str, Any] = {
        "title": unescape(_raw(row.get("title"))),
        "slug": str(row.get("slug") or ""),
        "excerpt": _raw(row.get("excerpt")),
        "tags": tuple(row.get("tags") or ()),
        "categories": tuple(row.get("categories") or ()),
        **seo_meta.from_meta(row.get("meta"), keys),
    }
    if not fields["slug"]:  # a draft without one has it only in `generated_slug`
        fields["slug"] = str(row.get("generated_slug") or "")
    if state == "trashed":  # WordPress gives the slug back when the post leaves the trash
        fields["slug"] = _TRASHED.sub("", fields["slug"])
    return RemotePost(
        id=str(row["id"]),
        url=str(row.get("link") or ""),
        state=state,
        revision=_revision(row),
        html=_MARKER.sub("", _raw(row.get("content"))),
        fields=fields,
        featured=bool(row.get("featured_media")),
        publish_at=_moment(row.get("date_gmt")) if state == "scheduled" else None,
        marker=marker_of(row),
        updated_at=_moment(row.get("modified_gmt")),
    )


def date_of(row: Mapping[str, Any], otherwise: datetime) -> datetime:
    """Return the date that a post has on its site, whatever its status; drafts may have none."""
    return _moment(row.get("date_gmt")) or otherwise


def _revision(row: Mapping[str, Any]) -> str:
    """Return the time of the last change, in seconds, with a digest: two changes may fall into one second."""
    shown = [_raw(row.get(name)) for name in ("title", "slug", "content", "excerpt", "status")]
    digest = hashlib.sha256("\0".join(shown).encode(errors="surrogatepass")).hexdigest()
    return f"{row.get('modified_gmt') or ''} {digest[:16]}"


def _raw(value: Any) -> str:
    """Return a text as it was written, or as it is shown where we may not edit it."""
    if isinstance(value, dict):
        return str(value.get("raw", value.get("rendered", "")) or "")
    return str(value or "")


def _moment(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(str(value)).replace(tzinfo=UTC)
    except ValueError:
        return None
