"""Front matter of posts for Hugo, Jekyll and Astro, and file names from slugs in any script."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any, Final, Literal

from pressroom_content.contract import Post

Generator = Literal["hugo", "jekyll", "astro"]
Format = Literal["yaml", "toml"]

MARKER: Final = "pressroom"
PUBLISHED: Final = "pressroom_published"
"""The member that marks a post that was live once, so that its date is kept."""

LIQUID: Final = "render_with_liquid"
"""The member that disables Liquid for a post in Jekyll 4."""

_MAX_NAMES: Final = 100
_IMAGES: Final = ("images", "image", "heroImage")
_NAMES: Final[Mapping[Generator, Mapping[str, str]]] = {
    "hugo": {"excerpt": "summary", "canonical_url": "canonicalURL", "date": "date"},
    "jekyll": {"excerpt": "excerpt", "canonical_url": "canonical_url", "date": "date"},
    "astro": {"excerpt": "excerpt", "canonical_url": "canonicalURL", "date": "pubDate"},
}
_MEMBERS: Final[Mapping[str, str]] = {"meta_title": "seo_title", "meta_description": "description", "language": "lang"}


def front_of(post: Post, generator: Generator) -> dict[str, Any]:
    """Return the front matter of a post, without date and state. Members without a value are `None`."""
    names = _NAMES[generator]
    image = post.featured.url if post.featured else None
    front: dict[str, Any] = {
        "title": post.title,
        "slug": file_name(post.slug, "") or None,  # generators use it as a path
        "description": post.meta_description or post.excerpt or None,
        names["excerpt"]: post.excerpt or None,
        "seo_title": post.meta_title or None,
        names["canonical_url"]: post.canonical_url or None,
        "author": post.author or None,
        "tags": list(post.tags) or None,
        "categories": list(post.categories) or None,
        MARKER: post.marker or None,
    }
    match generator:
        case "hugo":
            front["images"] = [image] if image else None
        case "jekyll":
            alt = post.featured_alt or post.title
            front |= {"layout": "post", "lang": post.language or None}
            front["image"] = {"path": image, "alt": alt} if image else None
        case "astro":  # the usual blog schema requires a description
            front |= {"description": front["description"] or post.title, "heroImage": image}
    return front


def changes_of(post: Post, fields: Mapping[str, Any], generator: Generator) -> dict[str, Any]:
    """Return the changes that an update makes to the front matter of a file; `None` removes a member.

    Fields to keep are omitted. For a post that was not created here, so are members whose value in `fields` is already
    that of the post, and members that this connector only adds to its own posts.
    """
    changes, members = front_of(post, generator), {**_MEMBERS, **_NAMES[generator]}
    for name in post.kept:
        for member in _IMAGES if name.startswith("featured") else (members.get(name, name),):
            changes.pop(member, None)
    if post.marker:
        return changes
    if "description" in changes:
        changes["description"] = post.meta_description or None
    left = {"layout", MARKER}
    left |= set() if post.language else {"lang"}
    left |= set() if post.featured else set(_IMAGES)
    left |= {members.get(name, name) for name, value in fields.items() if value == getattr(post, name)}
    return {name: value for name, value in changes.items() if name not in left}


def with_state(front: Mapping[str, Any], generator: Generator, *, live: bool, now: datetime) -> dict[str, Any]:
    """Return front matter with a state set. When a post first becomes live, its date is set to `now`.

    A post that was not created here keeps its date.
    """
    name, updated = _NAMES[generator]["date"], dict(front)
    flag, value = ("published", live) if generator == "jekyll" else ("draft", not live)
    if MARKER not in updated:
        return updated if is_live(updated, generator) == live else updated | {flag: value}
    if name not in updated or (live and not updated.get(PUBLISHED)):
        updated[name] = now.replace(microsecond=0)
    if live:
        updated[PUBLISHED] = True
    return updated | {flag: value}


def is_live(front: Mapping[str, Any], generator: Generator) -> bool:
    """Return whether the generator publishes a post."""
    return front.get("published") is not False if generator == "jekyll" else front.get("draft") is not True


def date_of(front: Mapping[str, Any], generator: Generator) -> datetime | None:
    """Return a post's date, in UTC unless it has a time zone; `None` if it is missing or invalid."""
    value = front.get(_NAMES[generator]["date"])
    if isinstance(value, datetime):
        return value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
        return value if value.tzinfo is not None else value.replace(tzinfo=UTC)
    return datetime(value.year, value.month, value.day, tzinfo=UTC) if isinstance(value, date) else None


def fields_of(front: Mapping[str, Any], generator: Generator) -> dict[str, Any]:
    """Return the fields by the names of `Post`. Values of any type become strings or tuples of strings."""
    names = _NAMES[generator]
    return {
        "title": text(front.get("title")),
        "slug": text(front.get("slug")),
        "excerpt": text(front.get(names["excerpt"])),
        "meta_title": text(front.get("seo_title")),
        "meta_description": text(front.get("description")),
        "canonical_url": text(front.get(names["canonical_url"])),
        "author": text(front.get("author")),
        "tags": _texts(front.get("tags"), generator),
        "categories": _texts(front.get("categories"), generator),
        "featured": _image(front),
    }


def has_image(front: Mapping[str, Any]) -> bool:
    """Return whether a post has a featured image."""
    return any(front.get(name) for name in _IMAGES)


def _image(front: Mapping[str, Any]) -> str:
    """Return the path or URL of a post's image; empty if it is missing or has an unknown format."""
    image = next((front[name] for name in _IMAGES if front.get(name)), None)
    if isinstance(image, list):
        image = next(iter(image), None)
    if isinstance(image, dict):
        image = image.get("path") or image.get("src") or image.get("url")
    return text(image)


def text(value: Any) -> str:
    """Return a string, number or date of front matter as a string; empty for any other value."""
    return str(value) if isinstance(value, str | int | float | date) and not isinstance(value, bool) else ""


def _texts(value: Any, generator: Generator) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(value.split()[:_MAX_NAMES]) if generator == "jekyll" else (value,) if value else ()
    return tuple(filter(None, map(text, value[:_MAX_NAMES]))) if isinstance(value, list) else ()


_MAX_SLUG_BYTES: Final = 120
"""Maximum bytes of a slug in a file name. File systems allow 255, and the whole path is an ID of 200 characters."""


def file_name(name: str, otherwise: str) -> str:
    """Convert a slug in any script to a file name of letters, digits and marks, joined by hyphens.

    Returns `otherwise` if nothing is left.
    """
    letters = (
        letter if unicodedata.category(letter)[0] in "LNM" else "-"
        for letter in unicodedata.normalize("NFC", name).lower().replace("'", "").replace("\u2019", "")
    )
    joined = re.sub(r"-+", "-", "".join(letters)).strip("-")
    cut = joined.encode("utf-8", "replace")[:_MAX_SLUG_BYTES].decode("utf-8", "ignore").strip("-")
    return cut or otherwise
