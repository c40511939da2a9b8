"""Parsing posts and pages in the context `edit`, and the metadata that SEO plugins store with them.

The metadata are meta title, description, keyphrase and canonical URL. WordPress silently drops keys that are not
registered for its REST API: what it stored is read back.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import unescape
from typing import Any, Final

from pressroom_content.contract import Post, PostState, RemotePost, field_text

from pressroom_wordpress.blocks import visible_html

EMBED: Final = "author,wp:term,wp:featuredmedia"
"""The resources to embed in posts: the names of author and terms, and the featured image."""

PAGE: Final = "page-"
"""The prefix of page IDs: posts and pages have different routes."""

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
_LAST_MARKER = re.compile(r"\n?<!-- pressroom:[A-Za-z0-9_-]{1,200} -->\s*\Z")
_MAX_TAIL_LENGTH: Final = 400
_TAG = re.compile(r"<[^<>]*+>")

LONG: Final = 50_000
"""Bodies that are longer than this, in characters, are processed in a worker."""


def with_marker(raw: str, marker: str) -> str:
    """Return the body with the marker as a comment at its end, where WordPress keeps it and readers do not see it."""
    comment = f"<!-- pressroom:{marker} -->"
    return raw if not marker or comment in raw else f"{raw}\n{comment}"


def marker_of(row: Mapping[str, Any]) -> str:
    """Return the marker of a post; empty if absent."""
    match = _MARKER.search(_raw(row.get("content")))
    return match[1] if match else ""


def tail_of(row: Mapping[str, Any]) -> str:
    """Return the marker comment at the end of a body, with the surrounding white space."""
    end = _raw(row.get("content"))[-_MAX_TAIL_LENGTH:]
    match = _LAST_MARKER.search(end)
    return match[0] if match else ""


def id_of(row: Mapping[str, Any]) -> str:
    """Return the ID of a post or a page as used here."""
    return f"{PAGE if row.get('type') == 'page' else ''}{row['id']}"


def post_of(row: Mapping[str, Any]) -> RemotePost:
    """Convert a row to a post or a page. Tags and categories remain IDs."""
    state = _STATES.get(str(row.get("status")), "draft")
    fields: dict[str, Any] = {
        "title": unescape(field_text(_raw(row.get("title")))),
        "slug": field_text(row.get("slug")),
        "excerpt": field_text(_raw(row.get("excerpt"))),
        "tags": _ids(row.get("tags")),
        "categories": _ids(row.get("categories")),
        "author": _author_of(row),
        "featured": _image_of(row),
        **_texts_of_image(row),
        **from_meta(row.get("meta"), listed(row)),
    }
    if not fields["slug"]:  # a draft without a slug has it only in `generated_slug`
        fields["slug"] = field_text(row.get("generated_slug"))
    if state == "trashed":  # WordPress restores the slug when the post leaves the trash
        fields["slug"] = _TRASHED.sub("", fields["slug"])
    content = _raw(row.get("content"))
    return RemotePost(
        id=id_of(row),
        url=str(row.get("link") or ""),
        state=state,
        revision=_revision(row),
        html=visible_html(_MARKER.sub("", content)),
        fields=fields,
        featured=bool(row.get("featured_media")),
        publish_at=_moment(row.get("date_gmt")) if state == "scheduled" else None,
        marker=marker_of(row),
        updated_at=_moment(row.get("modified_gmt")),
        raw=content.removesuffix(tail_of(row)) if _is_editable(row) else "",
        kind="page" if row.get("type") == "page" else "post",
        audience="private" if row.get("status") == "private" else "password" if row.get("password") else "",
    )


def embedded_term_names(row: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the names of embedded tags and categories, by ID."""
    names: dict[str, str] = {}
    groups = _embedded_rows(row, "wp:term")
    for group in groups:
        for term in group if isinstance(group, list) else ():
            if isinstance(term, dict) and term.get("name"):
                names[str(term.get("id", ""))] = unescape(field_text(term["name"]))
    return names


def _is_editable(row: Mapping[str, Any]) -> bool:
    content = row.get("content")
    return isinstance(content, dict) and isinstance(content.get("raw"), str)


def _embedded_rows(row: Mapping[str, Any], name: str) -> Sequence[Any]:
    embedded = row.get("_embedded")
    embedded_rows = embedded.get(name) if isinstance(embedded, dict) else None
    return embedded_rows if isinstance(embedded_rows, list) else []


def _author_of(row: Mapping[str, Any]) -> str:
    first = next(iter(_embedded_rows(row, "author")), None)
    return unescape(field_text(first.get("name"))) if isinstance(first, dict) else ""


def _image_of(row: Mapping[str, Any]) -> str:
    """Return the URL of the featured image, or its ID if the URL is not accessible; empty if there is no image."""
    first = next(iter(_embedded_rows(row, "wp:featuredmedia")), None)
    url = first.get("source_url") if isinstance(first, dict) else ""
    return str(url or row.get("featured_media") or "")


def _texts_of_image(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the alternative text and the caption of the featured image, if they are embedded."""
    first = next(iter(_embedded_rows(row, "wp:featuredmedia")), None)
    if not isinstance(first, dict) or "alt_text" not in first:
        return {}
    caption = unescape(_TAG.sub("", _raw(first.get("caption")))).strip()
    return {"featured_alt": unescape(field_text(first.get("alt_text"))), "featured_caption": field_text(caption)}


def is_long(row: Mapping[str, Any]) -> bool:
    """Check whether the body of a post is too long to be processed on the event loop."""
    return len(_raw(row.get("content"))) > LONG


def _ids(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list) else ()


def _revision(row: Mapping[str, Any]) -> str:
    """Return the time of the last change, in seconds, with a digest: two changes may occur within one second."""
    fields = [_raw(row.get(name)) for name in ("title", "slug", "content", "excerpt", "status", "featured_media")]
    digest = hashlib.sha256("\0".join(fields).encode(errors="surrogatepass")).hexdigest()
    return f"{row.get('modified_gmt') or ''} {digest[:16]}"


def _raw(value: Any) -> str:
    """Return the raw text, or the rendered one if this user cannot edit it."""
    if isinstance(value, dict):
        return str(value.get("raw", value.get("rendered", "")) or "")
    return str(value or "")


def _moment(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(str(value)).replace(tzinfo=UTC)
    except ValueError:
        return None


FIELDS: Final = ("meta_title", "meta_description", "keyphrase", "canonical_url")

KEYS: Final[Mapping[str, tuple[str, str, str, str]]] = {
    "Yoast SEO": ("_yoast_wpseo_title", "_yoast_wpseo_metadesc", "_yoast_wpseo_focuskw", "_yoast_wpseo_canonical"),
    "Rank Math": (
        "rank_math_title",
        "rank_math_description",
        "rank_math_focus_keyword",
        "rank_math_canonical_url",
    ),
    "SEOPress": (
        "_seopress_titles_title",
        "_seopress_titles_desc",
        "_seopress_analysis_target_kw",
        "_seopress_robots_canonical",
    ),
    "The SEO Framework": ("_genesis_title", "_genesis_description", "", "_genesis_canonical_uri"),
}
"""The keys of each plugin, in the order of `FIELDS`."""


EVERY_KEY: Final[Mapping[str, tuple[str, ...]]] = {
    field: tuple(keys[position] for keys in KEYS.values() if keys[position]) for position, field in enumerate(FIELDS)
}
"""All keys by field. WordPress stores those that are registered, and silently drops the others."""


def writable(schema: Any) -> Mapping[str, tuple[str, ...]]:
    """Return the keys that the site allows to write, by field, from the schema of `OPTIONS wp/v2/posts`."""
    properties: Any = schema
    for name in ("schema", "properties", "meta", "properties"):
        properties = properties.get(name) if isinstance(properties, dict) else None
    return _by_field(properties)


def listed(row: Mapping[str, Any]) -> Mapping[str, tuple[str, ...]]:
    """Return the same from a post in the edit context: its `meta` has all writable keys, even empty ones."""
    return _by_field(row.get("meta"))


def _by_field(names: Any) -> Mapping[str, tuple[str, ...]]:
    writable_keys = set(names) if isinstance(names, dict) else set()
    keys_by_field: dict[str, tuple[str, ...]] = {}
    for position, field in enumerate(FIELDS):
        keys = tuple(keys[position] for keys in KEYS.values() if keys[position] in writable_keys)
        if keys:
            keys_by_field[field] = keys
    return keys_by_field


def plugins_of(keys: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the names of the WordPress plugins whose keys are writable."""
    writable_keys = {key for names in keys.values() for key in names}
    return tuple(name for name, plugin_keys in KEYS.items() if writable_keys & set(plugin_keys))


def to_meta(post: Post, keys: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Return the `meta` to send, without the fields that stay unchanged on the site."""
    unchanged = post.kept if post.keyphrase or not post.kept else post.kept | {"keyphrase"}
    return {key: getattr(post, field) for field, names in keys.items() if field not in unchanged for key in names}


def from_meta(meta: Any, keys: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Return the fields in a post's `meta`. Fields that the site does not support are left out."""
    values = meta if isinstance(meta, dict) else {}
    return {field: str(values.get(names[0]) or "") for field, names in keys.items() if field != "keyphrase"}
