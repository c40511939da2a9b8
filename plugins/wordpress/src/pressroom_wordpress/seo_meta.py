"""Where WordPress plugins keep the meta title, description, keyphrase and canonical URL of a post.

WordPress drops what is not registered for its REST API and says nothing, so only keys that the site lists are sent.
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


def writable(schema: Any) -> Mapping[str, tuple[str, ...]]:
    """Return the keys that a site lets us write, by field, from the schema that `OPTIONS wp/v2/posts` shows."""
    properties: Any = schema
    for name in ("schema", "properties", "meta", "properties"):
        properties = properties.get(name) if isinstance(properties, dict) else None
    listed = set(properties) if isinstance(properties, dict) else set()
    found: dict[str, tuple[str, ...]] = {}
    for position, name in enumerate(FIELDS):
        keys = tuple(keys[position] for keys in KEYS.values() if keys[position] in listed)
        if keys:
            found[name] = keys
    return found


def plugins_of(keys: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return the names of the WordPress plugins whose keys can be written."""
    known = {key for names in keys.values() for key in names}
    return tuple(name for name, own in KEYS.items() if known & set(own))


def to_meta(post: Post, keys: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Return what is sent as `meta`."""
    return {key: getattr(post, field) for field, names in keys.items() for key in names}


def from_meta(meta: Any, keys: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Return the fields of a post that its `meta` shows; a field that the site cannot hold is left out."""
    values = meta if isinstance(meta, dict) else {}
    return {field: str(values.get(names[0]) or "") for field, names in keys.items() if field != "keyphrase"}
