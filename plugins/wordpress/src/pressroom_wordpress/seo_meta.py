"""Where WordPress plugins keep the meta title, description, keyphrase and canonical URL of a post.

WordPress drops what is not registered for its REST API and says nothing: what it kept is read back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pressroom_content.contract import Post

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
"""The keys of each plugin, for the fields of a post in their order."""


EVERY_KEY: Final[Mapping[str, tuple[str, ...]]] = {
    field: tuple(keys[position] for keys in KEYS.values() if keys[position]) for position, field in enumerate(FIELDS)
}
"""All keys by field. WordPress takes those that are registered, and drops the others in silence."""


def writable(schema: Any) -> Mapping[str, tuple[str, ...]]:
    """Return the keys that a site lets us write, by field, from the schema that `OPTIONS wp/v2/posts` shows."""
    properties: Any = schema
    for name in ("schema", "properties", "meta", "properties"):
        properties = properties.get(name) if isinstance(properties, dict) else None
    return _by_field(properties)


def listed(row: Mapping[str, Any]) -> Mapping[str, tuple[str, ...]]:
    """Return the same from a post as editors get it: its `meta` has all keys that can be written, empty ones too."""
    return _by_field(row.get("meta"))


def _by_field(names: Any) -> Mapping[str, tuple[str, ...]]:
    shown = set(names) if isinstance(names, dict) else set()
    found: dict[str, tuple[str, ...]] = {}
    for position, field in enumerate(FIELDS):
        keys = tuple(keys[position] for keys in KEYS.values() if keys[position] in shown)
        if keys:
            found[field] = keys
    return found


def plugins_of(keys: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the names of the WordPress plugins whose keys can be written."""
    known = {key for names in keys.values() for key in names}
    return tuple(name for name, own in KEYS.items() if known & set(own))


def to_meta(post: Post, keys: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Return what is sent as `meta`, without what stays as it is on the site."""
    kept = post.kept if post.keyphrase or not post.kept else post.kept | {"keyphrase"}
    return {key: getattr(post, field) for field, names in keys.items() if field not in kept for key in names}


def from_meta(meta: Any, keys: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Return the fields of a post that its `meta` shows; a field that the site cannot hold is left out."""
    values = meta if isinstance(meta, dict) else {}
    return {field: str(values.get(names[0]) or "") for field, names in keys.items() if field != "keyphrase"}
