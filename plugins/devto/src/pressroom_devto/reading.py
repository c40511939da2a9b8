"""Posts as Forem's API shows and takes them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from pressroom_content.contract import Post, PostState, RemotePost, field_text

MAX_TAGS: Final = 4
_MAX_TAG_LENGTH: Final = 30
_MARKER = re.compile(r"<!-- pressroom:([A-Za-z0-9_-]+) -->\n*")


def article(post: Post) -> dict[str, Any]:
    """Return what is sent for a post; its state is not in it."""
    return {
        "title": post.title,
        "body_markdown": with_marker(post.markdown, post.marker),
        "description": post.excerpt or None,
        "canonical_url": post.canonical_url or None,
        "main_image": post.featured.url if post.featured else None,
        "tags": tags_of(post.tags),
    }


def with_marker(markdown: str, marker: str) -> str:
    """Return a body with the marker as a comment before it.

    The API gives bodies back as they were written, and comments never get to the page. At the beginning it cannot end
    up in a code block that is not closed, and a body that begins with `---` is not read as front matter, which would
    stand in for title, tags and state. There is nothing in it that Liquid reads. The canonical URL would be no
    place for it: search engines go by it, and DEV takes each one only once.
    """
    return f"<!-- pressroom:{marker} -->\n\n{markdown}"


def marker_of(markdown: str) -> str:
    """Return the marker in a body; empty if absent."""
    match = _MARKER.search(markdown)
    return match[1] if match else ""


def tags_of(names: Sequence[str]) -> list[str]:
    """Return the first four tags, in letters and digits only, as DEV takes them."""
    plain = ("".join(filter(str.isalnum, name.lower()))[:_MAX_TAG_LENGTH] for name in names)
    return list(dict.fromkeys(filter(None, plain)))[:MAX_TAGS]


def post_of(row: Mapping[str, Any], state: PostState | None = None) -> RemotePost:
    """Return a post. `state` is what it is known to be where the row does not say, as the answers to writes do not."""
    markdown = str(row.get("body_markdown") or "")
    if isinstance(row.get("published"), bool):
        state = "live" if row["published"] else "draft"
    fields = {
        "title": field_text(row.get("title")),
        "excerpt": field_text(row.get("description")),
        "canonical_url": field_text(row.get("canonical_url")),
        "tags": _tags(row),
    }
    parts = [fields, markdown, bool(row.get("cover_image")), state]
    return RemotePost(
        id=str(row.get("id") or ""),
        url=str(row.get("url") or ""),
        state=state or "draft",
        revision=hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:40],
        html=_MARKER.sub("", markdown, count=1),
        fields=fields,
        featured=bool(row.get("cover_image")),
        marker=marker_of(markdown),
        updated_at=_moment(row.get("published_at")),
    )


def _tags(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the tags: lists have them in `tag_list`, where the answers to writes have a text."""
    given = row.get("tag_list")
    names = field_text(given).split(",") if isinstance(given, str) else given if isinstance(given, list) else []
    return tuple(str(name).strip() for name in names if str(name).strip())


def _moment(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(str(value))
    except ValueError:
        return None
